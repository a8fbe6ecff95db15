"""The verdicts of a run in 28 bytes a row, so that a million rows fit anywhere.

Hashes here are compared only within one process and only pairwise, which is why Python's own hash
and four bytes for a payload are enough (two different payloads look alike once in four billion rows).
"""

from __future__ import annotations

from array import array

CHUNK = 64
"""Rows decoded together, and the distance of the offsets from which a row is found again."""
MASK_32 = 0xFFFF_FFFF
MASK_16 = 0xFFFF
NO_TOKENS = MASK_32
"""Stands where the server gave no count."""


class Columns:
    """One array per fact, all of the same length."""

    def __init__(self) -> None:
        self.content = array("q")
        self.index = array("I")
        self.payload = array("I")
        self.names = array("I")
        self.tokens = array("I")
        self.sampling = array("H")
        self.kind = array("H")
        self.group = array("H")
        """Filled only where rows are told apart by a group."""
        self.marks = array("Q")
        """Where in the file each CHUNK rows begin."""

    def __len__(self) -> int:
        return len(self.content)


def unordered(parts: tuple[str, ...]) -> tuple[str, ...]:
    """Calls made in parallel have no order."""
    return parts if len(parts) < 2 else tuple(sorted(parts))
