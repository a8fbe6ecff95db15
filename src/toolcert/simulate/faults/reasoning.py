"""Reasoning in the wrong place."""

from __future__ import annotations

import re

from toolcert.core.values import JsonObject
from toolcert.simulate.faults.base import Stage, calls, fault, message, say
from toolcert.simulate.situations import A_RESULT, WORDS
from toolcert.simulate.traffic import Ask, Raw, error

THOUGHTS = "The user asks for something simple. I should answer briefly and to the point."

_LEAKS = {
    "closing": "{}\n</thinking>\n\n{}",
    "channels": "<|channel|>analysis<|message|>{}<|end|><|start|>assistant<|channel|>final<|message|>{}",
    "stripped": "analysis{}assistantfinal{}",
}


@fault("reasoning.only", Stage.BODY, WORDS)
def only(body: JsonObject, _ask: Ask) -> JsonObject:
    """Sends reasoning and no answer."""
    return body if calls(body) else say(body, "", reasoning_content=THOUGHTS)


@fault(
    "reasoning.leaked",
    Stage.BODY,
    WORDS,
    probe_alone="people read around leaked thoughts, and a probe that asks for JSON cannot",
)
def leaked(body: JsonObject, ask: Ask) -> JsonObject:
    """Leaves its reasoning, with markup, in the text; option: a closing tag alone, or channels instead of tags."""
    if content := message(body).get("content"):
        message(body)["content"] = _LEAKS.get(ask.option, "<think>{}</think>\n\n{}").format(THOUGHTS, content)
    return body


@fault("reasoning.required_back", Stage.REQUEST, A_RESULT, probe="reasoning_back")
def required_back(body: JsonObject, ask: Ask) -> JsonObject | Raw:
    """Refuses a second turn that does not return the reasoning of the first."""
    for place, one in enumerate(ask.messages):
        if one.get("role") == "assistant" and one.get("tool_calls") and not one.get("reasoning_content"):
            where = f"messages[{place}].reasoning_content"
            text = "The `reasoning_content` in the thinking mode must be passed back to the API."
            return error(400, text, param=where, code="invalid_request_error")
    return body


@fault("reasoning.not_kept", Stage.BODY, A_RESULT, probe="reasoning_back")
def not_kept(body: JsonObject, ask: Ask) -> JsonObject:
    """Shows its reasoning, and drops it from the history before the model reads it."""
    message(body)["reasoning_content"] = THOUGHTS
    unread = sum(len(one.get("reasoning_content") or "") for one in ask.messages) // 3
    body["usage"]["prompt_tokens"] -= unread
    body["usage"]["total_tokens"] -= unread
    return body


def recalled(ask: Ask) -> str:
    """What a model that reads its own reasoning adds when it is asked for the number in it."""
    thoughts = [str(one.get("reasoning_content") or "") for one in ask.messages]
    number = re.search(r"\d{4}", " ".join(thoughts))
    return f" The number I chose is {number[0]}." if number and ask.after_result else ""
