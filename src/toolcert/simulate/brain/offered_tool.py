"""An offered tool as the brain sees it, and values made up to fit its schema."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, TypeAlias

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
    properties, required = properties_of(schema, schema), tuple(required_of(schema, schema))
    return Tool(name=name, description=description, schema=schema, properties=properties, required=required)


def offered(body: JsonObject) -> list[Tool]:
    """The tools of a request that have a name."""
    tools = body.get("tools")
    return [tool for entry in tools if (tool := _read(entry))] if isinstance(tools, list) else []


def _read(entry: Any) -> Tool | None:
    function = entry.get("function") if isinstance(entry, dict) else None
    if not isinstance(function, dict) or not isinstance(function.get("name"), str):
        return None
    schema = function.get("parameters")
    return tool_of(function["name"], schema if isinstance(schema, dict) else {}, str(function.get("description") or ""))


def resolved(schema: Any, root: JsonObject, depth: int = 0) -> JsonObject:
    """The schema behind local references, with the parts of `allOf` laid together."""
    if not isinstance(schema, dict) or depth > _DEEPEST:
        return {}
    if isinstance(schema.get("$ref"), str):
        return resolved({**_pointed(schema["$ref"], root), **_without(schema, "$ref")}, root, depth + 1)
    if not isinstance(schema.get("allOf"), list):
        return schema
    parts = [*(resolved(part, root, depth + 1) for part in schema["allOf"]), _without(schema, "allOf")]
    merged: JsonObject = {}
    for part in parts:
        merged |= part
    properties = [part["properties"] for part in parts if isinstance(part.get("properties"), dict)]
    merged["properties"] = {name: one for known in properties for name, one in known.items()}
    merged["required"] = [name for part in parts for name in _names(part.get("required"))]
    return merged


def _without(schema: JsonObject, keyword: str) -> JsonObject:
    return {key: value for key, value in schema.items() if key != keyword}


def _pointed(reference: str, root: JsonObject) -> JsonObject:
    node: Any = root
    for part in filter(None, reference.removeprefix("#").split("/")):
        node = node.get(part.replace("~1", "/").replace("~0", "~")) if isinstance(node, dict) else None
    return node if isinstance(node, dict) else {}


def _names(required: Any) -> list[str]:
    return [name for name in required if isinstance(name, str)] if isinstance(required, list) else []


def properties_of(schema: JsonObject, root: JsonObject) -> JsonObject:
    """The named properties of an object schema."""
    properties = resolved(schema, root).get("properties")
    return properties if isinstance(properties, dict) else {}


def required_of(schema: JsonObject, root: JsonObject) -> list[str]:
    """The names of the properties an object must have."""
    return _names(resolved(schema, root).get("required"))


_IMPLIED = {"properties": "object", "additionalProperties": "object", "items": "array", "prefixItems": "array"}
"""Keywords that tell the type if the schema does not."""


def types_of(schema: JsonObject) -> tuple[str, ...]:
    """The JSON types a schema allows; a string if it does not say."""
    declared = schema.get("type")
    declared = [declared] if isinstance(declared, str) else declared
    if isinstance(declared, list):
        return tuple(name for name in declared if isinstance(name, str))
    return tuple(kind for keyword, kind in _IMPLIED.items() if keyword in schema)[:1] or ("string",)


def branches(schema: Any, root: JsonObject) -> list[JsonObject]:
    """The alternatives of `anyOf` or `oneOf`; the schema itself if it has none."""
    schema = resolved(schema, root)
    for keyword in ("anyOf", "oneOf"):
        if isinstance(schema.get(keyword), list) and schema[keyword]:
            return [{**_without(schema, keyword), **resolved(option, root)} for option in schema[keyword]]
    return [schema]


_EXAMPLES = {
    "date-time": "2025-03-14T09:30:00Z",
    "date": "2025-03-14",
    "time": "09:30:00Z",
    "email": "ada@example.com",
    "uri": "https://example.com/",
    "url": "https://example.com/",
    "uuid": "3f2b8c1e-5d47-4a90-9b1f-0c6e2d8a7f14",
    "ipv4": "192.0.2.1",
    "city": "Paris",
    "location": "Paris",
    "country": "France",
    "name": "Alice",
    "language": "english",
    "expression": "1 + 1",
    "currency": "EUR",
}
"""Strings by format, or by a word in the parameter's name."""
_SAMPLES = re.findall(r"\S+", "A1 a 1 ab AB abc ABC en AB-123 ABC-1234 2025-03-14 12345 a1b2c3 +491701234567")
"""Strings that are tried against a pattern."""
_DEEPEST_INVENTION = 8
_Maker: TypeAlias = Callable[[JsonObject, JsonObject, str, int], Any]


def invent(schema: Any, root: JsonObject, name: str = "value", depth: int = 0) -> Any:
    """A value that satisfies the schema, always the same one."""
    schema = branches(schema, root)[0]
    for keyword in ("const", "default"):
        if keyword in schema:
            return schema[keyword]
    for keyword in ("enum", "examples"):
        if isinstance(schema.get(keyword), list) and schema[keyword]:
            return schema[keyword][0]
    kind = next(iter(types_of(schema)), "string")
    return _MAKERS.get(kind, _string)(schema, root, name, depth)


def _string(schema: JsonObject, _root: JsonObject, name: str, _depth: int) -> str:
    shortest, longest = schema.get("minLength", 0), schema.get("maxLength")
    if isinstance(schema.get("pattern"), str):
        text = next(
            (sample for sample in _SAMPLES if len(sample) >= shortest and _fits(schema["pattern"], sample)), "x"
        )
    else:
        known = (str(schema.get("format")), *(word for word in _EXAMPLES if word in name.lower()))
        text = next((_EXAMPLES[word] for word in known if word in _EXAMPLES), f"sample {name}".replace("_", " "))
    return text.ljust(shortest, "x")[:longest]


def _fits(pattern: str, text: str) -> bool:
    try:
        return re.search(pattern, text) is not None
    except re.error:  # written for another dialect of regular expressions
        return False


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
    return int(_number(schema, root, name, depth))


def _array(schema: JsonObject, root: JsonObject, name: str, depth: int) -> list[Any]:
    if isinstance(schema.get("prefixItems"), list):
        return [invent(item, root, name, depth + 1) for item in schema["prefixItems"]]
    count = max(int(schema.get("minItems", 1)), 0) if depth < _DEEPEST_INVENTION else 0
    made = [invent(schema.get("items", {}), root, name.removesuffix("s"), depth + 1) for _ in range(count)]
    if schema.get("uniqueItems") is True and count > 1 and isinstance(made[0], str):
        return [f"{item} {place}" for place, item in enumerate(made, start=1)]
    return made


def _object(schema: JsonObject, root: JsonObject, _name: str, depth: int) -> JsonObject:
    if depth >= _DEEPEST_INVENTION:
        return {}
    known = properties_of(schema, root)
    return {name: invent(known.get(name, {}), root, name, depth + 1) for name in required_of(schema, root)}


_MAKERS: dict[str, _Maker] = {
    "string": _string,
    "integer": _integer,
    "number": _number,
    "boolean": lambda *_: True,
    "null": lambda *_: None,
    "array": _array,
    "object": _object,
}
