"""What a row expects."""

from __future__ import annotations

import msgspec
import pytest

from toolcert.verification.dataset.expectation import MadeCall, read_notes, unmet


def missed(expected: object, *made: tuple[str, object]) -> str:
    notes = read_notes(msgspec.json.encode({"expected": expected}))
    assert notes.expected is not None
    return unmet(notes.expected, [MadeCall(name=name, arguments=arguments) for name, arguments in made])


def test_no_call_is_expected() -> None:
    assert missed({"call": False}) == ""
    assert "get_weather" in missed({"call": False}, ("get_weather", {}))


def test_any_call_is_expected() -> None:
    assert missed({"call": True}, ("anything", {})) == ""
    assert "in text" in missed({"call": True})


def test_accepted_values() -> None:
    """A list gives alternatives, null lets a parameter be left out, and what is not named is free."""
    wanted = {"calls": [{"name": "w", "arguments": {"city": ["Paris", "Paris, France"], "unit": ["celsius", None]}}]}
    assert missed(wanted, ("w", {"city": "Paris"})) == ""
    assert missed(wanted, ("w", {"city": "Paris, France", "unit": "celsius", "days": 3})) == ""
    assert "city" in missed(wanted, ("w", {"city": "Rome"}))
    assert "unit" in missed(wanted, ("w", {"city": "Paris", "unit": "kelvin"}))
    assert "left out" in missed({"calls": [{"name": "w", "arguments": {"city": "Paris"}}]}, ("w", {}))


def test_numbers_are_compared_as_numbers_and_booleans_are_none() -> None:
    wanted = {"calls": [{"name": "f", "arguments": {"n": 1}}]}
    assert missed(wanted, ("f", {"n": 1.0})) == ""
    assert missed(wanted, ("f", {"n": True}))
    assert missed(wanted, ("f", {"n": "1"}))


def test_a_list_as_value_is_written_in_a_list() -> None:
    wanted = {"calls": [{"name": "f", "arguments": {"ids": [[1, 2]]}}]}
    assert missed(wanted, ("f", {"ids": [1, 2]})) == ""
    assert missed(wanted, ("f", {"ids": [2, 1]}))


def test_calls_may_come_in_any_order_but_none_besides() -> None:
    wanted = {"calls": [{"name": "a"}, {"name": "b"}]}
    assert missed(wanted, ("b", {}), ("a", {})) == ""
    assert "3 calls" in missed(wanted, ("a", {}), ("b", {}), ("c", {}))
    assert "no call of b" in missed(wanted, ("a", {}), ("a", {}))


def test_a_wide_expectation_does_not_take_the_call_a_narrow_one_needs() -> None:
    """`a` with anything must leave the call with x = 1 to the other expectation, whichever comes first."""
    wide, narrow = {"name": "a"}, {"name": "a", "arguments": {"x": 1}}
    for order in ([wide, narrow], [narrow, wide]):
        assert missed({"calls": order}, ("a", {"x": 1}), ("a", {"x": 2})) == ""
        assert missed({"calls": order}, ("a", {"x": 2}), ("a", {"x": 1})) == ""
    assert missed({"calls": [narrow, narrow]}, ("a", {"x": 1}), ("a", {"x": 2}))


def test_arguments_that_did_not_parse_meet_no_expectation_about_them() -> None:
    assert missed({"calls": [{"name": "a", "arguments": {"x": 1}}]}, ("a", None))
    assert missed({"calls": [{"name": "a"}]}, ("a", None)) == ""


@pytest.mark.parametrize("expected", [{"calls": "x"}, {"call": "yes"}, {"names": []}, {"calls": [{"arguments": {}}]}])
def test_what_is_no_expectation_is_refused(expected: object) -> None:
    with pytest.raises(msgspec.ValidationError):
        read_notes(msgspec.json.encode({"expected": expected}))
