"""The calls of two answers held against each other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import msgspec

from toolcert.core.replies import ToolCall
from toolcert.core.values import JsonObject, Value
from toolcert.verify.hashing import same_value

T = TypeVar("T")


class _Call(Value):
    """A call with its parameters read; none where the arguments are no object."""

    name: Any
    parameters: JsonObject


def same_parameters(first: Sequence[ToolCall], second: Sequence[ToolCall]) -> tuple[int, int]:
    """How many parameters have the same value on both sides, out of all that either side gives.

    Equal calls are paired, then calls of one name; the parameters of a call without partner agree with nobody's.
    """
    same = total = 0
    for own, theirs in pair_up([*map(_read, first)], [*map(_read, second)], _equal, _named_alike):
        left, right = own.parameters if own else {}, theirs.parameters if theirs else {}
        total += len({*left, *right})
        same += sum(name in right and same_value(value, right[name]) for name, value in left.items())
    return same, total


def pair_up(first: Sequence[T], second: Sequence[T], *bonds: Callable[[T, T], bool]) -> list[tuple[T | None, T | None]]:
    """Members of both lists in pairs, the strongest bond first and in order; None where nobody is left."""
    partners: dict[int, int] = {}
    free = list(range(len(second)))
    for bond in bonds:
        for place, one in enumerate(first):
            found = None if place in partners else next((at for at in free if bond(one, second[at])), None)
            if found is not None:
                partners[place] = found
                free.remove(found)
    pairs = [(one, second[partners[place]] if place in partners else None) for place, one in enumerate(first)]
    return [*pairs, *((None, second[at]) for at in free)]


def _read(call: ToolCall) -> _Call:
    value = call.arguments
    if isinstance(value, str):
        try:
            value = msgspec.json.decode(value)
        except (msgspec.DecodeError, UnicodeError, RecursionError):
            value = None
    return _Call(name=call.name, parameters=value if isinstance(value, dict) else {})


def _equal(own: _Call, theirs: _Call) -> bool:
    return _named_alike(own, theirs) and same_value(own.parameters, theirs.parameters)


def _named_alike(own: _Call, theirs: _Call) -> bool:
    return bool(own.name == theirs.name)
