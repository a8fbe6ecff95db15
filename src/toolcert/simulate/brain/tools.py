"""An offered tool as the brain sees it."""

from __future__ import annotations

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
