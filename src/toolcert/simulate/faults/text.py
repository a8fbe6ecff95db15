"""Text that is not what was asked for: empty, endless, not JSON, or with the reasoning in it."""

from __future__ import annotations

import json
import re

from toolcert.core.values import JsonObject
from toolcert.simulate.brain.dialogue import as_json
from toolcert.simulate.faults.base import Stage, calls, fault, finish, message, say
from toolcert.simulate.situations import A_RESULT, JSON_OBJECT, WORDS
from toolcert.simulate.traffic import Ask, Raw, error


@fault("text.empty", Stage.BODY, WORDS)
def empty(body: JsonObject, _ask: Ask) -> JsonObject:
    """Answers with nothing where text is due."""
    return body if calls(body) else say(body, "")


@fault(
    "text.degenerate",
    Stage.BODY,
    WORDS,
    probe_alone="a text may repeat itself for a reason, and a probe knows which answer it wants",
)
def degenerate(body: JsonObject, ask: Ask) -> JsonObject:
    """Falls into a loop; option: writes one mark or one token without meaning, over and over."""
    loop = {"marks": "!" * 300, "unknown": "<unk>" * 60}.get(ask.option, "blue and green and " * 60)
    if not calls(body):
        message(body)["content"] = f"The colours are {loop}"
    return body


@fault(
    "text.special_tokens",
    Stage.BODY,
    WORDS,
    probe_alone="people read around a stray token, and a probe that asks for JSON cannot",
)
def special_tokens(body: JsonObject, ask: Ask) -> JsonObject:
    """Leaves the token that ends a turn in the text; option: another family's tokens."""
    before, after = {"llama": ("", "<|eot_id|>"), "mistral": ("[/INST] ", "</s>")}.get(ask.option, ("", "<|im_end|>"))
    if content := message(body).get("content"):
        message(body)["content"] = before + content + after
    return body


def _is_json(body: JsonObject) -> bool:
    return isinstance(as_json(message(body).get("content") or ""), (dict, list))


@fault(
    "json.fenced",
    Stage.BODY,
    JSON_OBJECT,
    probe_alone="many clients cut a fence off, and a probe asks for bare JSON",
)
def fenced(body: JsonObject, _ask: Ask) -> JsonObject:
    """Wraps JSON in a Markdown fence."""
    if _is_json(body):
        message(body)["content"] = f"```json\n{message(body)['content']}\n```"
    return body


@fault("json.invalid", Stage.BODY, JSON_OBJECT)
def invalid(body: JsonObject, _ask: Ask) -> JsonObject:
    """Leaves a trailing comma."""
    if _is_json(body):
        message(body)["content"] = message(body)["content"][:-1] + ", }"
    return body


@fault("json.ignored", Stage.BODY, JSON_OBJECT)
def ignored(body: JsonObject, _ask: Ask) -> JsonObject:
    """Answers in prose where JSON was wanted."""
    if _is_json(body):
        message(body)["content"] = "Sure! The person you describe is called Ada, is in her thirties and lives up north."
    return body


@fault("json.other_values", Stage.BODY, JSON_OBJECT, probe="json_object")
def other_values(body: JsonObject, _ask: Ask) -> JsonObject:
    """Gives the fields that were asked for, with other values."""
    value = as_json(message(body).get("content") or "")
    if isinstance(value, dict):
        changed = {name: one + 1 if isinstance(one, int) else f"no {one}" for name, one in value.items()}
        message(body)["content"] = json.dumps(changed)
    return body


@fault("json.whitespace", Stage.BODY, JSON_OBJECT)
def whitespace(body: JsonObject, ask: Ask) -> JsonObject:
    """Writes line breaks in JSON mode until the token limit ends it."""
    if ask.body.get("response_format") is not None:
        limit = ask.token_limit or 400
        message(body)["content"] = "{" + "\n" * (limit - 1)
        body["usage"] |= {"completion_tokens": limit, "total_tokens": body["usage"]["prompt_tokens"] + limit}
        finish(body, "length")
    return body


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
