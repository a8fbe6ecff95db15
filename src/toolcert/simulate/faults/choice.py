"""Instructions about calling that are not followed."""

from __future__ import annotations

from toolcert.core.values import JsonObject
from toolcert.simulate.faults.base import SeenBy, Stage, calls, fault, message, say
from toolcert.simulate.situations import A_CALL, NAMED, NONE, ONE_AT_A_TIME, REQUIRED, TWO_CALLS, WORDS
from toolcert.simulate.traffic import Ask, Raw, error


def _without(body: JsonObject, field: str) -> JsonObject:
    return {key: value for key, value in body.items() if key != field}


@fault("choice.required_ignored", Stage.REQUEST, REQUIRED)
def required_ignored(body: JsonObject, _ask: Ask) -> JsonObject:
    """Treats `required` like `auto`."""
    return _without(body, "tool_choice") if body.get("tool_choice") == "required" else body


@fault("choice.none_ignored", Stage.REQUEST, NONE)
def none_ignored(body: JsonObject, _ask: Ask) -> JsonObject:
    """Treats `none` like `auto`."""
    return _without(body, "tool_choice") if body.get("tool_choice") == "none" else body


@fault("choice.named_ignored", Stage.REQUEST, NAMED)
def named_ignored(body: JsonObject, _ask: Ask) -> JsonObject:
    """Treats a named function like `auto`."""
    return _without(body, "tool_choice") if isinstance(body.get("tool_choice"), dict) else body


@fault("choice.rejected", Stage.REQUEST, REQUIRED, probe="choice_required")
def rejected(body: JsonObject, _ask: Ask) -> JsonObject | Raw:
    """Refuses every `tool_choice` but `auto` and `none`."""
    choice = body.get("tool_choice")
    if choice in (None, "auto", "none"):
        return body
    written = "required" if choice == "required" else "a named function"
    message = f"Unsupported value: 'tool_choice' does not support {written} with this model."
    return error(400, message, param="tool_choice", code="unsupported_value")


@fault("parallel.flag_ignored", Stage.REQUEST, ONE_AT_A_TIME)
def flag_ignored(body: JsonObject, _ask: Ask) -> JsonObject:
    """Makes several calls although told to make one."""
    return _without(body, "parallel_tool_calls")


@fault("parallel.merged", Stage.BODY, TWO_CALLS)
def merged(body: JsonObject, _ask: Ask) -> JsonObject:
    """Merges several calls into one."""
    found = calls(body)
    if len(found) > 1:
        found[0]["function"]["arguments"] = "".join(call["function"]["arguments"] for call in found)
        message(body)["tool_calls"] = found[:1]
    return body


@fault("trigger.over", Stage.REQUEST, WORDS, seen_by=SeenBy.COMPARISON)
def over(body: JsonObject, ask: Ask) -> JsonObject:
    """Calls a tool where others would answer in words."""
    eager = bool(ask.tools) and not ask.after_result and body.get("tool_choice") in (None, "auto")
    return {**body, "tool_choice": "required"} if eager else body


@fault("trigger.under", Stage.BODY, A_CALL, seen_by=SeenBy.COMPARISON)
def under(body: JsonObject, ask: Ask) -> JsonObject:
    """Answers in words instead of every third call."""
    lazy = bool(calls(body)) and ask.dice.random() < 1 / 3
    return say(body, "I could look that up for you, if you like.") if lazy else body
