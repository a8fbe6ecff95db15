"""Kinds of rows: everything about an answer that many rows share, kept once and counted."""

from __future__ import annotations

from typing import TypeAlias

from toolcert.runs.codes import KNOWN_FINISHES, OTHER_FINISH, CodedFacts, facts_of

MAX_KINDS = 32768
"""Beyond this the numbers of calls and turns are no longer told apart; a kind must fit two bytes per row."""
NO_KIND = 0xFFFF
"""Stands where a run has no such row."""

KindKey: TypeAlias = tuple[bool | None, str | None, bool | None, bool | None, bool, int, int]
"""The fields of a Kind in their order: making a bare tuple costs less than making a Kind."""


class Kind(CodedFacts):
    """What is said of one answer besides its content."""

    __slots__ = ()

    @property
    def measured(self) -> bool:
        return self.called is not None

    @property
    def contradicts(self) -> bool:
        """The finish reason says something else than the payload."""
        if self.called:
            return self.finish == "stop"
        return self.called is False and self.finish == "tool_calls"


class Kinds(dict[KindKey, int]):
    """The codes of kinds, in the order they were met; a new one is entered when it is looked up."""

    def __init__(self) -> None:
        super().__init__()
        self._by_flags: dict[int, int] = {}
        self.kinds: list[Kind] = []

    def codes_of_flags(self, flags: tuple[int, ...]) -> list[int]:
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
