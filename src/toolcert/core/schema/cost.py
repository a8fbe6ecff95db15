"""How much work a schema may cause, estimated before anything is validated.

A few lines of nested references can ask for more steps than there are atoms, and the validator holds the interpreter
while it works: no interrupt reaches it. So the steps are counted first, each subschema once, and judging is refused
where there are too many.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any
from urllib.parse import unquote

import msgspec

from toolcert.core.text.lazy_pattern import lazy_pattern

MOST_STEPS = 1_000_000
"""Steps for a value without parts: about a tenth of a second. The largest schemas of real tools take a few thousand."""
MOST_WORK = 5_000_000
"""Steps for a value and all its parts: under a second. An answer may have a million parts for one schema of a list."""
_MOST_WORK_FOR_ERRORS = 100_000
"""The same where every error is wanted, each of which takes a thousand times as long as a step."""
MANY_ERRORS = 1000
"""Beyond this many errors no client would coerce, and trying costs time."""
_MOST_CHARACTERS_IN_ERRORS = 300_000_000
"""The first error alone can hold a reason for each step of `anyOf` and `oneOf`, and each reason the whole value."""
_LONG = 1000
"""Characters of a text from which on the time that a pattern takes for it counts."""
_LOOKAROUND = lazy_pattern(r"\(\?<?[=!]|\\[1-9k]")
"""A pattern that looks ahead or back goes through the rest of a text at each of its characters."""
_CHARACTERS_PER_STEP = 100
_LARGE_IN_PATTERN = lazy_pattern(rb"\{\d|\\\\[dDpPsSwW]")
"""A bounded repeat, or a class of characters: what makes a compiled pattern larger than its text."""
_WALKED_AGAIN = 3
"""How often `unevaluatedProperties` and its like make a validator go through the same value again, at most."""
_SAME_VALUE = ("allOf", "anyOf", "oneOf")
_SAME_VALUE_ONE = ("not", "if", "then", "else", "$ref", "$dynamicRef", "$recursiveRef")
_EACH_MEMBER = ("additionalProperties", "unevaluatedProperties")
_EACH_ITEM = ("items", "additionalItems", "contains", "unevaluatedItems")
_LISTS = ("enum", "required")
_INNER_LISTS = ("prefixItems", "items")

_NO_NAME = "/"
"""The name of a schema without an `$id`, which no address ends with."""

_Known = dict[tuple[int, int], int]
_Homes = tuple[tuple[str, Any], ...]


class SchemaCost:
    """The steps that a schema takes for a value, each subschema counted for each part that it looks at."""

    def __init__(self, schema: Any) -> None:
        self._root = schema
        self._for_leaves: _Known = {}
        self._resources: list[tuple[str, Any]] = []
        """The schema and those within it that have an `$id`, with the last step of it."""
        self._homes: dict[int, _Homes] = {}
        self._anchors: dict[str, list[Any]] = {}
        self._led_to: dict[tuple[int, str], list[Any]] = {}
        text = _text(schema)
        self._length = len(text)
        self._is_tree = _is_small_tree(text)
        self._most_reasons = 0
        """The most steps of one `anyOf` or `oneOf` in the value that was counted last: so many reasons it can give."""
        own_patterns = text if b"attern" in text else b""
        self.has_patterns = bool(own_patterns) or not self._is_tree
        """Whether it may have patterns, of its own or of a schema that it refers to."""
        self.large_in_patterns = len(_LARGE_IN_PATTERN.findall(own_patterns))
        """How many places make its compiled patterns large."""
        self.too_complex = not self._is_tree and self.work(None) > MOST_STEPS
        """Whether no value at all can be judged in bounded time."""

    def affords(self, value: Any, length: int) -> bool:
        """Whether a value, which is so many bytes of JSON, can be judged in bounded time."""
        small = length <= _LONG * 10 and self._takes_at_most(MOST_WORK, length)
        return small or self.work(value) <= MOST_WORK

    def most_errors(self, value: Any, length: int) -> int:
        """How many errors can be listed in bounded time: a thousand, the first alone, or none."""
        small = length < _LONG and self._takes_at_most(_MOST_WORK_FOR_ERRORS, length)
        if small or self.work(value) * (1 + length // 1000) <= _MOST_WORK_FOR_ERRORS:
            return MANY_ERRORS
        return int(self._most_reasons * length <= _MOST_CHARACTERS_IN_ERRORS)

    def _takes_at_most(self, steps: int, length: int) -> bool:
        """Whether that is certain without counting, what patterns take for long texts aside."""
        # A part of a value is at least two bytes, and a tree takes no more steps for it than it has characters itself.
        return self._is_tree and length * self._length <= 2 * steps

    def work(self, value: Any) -> int:
        """The steps for a value, or a few more; counting stops soon after `MOST_WORK`."""
        self._most_reasons = 0
        try:
            return self._work(self._root, value, {}, frozenset())
        except RecursionError:
            return MOST_WORK + 1

    def _work(self, schema: Any, value: Any, known: _Known, open_references: frozenset[int]) -> int:
        if not isinstance(schema, dict):
            return 1
        is_leaf = not isinstance(value, dict | list) and not _is_long(value)
        known_here = self._for_leaves if is_leaf else known
        key = (id(schema), 0 if is_leaf else id(value))
        if key not in known_here:
            if id(schema) in open_references:
                return 1  # refers to itself for the same value: validators stop there
            known_here[key] = self._sum(schema, value, known, open_references | {id(schema)})
        if "anyOf" in schema or "oneOf" in schema:
            self._most_reasons = max(self._most_reasons, known_here[key])
        return known_here[key]

    def _sum(self, schema: Mapping[str, Any], value: Any, known: _Known, open_references: frozenset[int]) -> int:
        steps = 1 + len(schema) + sum(len(schema[name]) for name in _LISTS if isinstance(schema.get(name), list))
        steps += _for_patterns(schema, value)
        again = _WALKED_AGAIN if "unevaluatedProperties" in schema or "unevaluatedItems" in schema else 1
        for child in self._of_same_value(schema):
            steps += again * self._work(child, value, known, open_references)
            if steps > MOST_WORK:
                return steps
        for child, part, times in _of_parts(schema, value):
            steps += times * self._work(child, part, known, frozenset())
            if steps > MOST_WORK:
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
                yield from self._targets(schema, found) if isinstance(found, str) else (found,)
        dependent = schema.get("dependentSchemas") or schema.get("dependencies")
        if isinstance(dependent, dict):
            yield from dependent.values()

    def _targets(self, schema: Mapping[str, Any], reference: str) -> list[Any]:
        """All that a reference in a subschema may lead to; nothing where it leads out of the whole.

        An embedded schema has an `$id`, which changes where references lead, in each draft in another way. So one may
        lead to whatever fits: to count a little too much does no harm.
        """
        if not self._homes:
            self._find_homes()
        homes = self._homes[id(schema)]
        key = (id(homes), reference)
        if key not in self._led_to:
            self._led_to[key] = list(self._fitting(homes, reference))
        return self._led_to[key]

    def _fitting(self, homes: _Homes, reference: str) -> Iterator[Any]:
        address, _, fragment = reference.partition("#")
        name, fragment = _last_step(address), unquote(fragment)
        if fragment and not fragment.startswith("/"):
            yield from self._anchors.get(fragment, ())
            return
        for own_name, resource in self._resources if address else homes:
            if not address or name in ("", own_name) or not own_name:
                found = _at_pointer(resource, fragment)
                if isinstance(found, dict):
                    yield found

    def _find_homes(self) -> None:
        """Enter for each part of the schema what it is embedded in: the whole, and parts with an `$id`."""
        waiting: list[tuple[Any, _Homes]] = [(self._root, ())]
        while waiting:
            part, homes = waiting.pop()
            if isinstance(part, dict):
                homes = self._homes[id(part)] = self._enter(part, homes)
                waiting.extend((inner, homes) for inner in part.values())
            elif isinstance(part, list):
                waiting.extend((inner, homes) for inner in part)

    def _enter(self, part: Mapping[str, Any], homes: _Homes) -> _Homes:
        own_name = None if homes else _NO_NAME
        for keyword in ("$anchor", "$dynamicAnchor", "$id", "id"):
            name = part.get(keyword)
            if not isinstance(name, str):
                continue
            address, mark, fragment = name.partition("#") if "id" in keyword else ("", "#", name)
            if mark:
                self._anchors.setdefault(unquote(fragment), []).append(part)
            if address:
                own_name = _last_step(address)
        if own_name is None:
            return homes
        self._resources.append((own_name, part))
        return (*homes, (own_name, part))


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


def _is_long(value: Any) -> bool:
    return isinstance(value, str) and len(value) > _LONG


def _for_patterns(schema: Mapping[str, Any], value: Any) -> int:
    """The steps that patterns take for a long text, or for the long names of an object."""
    if isinstance(value, dict):
        found, texts = schema.get("patternProperties"), [name for name in value if _is_long(name)]
    else:
        found, texts = [schema.get("pattern")], [value] if _is_long(value) else []
    if not texts or not isinstance(found, dict | list):
        return 0
    around = sum(isinstance(pattern, str) and _LOOKAROUND.search(pattern) is not None for pattern in found)
    return around * sum(len(text) ** 2 // _CHARACTERS_PER_STEP for text in texts)


def _of_parts(schema: Mapping[str, Any], value: Any) -> Iterator[tuple[Any, Any, int]]:
    """The parts of a value, each with a subschema that looks at it, and how often."""
    if isinstance(value, dict):
        yield from _of_members(schema, value)
    elif isinstance(value, list):
        for child in _subschemas(schema, _EACH_ITEM):
            yield from _with_each(child, value)
        for keyword in _INNER_LISTS:
            if isinstance(schema.get(keyword), list):
                yield from ((child, part, 1) for child, part in zip(schema[keyword], value, strict=False))


def _of_members(schema: Mapping[str, Any], value: Mapping[str, Any]) -> Iterator[tuple[Any, Any, int]]:
    named = schema.get("properties")
    if isinstance(named, dict):
        yield from ((named[name], part, 1) for name, part in value.items() if name in named)
    by_pattern = schema.get("patternProperties")
    for child in (*(by_pattern.values() if isinstance(by_pattern, dict) else ()), *_subschemas(schema, _EACH_MEMBER)):
        yield from _with_each(child, value.values())
    for child in _subschemas(schema, ("propertyNames",)):
        yield from _with_each(child, value)


def _subschemas(schema: Mapping[str, Any], keywords: Iterable[str]) -> list[Any]:
    return [schema[keyword] for keyword in keywords if isinstance(schema.get(keyword), dict)]


def _with_each(child: Any, parts: Collection[Any]) -> Iterator[tuple[Any, Any, int]]:
    """Each part that has parts of its own or is long; all others take the same steps, and are one."""
    large = [part for part in parts if isinstance(part, dict | list) or _is_long(part)]
    yield child, None, len(parts) - len(large)
    yield from ((child, part, 1) for part in large)
