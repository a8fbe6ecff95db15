"""Arguments that no client can use, and arguments that parse but break the tool's schema."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

from toolcert.core.values import JsonObject
from toolcert.simulate.brain.offered_tool import Tool, offered, resolved, types_of
from toolcert.simulate.faults.base import STREAM, Stage, arguments, calls, each_arguments, fault, write
from toolcert.simulate.situations import A_CALL, LARGE_SCHEMA, LEGAL_SCHEMA, LONG_NAME, STRICT
from toolcert.simulate.traffic import Ask, Raw, error

_FEATURES = re.compile(r'"(?:\$ref|anyOf|oneOf|allOf|pattern|nullable)"')


@fault("args.invalid_json", Stage.BODY, A_CALL)
def invalid_json(body: JsonObject, _ask: Ask) -> JsonObject:
    """Writes arguments the way another language prints them."""
    return each_arguments(body, lambda text: text.replace('"', "'"))


@fault("args.empty", Stage.BODY, A_CALL)
def empty(body: JsonObject, _ask: Ask) -> JsonObject:
    """Loses all arguments."""
    return each_arguments(body, lambda _text: "")


@fault("args.not_string", Stage.BODY, A_CALL)
def not_string(body: JsonObject, _ask: Ask) -> JsonObject:
    """Sends arguments as an object."""
    for call in calls(body):
        call["function"]["arguments"] = arguments(call)
    return body


@fault("args.key_duplicate", Stage.BODY, A_CALL)
def key_duplicate(body: JsonObject, ask: Ask) -> JsonObject:
    """Writes the first key of the arguments twice, with another value before; option `equal`: with the same value."""

    def again(text: str) -> str:
        value = json.loads(text)
        if not isinstance(value, dict) or not value:
            return text
        key = next(iter(value))
        first = {key: value[key] if ask.option == "equal" else None}
        return f"{write(first)[:-1]}, {text[1:]}"

    return each_arguments(body, again)


@fault("args.double_encoded", Stage.BODY, A_CALL)
def double_encoded(body: JsonObject, _ask: Ask) -> JsonObject:
    """Writes the arguments as JSON inside a JSON string."""
    return each_arguments(body, lambda text: json.dumps(text, ensure_ascii=False))


@fault("args.escaped", Stage.BODY, A_CALL)
def escaped(body: JsonObject, ask: Ask) -> JsonObject:
    """Escapes every non-ASCII letter; option `twice`: escapes the escape as well."""
    extra = "\\" if ask.option == "twice" else ""

    def escape(letter: str) -> str:
        return letter if letter.isascii() else json.dumps(letter)[1:-1].replace("\\u", f"{extra}\\u")

    return each_arguments(body, lambda text: "".join(map(escape, text)))


@fault("args.altered", Stage.BODY, A_CALL)
def altered(body: JsonObject, ask: Ask) -> JsonObject:
    """Reads the letters beyond ASCII in a wrong encoding; option: replaces or drops them, or drops emoji."""
    put = {"lost": "\N{REPLACEMENT CHARACTER}", "question": "?", "dropped": "", "emoji": ""}.get(ask.option)

    def change(letter: str) -> str:
        kept = letter.isascii() or (ask.option == "emoji" and letter.isalpha())
        return letter if kept else letter.encode().decode("latin-1") if put is None else put

    return each_arguments(body, lambda text: "".join(map(change, text)))


@fault("args.doubled", Stage.BODY, A_CALL)
def doubled(body: JsonObject, _ask: Ask) -> JsonObject:
    """Writes the arguments twice in one string."""
    return each_arguments(body, lambda text: text + text)


@fault(
    "args.lost",
    Stage.BODY,
    A_CALL,
    modes=STREAM,
    probe="stream_twin",
    companions={
        "args.empty": "the streamed answer alone shows that arguments are missing",
        "stream.differs": "what one twin has and the other lacks is a difference",
    },
)
def lost(body: JsonObject, _ask: Ask) -> JsonObject:
    """Loses the arguments when it streams."""
    return each_arguments(body, lambda _text: "")


@fault("schema.valid_rejected", Stage.REQUEST, LEGAL_SCHEMA, probe="schema_ladder")
def valid_rejected(body: JsonObject, ask: Ask) -> JsonObject | Raw:
    """Refuses tools whose schema uses references, alternatives or patterns."""
    found = _FEATURES.search(json.dumps(ask.tools))
    if found is None:
        return body
    return error(400, f"Unsupported schema: the keyword {found[0]} is not supported in 'tools'.", param="tools")


@fault("schema.name_rejected", Stage.REQUEST, LONG_NAME, probe="long_names")
def name_rejected(body: JsonObject, ask: Ask) -> JsonObject | Raw:
    """Refuses tool names of more than 30 characters, or of more than the option says."""
    most = int(ask.option) if ask.option.isdecimal() else 30
    if all(len(tool["function"]["name"]) <= most for tool in ask.tools):
        return body
    return error(400, f"Invalid 'tools': a name is longer than {most} characters.", param="tools")


@fault("schema.size_limit", Stage.REQUEST, LARGE_SCHEMA, probe="schema_size")
def size_limit(body: JsonObject, ask: Ask) -> JsonObject | Raw:
    """Refuses more than 40 KB of schemas, or more than the option says."""
    most = int(ask.option) if ask.option.isdecimal() else 40
    if len(json.dumps(ask.tools, ensure_ascii=False)) <= most << 10:
        return body
    return error(400, "The tool definitions are too large.", param="tools")


@fault(
    "schema.strict_unenforced",
    Stage.BODY,
    STRICT,
    probe="strict",
    companions={"args.schema.additionalProperties": "a schema that is not enforced is broken somewhere"},
)
def strict_unenforced(body: JsonObject, ask: Ask) -> JsonObject:
    """Accepts `strict` and writes what it likes."""
    strict = {tool["function"]["name"] for tool in ask.tools if tool["function"].get("strict") is True}
    for call in calls(body):
        if call["function"]["name"] in strict and isinstance(value := arguments(call), dict):
            call["function"]["arguments"] = write({**value, "comment": "as requested"})
    return body


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
    return next((name for name, one in properties if "type" in one and set(types_of(one)) & set(kinds)), None)


def _replaced(value: JsonObject, name: str | None, other: Any) -> JsonObject:
    return {**value, name: other} if name is not None else value


@fault("args.schema.required", Stage.BODY, A_CALL)
def required(body: JsonObject, ask: Ask) -> JsonObject:
    """Leaves out a required argument."""
    return _break(body, ask, lambda value, tool: {k: v for k, v in value.items() if k not in tool.required[:1]})


@fault("args.schema.type", Stage.BODY, A_CALL)
def wrong_type(body: JsonObject, ask: Ask) -> JsonObject:
    """Writes a number as a word, or a word as a number if the tool has no number."""

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
    """Sends an empty string that is shorter than allowed."""
    return _break(body, ask, lambda value, tool: _replaced(value, _with(tool, "minLength"), ""))
