"""Whether the messages of a conversation hang together: every result answers a call, every call is answered."""

from __future__ import annotations

from typing import Any

from toolcert.core.values import JsonObject
from toolcert.simulate.answers import Raw, error


def malformed_turns(messages: list[JsonObject]) -> Raw | None:
    """The error for past calls that are no calls."""
    for place, message in enumerate(messages):
        calls = message.get("tool_calls")
        if calls is not None and not (isinstance(calls, list) and all(_well_formed(call) for call in calls)):
            return _malformed(place)
    return None


def broken_history(messages: list[JsonObject]) -> Raw | None:
    """The error for calls without results, results without calls, and turns that say nothing."""
    waiting: list[Any] = []
    for place, message in enumerate(messages):
        role = message["role"]
        if role == "tool":
            if message.get("tool_call_id") not in waiting:
                return _orphan(place)
            waiting.remove(message["tool_call_id"])
            continue
        if waiting:
            return _unanswered(place - 1, waiting)
        if role == "assistant":
            calls = message.get("tool_calls") or []
            waiting = [call.get("id") for call in calls]
            if not calls and message.get("content") is None:
                return _empty_turn(place)
    return _unanswered(len(messages) - 1, waiting) if waiting else None


def _well_formed(call: Any) -> bool:
    """Whether a past call has a name and its arguments as text; whether that is JSON is the client's business."""
    function = call.get("function") if isinstance(call, dict) else None
    if not isinstance(function, dict) or not isinstance(function.get("name"), str):
        return False
    return isinstance(function.get("arguments", ""), str)


def _malformed(place: int) -> Raw:
    where = f"messages[{place}].tool_calls"
    return error(
        400,
        f"Invalid value for '{where}': every call needs a function with a name and its arguments as a string.",
        param=where,
        code="invalid_value",
    )


def _orphan(place: int) -> Raw:
    message = (
        "Invalid parameter: messages with role 'tool' must be a response to a preceding message with 'tool_calls', "
        "and carry the id of one of its calls."
    )
    return error(400, message, param=f"messages[{place}].tool_call_id")


def _unanswered(place: int, waiting: list[Any]) -> Raw:
    ids = ", ".join(str(one) for one in waiting)
    message = (
        "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. "
        f"The following tool_call_ids did not have response messages: {ids}"
    )
    return error(400, message, param=f"messages[{place}].role")


def _empty_turn(place: int) -> Raw:
    return error(400, "Invalid value for 'content': expected a string, got null.", param=f"messages[{place}].content")
