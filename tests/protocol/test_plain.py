"""Plain answers are read as they are; what is not of the protocol is said."""

from __future__ import annotations

import json
from typing import Any

import pytest

from support.sse_streams import USAGE, codes, evidence, read
from toolcert.core.exchanges import CallsField, Reply
from toolcert.core.requests import RequestKind

CALL = {"id": "call_1", "type": "function", "function": {"name": "weather", "arguments": '{"city":"Paris"}'}}


def body(message: Any = None, finish: Any = "stop", **fields: Any) -> dict[str, Any]:
    message = {"role": "assistant", "content": "hi"} if message is None else message
    choices = [{"index": 0, "message": message, "finish_reason": finish}]
    return {"id": "chatcmpl-1", "model": "m", "choices": choices, "usage": USAGE} | fields


def plain(value: Any, **options: Any) -> Reply:
    payload = value if isinstance(value, bytes) else json.dumps(value).encode()
    return read(payload, event_stream=False, **options)


def test_a_faithful_answer_is_read_without_a_word() -> None:
    reply = plain(
        body({"role": "assistant", "content": None, "tool_calls": [CALL]}, "tool_calls", system_fingerprint="fp")
    )
    (call,) = reply.tool_calls
    assert (call.id, call.type, call.name, call.arguments) == ("call_1", "function", "weather", '{"city":"Paris"}')
    assert (call.raw, call.index) == (CALL, None)
    assert (reply.role, reply.content, reply.finish_reason, reply.finish_reasons) == (
        "assistant",
        None,
        "tool_calls",
        ("tool_calls",),
    )
    assert (reply.id, reply.model, reply.usage, reply.system_fingerprint) == ("chatcmpl-1", "m", USAGE, "fp")
    assert (reply.streamed, reply.complete, reply.readable, reply.irregularities) == (False, True, True, ())


def test_the_model_may_be_named_in_the_watsonx_way() -> None:
    answer = body(model_id="ibm/granite")
    del answer["model"]
    assert plain(answer).model == "ibm/granite"


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning"])
def test_reasoning_is_kept_under_both_of_its_names(field: str) -> None:
    assert plain(body({"role": "assistant", "content": "ok", field: "hm"})).reasoning == "hm"


@pytest.mark.parametrize(
    ("written", "field"),
    [([], CallsField.EMPTY), (None, CallsField.NULL), ([CALL], CallsField.LIST), ({"a": 1}, CallsField.WRONG)],
)
def test_the_form_of_tool_calls_is_remembered(written: Any, field: CallsField) -> None:
    assert plain(body({"role": "assistant", "content": None, "tool_calls": written})).calls_field is field


def test_calls_are_kept_as_written() -> None:
    odd = {"id": 7, "type": None, "index": -1, "function": {"name": 3, "arguments": {"a": 1}}}
    (call,) = plain(body({"tool_calls": [odd]})).tool_calls
    assert (call.id, call.type, call.index, call.name, call.arguments, call.raw) == (7, None, -1, 3, {"a": 1}, odd)


def test_a_missing_finish_reason_stays_missing() -> None:
    reply = plain(body(finish=None))
    assert (reply.finish_reason, reply.finish_reasons, codes(reply)) == (None, (), [])


@pytest.mark.parametrize(
    ("payload", "words"),
    [
        (b"", "empty"),
        (b"  \n", "empty"),
        (b"<!doctype html><html>Bad gateway</html>", "HTML"),
        (b"upstream connect error", "not JSON"),
        (b'{"choices": [', "not JSON"),
        (b"[]", "no object"),
        (b'"hello"', "no object"),
        (b"null", "no object"),
        (b"{}", "no choices"),
        (b'{"choices": []}', "no choices"),
        (b'{"choices": null}', "no choices"),
        (b'{"choices": ["x"]}', "no choices"),
        (b'{"choices": [{"index": 0}]}', "no message"),
        (b'{"choices": [{"message": "hi"}]}', "no message"),
        (b'{"error": {"message": "overloaded"}}', "status 200 with an error"),
        (b'{"object": "error", "message": "overloaded", "code": 1}', "status 200 with an error"),
        (b'{"detail": "not found"}', "status 200 with an error"),
        (b"[" * 100_000, "not JSON"),
    ],
)
def test_what_is_not_of_the_protocol_is_unreadable_and_says_why(payload: bytes, words: str) -> None:
    reply = plain(payload)
    assert (reply.readable, codes(reply), reply.tool_calls) == (False, ["envelope.not_openai"], ())
    assert words in evidence(reply)


def test_an_encoding_that_was_not_offered_is_named() -> None:
    reply = plain(b"\x28\xb5\x2f\xfd\x00", headers={"content-encoding": "zstd"})
    assert "zstd" in evidence(reply)


@pytest.mark.parametrize(
    "answer",
    [
        body({"role": "assistant", "content": 7}),
        body({"role": "assistant", "content": None, "tool_calls": "call"}),
        body({"role": "assistant", "content": None, "tool_calls": [{"name": "f", "arguments": "{}"}]}),
        body({"role": "assistant", "content": None, "tool_calls": ["f"]}),
        body({"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": "{}"}}),
        body(finish=7),
        body(usage=[1]),
        body(error={"message": "partial"}),
        body(choices=[body()["choices"][0], body()["choices"][0]]),
    ],
)
def test_parts_that_are_not_of_the_protocol_are_noted_and_the_rest_is_read(answer: dict[str, Any]) -> None:
    reply = plain(answer)
    assert (reply.readable, codes(reply), reply.id) == (True, ["envelope.not_openai"], "chatcmpl-1")


def test_several_choices_are_regular_where_they_were_asked_for() -> None:
    answer = body(choices=[body()["choices"][0], body()["choices"][0]])
    assert codes(plain(answer, n=2)) == []


def test_content_in_parts_is_read_and_noted() -> None:
    reply = plain(body({"role": "assistant", "content": [{"type": "text", "text": "hi"}]}))
    assert (reply.content, codes(reply)) == ("hi", ["envelope.not_openai"])


def test_a_plain_answer_to_a_request_for_a_stream_is_noted() -> None:
    reply = plain(body(), stream=True)
    assert (reply.content, reply.streamed, codes(reply)) == ("hi", False, ["stream.framing"])


def test_lone_surrogates_are_replaced_and_said() -> None:
    reply = plain(
        rb'{"id":"x","choices":[{"message":{"role":"assistant","content":"a\ud83d"},"finish_reason":"stop"}]}'
    )
    assert (reply.content, codes(reply)) == ("a\ufffd", ["envelope.not_openai"])


def test_a_byte_order_mark_is_read_over_and_said() -> None:
    reply = plain(b"\xef\xbb\xbf" + json.dumps(body()).encode())
    assert (reply.content, codes(reply)) == ("hi", ["envelope.byte_order_mark"])


def test_nesting_that_only_the_lenient_parser_bears_is_unreadable() -> None:
    reply = plain(b'{"choices":[{"message":{"content":' + b"[" * 600 + b"NaN" + b"]" * 600 + b"}}]}")
    assert (reply.readable, codes(reply)) == (False, ["envelope.not_openai"])


def test_a_completion_is_text() -> None:
    answer = {"choices": [{"index": 0, "text": "<tool_call>", "finish_reason": "length"}], "usage": USAGE}
    reply = plain(answer, kind=RequestKind.COMPLETIONS)
    assert (reply.content, reply.finish_reason, reply.usage, codes(reply)) == ("<tool_call>", "length", USAGE, [])


def test_a_chat_answer_is_no_completion() -> None:
    assert plain(body(), kind=RequestKind.COMPLETIONS).readable is False
