"""One fault, one finding: what follows from another finding is kept under it and counted nowhere."""

from __future__ import annotations

import json
from typing import Any

import pytest

from diagnose.answers import asked, call, called, found, said
from toolcert.core.exchanges import Exchange
from toolcert.core.findings import Finding, Severity, codes_of
from toolcert.core.requests import Request, user
from toolcert.diagnose import catalogue, examine, finding, in_order
from toolcert.diagnose.examination import CONSEQUENCES
from toolcert.protocol.reply import read_reply

NAMED = {"type": "function", "function": {"name": "get_weather"}}


def told(findings: tuple[Finding, ...]) -> dict[str, str | None]:
    return {one.code: one.because_of for one in findings}


def read(request: Request, choice: dict[str, Any], **fields: Any) -> tuple[Finding, ...]:
    """What is found in a plain answer with this choice."""
    usage = {"prompt_tokens": 9, "completion_tokens": 3, "total_tokens": 12}
    body = {"id": "c", "model": "demo-7b", "choices": [{"index": 0, **choice}], "usage": usage} | fields
    exchange = Exchange(request=request, status=200, payload=json.dumps(body).encode())
    return examine(exchange, read_reply(exchange))


def streamed(request: Request, *chunks: dict[str, Any]) -> tuple[Finding, ...]:
    events = [*(b"data: " + json.dumps({"id": "c", "model": "demo-7b", **one}).encode() for one in chunks)]
    body = b"\n\n".join([*events, b"data: [DONE]", b""])
    streaming = Request(body={**request.body, "stream": True})
    exchange = Exchange(request=streaming, status=200, payload=body, event_stream=True)
    return examine(exchange, read_reply(exchange))


def delta(reason: str | None = None, **fields: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": fields, "finish_reason": reason}]}


LEGACY = {
    "message": {"role": "assistant", "content": None, "function_call": {"name": "get_weather", "arguments": "{}"}}
}


@pytest.mark.parametrize("choice", ["required", NAMED], ids=["required", "named"])
def test_a_choice_is_not_ignored_where_the_call_came_in_the_old_form(choice: Any) -> None:
    findings = read(asked(tool_choice=choice), {**LEGACY, "finish_reason": "function_call"})
    assert codes_of(findings) == ("envelope.not_openai",)
    assert set(told(findings).values()) == {None, "envelope.not_openai"}


@pytest.mark.parametrize("choice", ["required", NAMED], ids=["required", "named"])
def test_a_choice_is_not_ignored_where_the_backend_failed(choice: Any) -> None:
    failed = {"message": {"role": "assistant", "content": ""}, "error": {"code": 502, "message": "Upstream is busy."}}
    findings = read(asked(tool_choice=choice), {**failed, "finish_reason": "error"})
    assert codes_of(findings) == ("envelope.not_openai",)
    assert "Upstream is busy." in findings[0].evidence


def test_an_error_inside_a_streamed_choice_is_an_upstream_error() -> None:
    broken = delta("error", content="")
    broken["choices"][0]["error"] = {"code": 502, "message": "Upstream is busy."}
    findings = streamed(asked(tool_choice="required"), delta(role="assistant", content=""), broken)
    assert codes_of(findings) == ("stream.error_inside",)
    assert "Upstream is busy." in findings[0].evidence


@pytest.mark.parametrize("text", ['<tool_call>{"name": "get_weather", "arguments": {"city": "Rome"}}</tool_call>'])
def test_a_choice_is_not_ignored_where_the_call_is_in_the_text(text: str) -> None:
    assert codes_of(found(asked(tool_choice="required"), said(text))) == ("call.in_text",)


def test_a_filter_explains_everything_that_is_missing() -> None:
    findings = read(asked(tool_choice="required"), {"finish_reason": "content_filter: SAFETY"})
    assert codes_of(findings) == ("finish.filtered",)
    assert set(told(findings)) == {"finish.filtered", "finish.nonstandard", "choice.required_ignored"}
    assert findings[0].severity is Severity.NOTE


def test_a_placeholder_of_the_old_form_is_nothing() -> None:
    for empty in ({}, {"name": "", "arguments": ""}, {"name": None, "arguments": None}):
        message = {"role": "assistant", "content": "Sunny.", "function_call": empty}
        assert read(asked(), {"message": message, "finish_reason": "stop"}) == ()
        assert streamed(asked(), delta(role="assistant", content="Sunny.", function_call=empty), delta("stop")) == ()


def test_the_old_form_is_right_where_the_request_uses_it() -> None:
    request = asked(tools=None, functions=[{"name": "get_weather"}])
    assert read(request, {**LEGACY, "finish_reason": "function_call"}) == ()
    assert streamed(request, delta(**LEGACY["message"]), delta("function_call")) == ()


def test_one_call_that_comes_twice_with_one_id_is_one_fault() -> None:
    findings = found(asked(parallel_tool_calls=False), called(call(id="x"), call(id="x")))
    assert told(findings) == {
        "call.duplicate": None,
        "call.id_duplicate": "call.duplicate",
        "parallel.flag_ignored": "call.duplicate",
    }


def test_the_same_call_twice_is_a_warning_where_repetition_may_be_asked_for() -> None:
    twice = called(call(id="x"), call(id="y"))
    assert [one.severity for one in found(asked(), twice)] == [Severity.ERROR]
    assert [one.severity for one in found(asked(user("Ask for Tokyo twice.")), twice)] == [Severity.WARNING]


def test_consequences_stand_behind_their_cause_and_in_its_turn_only() -> None:
    cut, lost = finding("stream.cut", "", turn=1), finding("result.ignored", "", turn=1)
    other = finding("result.ignored", "", turn=2)
    findings = in_order([lost, other, cut])
    assert [(one.code, one.turn, one.because_of) for one in findings] == [
        ("result.ignored", 2, None),
        ("stream.cut", 1, None),
        ("result.ignored", 1, "stream.cut"),
    ]
    assert codes_of(findings) == ("result.ignored", "stream.cut")


def test_another_call_is_not_to_blame() -> None:
    shared = [finding("stream.args_truncated", "", call=0), finding("args.schema.type", "", call=1)]
    assert set(codes_of(in_order(shared))) == {"stream.args_truncated", "args.schema.type"}


def test_every_rule_names_codes_of_the_catalogue() -> None:
    known = {kind.code for kind in catalogue()} | {"args.schema.minLength", "args.schema.pattern"}
    for rule in CONSEQUENCES:
        assert rule.cause in known
        for code in rule.follows:
            assert any(one == code or one.startswith(f"{code}.") for one in known), code
