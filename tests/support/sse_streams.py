"""Streams as servers send them, built from their parts."""

from __future__ import annotations

import json
from typing import Any

from toolcert.core.exchanges import Exchange, Fault, Reply
from toolcert.core.requests import Request, RequestKind
from toolcert.protocol.reply import read_reply

DONE = b"data: [DONE]\n\n"
USAGE = {"prompt_tokens": 8, "completion_tokens": 5, "total_tokens": 13}


def chunk(delta: Any = None, finish: Any = None, **fields: Any) -> dict[str, Any]:
    """One chunk with one choice; `fields` add to or replace what a faithful server sends."""
    choices = [{"index": 0, "delta": delta if delta is not None else {}, "finish_reason": finish}]
    body = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": choices}
    return body | fields


def event(value: Any) -> bytes:
    return b"data: " + json.dumps(value).encode() + b"\n\n"


def stream(*chunks: Any, end: bytes = DONE) -> bytes:
    return b"".join(map(event, chunks)) + end


def piece(index: Any = 0, *, call_id: Any = None, name: Any = None, arguments: Any = None, **more: Any) -> Any:
    """One entry of a delta's `tool_calls`; what is None is left out."""
    function = {field: value for field, value in (("name", name), ("arguments", arguments)) if value is not None}
    labels = {"index": index, "id": call_id, "type": "function" if call_id else None}
    return {field: value for field, value in labels.items() if value is not None} | {"function": function} | more


def calls(*pieces: Any) -> dict[str, Any]:
    return chunk({"tool_calls": list(pieces)})


FIRST = chunk({"role": "assistant", "content": None})
LAST = chunk({}, "tool_calls")
USED = chunk(choices=[], usage=USAGE)


def call_stream(*middle: Any, end: bytes = DONE) -> bytes:
    """A stream of calls: `middle` between the role and the finish reason."""
    return stream(FIRST, *middle, LAST, end=end)


def weather(index: Any = 0, call_id: Any = "call_1", city: str = "Paris") -> list[dict[str, Any]]:
    """A call as it should be streamed."""
    return [
        calls(piece(index, call_id=call_id, name="weather", arguments="")),
        calls(piece(index, arguments='{"city":')),
        calls(piece(index, arguments=f'"{city}"}}')),
    ]


def read(
    payload: bytes,
    *,
    event_stream: bool = True,
    status: int = 200,
    fault: Fault | None = None,
    headers: dict[str, str] | None = None,
    kind: RequestKind = RequestKind.CHAT,
    **body: Any,
) -> Reply:
    """What the reader makes of an answer to a request with `body`."""
    request = Request(body={"model": "m", "messages": [], "stream": event_stream} | body, kind=kind)
    exchange = Exchange(
        request=request,
        status=status,
        payload=payload,
        event_stream=event_stream,
        fault=fault,
        headers=headers or {},
    )
    return read_reply(exchange)


def codes(reply: Reply) -> list[str]:
    return [irregularity.code for irregularity in reply.irregularities]


def evidence(reply: Reply) -> str:
    return " | ".join(irregularity.evidence for irregularity in reply.irregularities)
