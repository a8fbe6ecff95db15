"""The reply in an exchange, read without repairing anything: plain JSON here, event streams in `stream`.

The readers themselves note what only the raw answer shows: envelope.not_openai, envelope.byte_order_mark, stream.cut,
stream.index_missing, stream.index_shared, stream.index_gap, stream.fragment_misplaced,
stream.name_repeated, stream.error_inside, stream.usage_nonstandard, stream.framing and
stream.one_piece. All that the fields of the reply show is left to the checks.
"""

from __future__ import annotations

import json
import re
from typing import Any

import msgspec

from toolcert.core.exchanges import CallsField, Exchange, Reply, ToolCall, Unreadable
from toolcert.core.requests import RequestKind, function_of
from toolcert.core.text.excerpt import shown
from toolcert.core.text.json_text import BYTE_ORDER_MARK, MAX_DEPTH, nested_deeper_than
from toolcert.core.values import JsonObject
from toolcert.protocol.irregularity import Notices, choices_asked, error_in, leaves_nothing, legacy_call
from toolcert.protocol.stream import read_stream
from toolcert.protocol.unicode import NOT_JSON, text_of_parts, well_formed_throughout

_OUTSIDE = "envelope.not_openai"
_REFUSED = re.compile(rb'"refusal"\s*:\s*"[^"]')


class _NotOpenai(Exception):  # noqa: N818 - ends the reading of an answer; never leaves this module
    """The answer is not of the protocol's shape; the message is the evidence."""

    def __init__(self, rule: str, value: Any = msgspec.UNSET, *, kind: Unreadable = Unreadable.SHAPE) -> None:
        """`rule` says what is wrong without the values of this answer, `value` is what shows it."""
        super().__init__(rule if value is msgspec.UNSET else f"{rule}: {shown(value)}")
        self.rule = rule
        self.kind = kind


def read_plain(exchange: Exchange) -> Reply:
    """The answer in a body of JSON, or an unreadable one with the reason noted."""
    notices = Notices()
    try:
        value = _decode(exchange, notices)
        return _reply(value, exchange, notices)
    except _NotOpenai as problem:
        notices.note(_OUTSIDE, str(problem), rule=problem.rule)
        return Reply(readable=False, unreadable=problem.kind, irregularities=notices.irregularities())


def _decode(exchange: Exchange, notices: Notices) -> Any:
    payload = exchange.payload.removeprefix(BYTE_ORDER_MARK)
    if nested_deeper_than(MAX_DEPTH, payload):
        raise _not_json(exchange)
    if len(payload) < len(exchange.payload):
        notices.note("envelope.byte_order_mark", "the body begins with EF BB BF")
    try:
        return msgspec.json.decode(payload)
    except NOT_JSON:
        pass
    try:
        value = well_formed_throughout(json.loads(payload))
    except (ValueError, RecursionError):
        raise _not_json(exchange) from None
    # Python's parser takes what JSON does not allow; clients built on it go on, others stop here.
    evidence = "the body is JSON for lenient parsers only: lone surrogates, NaN or Infinity"
    notices.note(_OUTSIDE, evidence, rule="json")
    return value


def _not_json(exchange: Exchange) -> _NotOpenai:
    payload = exchange.payload.lstrip()
    if not payload:
        return _NotOpenai("the body is empty", kind=Unreadable.NOT_JSON)
    encoding = exchange.headers.get("content-encoding")
    if encoding and not payload.isascii():
        rule = f"the body has content-encoding {shown(encoding)}, which was not offered"
        return _NotOpenai(rule, kind=Unreadable.NOT_JSON)
    if payload[:1] == b"<":
        return _NotOpenai("the body is HTML or XML", payload, kind=Unreadable.PAGE)
    return _NotOpenai("the body is not JSON", payload, kind=Unreadable.NOT_JSON)


def _reply(value: Any, exchange: Exchange, notices: Notices) -> Reply:
    if exchange.request.stream and not exchange.from_file:
        notices.note("stream.framing", "a stream was asked for, and a plain body came", rule="plain")
    choice = _first_choice(value, exchange, notices)
    message = _message(choice, exchange.request.kind)
    if evidence := legacy_call(message.get("function_call"), exchange.request.body):
        notices.note(_OUTSIDE, evidence, rule="function_call")
    calls_field, calls = _calls(message, notices)
    reason = _text(choice, "finish_reason", notices)
    usage = value.get("usage")
    if usage is not None and not isinstance(usage, dict):
        notices.note(_OUTSIDE, f"usage is {shown(usage)}", rule="usage")
    return Reply(
        role=message.get("role"),
        content=_text(message, "content", notices),
        reasoning=_reasoning(message),
        tool_calls=calls,
        calls_field=calls_field,
        finish_reason=reason,
        finish_reasons=() if reason is None else (reason,),
        usage=usage if isinstance(usage, dict) else None,
        id=value.get("id"),
        model=value.get("model", value.get("model_id")),
        provider=value.get("provider"),
        system_fingerprint=value.get("system_fingerprint"),
        irregularities=notices.irregularities(),
    )


def _first_choice(value: Any, exchange: Exchange, notices: Notices) -> JsonObject:
    if not isinstance(value, dict):
        raise _NotOpenai("the body is no object", value)
    choices = value.get("choices")
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
        error = error_in(value)
        if error is not None:
            raise _NotOpenai(f"status {exchange.status} with an error", error, kind=Unreadable.ERROR)
        raise _NotOpenai("the body has no choices", value)
    if value.get("error"):
        notices.note(_OUTSIDE, f"an error beside the choices: {shown(value['error'])}", rule="error")
    elif choices[0].get("error"):
        notices.note(_OUTSIDE, f"an error inside the choice: {shown(choices[0]['error'])}", rule="error")
    if len(choices) > (asked := choices_asked(exchange.request.body)):
        notices.note(_OUTSIDE, f"{asked} choice asked for, {len(choices)} came", rule="choices")
    return choices[0]


def _message(choice: JsonObject, kind: RequestKind) -> JsonObject:
    """The message of a choice; a completion's text takes the place of content."""
    if kind is RequestKind.COMPLETIONS:
        if not isinstance(choice.get("text"), str):
            raise _NotOpenai("the choice has no text", choice)
        return {"content": choice["text"]}
    message = choice.get("message")
    if message is None and leaves_nothing(choice.get("error"), choice.get("finish_reason")):
        return {}
    if not isinstance(message, dict):
        raise _NotOpenai("the choice has no message", choice)
    return message


def _text(owner: JsonObject, field: str, notices: Notices) -> str | None:
    text = owner.get(field)
    if text is None or isinstance(text, str):
        return text
    notices.note(_OUTSIDE, f"{field} is {shown(text)}", rule=field)
    return text_of_parts(text)


def _reasoning(message: JsonObject) -> str | None:
    """The model's reasoning under either of the names in use; neither is part of the protocol."""
    for field in ("reasoning_content", "reasoning"):
        text = message.get(field)
        if isinstance(text, str) and text:
            return text
    return None


def _calls(message: JsonObject, notices: Notices) -> tuple[CallsField, tuple[ToolCall, ...]]:
    if "tool_calls" not in message:
        return CallsField.ABSENT, ()
    calls = message["tool_calls"]
    if calls is None:
        return CallsField.NULL, ()
    if not isinstance(calls, list):
        notices.note(_OUTSIDE, f"tool_calls is {shown(calls)}", rule="tool_calls")
        return CallsField.WRONG, ()
    return CallsField.LIST if calls else CallsField.EMPTY, tuple(_call(call, notices) for call in calls)


def _call(call: Any, notices: Notices) -> ToolCall:
    function = function_of(call)
    if function is None:
        notices.note(_OUTSIDE, f"a call without a function object: {shown(call)}", rule="call")
        function = {}
    if not isinstance(call, dict):
        return ToolCall(raw=call)
    return ToolCall(
        id=call.get("id"),
        type=call.get("type"),
        name=function.get("name"),
        arguments=function.get("arguments"),
        index=call.get("index"),
        raw=call,
    )


def declines(exchange: Exchange) -> bool:
    """Whether the model declines to answer, in the field that the protocol has for it; its content is null then."""
    return _REFUSED.search(exchange.payload) is not None


def read_reply(exchange: Exchange) -> Reply:
    """The first choice of an answer, plain or streamed, with every irregularity named."""
    return read_stream(exchange) if exchange.event_stream else read_plain(exchange)
