"""Finds the line of a key in a TOML text; the standard parser does not give it."""

from __future__ import annotations

from typing import Any, TypeAlias

from toolcert.core.text.lazy_pattern import lazy_pattern

Place: TypeAlias = tuple[str | int, ...]
"""The path to a value: keys, and positions in arrays of tables."""
_HEADER = lazy_pattern(r"^\s*(\[\[?)(.+?)\]\]?\s*(#.*)?$")
_KEY = lazy_pattern(r"""^\s*((?:[\w-]+|"[^"]*"|'[^']*')(?:\s*\.\s*(?:[\w-]+|"[^"]*"|'[^']*'))*)\s*=""")


def line_of(text: str, keys: Place) -> int:
    """Line (1-based) of a key, or of the nearest table around it that has one."""
    lines = lines_of(text)
    around = (lines.get(keys[:depth]) for depth in range(len(keys), 0, -1))
    return next((line for line in around if line is not None), 1)


def lines_of(text: str) -> dict[Place, int]:
    """The lines (1-based) of headers and keys; what is inside an inline table is found at its key."""
    lines: dict[Place, int] = {}
    counts: dict[Place, int] = {}
    table: Place = ()
    for number, line in enumerate(text.splitlines(), start=1):
        if header := _HEADER.match(line):
            table = _table(_parts(header[2]), counts, array=header[1] == "[[")
            lines.setdefault(table, number)
        elif key := _KEY.match(line):
            lines.setdefault((*table, *_parts(key[1])), number)
    return lines


def _table(parts: tuple[str, ...], counts: dict[Place, int], *, array: bool) -> Place:
    """The place of a table header; inside an array of tables that is its latest element."""
    place: Place = ()
    for depth, part in enumerate(parts, start=1):
        place = (*place, part)
        if array and depth == len(parts):
            counts[place] = counts.get(place, -1) + 1
        if place in counts:
            place = (*place, counts[place])
    return place


def _parts(dotted: str) -> tuple[str, ...]:
    """The parts of a dotted, perhaps quoted key."""
    import tomllib

    node: Any
    try:
        node = tomllib.loads(f"{dotted} = 0")
    except tomllib.TOMLDecodeError:
        return ()
    parts: list[str] = []
    while isinstance(node, dict):
        part, node = next(iter(node.items()))
        parts.append(part)
    return tuple(parts)
