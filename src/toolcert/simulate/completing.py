"""From a thought to the body of a chat completion, cut where the token limit says so."""

from __future__ import annotations

import json
import random
import string
import time
from collections.abc import Callable

from toolcert.core.values import JsonObject
from toolcert.simulate.asking import Ask
from toolcert.simulate.brain import Call, Thought
from toolcert.simulate.tokens import call_tokens, pieces, prompt_tokens, usage

_ALPHABET = string.ascii_letters + string.digits


class Identity:
    """Where ids come from; seeded, so that a vendor's whole life can be repeated."""

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
    """The whole answer as a server that does not stream would send it."""
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
    """What of an answer fits into the limit: the text first, then calls, the last one torn."""
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
