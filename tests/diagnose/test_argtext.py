"""How arguments that are not JSON are broken."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolcert.diagnose.judgement import Damage, damage_of

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
OBJECTS = st.dictionaries(st.text(), VALUES, max_size=4)


@given(OBJECTS, st.booleans(), st.data())
def test_every_beginning_of_an_object_is_truncated(
    value: dict[str, object], ascii_only: bool, data: st.DataObject
) -> None:
    text = json.dumps(value, ensure_ascii=ascii_only)
    beginning = text[: data.draw(st.integers(1, len(text) - 1))]
    assert damage_of(beginning) is Damage.TRUNCATED


@given(OBJECTS, st.sampled_from(["", " ", "\n", ", "]))
def test_an_object_twice_is_doubled(value: dict[str, object], between: str) -> None:
    text = json.dumps(value)
    assert damage_of(text + between + text) is Damage.DOUBLED


@given(OBJECTS, OBJECTS)
def test_two_objects_are_glued(first: dict[str, object], second: dict[str, object]) -> None:
    expected = Damage.DOUBLED if first == second else Damage.GLUED
    assert damage_of(json.dumps(first) + json.dumps(second)) is expected


@pytest.mark.parametrize(
    "text",
    [
        "{'a': 1}",
        '{"a": Tokyo',
        '{"a": 1}}',
        '{"a": 1,}',
        '{"a" 1',
        "Tokyo",
        '{"a": 1} done',
        '{"a": nan',
        "",
        "]",
        '"x',
    ],
)
def test_anything_else_is_broken(text: str) -> None:
    assert damage_of(text) is Damage.BROKEN


def test_two_objects_of_which_the_second_is_cut_are_glued() -> None:
    assert damage_of('{"a": 1}{"b": ') is Damage.GLUED


def test_a_number_without_end_is_truncated_like_any_other() -> None:
    """Degenerate models write digits until their limit; Python's `int` refuses more than 4300 of them."""
    digits = '{"n": ' + "9" * 5000
    assert damage_of(digits) is Damage.TRUNCATED
    assert damage_of(digits + "}") is Damage.BROKEN
    assert damage_of(digits + "}" + digits + "}") is Damage.DOUBLED


@given(st.text())
def test_no_text_is_too_strange(text: str) -> None:
    assert isinstance(damage_of(text), Damage)
