"""Would the usual client-side coercion make refused arguments valid? Nothing here repairs what is judged."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from toolcert.core.jsontext import NotJson, parse_json
from toolcert.core.values import Value

_ROUNDS = 4
"""Decoding a value can uncover a next layer of errors; real calls need one or two rounds."""
_INTEGER = re.compile(r"[+-]?\d{1,40}")
_NUMBER = re.compile(r"[+-]?(\d{1,40}(\.\d*)?|\.\d+)([eE][+-]?\d{1,3})?")
_NOTHING = object()


class Mended(Value):
    """What coercion achieves."""

    valid: bool
    """Everything the schema asks for would be met."""
    decoded: tuple[tuple[str | int, ...], ...] = ()
    """Where JSON was found inside a string although an object or array is wanted."""


class Misfit(Value):
    """A value of the wrong type: where it is and what is wanted there."""

    path: tuple[str | int, ...]
    types: tuple[str, ...] = ()
    options: tuple[Any, ...] = ()


def mend(value: Any, misfits: list[Misfit] | None, look_again: Callable[[Any], list[Misfit] | None]) -> Mended:
    """Coerce misfits until none is left or nothing more can be done; None for misfits means "valid"."""
    value = copy.deepcopy(value)
    decoded: list[tuple[str | int, ...]] = []
    for _ in range(_ROUNDS):
        if not misfits:
            break
        changed = False
        for misfit in misfits:
            old = _at(value, misfit.path)
            new = next(_candidates(old, misfit), _NOTHING)
            if new is _NOTHING:
                continue
            if isinstance(old, str) and isinstance(new, dict | list):
                decoded.append(misfit.path)
            value = _replaced(value, misfit.path, new)
            changed = True
        if not changed:
            break
        misfits = look_again(value)
    return Mended(valid=misfits is None, decoded=tuple(decoded))


def _candidates(value: Any, misfit: Misfit) -> Iterator[Any]:
    for option in misfit.options:
        if not isinstance(value, dict | list) and type(option) is not type(value) and _text(option) == _text(value):
            yield option
    if isinstance(value, str):
        yield from _from_text(value, misfit.types)
    elif isinstance(value, bool | int | float) and "string" in misfit.types:
        yield _text(value)
    elif "boolean" in misfit.types and value in (0, 1) and not isinstance(value, bool | list | dict):
        yield bool(value)


def _from_text(text: str, types: Iterable[str]) -> Iterator[Any]:
    word = text.strip()
    if "integer" in types and _INTEGER.fullmatch(word):
        yield int(word)
    if "number" in types and _NUMBER.fullmatch(word):
        yield float(word)
    if "boolean" in types and word.lower() in ("true", "false"):
        yield word.lower() == "true"
    if "null" in types and word in ("null", "None"):
        yield None
    if word[:1] in ("{", "["):
        yield from _decoded(word, types)


def _decoded(text: str, types: Iterable[str]) -> Iterator[Any]:
    try:
        value = parse_json(text)
    except NotJson:
        return
    if ("object" if isinstance(value, dict) else "array") in types:
        yield value


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return "null" if value is None else str(value)


def _at(value: Any, path: tuple[str | int, ...]) -> Any:
    for step in path:
        try:
            value = value[step]
        except (KeyError, IndexError, TypeError):  # an earlier replacement moved it; the next round looks again
            return None
    return value


def _replaced(value: Any, path: tuple[str | int, ...], new: Any) -> Any:
    if not path:
        return new
    _at(value, path[:-1])[path[-1]] = new
    return value
