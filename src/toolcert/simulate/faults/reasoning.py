"""Reasoning in the wrong place."""

from __future__ import annotations

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


@fault("reasoning.leaked", Stage.BODY, WORDS)
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


def with_reasoning(body: JsonObject, _ask: Ask) -> JsonObject:
    """Adds reasoning to the answer, as reasoning models do."""
    message(body)["reasoning_content"] = THOUGHTS
    return body
