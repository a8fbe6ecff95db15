"""Proof that a piece of arguments was sent under the wrong call: moved, it mends both."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations
from typing import TypeAlias

import msgspec

from toolcert.wire.notices import quoted
from toolcert.wire.texts import NOT_JSON

Trail: TypeAlias = list[tuple[int, str]]
"""The pieces of one call's arguments, each with its time of arrival."""
_MOST_PIECES = 500
"""Beyond this the search would take longer than the answer is worth."""


def misplaced_piece(trails: list[Trail]) -> str | None:
    """Evidence that pieces belong elsewhere, or None.

    The search looks only at calls whose arguments are broken, and claims nothing unless moving
    pieces from one of them to another makes both complete JSON.
    """
    broken = [number for number, trail in enumerate(trails) if not _is_json(trail)]
    if len(broken) < 2 or sum(map(len, trails)) > _MOST_PIECES:
        return None
    for giver, taker in permutations(broken, 2):
        for start, end in _runs(len(trails[giver])):
            if _mends(trails[giver], trails[taker], start, end):
                text = "".join(piece for _, piece in trails[giver][start:end])
                return f"{quoted(text)} came with call {giver} and belongs to call {taker}"
    return None


def _runs(length: int) -> Iterator[tuple[int, int]]:
    """Single pieces, and runs from the beginning or to the end."""
    for position in range(length):
        yield position, position + 1
    for position in range(1, length):
        yield position, length
        yield 0, position


def _mends(giver: Trail, taker: Trail, start: int, end: int) -> bool:
    return _is_json(giver[:start] + giver[end:]) and _is_json(sorted(taker + giver[start:end]))


def _is_json(trail: Trail) -> bool:
    if not trail or trail[0][1][0] != "{" or trail[-1][1][-1] != "}":
        return False  # arguments are objects: most candidates are refused here without joining
    try:
        msgspec.json.decode("".join(piece for _, piece in trail))
    except NOT_JSON:
        return False
    return True
