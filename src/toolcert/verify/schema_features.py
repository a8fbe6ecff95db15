"""Which features of JSON Schema a tool uses: what a server must be able to bear."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

_NAMED_SCHEMAS = ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas")
_LISTED_SCHEMAS = ("anyOf", "oneOf", "allOf", "prefixItems")
_SINGLE_SCHEMAS = ("items", "additionalProperties", "not", "if", "then", "else", "contains", "propertyNames")
_UNREMARKABLE = frozenset({"type", "properties", "required", "description", "title", "items", "$schema"})
_DEEP = 3
_MAX_DEPTH = 64


def features(tool: Any) -> set[str]:
    """The keywords of a tool's schema besides the everyday ones, and a few shapes worth knowing."""
    function = tool.get("function") if isinstance(tool, dict) else None
    if not isinstance(function, dict):
        return set()
    found = set(_walk(function.get("parameters"), 0))
    if function.get("strict") is True:
        found.add("strict")
    if not function.get("parameters"):
        found.add("no parameters")
    if isinstance(function.get("name"), str) and len(function["name"]) > 60:
        found.add("long name")
    return found


def _walk(schema: Any, depth: int) -> Iterator[str]:
    if not isinstance(schema, dict) or depth > _MAX_DEPTH:
        return
    if depth >= _DEEP:
        yield f"nested {_DEEP} deep"
    yield from (keyword for keyword in schema if keyword not in _UNREMARKABLE)
    if isinstance(schema.get("type"), list):
        yield "several types"
    for inner in _inner(schema):
        yield from _walk(inner, depth + 1)


def _inner(schema: dict[str, Any]) -> Iterator[Any]:
    for keyword in _NAMED_SCHEMAS:
        if isinstance(schema.get(keyword), dict):
            yield from schema[keyword].values()
    for keyword in _LISTED_SCHEMAS:
        if isinstance(schema.get(keyword), list):
            yield from schema[keyword]
    for keyword in _SINGLE_SCHEMAS:
        yield schema.get(keyword)
