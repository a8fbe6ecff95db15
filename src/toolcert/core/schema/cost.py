"""How much work a schema may cause, estimated before anything is validated.

A few lines of nested references can ask for more steps than there are atoms, and the validator holds the interpreter
while it works: no interrupt reaches it. So the steps are counted first, each subschema once, and judging is refused
where there are too many.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

MOST_STEPS = 1_000_000
"""Steps for one value: about a tenth of a second. The largest schemas of real tools take a few thousand."""
DEEP = 64
"""Values nested deeper than this are rare; a schema that is cheap at this depth is never measured again."""
_SAME_VALUE = ("allOf", "anyOf", "oneOf")
_SAME_VALUE_ONE = ("not", "if", "then", "else", "$ref", "$dynamicRef", "$recursiveRef")
_INNER_MAPS = ("properties", "patternProperties")
_INNER_ONE = (
    *("items", "additionalItems", "contains", "additionalProperties"),
    *("unevaluatedProperties", "unevaluatedItems", "propertyNames"),
)
_INNER_LISTS = ("prefixItems", "items")


class SchemaCost:
    """The steps that a schema takes for a value of a given depth."""

    def __init__(self, schema: Any) -> None:
        self._root = schema
        self._known: dict[tuple[int, int], int] = {}
        self._anchors: dict[str, Any] | None = None
        self.cheap = _is_small_tree(schema) or self.steps(DEEP) <= MOST_STEPS
        """Whether no value of ordinary depth can be expensive."""

    def steps(self, depth: int) -> int:
        """An upper bound; counting stops soon after `MOST_STEPS`."""
        for level in range(depth + 1):  # from the leaves of the value up, so that recursion stays shallow
            count = self._count(self._root, level, frozenset())
            if count > MOST_STEPS:
                return count
        return count

    def _count(self, schema: Any, depth: int, open_references: frozenset[int]) -> int:
        if not isinstance(schema, dict):
            return 1
        key = (id(schema), depth)
        if key not in self._known:
            if id(schema) in open_references:
                return 1  # refers to itself for the same value: validators stop there
            self._known[key] = self._sum(schema, depth, open_references | {id(schema)})
        return self._known[key]

    def _sum(self, schema: Mapping[str, Any], depth: int, open_references: frozenset[int]) -> int:
        steps = 1 + len(schema)
        for child in self._of_same_value(schema):
            steps += self._count(child, depth, open_references)
            if steps > MOST_STEPS:
                return steps
        if depth:
            for child in _of_inner_values(schema):
                steps += self._count(child, depth - 1, frozenset())
                if steps > MOST_STEPS:
                    return steps
        return steps

    def _of_same_value(self, schema: Mapping[str, Any]) -> Iterator[Any]:
        """Subschemas that look at the value itself again."""
        for keyword in _SAME_VALUE:
            branches = schema.get(keyword)
            if isinstance(branches, list):
                yield from branches
        for keyword in _SAME_VALUE_ONE:
            if keyword in schema:
                found = schema[keyword]
                yield self._target(found) if isinstance(found, str) else found
        dependent = schema.get("dependentSchemas") or schema.get("dependencies")
        if isinstance(dependent, dict):
            yield from dependent.values()

    def _target(self, reference: str) -> Any:
        """What a reference within the schema leads to; True where it leads elsewhere."""
        if not reference.startswith("#"):
            return True
        if reference == "#":
            return self._root
        if not reference.startswith("#/"):
            return self._anchored().get(reference[1:], True)
        found: Any = self._root
        for part in reference[2:].split("/"):
            step = part.replace("~1", "/").replace("~0", "~")
            try:
                found = found[int(step)] if isinstance(found, list) else found[step]
            except (KeyError, IndexError, ValueError, TypeError):
                return True
        return found

    def _anchored(self) -> dict[str, Any]:
        if self._anchors is None:
            self._anchors = {}
            waiting = [self._root]
            while waiting:
                part = waiting.pop()
                if isinstance(part, dict):
                    for keyword in ("$anchor", "$dynamicAnchor"):
                        if isinstance(part.get(keyword), str):
                            self._anchors[part[keyword]] = part
                    waiting.extend(part.values())
                elif isinstance(part, list):
                    waiting.extend(part)
        return self._anchors


def _is_small_tree(schema: Any) -> bool:
    """Whether the schema has no references, so that it takes no more steps than it has characters."""
    # Nearly all schemas are such trees, and this look at their text is a hundred times quicker than counting.
    try:
        text = msgspec.json.encode(schema)
    except (TypeError, ValueError, RecursionError):
        return False
    return len(text) <= MOST_STEPS and b'"$ref"' not in text and b'Ref"' not in text


def _of_inner_values(schema: Mapping[str, Any]) -> Iterator[Any]:
    """Subschemas that look at a part of the value."""
    for keyword in _INNER_MAPS:
        parts = schema.get(keyword)
        if isinstance(parts, dict):
            yield from parts.values()
    for keyword in _INNER_ONE:
        if isinstance(schema.get(keyword), dict):
            yield schema[keyword]
    for keyword in _INNER_LISTS:
        parts = schema.get(keyword)
        if isinstance(parts, list):
            yield from parts


def depth_of(value: Any) -> int:
    """How deeply a value is nested."""
    deepest, waiting = 0, [(value, 0)]
    while waiting:
        part, depth = waiting.pop()
        deepest = max(deepest, depth)
        if isinstance(part, dict):
            waiting.extend((inner, depth + 1) for inner in part.values())
        elif isinstance(part, list):
            waiting.extend((inner, depth + 1) for inner in part)
    return deepest
