"""Kinds of rows: everything about an answer that many rows share, kept once and counted."""

from __future__ import annotations

from typing import TypeAlias

from toolcert.core.values import Value

MAX_KINDS = 8192
"""Beyond this the rarer texts are no longer told apart; a kind must fit two bytes per row."""
OTHER = "(other)"
_REASONS = (None, "stop", "tool_calls", "length", "content_filter", "function_call")
_MOST_CALLS = 16

Facts: TypeAlias = tuple[
    bool | None, str | None, bool | None, bool | None, bool, int, str | None, str | None, str | None
]
"""called, finish, valid, correct, text_beside, turns, answered, fingerprint, id_style."""
KindKey: TypeAlias = tuple[Facts, int, str]
"""The facts, the number of calls, the model asked; as tuples, because looking one up costs a third of a microsecond."""


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
    asked: str
    """The model asked for."""
    answered: str | None
    fingerprint: str | None
    id_style: str | None

    @property
    def measured(self) -> bool:
        return self.called is not None

    @property
    def contradicts(self) -> bool:
        """The finish reason says something else than the payload."""
        if self.called:
            return self.finish == "stop"
        return self.called is False and self.finish == "tool_calls"


class Kinds:
    """Codes for kinds, in the order they were met."""

    def __init__(self) -> None:
        self._codes: dict[KindKey, int] = {}
        self.kinds: list[Kind] = []

    def code(self, key: KindKey) -> int:
        """The code of one kind."""
        code = self._codes.get(key)
        return self._enter(key) if code is None else code

    def codes(self, keys: list[KindKey]) -> list[int]:
        """The codes of many kinds; nearly all have been met before."""
        codes = [*map(self._codes.get, keys)]
        if None in codes:
            return [self._enter(key) if code is None else code for key, code in zip(keys, codes, strict=True)]
        return codes  # type: ignore[return-value]  # no None is left

    def _enter(self, key: KindKey) -> int:
        if key in self._codes:  # entered a moment ago
            return self._codes[key]
        if len(self.kinds) >= MAX_KINDS:
            key = _coarse(key)
            if key in self._codes:
                return self._codes[key]
        code = self._codes[key] = len(self.kinds)
        self.kinds.append(_kind(key))
        return code


def _kind(key: KindKey) -> Kind:
    called, finish, valid, correct, text_beside, turns, answered, fingerprint, style = key[0]
    return Kind(
        called=called,
        finish=finish,
        valid=valid,
        correct=correct,
        text_beside=text_beside,
        calls=key[1],
        turns=turns,
        asked=key[2],
        answered=answered,
        fingerprint=fingerprint,
        id_style=style,
    )


def _coarse(key: KindKey) -> KindKey:
    """The same kind without what may differ from row to row."""
    called, finish, valid, correct, text_beside, _, answered, fingerprint, style = key[0]
    finish = finish if finish in _REASONS else OTHER
    texts = _any(answered), _any(fingerprint), _any(style)
    return (called, finish, valid, correct, text_beside, 0, *texts), min(key[1], _MOST_CALLS), OTHER


def _any(text: str | None) -> str | None:
    return None if text is None else OTHER
