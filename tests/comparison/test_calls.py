"""Parameters of two answers: what is the same value, and which calls belong together."""

from __future__ import annotations

import pytest

from toolcert.comparison.read.packed_run import Tallies
from toolcert.comparison.stats.vendor_figures import pair_up, same_parameters
from toolcert.core.exchanges import ToolCall


def call(arguments: object, name: object = "look_up") -> ToolCall:
    return ToolCall(id="1", name=name, arguments=arguments)


@pytest.mark.parametrize(
    ("own", "theirs", "expected"),
    [
        ('{"a": 1}', '{"a": 1.0}', (1, 1)),
        ('{"a": 1}', '{"a": true}', (0, 1)),
        ('{"a": [0, {"b": 1}]}', '{"a": [false, {"b": true}]}', (0, 1)),
        ('{"a": {"x": 1, "y": 2}}', '{"a": {"y": 2, "x": 1}}', (1, 1)),
        ('{"a": 1, "b": 2}', '{"a": 1}', (1, 2)),
        ('{"a": 1}', "broken", (0, 1)),
        ("", "{}", (0, 0)),
        ({"a": 1}, '{"a": 1}', (1, 1)),
    ],
)
def test_values_are_the_same_as_json_has_it(own, theirs, expected):
    """A number and a truth value are two things, though Python says that 1 == True."""
    assert same_parameters([call(own)], [call(theirs)]) == expected


def test_equal_calls_belong_together_whatever_their_order():
    first = [call('{"a": 1}'), call('{"a": 2}')]
    assert same_parameters(first, [call('{"a": 2}'), call('{"a": 3}')]) == (1, 2)
    assert same_parameters(first, list(reversed(first))) == (2, 2)


def test_a_call_without_partner_agrees_with_nobody():
    assert same_parameters([call('{"a": 1}')], [call('{"a": 1}', name="other")]) == (0, 2)
    assert same_parameters([], [call('{"a": 1}')]) == (0, 1)


def test_the_strongest_bond_comes_first():
    pairs = pair_up([1, 12, 3], [12, 13, 5], lambda one, other: one == other, lambda one, other: other - one == 10)
    assert pairs == [(1, None), (12, 12), (3, 13), (None, 5)]


def test_a_row_with_two_invalid_calls_is_looked_at_once():
    tallies = Tallies()
    tallies.count_row(4, 5, [False, True, False, None], ["SchemaMismatch.type", "SchemaMismatch.type", "NoSchema"])
    tallies.count_row(9, 10, [None], ["NoSchema"])
    assert (tallies.invalid, tallies.unjudged, tallies.invalid_places) == (2, 2, [4])
    assert tallies.bucket_rows == {"SchemaMismatch.type": [5], "NoSchema": [5, 10]}
