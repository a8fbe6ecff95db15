"""A scenario file: every value knows its line, and every mistake is reported with it."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import yaml

from toolcert.core.errors import ScenarioError
from toolcert.core.requests import tool
from toolcert.core.schema.judge import SchemaJudge
from toolcert.core.text.spelling import did_you_mean
from toolcert.core.values import JsonObject
from toolcert.probes.scenarios.script import Accepted, ExpectedCall, ExpectedText, Scenario, misspelt
from toolcert.settings.toml_lines import Place, lines_of

MOST_VALUES = 20_000
"""With every alias written out: ten lines of YAML can stand for more values than there is memory."""


class Document:
    """A parsed file and the line of each value in it."""

    def __init__(self, path: Path, value: Any, lines: dict[Place, int]) -> None:
        self.path = path
        self.value = value
        self._lines = lines

    def error(self, place: Place, message: str, remedy: str = "") -> ScenarioError:
        """An error at a value, or at the nearest thing around it whose line is known."""
        while place and place not in self._lines:
            place = place[:-1]
        return ScenarioError(f"{self.path}:{self._lines.get(place, 1)}: {message}", remedy=remedy)


def read_document(path: Path) -> Document:
    """Read a scenario file; the suffix says which language it is in."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ScenarioError(
            f"cannot read {path}: {error}.", remedy="Check the path and the encoding (UTF-8)."
        ) from None
    try:
        return _read_toml(path, text) if path.suffix.lower() == ".toml" else _read_yaml(path, text)
    except RecursionError:
        raise ScenarioError(f"{path}: nested too deeply, or an alias inside itself.") from None


def _read_yaml(path: Path, text: str) -> Document:
    lines: dict[Place, int] = {}
    value = loader = None
    try:
        loader = yaml.SafeLoader(text)
        node = loader.get_single_node()
        if node is not None:
            _mark(path, node, (), lines)  # first, because building the value of a hostile file may never end
            value = loader.construct_document(node)
            _mark(path, node, (), lines)  # again, because merged keys (`<<`) have come to their places
    except yaml.YAMLError as error:
        mark, problem = getattr(error, "problem_mark", None), getattr(error, "problem", None)
        line = mark.line + 1 if mark else 1
        raise ScenarioError(f"{path}:{line}: not valid YAML: {problem or error}.") from None
    except (ValueError, OverflowError) as error:  # a date that does not exist, or a number beyond all bounds
        raise ScenarioError(f"{path}: not valid YAML: {error}.") from None
    finally:
        if loader is not None:
            loader.dispose()
    return Document(path, value, lines)


def _mark(path: Path, node: yaml.Node, place: Place, lines: dict[Place, int]) -> None:
    if len(lines) > MOST_VALUES:
        raise ScenarioError(f"{path}: more than {MOST_VALUES} values, with every alias written out.")
    lines.setdefault(place, node.start_mark.line + 1)
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            name = key.value if isinstance(key, yaml.ScalarNode) else ""
            lines[*place, name] = key.start_mark.line + 1
            _mark(path, value, (*place, name), lines)
    elif isinstance(node, yaml.SequenceNode):
        for position, value in enumerate(node.value):
            _mark(path, value, (*place, position), lines)


def _read_toml(path: Path, text: str) -> Document:
    try:
        value = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        line = re.search(r"at line (\d+)", str(error))
        raise ScenarioError(f"{path}:{line[1] if line else 1}: not valid TOML: {error}.") from None
    return Document(path, value, lines_of(text))


_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")
_ROLES = ("system", "developer", "user", "assistant", "tool")
_judge = SchemaJudge(max_schemas=64)


class Part:
    """A mapping of the file that is being read, with its place."""

    def __init__(self, document: Document, place: Place, value: Any, allowed: tuple[str, ...]) -> None:
        self.document = document
        self.place = place
        if not isinstance(value, dict):
            raise self.error("a mapping is expected here.")
        self.value: JsonObject = value
        for key in value:
            if key not in allowed:
                remedy = f"{did_you_mean(str(key), allowed)} Known: {', '.join(allowed)}.".lstrip()
                raise self.error(f"unknown key {key!r}.", str(key), remedy=remedy)

    def error(self, message: str, *inner: str | int, remedy: str = "") -> ScenarioError:
        """A mistake at this place or inside it."""
        return self.document.error((*self.place, *inner), message, remedy)

    def get(self, key: str, kind: type, what: str, default: Any = None) -> Any:
        """The value of a key, which must be of a kind."""
        if key not in self.value:
            return default
        value = self.value[key]
        if not isinstance(value, kind) or (kind is not bool and isinstance(value, bool)):
            raise self.error(f"{key} must be {what}.", key)
        return value

    def needed(self, key: str, kind: type, what: str) -> Any:
        """The value of a key that must be there."""
        if key not in self.value:
            raise self.error(f"{key} is missing: {what} is expected.")
        return self.get(key, kind, what)

    def texts(self, key: str) -> tuple[str, ...]:
        """A text or a list of texts."""
        value = self.value.get(key, [])
        listed = [value] if isinstance(value, str) else value
        if not isinstance(listed, list) or not all(isinstance(text, str) for text in listed):
            raise self.error(f"{key} must be a text or a list of texts.", key)
        return tuple(listed)

    def child(self, key: str, value: Any, *inner: int, allowed: tuple[str, ...]) -> Part:
        """A mapping below this one."""
        return Part(self.document, (*self.place, key, *inner), value, allowed)


def read_scenarios(document: Document) -> list[Scenario]:
    """All scenarios of a file: one at the top, or a list under `scenarios`."""
    if isinstance(document.value, dict) and "scenarios" in document.value:
        top = Part(document, (), document.value, ("scenarios",))
        listed = top.needed("scenarios", list, "a list of scenarios")
        return [_scenario(Part(document, ("scenarios", n), item, _KEYS)) for n, item in enumerate(listed)]
    return [_scenario(Part(document, (), document.value, _KEYS))]


_KEYS = ("name", "title", "meaning", "messages", "tools", "tools_from", "parameters", "expect", "results", "needs")
_EXPECTED = ("calls", "any_order", "extra_calls", "text")


def _scenario(part: Part) -> Scenario:
    name = part.needed("name", str, "a short name")
    if not _NAME.fullmatch(name):
        raise part.error(f"{name!r} is not a name for a scenario.", "name", remedy="Use letters, digits, _ - and dots.")
    if "tools_from" in part.value:
        raise part.error("tools from MCP servers are not supported yet.", "tools_from", remedy="List them in tools.")
    for place, written, meant in misspelt(part.value):
        raise part.error(f"{written} is not a placeholder.", *place, remedy=f"Did you mean {{{{{meant}}}}}?")
    tools = {entry["function"]["name"]: entry for entry in _tools(part)}
    expect = part.child("expect", part.needed("expect", dict, "what is expected of it"), allowed=_EXPECTED)
    calls, text = _calls(expect, tools), _text(expect)
    if calls is None and text is None:
        raise part.error("nothing is expected, so nothing could fail.", "expect", remedy="Give calls, text or both.")
    return Scenario(
        name=name,
        title=part.get("title", str, "a text", ""),
        meaning=part.get("meaning", str, "a text", ""),
        messages=_messages(part),
        tools=tuple(tools.values()),
        parameters=part.get("parameters", dict, "a mapping", {}),
        calls=calls,
        any_order=expect.get("any_order", bool, "true or false", True),
        extra_calls=expect.get("extra_calls", bool, "true or false", False),
        text=text,
        results=_results(part, tools),
        needs=part.texts("needs"),
    )


def _messages(part: Part) -> tuple[JsonObject, ...]:
    messages = part.needed("messages", list, "a list of messages")
    if not messages:
        raise part.error("messages is empty.", "messages")
    for number, message in enumerate(messages):
        role = message.get("role") if isinstance(message, dict) else None
        if role not in _ROLES:
            raise part.error(f"a message needs a role ({', '.join(_ROLES)}).", "messages", number)
        if "content" not in message and "tool_calls" not in message:
            raise part.error("a message needs content.", "messages", number)
    return tuple(messages)


def _tools(part: Part) -> list[JsonObject]:
    tools = [_tool(part, number, entry) for number, entry in enumerate(part.get("tools", list, "a list of tools", []))]
    names = [entry["function"]["name"] for entry in tools]
    for number, name in enumerate(names):
        if name in names[:number]:
            raise part.error(f"tool {name} is listed twice.", "tools", number)
    return tools


def _tool(part: Part, number: int, entry: Any) -> JsonObject:
    """A tool in the protocol's form, also from the short form without its wrapping."""
    function = entry.get("function") if isinstance(entry, dict) and entry.get("type") == "function" else entry
    inner = part.child("tools", function, number, allowed=("name", "description", "parameters", "strict"))
    parameters = inner.get("parameters", dict, "a JSON schema")
    fault = _judge.compile(parameters).fault if parameters else ""
    if fault:
        raise inner.error(f"the schema is not valid: {fault}.", "parameters")
    strict = {"strict": inner.get("strict", bool, "true or false")} if "strict" in inner.value else {}
    description = inner.get("description", str, "a text", "")
    return tool(inner.needed("name", str, "the tool's name"), description, parameters, **strict)


def _results(part: Part, tools: JsonObject) -> JsonObject:
    results: JsonObject = part.get("results", dict, "a mapping from tool to its answer", {})
    for name in results:
        if name not in tools:
            raise part.error(f"no tool {name!r} is offered.", "results", name, remedy=_offered(tools))
    return results


def _offered(tools: JsonObject) -> str:
    return f"Offered: {', '.join(tools) or 'none'}."


def _calls(expect: Part, tools: JsonObject) -> tuple[ExpectedCall, ...] | None:
    listed = expect.get("calls", list, "a list of calls (empty for none)")
    if listed is None:
        return None
    return tuple(_call(expect, number, entry, tools) for number, entry in enumerate(listed))


def _call(expect: Part, number: int, entry: Any, tools: JsonObject) -> ExpectedCall:
    part = expect.child("calls", entry, number, allowed=("name", "arguments"))
    name = part.needed("name", str, "the tool's name")
    if name not in tools:
        raise part.error(f"no tool {name!r} is offered.", "name", remedy=_offered(tools))
    arguments = part.get("arguments", dict, "a mapping from argument to accepted values", {})
    known = _closed_properties(tools[name])
    for key in arguments:
        if known and key not in known:
            raise part.error(
                f"tool {name} has no argument {key!r}.", "arguments", key, remedy=f"It has {', '.join(known)}."
            )
    return ExpectedCall(name=name, arguments={key: _accepted(part, key, arguments[key]) for key in arguments})


def _closed_properties(entry: JsonObject) -> JsonObject:
    """The arguments a tool names, where its schema leaves no other way to have some."""
    schema: JsonObject = entry["function"].get("parameters") or {}
    properties = schema.get("properties")
    plain = set(schema) <= {"type", "properties", "required", "additionalProperties", "title", "description"}
    closed = plain and not schema.get("additionalProperties")
    return properties if closed and isinstance(properties, dict) else {}


_RULES = ("one_of", "contains", "pattern", "optional")


def _accepted(call: Part, key: str, value: Any) -> Accepted:
    """One value, a list of accepted values, or a mapping of rules."""
    if isinstance(value, list):
        return Accepted(one_of=tuple(value))
    if not isinstance(value, dict) or not set(value) & set(_RULES):
        return Accepted(one_of=(value,))
    part = Part(call.document, (*call.place, "arguments", key), value, _RULES)
    pattern = part.get("pattern", str, "a regular expression")
    if pattern is not None:
        _check_pattern(part, pattern)
    rules = Accepted(
        one_of=tuple(part.get("one_of", list, "a list of values", [])),
        contains=part.get("contains", str, "a text"),
        pattern=pattern,
        optional=part.get("optional", bool, "true or false", False),
    )
    if not rules.one_of and rules.contains is None and rules.pattern is None:
        raise part.error("no value would be accepted.", remedy="Give one_of, contains or pattern.")
    return rules


def _check_pattern(part: Part, pattern: str) -> None:
    try:
        re.compile(pattern)
    except re.error as error:
        raise part.error(f"not a regular expression: {error}.", "pattern") from None


def _text(expect: Part) -> ExpectedText | None:
    if "text" not in expect.value:
        return None
    value = expect.value["text"]
    if isinstance(value, (str, list)):
        text = ExpectedText(contains=expect.texts("text"))
    else:
        part = expect.child("text", value, allowed=("contains", "any_of", "lacks"))
        text = ExpectedText(contains=part.texts("contains"), any_of=part.texts("any_of"), lacks=part.texts("lacks"))
    if not any((*text.contains, *text.any_of, *text.lacks)):
        raise expect.error("any text would do.", "text", remedy="Say what it must hold, or leave it out.")
    return text
