"""Arguments that parse and break the tool's schema, one fault per keyword."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from toolcert.core.values import JsonObject
from toolcert.simulate.asking import Ask
from toolcert.simulate.brain.tools import Tool, offered, resolved, types_of
from toolcert.simulate.faults.base import Stage, fault
from toolcert.simulate.faults.shaping import arguments, calls, write
from toolcert.simulate.situations import A_CALL


def _break(body: JsonObject, ask: Ask, change: Callable[[JsonObject, Tool], JsonObject]) -> JsonObject:
    tools = {tool.name: tool for tool in offered(ask.body)}
    for call in calls(body):
        tool, value = tools.get(call["function"]["name"]), arguments(call)
        if tool is not None and isinstance(value, dict):
            call["function"]["arguments"] = write(change(value, tool))
    return body


def _with(tool: Tool, keyword: str) -> str | None:
    """A property whose schema uses the keyword."""
    properties = ((name, resolved(schema, tool.schema)) for name, schema in tool.properties.items())
    return next((name for name, schema in properties if keyword in schema), None)


def _of_type(tool: Tool, *kinds: str) -> str | None:
    properties = ((name, resolved(schema, tool.schema)) for name, schema in tool.properties.items())
    return next((name for name, schema in properties if set(types_of(schema)) & set(kinds)), None)


def _replaced(value: JsonObject, name: str | None, other: Any) -> JsonObject:
    return {**value, name: other} if name is not None else value


@fault("args.schema.required", Stage.BODY, A_CALL)
def required(body: JsonObject, ask: Ask) -> JsonObject:
    """Leaves out a required argument."""
    return _break(body, ask, lambda value, tool: {k: v for k, v in value.items() if k not in tool.required[:1]})


@fault("args.schema.type", Stage.BODY, A_CALL)
def wrong_type(body: JsonObject, ask: Ask) -> JsonObject:
    """Writes numbers as words, and words as numbers where there is no number."""

    def change(value: JsonObject, tool: Tool) -> JsonObject:
        number = _of_type(tool, "integer", "number")
        return _replaced(value, number, "several") if number else _replaced(value, _of_type(tool, "string"), 0)

    return _break(body, ask, change)


@fault("args.schema.enum", Stage.BODY, A_CALL)
def enum(body: JsonObject, ask: Ask) -> JsonObject:
    """Chooses a value that is not on the list."""
    return _break(body, ask, lambda value, tool: _replaced(value, _with(tool, "enum"), "elsewhere"))


@fault("args.schema.additionalProperties", Stage.BODY, A_CALL)
def additional_properties(body: JsonObject, ask: Ask) -> JsonObject:
    """Adds arguments that the tool does not know."""
    return _break(body, ask, lambda value, _tool: {**value, "comment": "as requested"})


@fault("args.schema.minimum", Stage.BODY, A_CALL)
def minimum(body: JsonObject, ask: Ask) -> JsonObject:
    """Goes below a number's lower bound."""
    return _break(body, ask, lambda value, tool: _replaced(value, _with(tool, "minimum"), -1))


@fault("args.schema.maximum", Stage.BODY, A_CALL)
def maximum(body: JsonObject, ask: Ask) -> JsonObject:
    """Goes above a number's upper bound."""
    return _break(body, ask, lambda value, tool: _replaced(value, _with(tool, "maximum"), 10**6))


@fault("args.schema.pattern", Stage.BODY, A_CALL)
def pattern(body: JsonObject, ask: Ask) -> JsonObject:
    """Ignores the pattern of a string."""
    return _break(body, ask, lambda value, tool: _replaced(value, _with(tool, "pattern"), "?? not so"))


@fault(
    "args.schema.minLength",
    Stage.BODY,
    A_CALL,
    companions={"args.schema.pattern": "an empty string cannot match a pattern that wants a letter"},
)
def min_length(body: JsonObject, ask: Ask) -> JsonObject:
    """Leaves a string empty that must not be."""
    return _break(body, ask, lambda value, tool: _replaced(value, _with(tool, "minLength"), ""))
