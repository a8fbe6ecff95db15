"""Kinds of rows: everything about an answer that many rows share, kept once and counted."""

from __future__ import annotations

from typing import TypeAlias

from toolcert.core.values import Value
from toolcert.runs.codes import facts_of

MAX_KINDS = 32768
"""Beyond this the numbers of calls and turns are no longer told apart; a kind must fit two bytes per row."""
_REASONS = (None, "stop", "tool_calls", "length", "content_filter", "function_call")
OTHER = "(other)"

KindKey: TypeAlias = tuple[bool | None, str | None, bool | None, bool | None, bool, int, int]
"""The fields of a Kind in their order; as a tuple, because looking one up costs a third of a microsecond."""


class Kind(Value):
    """What is said of one answer besides its content."""

    called: bool | None
    """None where nothing was measured."""
    finish: str | None
    valid: bool | None
    correct: bool | None
    text_beside: bool
    calls: int
    turns: int

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
        facts = facts_of(flags)
        key = (facts.called, facts.finish, facts.valid, facts.correct, facts.text_beside, facts.calls, facts.turns)
        code = self._by_flags[flags] = self[key]
        return code

    def __missing__(self, key: KindKey) -> int:
        called, finish, valid, correct, text_beside, calls, turns = key
        finish = finish if finish in _REASONS else OTHER
        if len(self.kinds) >= MAX_KINDS:
            calls, turns = min(calls, 2), 0
        known = (called, finish, valid, correct, text_beside, calls, turns)
        if known in self:
            return self[known]
        code = self[known] = len(self.kinds)
        self.kinds.append(
            Kind(
                called=called,
                finish=finish,
                valid=valid,
                correct=correct,
                text_beside=text_beside,
                calls=calls,
                turns=turns,
            )
        )
        return code
