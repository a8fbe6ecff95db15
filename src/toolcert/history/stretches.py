"""Days taken together: weeks and longer, for windows that do not fit day by day."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from toolcert.core.statistics import Rate
from toolcert.core.values import Value
from toolcert.history.days import Day, DayStatus

SIZES = (1, 7, 28, 91, 364)
"""Days a stretch may have."""
_WORST_FIRST = (
    DayStatus.BROKEN,
    DayStatus.CALLS_ONLY,
    DayStatus.UNRELIABLE,
    DayStatus.WORKING,
    DayStatus.NOT_SUPPORTED,
    DayStatus.NOT_MEASURED,
    DayStatus.NOT_TESTED,
)
"""What a stretch is called by; days without a measurement count only where there is no other."""


class Stretch(Value):
    """Some days in a row of one model."""

    first: str
    last: str
    status: DayStatus
    calling: Rate = Rate()
    handling: Rate = Rate()
    call_time: float | None = None
    """Median of the days' medians."""
    answer_time: float | None = None
    tested: int = 0


def size_for(days: int, room: int) -> int:
    """The shortest stretch with which so many days fit."""
    return next((size for size in SIZES if -(-days // size) <= room), SIZES[-1])


def stretches(days: Sequence[Day], size: int) -> list[Stretch]:
    """All days in stretches of `size`; the newest stretch is whole, the oldest may be shorter."""
    starts = range(len(days) % size - size if len(days) % size else 0, len(days), size)
    return [_stretch(days[max(0, start) : start + size]) for start in starts]


def _stretch(days: Sequence[Day]) -> Stretch:
    return Stretch(
        first=days[0].day,
        last=days[-1].day,
        status=min((day.status for day in days), key=_WORST_FIRST.index),
        calling=sum((day.calling for day in days), Rate()),
        handling=sum((day.handling for day in days), Rate()),
        call_time=_middle([day.call_p50 for day in days]),
        answer_time=_middle([day.answer_p50 for day in days]),
        tested=sum(day.status is not DayStatus.NOT_TESTED for day in days),
    )


def _middle(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return median(known) if known else None
