"""The verdicts of a run in 24 bytes a row, so that a million rows fit anywhere.

Hashes here are compared only pairwise, which is why four bytes for a payload and two for its names are enough (two
different payloads look alike once in four billion rows).
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Sequence
from struct import Struct, pack

from toolcert.runs.codes import NO_TOKENS

CHUNK = 64
"""Lines read together; a row is found again from the beginning of its chunk."""
MASK_32 = 0xFFFF_FFFF
MASK_16 = 0xFFFF
_HALF = 1 << 15
_PACK_CHUNK = {code: Struct(f"{CHUNK}{code}").pack for code in "QIH"}


class Columns:
    """One array per fact, all of the same length."""

    def __init__(self) -> None:
        self.content = array("Q")
        self.index = array("I")
        self.payload = array("I")
        self.names = array("H")
        self.tokens = array("H")
        self.sampling = array("H")
        self.kind = array("H")
        self.group = array("H")
        """Filled only where rows are told apart by a group."""
        self._offsets = array("Q")
        self._firsts = array("I")

    def __len__(self) -> int:
        return len(self.kind)

    @property
    def questions(self) -> array[int]:
        """What tells the question of a row: its content, or its number where no requests were read."""
        return self.content or self.index

    def mark(self, offset: int) -> None:
        """Remember where in the file the next row begins."""
        self._offsets.append(offset)
        self._firsts.append(len(self))

    def mark_before(self, place: int) -> tuple[int, int]:
        """An offset at or before a row, and how many rows lie between."""
        mark = bisect_right(self._firsts, place) - 1
        return self._offsets[mark], place - self._firsts[mark]

    def forget_identity(self) -> None:
        """Free what only matching needs."""
        self.content = array("Q")
        self.index = array("I")


def extend(column: array[int], values: Sequence[int]) -> None:
    """What `column.extend` does, in half the time: that one parses every number by itself."""
    whole = len(values) == CHUNK
    packed = _PACK_CHUNK[column.typecode](*values) if whole else pack(f"{len(values)}{column.typecode}", *values)
    column.frombytes(packed)


def signed_difference(difference: int) -> int:
    """The difference of two counts kept modulo NO_TOKENS; right as long as it is below 32768."""
    return (difference + _HALF) % NO_TOKENS - _HALF


def keep_freed_memory() -> None:
    """Spare the time of handing each chunk of lines back to the kernel and asking for it again.

    The C library of Linux does so until a block larger than what is in use was freed once; an untouched one is enough.
    """
    bytes(4 << 20)  # comes zeroed from the kernel, where bytearray would write its zeros itself
