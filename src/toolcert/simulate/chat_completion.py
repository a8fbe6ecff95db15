"""Turn a thought into a chat completion: its tokens, its body, and the events of its stream."""

from __future__ import annotations

import json
import random
import re
import string
import time
from collections.abc import Callable, Iterator
from typing import Any

import msgspec

from toolcert.core.values import JsonObject
from toolcert.simulate.brain.thought import Call, Thought
from toolcert.simulate.traffic import Ask

_PIECE = re.compile(r"\s?[^\W\d_]{1,6}|\d{1,3}|\s|.", re.S)
_CALL_OVERHEAD = 4
"""Tokens per call for markup that the client never sees."""
_BYTES_PER_TOKEN = 4


def pieces(text: str) -> list[str]:
    """Split a text into tokens of a few characters."""
    return _PIECE.findall(text)


def call_tokens(name: str, arguments: str) -> int:
    """The number of tokens of a call."""
    return _CALL_OVERHEAD + len(pieces(name)) + len(pieces(arguments))


def prompt_tokens(ask: Ask) -> int:
    """The number of tokens of the request."""
    return 7 + 3 * len(ask.messages) + len(ask.prompt) // _BYTES_PER_TOKEN


def usage(prompt: int, completion: int, reasoning: int = 0) -> JsonObject:
    """The `usage` object of an answer."""
    return {
        "prompt_tokens": prompt,
        "completion_tokens": completion,
        "total_tokens": prompt + completion,
        "prompt_tokens_details": {"cached_tokens": 0, "audio_tokens": 0},
        "completion_tokens_details": {"reasoning_tokens": reasoning, "audio_tokens": 0},
    }


_ALPHABET = string.ascii_letters + string.digits


class Identity:
    """Creates ids from a seed, so that everything a vendor sends can be reproduced."""

    def __init__(self, seed: int = 1) -> None:
        self._dice = random.Random(seed)
        self.fingerprint = f"fp_{random.Random(f'fingerprint {seed}').getrandbits(40):010x}"

    def _word(self, length: int) -> str:
        return "".join(self._dice.choices(_ALPHABET, k=length))

    def completion_id(self) -> str:
        return f"chatcmpl-{self._word(29)}"

    def call_id(self) -> str:
        return f"call_{self._word(24)}"


def complete(ask: Ask, thought: Thought, identity: Identity) -> JsonObject:
    """The complete answer, as sent without streaming."""
    content, calls, reason = thought.content, [_call(call, identity.call_id) for call in thought.calls], "stop"
    if calls and not thought.named:
        reason = "tool_calls"
    spent = len(pieces(content or "")) + sum(_cost(call) for call in calls)
    limit = ask.token_limit
    if limit is not None and spent > limit:
        content, calls = _cut(content, calls, limit)
        reason, spent = "length", limit
    return {
        "id": identity.completion_id(),
        "object": "chat.completion",
        "created": int(time.time()),
        "model": ask.model,
        "choices": [{"index": 0, "message": _message(content, calls), "logprobs": None, "finish_reason": reason}],
        "usage": usage(prompt_tokens(ask), spent),
        "system_fingerprint": identity.fingerprint,
    }


def _message(content: str | None, calls: list[JsonObject]) -> JsonObject:
    message: JsonObject = {"role": "assistant", "content": content, "refusal": None}
    if calls:
        message["tool_calls"] = calls
    return message


def _call(call: Call, call_id: Callable[[], str]) -> JsonObject:
    arguments = json.dumps(call.arguments, ensure_ascii=False)
    return {"id": call_id(), "type": "function", "function": {"name": call.name, "arguments": arguments}}


def _cost(call: JsonObject) -> int:
    return call_tokens(call["function"]["name"], call["function"]["arguments"])


def _cut(content: str | None, calls: list[JsonObject], limit: int) -> tuple[str | None, list[JsonObject]]:
    """The part of an answer that fits into the token limit: text first, then calls, the last one truncated."""
    if content:
        content = "".join(pieces(content)[:limit])
        limit -= len(pieces(content))
    kept = []
    for call in calls:
        head = call_tokens(call["function"]["name"], "")
        if limit <= head:
            break
        torn = "".join(pieces(call["function"]["arguments"])[: limit - head])
        kept.append({**call, "function": {**call["function"], "arguments": torn}})
        limit -= _cost(call)
    return (content if content or kept else ""), kept


DONE = b"data: [DONE]\n\n"


def chunks(body: JsonObject, *, wants_usage: bool) -> list[JsonObject]:
    """The chunks of the streamed answer, a few characters each."""
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
    """The events of a stream as bytes, followed by the end marker."""
    return [*(frame(event) for event in events), DONE]


def frame(event: Any) -> bytes:
    """One event of a stream as bytes."""
    return b"data: " + msgspec.json.encode(event) + b"\n\n"
