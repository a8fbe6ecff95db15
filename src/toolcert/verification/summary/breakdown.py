"""Figures for parts of a run: by kind of row, by time, by tool and by slice."""

from __future__ import annotations

from collections import Counter
from operator import attrgetter
from typing import NamedTuple

from toolcert.core.cases import Outcome
from toolcert.core.records import Record, RowFacts
from toolcert.core.statistics.quantiles import Quantiles
from toolcert.core.statistics.rates import Rate
from toolcert.runs.marks import NO_EXCUSE, Excuse
from toolcert.verification.summary.figures import Moment, SliceLine, ToolLine

MOST_KINDS = 1024
"""Kinds that are collected before they are counted; bounds the memory if every row differs."""


class Kind(NamedTuple):
    """The countable facts of an answered row; rows with equal facts are counted together."""

    called: bool | None
    finish: str | None
    names: tuple[str, ...]
    valid: bool | None
    verdicts: tuple[bool | None, ...]
    wanted: bool | None
    correct: bool | None
    buckets: tuple[str, ...]
    answered_as: str | None
    fingerprint: str | None
    tools: int
    offered: tuple[str, ...]
    turns: int
    streamed: bool
    tags: tuple[str, ...]
    lost: str | None
    codes: tuple[str, ...]
    passed: bool
    excuse: Excuse = NO_EXCUSE


_of_row = attrgetter(*Kind._fields[:-3])


class Kinds:
    """How many rows of each kind there were since the last count."""

    def __init__(self) -> None:
        self._rows: dict[tuple[object, ...], int] = {}

    def add(self, record: Record, row: RowFacts, excuse: Excuse = NO_EXCUSE) -> bool:
        """Add a row; True if the kinds must be counted now."""
        kind = (*_of_row(row), record.codes, record.outcome is Outcome.PASSED, excuse)
        self._rows[kind] = self._rows.get(kind, 0) + 1
        return len(self._rows) >= MOST_KINDS

    def take(self) -> list[tuple[Kind, int]]:
        """Return the kinds with their numbers of rows, and start over."""
        counted = [(Kind._make(kind), rows) for kind, rows in self._rows.items()]
        self._rows = {}
        return counted


MOST_STRETCHES = 120
"""Time intervals that are kept, as many as a chart can show; beyond that, neighbours are merged."""


class _Stretch:
    __slots__ = ("answered", "first_tokens", "not_measured", "retried", "seconds", "timed", "whole")

    def __init__(self) -> None:
        self.answered = self.retried = self.not_measured = self.timed = self.whole = 0
        self.first_tokens = self.seconds = 0.0

    def merge(self, other: _Stretch) -> None:
        for name in self.__slots__:
            setattr(self, name, getattr(self, name) + getattr(other, name))


class Moments:
    """Counts records by the time they ended, in intervals whose width doubles as the run grows."""

    def __init__(self) -> None:
        self.width = 1
        self._stretches: dict[int, _Stretch] = {}
        self._first = float("inf")
        self._last = float("-inf")

    @property
    def seconds(self) -> float | None:
        """Seconds from the first request to the last record; None if no times are known, as for older results."""
        return self._last - self._first if self._last > 0 else None

    def add(self, record: Record) -> None:
        """Count one record at its time."""
        row = record.row
        taken = row.seconds if row is not None else None
        begun = record.at - (taken or 0.0)
        if begun < self._first:  # noqa: PLR1730 - a call would cost more than the rest, for every row
            self._first = begun
        if record.at > self._last:  # noqa: PLR1730 - see above
            self._last = record.at
        stretch = self._at(int(record.at) // self.width)
        if record.outcome.measured and row is not None:
            stretch.answered += 1
            stretch.retried += row.attempts > 1
            if row.seconds is not None:
                stretch.whole += 1
                stretch.seconds += row.seconds
            if row.first_token is not None:
                stretch.timed += 1
                stretch.first_tokens += row.first_token
        elif record.outcome is Outcome.NOT_MEASURED:
            stretch.not_measured += 1

    def result(self) -> tuple[Moment, ...]:
        """The intervals in order."""
        if not self._stretches:
            return ()
        start = min(self._stretches)
        return tuple(
            Moment(
                start=float((place - start) * self.width),
                width=float(self.width),
                answered=stretch.answered,
                retried=stretch.retried,
                not_measured=stretch.not_measured,
                first_token=_mean(stretch.first_tokens, stretch.timed),
                seconds=_mean(stretch.seconds, stretch.whole),
            )
            for place, stretch in sorted(self._stretches.items())
        )

    def _at(self, place: int) -> _Stretch:
        stretch = self._stretches.get(place)
        if stretch is not None:
            return stretch
        stretch = self._stretches[place] = _Stretch()
        while len(self._stretches) > MOST_STRETCHES:
            stretch = self._widen(stretch)
        return stretch

    def _widen(self, current: _Stretch) -> _Stretch:
        """Merge neighbours in pairs and return the new place of `current`."""
        self.width *= 2
        merged: dict[int, _Stretch] = {}
        where = current
        for place, stretch in self._stretches.items():
            target = merged.setdefault(place // 2, _Stretch())
            target.merge(stretch)
            if stretch is current:
                where = target
        self._stretches = merged
        return where


def _mean(total: float, number: int) -> float | None:
    # Rounded, so that it does not depend on the order in which records were added.
    return round(total / number, 6) if number else None


MOST_TOOLS = 1000
"""Tools that are counted individually; the others share one line."""
OTHER_TOOLS = "(others)"


class _Tool:
    __slots__ = ("buckets", "called", "invalid", "lost", "offered", "seconds", "valid")

    def __init__(self) -> None:
        self.offered = self.called = self.valid = self.invalid = self.lost = 0
        self.buckets: Counter[str] = Counter()
        self.seconds: Quantiles | None = None


class ToolTallies:
    """Counts per tool name."""

    def __init__(self) -> None:
        self._tools: dict[str, _Tool] = {}

    def add(self, kind: Kind, rows: int) -> None:
        """Count what answered rows of one kind offered and called."""
        for name in kind.offered:
            self._tool(name).offered += rows
        if kind.lost is not None:
            self._tool(kind.lost).lost += rows
        called = set(kind.names)
        # If an answer calls several tools, it is unknown which of them a reason belongs to.
        buckets = kind.buckets if kind.valid is False and len(called) == 1 else ()
        for name in called:
            tool = self._tool(name)
            tool.called += rows
            for bucket in buckets:
                tool.buckets[bucket] += rows
        for name, verdict in zip(kind.names, kind.verdicts, strict=False):
            tool = self._tool(name)
            tool.valid += rows * (verdict is True)
            tool.invalid += rows * (verdict is False)

    def add_seconds(self, names: tuple[str, ...], seconds: float) -> None:
        """Count how long an answer with calls took, for each tool it calls."""
        for name in names if len(names) == 1 else set(names):
            tool = self._tool(name)
            tool.seconds = tool.seconds or Quantiles()
            tool.seconds.add(seconds)

    def result(self) -> tuple[ToolLine, ...]:
        """The tools, most offered first."""
        ordered = sorted(self._tools.items(), key=lambda item: (-item[1].offered, -item[1].called, item[0]))
        return tuple(_tool_line(name, tool) for name, tool in ordered)

    def _tool(self, name: str) -> _Tool:
        tool = self._tools.get(name)
        if tool is None:
            if len(self._tools) >= MOST_TOOLS:
                name = OTHER_TOOLS
            tool = self._tools.setdefault(name, _Tool())
        return tool


def _tool_line(name: str, tool: _Tool) -> ToolLine:
    common = tool.buckets.most_common(1)
    return ToolLine(
        name=name,
        rows=tool.offered,
        called=tool.called,
        lost=tool.lost,
        valid=Rate(k=tool.valid, n=tool.valid + tool.invalid),
        p50=None if tool.seconds is None else tool.seconds.quantile(0.5),
        main=common[0][0] if common else "",
    )


SLICE_KINDS = ("tool", "n_tools", "turns", "stream", "tag")
MOST_VALUES = 1000
"""Values of a slice that are counted individually; the others are counted together."""
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
    """Counts for each slice and value."""

    def __init__(self) -> None:
        self._parts: dict[tuple[str, str], _Part] = {}
        self._sizes = dict.fromkeys(SLICE_KINDS, 0)

    def add(self, kind: Kind, rows: int) -> None:
        """Count answered rows of one kind in every slice they belong to."""
        # By what was offered: a call that the server lost belongs to its tool, and names none.
        for name in {*kind.offered, *kind.names}:
            self._part("tool", name).count(kind, rows)
        self._part("n_tools", _step(kind.tools)).count(kind, rows)
        self._part("turns", _step(kind.turns)).count(kind, rows)
        self._part("stream", "streamed" if kind.streamed else "whole").count(kind, rows)
        for tag in kind.tags:
            self._part("tag", tag).count(kind, rows)

    def result(self) -> tuple[SliceLine, ...]:
        """All slices, by kind and then by value in natural order."""
        ordered = sorted(self._parts.items(), key=lambda item: (SLICE_KINDS.index(item[0][0]), _natural(item[0][1])))
        return tuple(_slice_line(kind, value, part) for (kind, value), part in ordered)

    def _part(self, kind: str, value: str) -> _Part:
        part = self._parts.get((kind, value))
        if part is None:
            if self._sizes[kind] >= MOST_VALUES:
                return self._parts.setdefault((kind, OTHERS), _Part())
            self._sizes[kind] += 1
            part = self._parts[(kind, value)] = _Part()
        return part


def _slice_line(kind: str, value: str, part: _Part) -> SliceLine:
    return SliceLine(
        slice=kind,
        value=value,
        answered=part.answered,
        called=Rate(k=part.called, n=part.answered),
        valid=Rate(k=part.valid, n=part.valid + part.invalid),
        passed=Rate(k=part.passed, n=part.answered),
        correct=Rate(k=part.correct, n=part.expecting),
    )


def _step(number: int) -> str:
    for limit, label in _STEPS:
        if number <= limit:
            return label or str(number)
    return _LARGEST


def _natural(value: str) -> tuple[int, str]:
    digits = value.partition(" ")[0]
    # A vendor may name a tool "²" or with thousands of digits, which `int` refuses.
    return (int(digits), value) if digits.isdecimal() and len(digits) < 10 else (-1, value)
