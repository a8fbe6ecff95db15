"""Calls of both sides beside each other on the page of a comparison."""

from __future__ import annotations

from toolcert.comparison.result import GivenAnswer, MadeCall
from toolcert.reports.compare.differences import call_diffs


def answer(*calls: tuple[str, str]) -> GivenAnswer:
    return GivenAnswer(called=True, calls=tuple(MadeCall(name=name, arguments=arguments) for name, arguments in calls))


def test_a_truth_value_is_not_a_number():
    [diff] = call_diffs(answer(("f", '{"a": 1, "b": 1}')), answer(("f", '{"a": true, "b": 1.0}')))
    assert {parameter.name: parameter.same for parameter in diff.parameters} == {"a": False, "b": True}


def test_another_tool_does_not_take_the_partner_of_a_later_call():
    diffs = call_diffs(answer(("g", "{}"), ("f", '{"a": 1}')), answer(("f", '{"a": 1}')))
    assert [(diff.baseline, diff.vendor) for diff in diffs] == [("g", ""), ("f", "f")]


def test_equal_calls_stand_side_by_side():
    diffs = call_diffs(answer(("f", '{"a": 1}'), ("f", '{"a": 2}')), answer(("f", '{"a":2}'), ("f", "broken")))
    assert [len(diff.parameters) for diff in diffs] == [0, 1]
    assert diffs[1].parameters[0].same
