"""An offered tool as the brain sees it, and values made up to fit its schema."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from toolcert.core.values import JsonObject, Value

_DEEPEST = 16
"""References followed before a schema that refers to itself is given up."""


class Tool(Value):
    """Name, purpose and parameters of an offered tool."""

    name: str
    description: str = ""
    schema: JsonObject = {}

    properties: JsonObject = {}
    """The parameters, those behind a reference or `allOf` included."""
    required: tuple[str, ...] = ()


def tool_of(name: str, schema: JsonObject, description: str = "") -> Tool:
    """A tool whose parameters are read once."""
    return Tool(
        name=name,
        description=description,
        schema=schema,
        properties=properties_of(schema, schema),
        required=tuple(required_of(schema, schema)),
    )


def offered(body: JsonObject) -> list[Tool]:
    """The tools of a request that have a name."""
    tools = body.get("tools")
    return [tool for entry in tools if (tool := _read(entry))] if isinstance(tools, list) else []


def _read(entry: Any) -> Tool | None:
    function = entry.get("function") if isinstance(entry, dict) else None
    if not isinstance(function, dict) or not isinstance(function.get("name"), str):
        return None
    schema = function.get("parameters")
    schema = schema if isinstance(schema, dict) else {}
    return tool_of(function["name"], schema, str(function.get("description") or ""))


def resolved(schema: Any, root: JsonObject, depth: int = 0) -> JsonObject:
    """The schema behind local references, with the parts of `allOf` laid together."""
    if not isinstance(schema, dict) or depth > _DEEPEST:
        return {}
    if isinstance(schema.get("$ref"), str):
        siblings = {key: value for key, value in schema.items() if key != "$ref"}
        return resolved({**_pointed(schema["$ref"], root), **siblings}, root, depth + 1)
    return _merged(schema, root, depth + 1) if isinstance(schema.get("allOf"), list) else schema


def _pointed(reference: str, root: JsonObject) -> JsonObject:
    node: Any = root
    for part in reference.removeprefix("#").strip("/").split("/"):
        if part:
            key = part.replace("~1", "/").replace("~0", "~")
            node = node.get(key) if isinstance(node, dict) else None
    return node if isinstance(node, dict) else {}


def _merged(schema: JsonObject, root: JsonObject, depth: int) -> JsonObject:
    parts = [resolved(part, root, depth) for part in schema["allOf"]]
    parts.append({key: value for key, value in schema.items() if key != "allOf"})
    merged: JsonObject = {}
    for part in parts:
        merged |= part
    properties = [part["properties"] for part in parts if isinstance(part.get("properties"), dict)]
    required = [name for part in parts for name in _names(part.get("required"))]
    if properties:
        merged["properties"] = {name: one for known in properties for name, one in known.items()}
    return {**merged, "required": required} if required else merged


def _names(required: Any) -> list[str]:
    return [name for name in required if isinstance(name, str)] if isinstance(required, list) else []


def properties_of(schema: JsonObject, root: JsonObject) -> JsonObject:
    """The named properties of an object schema."""
    properties = resolved(schema, root).get("properties")
    return properties if isinstance(properties, dict) else {}


def required_of(schema: JsonObject, root: JsonObject) -> list[str]:
    """The names of the properties an object must have."""
    return _names(resolved(schema, root).get("required"))


def types_of(schema: JsonObject) -> tuple[str, ...]:
    """The JSON types a schema allows, as far as it says so."""
    declared = schema.get("type")
    if isinstance(declared, str):
        return (declared,)
    if isinstance(declared, list):
        return tuple(name for name in declared if isinstance(name, str))
    return tuple(_implied(schema))


def _implied(schema: JsonObject) -> Iterable[str]:
    if "properties" in schema or "additionalProperties" in schema:
        yield "object"
    if "items" in schema or "prefixItems" in schema:
        yield "array"


def branches(schema: JsonObject, root: JsonObject) -> list[JsonObject]:
    """The alternatives of `anyOf` or `oneOf`; the schema itself where it has none."""
    for keyword in ("anyOf", "oneOf"):
        options = schema.get(keyword)
        if isinstance(options, list) and options:
            rest = {key: value for key, value in schema.items() if key != keyword}
            return [{**rest, **resolved(option, root)} for option in options]
    return [schema]


_BY_FORMAT = {
    "date": "2025-03-14",
    "time": "09:30:00Z",
    "date-time": "2025-03-14T09:30:00Z",
    "email": "ada@example.com",
    "uri": "https://example.com/",
    "uuid": "3f2b8c1e-5d47-4a90-9b1f-0c6e2d8a7f14",
    "ipv4": "192.0.2.1",
}
_BY_WORD = {
    "city": "Paris",
    "location": "Paris",
    "country": "France",
    "name": "Alice",
    "language": "english",
    "email": "ada@example.com",
    "date": "2025-03-14",
    "time": "09:30",
    "url": "https://example.com/",
    "expression": "1 + 1",
    "currency": "EUR",
}
_DEEPEST_INVENTION = 8
_SAMPLES = (
    "A1",
    "a",
    "1",
    "ab",
    "AB",
    "abc",
    "ABC",
    "en",
    "AB-123",
    "ABC-1234",
    "2025-03-14",
    "12345",
    "a1b2c3",
    "+491701234567",
)


def invent(schema: Any, root: JsonObject, name: str = "value", depth: int = 0) -> Any:
    """A value that satisfies the schema."""
    schema = branches(resolved(schema, root), root)[0]
    for keyword in ("const", "default"):
        if keyword in schema:
            return schema[keyword]
    for keyword in ("enum", "examples"):
        if isinstance(schema.get(keyword), list) and schema[keyword]:
            return schema[keyword][0]
    kind = next(iter(types_of(schema)), "string")
    return _MAKERS.get(kind, _string)(schema, root, name, depth)


def _string(schema: JsonObject, _root: JsonObject, name: str, _depth: int) -> str:
    if isinstance(schema.get("pattern"), str):
        return _matching(schema["pattern"], schema)
    word = next((word for word in _BY_WORD if word in name.lower()), "")
    text = _BY_FORMAT.get(str(schema.get("format"))) or _BY_WORD.get(word) or f"sample {name}".replace("_", " ")
    return _sized(text, schema)


def _sized(text: str, schema: JsonObject) -> str:
    shortest, longest = schema.get("minLength", 0), schema.get("maxLength", len(text) + schema.get("minLength", 0))
    return text.ljust(shortest, "x")[:longest]


def _matching(pattern: str, schema: JsonObject) -> str:
    try:
        wanted = re.compile(pattern)
    except re.error:  # written for another dialect of regular expressions
        return _sized("x", schema)
    fitting = [sample for sample in _SAMPLES if wanted.search(sample) and len(sample) >= schema.get("minLength", 0)]
    return fitting[0] if fitting else _sized("x", schema)


def _number(schema: JsonObject, _root: JsonObject, _name: str, _depth: int) -> float | int:
    low = schema.get("minimum", schema.get("exclusiveMinimum"))
    high = schema.get("maximum", schema.get("exclusiveMaximum"))
    step = schema.get("multipleOf")
    if isinstance(step, (int, float)):
        return step if not isinstance(low, (int, float)) or step >= low else step * (int(low // step) + 1)
    if isinstance(low, (int, float)):
        return low + 1 if not isinstance(high, (int, float)) or low + 1 < high else low + (high - low) / 2
    return high - 1 if isinstance(high, (int, float)) else 7


def _integer(schema: JsonObject, root: JsonObject, name: str, depth: int) -> int:
    low, high = schema.get("minimum"), schema.get("maximum")
    if isinstance(low, (int, float)) and isinstance(high, (int, float)) and low == high:
        return int(low)
    return int(_number(schema, root, name, depth))


def _array(schema: JsonObject, root: JsonObject, name: str, depth: int) -> list[Any]:
    if isinstance(schema.get("prefixItems"), list):
        return [invent(item, root, name, depth + 1) for item in schema["prefixItems"]]
    count = max(int(schema.get("minItems", 1)), 0) if depth < _DEEPEST_INVENTION else 0
    items = schema.get("items", {})
    made = [invent(items, root, name.removesuffix("s"), depth + 1) for _ in range(count)]
    return [f"{item} {n + 1}" for n, item in enumerate(made)] if _repeats_text(schema, made) else made


def _repeats_text(schema: JsonObject, made: list[Any]) -> bool:
    return schema.get("uniqueItems") is True and len(made) > 1 and all(isinstance(item, str) for item in made)


def _object(schema: JsonObject, root: JsonObject, _name: str, depth: int) -> JsonObject:
    known = properties_of(schema, root)
    return {
        name: invent(known.get(name, {}), root, name, depth + 1)
        for name in required_of(schema, root)
        if depth < _DEEPEST_INVENTION
    }


_MAKERS = {
    "string": _string,
    "integer": _integer,
    "number": _number,
    "boolean": lambda *_: True,
    "null": lambda *_: None,
    "array": _array,
    "object": _object,
}
