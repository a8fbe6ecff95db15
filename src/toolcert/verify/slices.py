"""The same figures for parts of the rows: by tool, number of tools, turns, streaming and tag."""

from __future__ import annotations

from toolcert.verify.figures import Share, SliceLine
from toolcert.verify.likeness import Kind

KINDS = ("tool", "n_tools", "turns", "stream", "tag")
MOST = 1000
"""Values of one kind counted one by one; the rest are counted together."""
OTHERS = "(others)"
_STEPS = ((8, None), (16, "9 to 16"), (32, "17 to 32"), (64, "33 to 64"))
_LARGEST = "65 and more"


class _Part:
    __slots__ = ("answered", "called", "correct", "expecting", "invalid", "passed", "valid")

    def __init__(self) -> None:
        self.answered = self.called = self.valid = self.invalid = self.passed = self.correct = self.expecting = 0

    def count(self, kind: Kind, rows: int) -> None:
        self.answered += rows
        self.called += rows * bool(kind.called)
        self.valid += rows * (kind.valid is True)
        self.invalid += rows * (kind.valid is False)
        self.passed += rows * kind.passed
        self.expecting += rows * (kind.correct is not None)
        self.correct += rows * (kind.correct is True)


class Slices:
    """Counts per kind of slice and value."""

    def __init__(self) -> None:
        self._parts: dict[tuple[str, str], _Part] = {}
        self._sizes = dict.fromkeys(KINDS, 0)

    def add(self, kind: Kind, rows: int) -> None:
        """Count answered rows of one kind in every slice they belong to."""
        for name in set(kind.names):
            self._part("tool", name).count(kind, rows)
        self._part("n_tools", _step(kind.tools)).count(kind, rows)
        self._part("turns", _step(kind.turns)).count(kind, rows)
        self._part("stream", "streamed" if kind.streamed else "whole").count(kind, rows)
        for tag in kind.tags:
            self._part("tag", tag).count(kind, rows)

    def result(self) -> tuple[SliceLine, ...]:
        """All slices, by kind and then by value in natural order."""
        ordered = sorted(self._parts.items(), key=lambda item: (KINDS.index(item[0][0]), _natural(item[0][1])))
        return tuple(_line(kind, value, part) for (kind, value), part in ordered)

    def _part(self, kind: str, value: str) -> _Part:
        part = self._parts.get((kind, value))
        if part is None:
            if self._sizes[kind] >= MOST:
                return self._parts.setdefault((kind, OTHERS), _Part())
            self._sizes[kind] += 1
            part = self._parts[(kind, value)] = _Part()
        return part


def _line(kind: str, value: str, part: _Part) -> SliceLine:
    return SliceLine(
        slice=kind,
        value=value,
        answered=part.answered,
        called=Share.of(part.called, part.answered),
        valid=Share.of(part.valid, part.valid + part.invalid),
        passed=Share.of(part.passed, part.answered),
        correct=Share.of(part.correct, part.expecting),
    )


def _step(number: int) -> str:
    for limit, label in _STEPS:
        if number <= limit:
            return label or str(number)
    return _LARGEST


def _natural(value: str) -> tuple[int, str]:
    digits = value.partition(" ")[0]
    return (int(digits), value) if digits.isdigit() else (-1, value)
