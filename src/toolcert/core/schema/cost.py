"""How much work a schema may cause, estimated before anything is validated.

A few lines of nested references can ask for more steps than there are atoms, and the validator holds the interpreter
while it works: no interrupt reaches it. So the steps are counted first, each subschema once, and judging is refused
where there are too many.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple
from urllib.parse import unquote

import msgspec

MOST_STEPS = 1_000_000
"""Steps for one value: about a tenth of a second. The largest schemas of real tools take a few thousand."""
MOST_WORK = 5_000_000
"""Steps for one value times its parts: under a second. An answer may have a million parts for one schema of a list."""
MOST_WORK_FOR_ERRORS = 100_000
"""The same where every error is wanted, each of which takes a thousand times as long as a step."""
_MOST_CHARACTERS_IN_ERRORS = 300_000_000
"""The first error alone can hold a reason for each step, and each reason the whole value."""
_LONGEST_BESIDE_LOOKAROUND = 20_000
"""Characters: a pattern that looks ahead or back goes through the rest of a text at each of them."""
_LOOKAROUND = re.compile(rb"\(\?<?[=!]|\\\\[1-9k]")
_LARGE_IN_PATTERN = re.compile(rb"\{\d|\\\\[dDpPsSwW]")
"""A bounded repeat, or a class of characters: what makes a compiled pattern larger than its text."""
_AFFORDABLE = 10_000_000
"""Bytes of a schema times those of a value: below this nothing has to be counted."""
_WALKED_AGAIN = 3
"""How often `unevaluatedProperties` and its like make a validator go through the same value again, at most."""
DEEP = 64
"""Values nested deeper than this are rare; a schema that is cheap at this depth is never measured again."""
_SAME_VALUE = ("allOf", "anyOf", "oneOf")
_SAME_VALUE_ONE = ("not", "if", "then", "else", "$ref", "$dynamicRef", "$recursiveRef")
_INNER_MAPS = ("properties", "patternProperties")
_INNER_ONE = (
    *("items", "additionalItems", "contains", "additionalProperties"),
    *("unevaluatedProperties", "unevaluatedItems", "propertyNames"),
)
_LISTS = ("enum", "required")
_INNER_LISTS = ("prefixItems", "items")


class Extent(NamedTuple):
    """How large a value is."""

    depth: int
    parts: int
    characters: int
    longest: int
    """Characters of its longest text."""

    @classmethod
    def of(cls, value: Any) -> Extent:
        """Measure a value."""
        lengths = [len(value)] if isinstance(value, str) else []
        depth, parts = 0, 1
        level = [value] if isinstance(value, dict | list) else []
        while level:  # a level of the value at a time, of which only objects and lists are kept
            below: list[Any] = []
            for part in level:
                inner = part.values() if isinstance(part, dict) else part
                lengths += [len(one) for one in (part if inner is part else (*part, *inner)) if isinstance(one, str)]
                below += [one for one in inner if isinstance(one, dict | list)]
                parts += len(part)
            depth, level = depth + any(level), below
        return cls(depth, parts, sum(lengths), max(lengths, default=0))


class SchemaCost:
    """The steps that a schema takes for a value of a given depth."""

    def __init__(self, schema: Any) -> None:
        self._root = schema
        self._known: dict[tuple[int, int], int] = {}
        self._resources: list[tuple[str, Any]] | None = None
        self._anchors: dict[str, list[Any]] = {}
        text = _text(schema)
        self._length = len(text)
        patterns = text if b"attern" in text else b""
        self._looks_around = _LOOKAROUND.search(patterns) is not None
        self.large_in_patterns = len(_LARGE_IN_PATTERN.findall(patterns))
        """How many places make its compiled patterns large."""
        self.cheap = _is_small_tree(text) or self.steps(DEEP) <= MOST_STEPS
        """Whether no value of ordinary depth can be expensive."""

    def affords(self, value: Any, length: int) -> bool:
        """Whether a value, which is so many bytes of JSON, can be judged in bounded time."""
        if self.cheap and length <= _LONGEST_BESIDE_LOOKAROUND and length * self._length <= _AFFORDABLE:
            return True
        extent = Extent.of(value)
        if self._looks_around and extent.longest > _LONGEST_BESIDE_LOOKAROUND:
            return False
        steps = self.steps(extent.depth)
        return (
            steps <= MOST_STEPS
            and steps * extent.parts <= MOST_WORK
            and steps * extent.characters <= _MOST_CHARACTERS_IN_ERRORS
        )

    def affords_errors(self, value: Any) -> bool:
        """Whether all that is wrong with a value can be listed in bounded time."""
        extent = Extent.of(value)
        return self.steps(extent.depth) * (extent.parts + extent.characters // 1000) <= MOST_WORK_FOR_ERRORS

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
        steps = 1 + len(schema) + sum(len(schema[name]) for name in _LISTS if isinstance(schema.get(name), list))
        again = _WALKED_AGAIN if "unevaluatedProperties" in schema or "unevaluatedItems" in schema else 1
        for child in self._of_same_value(schema):
            steps += again * self._count(child, depth, open_references)
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
                yield from self._targets(found) if isinstance(found, str) else (found,)
        dependent = schema.get("dependentSchemas") or schema.get("dependencies")
        if isinstance(dependent, dict):
            yield from dependent.values()

    def _targets(self, reference: str) -> Iterator[Any]:
        """All that a reference within the schema may lead to; nothing where it leads elsewhere.

        An embedded schema has an `$id`, which changes where references lead, in each draft in another way. So one may
        lead to whatever fits: to count too much does no harm.
        """
        address, _, fragment = reference.partition("#")
        name, fragment = _last_step(address), unquote(fragment)
        resources = self._embedded()
        if fragment and not fragment.startswith("/"):
            yield from self._anchors.get(fragment, ())
            return
        for own_name, resource in resources:
            if name in ("", own_name) or not own_name:
                yield _at_pointer(resource, fragment)

    def _embedded(self) -> list[tuple[str, Any]]:
        """The schema and those within it that have an `$id`, with the last step of it."""
        if self._resources is None:
            self._resources = [("", self._root)]
            waiting = [self._root]
            while waiting:
                part = waiting.pop()
                if isinstance(part, dict):
                    self._enter(part)
                    waiting.extend(part.values())
                elif isinstance(part, list):
                    waiting.extend(part)
        return self._resources

    def _enter(self, part: Mapping[str, Any]) -> None:
        assert self._resources is not None
        for keyword in ("$anchor", "$dynamicAnchor", "$id", "id"):
            name = part.get(keyword)
            if not isinstance(name, str):
                continue
            address, mark, fragment = name.partition("#") if "id" in keyword else ("", "#", name)
            if mark:
                self._anchors.setdefault(unquote(fragment), []).append(part)
            if address and part is not self._root:
                self._resources.append((_last_step(address), part))


def _last_step(address: str) -> str:
    """The last step of the path of an address; empty where it may be any."""
    step = unquote(address.partition("?")[0].rpartition("/")[2])
    return "" if step in (".", "..") else step


def _at_pointer(found: Any, pointer: str) -> Any:
    """The part that a JSON pointer leads to; True where there is none."""
    for part in pointer.split("/")[1:]:
        step = part.replace("~1", "/").replace("~0", "~")
        try:
            found = found[int(step)] if isinstance(found, list) else found[step]
        except (KeyError, IndexError, ValueError, TypeError):
            return True
    return found


def _text(schema: Any) -> bytes:
    try:
        return msgspec.json.encode(schema)
    except (TypeError, ValueError, RecursionError):
        return b'"$ref"'


def _is_small_tree(text: bytes) -> bool:
    """Whether no part of the schema is gone through twice, so that it takes no more steps than it has characters."""
    # Nearly all schemas are such trees, and this look at their text is a hundred times quicker than counting.
    return len(text) <= MOST_STEPS and not any(sign in text for sign in (b'"$ref"', b'Ref"', b'"unevaluated'))


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
