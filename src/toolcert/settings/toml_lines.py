"""On which line of a TOML text a key stands; the standard parser does not tell."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from typing import Any

_HEADER = re.compile(r"^\s*\[\[?(.+?)\]\]?\s*(#.*)?$")
_KEY = re.compile(r"""^\s*((?:[\w-]+|"[^"]*"|'[^']*')(?:\s*\.\s*(?:[\w-]+|"[^"]*"|'[^']*'))*)\s*=""")


def line_of(text: str, keys: tuple[str, ...]) -> int:
    """Line (1-based) of a key, or of the nearest thing around it that has one."""
    best_line, best_depth = 1, 0
    for number, path in _keyed_lines(text):
        depth = _common(path, keys)
        if depth > best_depth:
            best_line, best_depth = number, depth
    return best_line


def _keyed_lines(text: str) -> Iterator[tuple[int, tuple[str, ...]]]:
    table: tuple[str, ...] = ()
    for number, line in enumerate(text.splitlines(), start=1):
        if header := _HEADER.match(line):
            table = _split_key(header[1])
            yield number, table
        elif key := _KEY.match(line):
            yield number, (*table, *_split_key(key[1]))


def _split_key(dotted: str) -> tuple[str, ...]:
    """The parts of a dotted, perhaps quoted key."""
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


def _common(path: tuple[str, ...], keys: tuple[str, ...]) -> int:
    """How far `path` leads towards `keys`; 0 when it leads elsewhere."""
    return len(path) if path == keys[: len(path)] else 0
