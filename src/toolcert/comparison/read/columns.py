"""The rows of a run in 24 bytes each; what many rows share is kept once, as a kind.

Hashes here are compared only pairwise, which is why four bytes for a payload and two for its names are enough
(two different payloads look alike once in four billion rows).
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from functools import cached_property
from itertools import islice
from operator import lt
from typing import TypeAlias

from toolcert.runs.row_code import KNOWN_FINISHES, NO_TOKENS, OTHER_FINISH, CodedFacts, facts_of

CHUNK = 64
"""Lines read together; a row is found again from the beginning of its chunk."""
MASK_32 = 0xFFFF_FFFF
MASK_16 = 0xFFFF
_HALF = 1 << 15


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
        """Filled only where rows are distinguished by a group."""
        self._offsets = array("Q")
        self._firsts = array("I")

    def __len__(self) -> int:
        return len(self.kind)

    @property
    def questions(self) -> array[int]:
        """What identifies the question of a row: its content, or its number where no requests were read."""
        return self.content or self.index

    @cached_property
    def in_order(self) -> bool:
        """Whether each row's number is larger than the one before, as in a sorted file; for when all rows are read."""
        return all(map(lt, self.index, islice(self.index, 1, None)))

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


def signed_difference(difference: int) -> int:
    """The difference of two counts kept modulo NO_TOKENS; right as long as it is below 32768."""
    return (difference + _HALF) % NO_TOKENS - _HALF


def keep_freed_memory() -> None:
    """Let the C library keep freed memory, which saves handing each chunk of lines back to the kernel.

    The C library of Linux does so until a block larger than what is in use was freed once; an untouched one is enough.
    """
    bytes(4 << 20)  # comes zeroed from the kernel, where bytearray would write its zeros itself


MAX_KINDS = 32768
"""Beyond this the numbers of calls and turns are no longer distinguished; a kind must fit two bytes per row."""
NO_KIND = 0xFFFF
"""Marks a row that a run does not have."""

KindKey: TypeAlias = tuple[bool | None, str | None, bool | None, bool | None, bool, int, int]
"""The fields of a Kind in their order: making a bare tuple costs less than making a Kind."""


class Kind(CodedFacts):
    """The facts of one answer besides its content."""

    __slots__ = ()

    @property
    def measured(self) -> bool:
        return self.called is not None

    @property
    def contradicts(self) -> bool:
        """Whether the finish reason contradicts the calls."""
        if self.called:
            return self.finish == "stop"
        return self.called is False and self.finish == "tool_calls"


class Kinds(dict[KindKey, int]):
    """The codes of kinds, in the order they were met; a new one is entered when it is looked up."""

    def __init__(self) -> None:
        super().__init__()
        self._by_flags: dict[int, int] = {}
        self.kinds: list[Kind] = []

    def codes_of_flags(self, flags: list[int]) -> list[int]:
        """The codes of kinds written as flags; nearly all have been met before."""
        codes = [*map(self._by_flags.get, flags)]
        if None in codes:
            return [self._code_of_flags(one) if code is None else code for one, code in zip(flags, codes, strict=True)]
        return codes  # type: ignore[return-value]  # no None is left

    def _code_of_flags(self, flags: int) -> int:
        code = self._by_flags[flags] = self[facts_of(flags)]
        return code

    def __missing__(self, key: KindKey) -> int:
        kind = Kind(*key)
        if kind.finish not in KNOWN_FINISHES:
            kind = kind._replace(finish=OTHER_FINISH)
        if len(self.kinds) >= MAX_KINDS:
            kind = kind._replace(calls=min(kind.calls, 2), turns=0)
        if kind not in self:
            self[kind] = len(self.kinds)
            self.kinds.append(kind)
        return self[kind]
