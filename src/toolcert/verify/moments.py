"""The course of a run over time, in a bounded number of stretches."""

from __future__ import annotations

from toolcert.core.outcomes import Outcome
from toolcert.core.records import Record
from toolcert.verify.figures import Moment

MOST = 120
"""Stretches kept: as many as a chart can show; beyond it, neighbours are merged."""


class _Stretch:
    __slots__ = ("answered", "first_tokens", "not_measured", "retried", "seconds", "timed", "whole")

    def __init__(self) -> None:
        self.answered = self.retried = self.not_measured = self.timed = self.whole = 0
        self.first_tokens = self.seconds = 0.0

    def merge(self, other: _Stretch) -> None:
        for name in self.__slots__:
            setattr(self, name, getattr(self, name) + getattr(other, name))


class Moments:
    """Records by the time they ended; the width of a stretch doubles as a run grows."""

    def __init__(self) -> None:
        self.width = 1
        self._stretches: dict[int, _Stretch] = {}
        self._first = float("inf")
        self._last = float("-inf")

    @property
    def seconds(self) -> float | None:
        """From the first request to the last record; None where no times are known, as of older results."""
        return self._last - self._first if self._last > 0 else None

    def add(self, record: Record) -> None:
        """Count one record at its time."""
        row = record.row
        taken = row.seconds if row is not None else None
        self._first = min(self._first, record.at - (taken or 0.0))
        self._last = max(self._last, record.at)
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
        """The stretches in order, from the first record on."""
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
        while len(self._stretches) > MOST:
            stretch = self._widen(stretch)
        return stretch

    def _widen(self, current: _Stretch) -> _Stretch:
        """Merge neighbours two by two; returns where `current` went."""
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
