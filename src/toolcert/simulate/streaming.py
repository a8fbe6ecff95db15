"""From the body of an answer to the events of a stream."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from toolcert.core.values import JsonObject
from toolcert.simulate.tokens import pieces

DONE = b"data: [DONE]\n\n"


def chunks(body: JsonObject, *, wants_usage: bool) -> list[JsonObject]:
    """The answer in pieces of a few characters, as a server sends it."""
    choice = body["choices"][0]
    deltas = [*_deltas(choice["message"]), {}]
    head: JsonObject = {"id": body["id"], "object": "chat.completion.chunk"}
    head |= {key: body[key] for key in ("created", "model", "system_fingerprint") if key in body}
    events = [_event(head, delta, None) for delta in deltas[:-1]]
    events.append(_event(head, deltas[-1], choice["finish_reason"]))
    if wants_usage:
        for event in events:
            event["usage"] = None
        events.append({**head, "choices": [], "usage": body.get("usage")})
    return events


def _event(head: JsonObject, delta: JsonObject, reason: Any) -> JsonObject:
    choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": reason}
    return {**head, "choices": [choice]}


def _deltas(message: JsonObject) -> Iterator[JsonObject]:
    content, calls = message.get("content"), message.get("tool_calls")
    yield {"role": message.get("role", "assistant"), "content": None if calls and not content else "", "refusal": None}
    for piece in pieces(message.get("reasoning_content") or ""):
        yield {"reasoning_content": piece}
    for piece in pieces(content or ""):
        yield {"content": piece}
    if calls == []:
        yield {"tool_calls": []}
    for index, call in enumerate(calls or ()):
        yield from _call_deltas(index, call)


def _call_deltas(index: int, call: JsonObject) -> Iterator[JsonObject]:
    function = call.get("function", {})
    arguments = function.get("arguments")
    if not isinstance(arguments, str):
        yield {"tool_calls": [{"index": index, **call}]}
        return
    yield {"tool_calls": [{"index": index, **call, "function": {**function, "arguments": ""}}]}
    for piece in pieces(arguments):
        yield {"tool_calls": [{"index": index, "function": {"arguments": piece}}]}


def frames(events: list[JsonObject]) -> list[bytes]:
    """The events as bytes, and the marker that ends them."""
    return [*(frame(event) for event in events), DONE]


def frame(event: Any) -> bytes:
    """One event as a server writes it."""
    return b"data: " + msgspec.json.encode(event) + b"\n\n"
