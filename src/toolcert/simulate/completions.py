"""Raw completions: a prompt already rendered by a chat template, answered in the model's own markup."""

from __future__ import annotations

import re
from typing import Any

from toolcert.core.values import JsonObject
from toolcert.simulate.answers import Answer, Events, as_json, error
from toolcert.simulate.asking import Ask
from toolcert.simulate.brain import think
from toolcert.simulate.brain.text import literals
from toolcert.simulate.completing import Identity, complete
from toolcert.simulate.faults.calls import markup
from toolcert.simulate.streaming import frames
from toolcert.simulate.tokens import pieces

_TURN = re.compile(
    r"<\|im_user\|>\w*<\|im_middle\|>(?P<kimi>.*?)<\|im_end\|>|<\|im_start\|>user\n(?P<chatml>.*?)<\|im_end\|>", re.S
)


def complete_raw(body: JsonObject, identity: Identity) -> Answer:
    """The answer to a completions request; tools and the last user turn are read back from the prompt."""
    prompt = body.get("prompt")
    if not isinstance(prompt, str) or not prompt:
        return error(400, "Missing required parameter: 'prompt'.", param="prompt", code="missing_required_parameter")
    chat = {"model": body.get("model"), "messages": [{"role": "user", "content": _last_turn(prompt)}]}
    tools = _tools(prompt)
    ask = Ask({**chat, "tools": tools} if tools else chat)
    whole = complete(ask, think(ask.body), identity)
    message = whole["choices"][0]["message"]
    text = markup(message["tool_calls"], "kimi") if message.get("tool_calls") else message["content"]
    return _sent(whole, text, body)


def _sent(whole: JsonObject, text: str, body: JsonObject) -> Answer:
    limit, reason = body.get("max_tokens"), "stop"
    cut = pieces(text)
    if isinstance(limit, int) and len(cut) > limit:
        cut, reason = cut[:limit], "length"
    head = {"id": whole["id"].replace("chatcmpl-", "cmpl-"), "object": "text_completion"}
    head |= {name: whole[name] for name in ("created", "model", "system_fingerprint")}
    if body.get("stream") is not True:
        return as_json({**head, "choices": [_choice("".join(cut), reason)], "usage": whole["usage"]})
    events: list[JsonObject] = [{**head, "choices": [_choice(piece, None)]} for piece in cut]
    events.append({**head, "choices": [_choice("", reason)]})
    if (body.get("stream_options") or {}).get("include_usage"):
        events.append({**head, "choices": [], "usage": whole["usage"]})
    return Events(frames=frames(events))


def _choice(text: str, reason: str | None) -> JsonObject:
    return {"index": 0, "text": text, "logprobs": None, "finish_reason": reason}


def _last_turn(prompt: str) -> str:
    turns = [match["kimi"] or match["chatml"] or "" for match in _TURN.finditer(prompt)]
    return turns[-1] if turns else prompt[-2000:]


def _tools(prompt: str) -> list[Any]:
    """The list of tools that a template wrote into the prompt."""
    for literal in literals(prompt):
        value = literal.value
        if isinstance(value, list) and value and all(isinstance(one, dict) and "function" in one for one in value):
            return value
    return []
