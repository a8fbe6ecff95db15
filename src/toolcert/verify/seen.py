"""The rows met so far, in twelve bytes a slot: a million rows repeat-checked in 25 MB."""

from __future__ import annotations

from array import array

_START = 1 << 10
_WHOLE = (1 << 64) - 1
_FULL = 0.85
"""Above this load the search for a free slot gets long; below it, memory is wasted."""


class SeenRows:
    """Counts occurrences of keys and remembers the first line of each (open addressing over their hashes)."""

    def __init__(self) -> None:
        self._digests = array("Q", bytes(8 * _START))
        self._lines = array("I", bytes(4 * _START))
        self._used = 0
        self._repeats: dict[int, int] = {}
        """Occurrences of those digests that came more than once: few, so a dictionary may hold them."""

    def occurrence(self, key: str, line: int) -> tuple[int, int]:
        """Which occurrence of `key` this is, from 1, and the line of the first one."""
        digest = hash(key) & _WHOLE or 1  # zero marks a free slot
        slot = self._slot(digest)
        if self._digests[slot]:
            self._repeats[digest] = self._repeats.get(digest, 1) + 1
            return self._repeats[digest], self._lines[slot]
        self._digests[slot], self._lines[slot] = digest, line
        self._used += 1
        if self._used > _FULL * len(self._digests):
            self._grow()
        return 1, line

    def _slot(self, digest: int) -> int:
        digests, mask = self._digests, len(self._digests) - 1
        slot = digest & mask
        while digests[slot] and digests[slot] != digest:
            slot = (slot + 1) & mask
        return slot

    def _grow(self) -> None:
        digests, lines = self._digests, self._lines
        self._digests = array("Q", bytes(2 * 8 * len(digests)))
        self._lines = array("I", bytes(2 * 4 * len(lines)))
        for digest, line in zip(digests, lines, strict=True):
            if digest:
                slot = self._slot(digest)
                self._digests[slot], self._lines[slot] = digest, line
