"""What a strict vendor refuses: requests that break the protocol, in the order it looks at them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

from toolcert.core.values import JsonObject
from toolcert.simulate.answers import Raw, error
from toolcert.simulate.brain.dialogue import text_of
from toolcert.simulate.history import broken_history, malformed_turns

_ROLES = ("system", "developer", "user", "assistant", "tool", "function")
_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_MOST_TOOLS = 128


def misshapen(body: JsonObject) -> Raw | None:
    """The error for a body whose parts are not even of the right kind."""
    return _messages(body) or malformed_turns(body["messages"])


def refusal(body: JsonObject) -> Raw | None:
    """The error a strict vendor answers to a well-shaped body, or None."""
    return broken_history(body["messages"]) or next((wrong for rule in _RULES if (wrong := rule(body))), None)


def _messages(body: JsonObject) -> Raw | None:
    messages = body.get("messages")
    if messages is None:
        return error(
            400, "Missing required parameter: 'messages'.", param="messages", code="missing_required_parameter"
        )
    if not isinstance(messages, list) or not messages:
        message = "Invalid 'messages': expected an array with at least one message."
        return error(400, message, param="messages", code="invalid_type")
    for place, one in enumerate(messages):
        role = one.get("role") if isinstance(one, dict) else None
        if role not in _ROLES:
            where = f"messages[{place}].role"
            return error(
                400, f"Invalid value: '{role}'. Supported values are: {_ROLES}.", param=where, code="invalid_value"
            )
    return None


def _tools(body: JsonObject) -> Raw | None:
    tools = body.get("tools")
    if tools is None:
        return _needs_tools(body)
    if not isinstance(tools, list) or not tools:
        return error(400, "[] is too short - 'tools'", param="tools", code="empty_array")
    if len(tools) > _MOST_TOOLS:
        message = f"Invalid 'tools': array too long. Expected an array with maximum length {_MOST_TOOLS}."
        return error(400, message, param="tools", code="array_above_max_length")
    return next(_bad_tools(tools), None)


def _needs_tools(body: JsonObject) -> Raw | None:
    for name in ("tool_choice", "parallel_tool_calls"):
        if body.get(name) is not None and body.get(name) != "none":
            return error(
                400, f"Invalid value for '{name}': '{name}' is only allowed when 'tools' are specified.", param=name
            )
    return None


def _bad_tools(tools: list[Any]) -> Iterator[Raw]:
    for place, tool in enumerate(tools):
        function = tool.get("function") if isinstance(tool, dict) else None
        name = function.get("name") if isinstance(function, dict) else None
        where = f"tools[{place}].function.name"
        if not isinstance(function, dict) or not isinstance(name, str):
            yield error(400, f"Missing required parameter: '{where}'.", param=where, code="missing_required_parameter")
        elif not _NAME.fullmatch(name):
            message = (
                f"Invalid '{where}': string does not match pattern. Expected a string that matches '^[a-zA-Z0-9_-]+$'."
            )
            yield error(400, message, param=where, code="invalid_value")
        elif function.get("strict") is True and (wrong := _not_strict(function.get("parameters"))):
            message = f"Invalid schema for function '{name}': In context=(), {wrong}"
            yield error(400, message, param=f"tools[{place}].function.parameters", code="invalid_function_parameters")


def _not_strict(schema: Any) -> str:
    """Why a schema cannot be enforced strictly, after the reference API's rule."""
    if not isinstance(schema, dict):
        return ""
    properties = schema.get("properties") or {}
    if schema.get("additionalProperties") is not False:
        return "'additionalProperties' is required to be supplied and to be false."
    left_out = set(properties) - set(schema.get("required") or ())
    return f"'required' is required to include every key in properties. Missing: {sorted(left_out)}" if left_out else ""


def _choice(body: JsonObject) -> Raw | None:
    choice, tools = body.get("tool_choice"), body.get("tools") or []
    if isinstance(choice, dict):
        function = choice.get("function")
        name = function.get("name") if isinstance(function, dict) else None
        if not any(tool["function"]["name"] == name for tool in tools):
            return error(400, f"Tool choice '{name}' not found in 'tools' parameter.", param="tool_choice")
    elif choice not in (None, "auto", "none", "required"):
        message = f"Invalid value: '{choice}'. Supported values are: 'none', 'auto', and 'required'."
        return error(400, message, param="tool_choice", code="invalid_value")
    return None


def _numbers(body: JsonObject) -> Raw | None:
    for name in ("max_tokens", "max_completion_tokens"):
        limit = body.get(name)
        if limit is not None and (not isinstance(limit, int) or limit < 1):
            message = f"Invalid '{name}': integer below minimum value. Expected a value >= 1, but got {limit} instead."
            return error(400, message, param=name, code="integer_below_min_value")
    heat = body.get("temperature")
    if heat is not None and (not isinstance(heat, (int, float)) or not 0 <= heat <= 2):
        message = "Invalid 'temperature': expected a value between 0 and 2."
        return error(400, message, param="temperature", code="decimal_above_max_value")
    return None


def _streams(body: JsonObject) -> Raw | None:
    if body.get("stream_options") is not None and body.get("stream") is not True:
        message = "The 'stream_options' parameter is only allowed when 'stream' is enabled."
        return error(400, message, param="stream_options")
    return None


def _format(body: JsonObject) -> Raw | None:
    form = body.get("response_format")
    kind = form.get("type") if isinstance(form, dict) else None
    if form is not None and kind not in ("text", "json_object", "json_schema"):
        return error(400, f"Invalid value: '{kind}'.", param="response_format.type", code="invalid_value")
    if kind == "json_object" and not any("json" in text_of(m.get("content")).lower() for m in body["messages"]):
        message = (
            "'messages' must contain the word 'json' in some form, to use 'response_format' of type 'json_object'."
        )
        return error(400, message, param="messages")
    return None


_RULES: tuple[Callable[[JsonObject], Raw | None], ...] = (_tools, _choice, _numbers, _streams, _format)
