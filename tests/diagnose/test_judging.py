"""Judging calls: the buckets that verifying and comparing count in."""

from __future__ import annotations

from typing import Any

import pytest

from diagnose.answers import asked, call, called, said
from toolcert.core.exchanges import ToolCall
from toolcert.core.requests import tool
from toolcert.diagnose import CallJudgement, judge_calls

ANYTHING = tool("ping", "Answers.")
BROKEN = tool("bad", "", {"type": "object", "required": "city"})


def judged(one: ToolCall, **fields: Any) -> CallJudgement:
    (judgement,) = judge_calls(asked(**fields), called(one))
    return judgement


@pytest.mark.parametrize(
    ("one", "buckets", "valid"),
    [
        (call(), (), True),
        (call(arguments='{"city": 5}'), ("SchemaMismatch.type",), False),
        (call(arguments="{}"), ("SchemaMismatch.required",), False),
        (call(arguments="{"), ("InvalidJson",), False),
        (call(arguments=""), ("Empty",), False),
        (call(arguments={"city": "Tokyo"}), ("NotString",), False),
        (call(arguments='"{\\"city\\": \\"Tokyo\\"}"'), ("DoubleEncoded",), False),
        (call("nothing"), ("UnknownName",), False),
        (call("get_time", ""), ("Empty",), True),
        (call("ping", '{"a": 1}'), ("NoSchema",), True),
        (call("ping", "{a"), ("InvalidJson",), False),
        (call("bad", "{}"), ("BadSchema",), None),
    ],
)
def test_buckets(one: ToolCall, buckets: tuple[str, ...], valid: bool | None) -> None:
    judgement = judged(one, tools=[*asked().tools, ANYTHING, BROKEN])
    assert (judgement.buckets, judgement.valid) == (buckets, valid)


def test_an_answer_without_calls_has_no_judgements() -> None:
    assert judge_calls(asked(), said("Sunny.")) == ()


def test_a_call_of_two_namesakes_is_judged_by_the_one_it_satisfies() -> None:
    """That both are offered is the fault of the request; nobody can know which one the model meant."""
    anything = tool("get_weather", "", {})
    for twice in ([anything, *asked().tools], [*asked().tools, anything]):
        assert judged(call(arguments='{"town": 1}'), tools=twice).valid is True
    assert judged(call(arguments='{"town": 1}'), tools=[*asked().tools, *asked().tools]).valid is False


def test_a_broken_namesake_leaves_a_call_undecided_unless_the_other_takes_it() -> None:
    broken = tool("get_weather", "", {"type": "object", "required": {}})
    for twice in ([broken, *asked().tools], [*asked().tools, broken]):
        assert judged(call(arguments='{"town": 1}'), tools=twice).valid is None
        assert judged(call(), tools=twice).valid is True


@pytest.mark.parametrize("tools", [None, "none", [7, {}, {"function": None}, {"function": {"name": 3}}]])
def test_tools_of_any_shape_are_survived(tools: Any) -> None:
    assert judged(call(), tools=tools).buckets == ("UnknownName",)
