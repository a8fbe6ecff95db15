"""Values remembered from earlier tool results."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from toolcert.core.values import JsonObject
from toolcert.simulate.brain.dialogue import Done
from toolcert.simulate.brain.text import words
from toolcert.simulate.brain.tools import types_of
from toolcert.simulate.brain.values import CODE, Found

_KINDS: dict[str, tuple[type, ...]] = {
    "string": (str, int, float),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "array": (list,),
    "object": (dict,),
}


def recall(name: str, schema: JsonObject, done: tuple[Done, ...], *, loosely: bool = False) -> list[Found]:
    """The latest result's value under the parameter's name; loosely, a similar name or the only value there."""
    for one in reversed(done):
        leaves = [(key, value) for key, value in _leaves("", one.data) if _allowed(value, schema)]
        matching = [value for key, value in leaves if _same(key, name)]
        if loosely and not matching:
            matching = [value for key, value in leaves if _similar(key, name)] or _only(leaves, one, schema)
        if matching:
            return [Found(value=_typed(matching[0], schema), start=0, end=0)]
    return []


def _leaves(key: str, value: Any) -> Iterator[tuple[str, Any]]:
    yield key, value
    if isinstance(value, dict):
        for inner_key, inner in value.items():
            yield from _leaves(inner_key, inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _leaves(key, inner)


def _allowed(value: Any, schema: JsonObject) -> bool:
    kinds = types_of(schema) or ("string",)
    if isinstance(value, bool):
        return "boolean" in kinds
    return any(isinstance(value, _KINDS.get(kind, ())) for kind in kinds)


def _typed(value: Any, schema: JsonObject) -> Any:
    """A number goes into a string parameter as its text; models do that, and the schema asks for it."""
    wants_text = "string" in types_of(schema) and not isinstance(value, (str, dict, list))
    return str(value) if wants_text else value


def _same(key: str, name: str) -> bool:
    return bool(key) and words(key) == words(name)


def _similar(key: str, name: str) -> bool:
    """`id` for `order_id`, `code` for `access_code`, `orderNumber` for `order_no`."""
    theirs, ours = words(key), words(name)
    shared = (set(theirs) & set(ours)) - {"id", "name", "value", "number"}
    return bool(theirs and ours) and (bool(shared) or set(theirs) <= set(ours) or set(ours) <= set(theirs))


def _only(leaves: list[tuple[str, Any]], done: Done, schema: JsonObject) -> list[Any]:
    scalars = [value for key, value in leaves if key and not isinstance(value, (dict, list))]
    if len(scalars) == 1:
        return scalars
    if done.data is None and "string" in (types_of(schema) or ("string",)):
        codes = re.findall(rf"(?<![\w-]){CODE}", done.result or "")
        return codes[:1] or ([done.result.strip()] if done.result and " " not in done.result.strip() else [])
    return []
