"""The status of a model per day, and per week or longer when there are too many days to show."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date, timedelta
from enum import StrEnum
from functools import lru_cache
from statistics import median

import msgspec

from toolcert.core.statistics.rates import PROBE_THRESHOLD, Rate, reaches
from toolcert.core.values import Value
from toolcert.core.verdict import Ability, Coverage, Word, decide
from toolcert.history.observation import Observation, Shortcomings, Span


class DayStatus(StrEnum):
    """How a model did on one day."""

    WORKING = "working"
    """Calls tools and uses their results at least as often as the threshold asks."""
    PARTIAL = "partial"
    """Does both, but something else that was asked for does not work, or an error was reproduced."""
    UNRELIABLE = "unreliable"
    """Does both, but less often than the threshold asks."""
    CALLS_ONLY = "calls_only"
    """Calls tools, but never uses a result."""
    BROKEN = "broken"
    """Did not call on this day, but did on an earlier one."""
    NOT_SUPPORTED = "not_supported"
    """Did not call on this day or any earlier one."""
    NOT_MEASURED = "not_measured"
    """Was asked, but gave no answer that could be judged: an outage, not a regression."""
    NOT_TESTED = "not_tested"


class Day(Value, gc=False):
    """One model on one day, all of the day's runs together."""

    day: str
    status: DayStatus
    calling: Rate = Rate()
    handling: Rate = Rate()
    call_p50: float | None = None
    answer_p50: float | None = None
    reason: str = ""
    run: str = ""
    """The last run of the day."""
    word: Word | None = None
    """The verdict of the day; None if the model was not tested."""


class ModelHistory(Value):
    """Every day of a model in the period, oldest first; days without a run are NOT_TESTED."""

    endpoint: str
    model: str
    days: tuple[Day, ...]
    first_seen: str = ""
    last_seen: str = ""
    standing: DayStatus | None = None
    """What the model is on the last day, by the days since its last proven change: one day of luck does not move it."""
    word: Word | None = None
    """The verdict by the same days; None if the model was not tested on the last one."""

    @property
    def measured(self) -> tuple[Day, ...]:
        """The days with a measurement."""
        silent = (DayStatus.NOT_TESTED, DayStatus.NOT_MEASURED)
        return tuple(day for day in self.days if day.status not in silent)

    @property
    def latest(self) -> Day | None:
        """The last day it was tested."""
        return next((day for day in reversed(self.days) if day.status is not DayStatus.NOT_TESTED), None)


def histories(
    observations: Iterable[Observation],
    *,
    first: str,
    last: str,
    threshold: float = PROBE_THRESHOLD,
    spans: Mapping[tuple[str, str], Span] | None = None,
    shortcomings: Mapping[tuple[str, str, str], Shortcomings] | None = None,
) -> list[ModelHistory]:
    """The history of every model between two days.

    `observations` are those of one probe. `shortcomings` hold what the others show against a day that looks good.

    A model counts as broken only if it worked before. `spans` tells that for the time before `observations` begin.
    """
    by_model: dict[tuple[str, str], dict[str, list[Observation]]] = {}
    for observation in observations:
        days = by_model.setdefault((observation.endpoint, observation.model), {})
        days.setdefault(observation.day, []).append(observation)
    calendar = list(calendar_days(first, last))
    known = spans or {}
    rest = shortcomings or {}
    found = [
        _history(target, days, calendar, threshold, known.get(target)) for target, days in sorted(by_model.items())
    ]
    return [_judged(history, rest, threshold) for history in found] if rest else found


def _judged(
    history: ModelHistory, shortcomings: Mapping[tuple[str, str, str], Shortcomings], threshold: float
) -> ModelHistory:
    days = []
    for day in history.days:
        found = shortcomings.get((history.endpoint, history.model, day.day))
        by_rate = day.status in (DayStatus.WORKING, DayStatus.UNRELIABLE)
        days.append(_judged_day(day, found, threshold) if found and by_rate else day)
    return msgspec.structs.replace(history, days=tuple(days))


def _judged_day(day: Day, found: Shortcomings, threshold: float) -> Day:
    """A day as the rule for verdicts sees it: with all probes, errors and coverage."""
    verdict = found.verdict(threshold)
    day = msgspec.structs.replace(day, word=verdict.word)
    if verdict.good or day.status is not DayStatus.WORKING:
        return day
    # Too little was measured to call the day good; it is not a regression either.
    lost = verdict.word is Word.UNDECIDED and not verdict.coverage.enough
    status = DayStatus.NOT_MEASURED if lost else DayStatus.PARTIAL
    return msgspec.structs.replace(day, status=status, reason=verdict.reason)


def calendar_days(first: str, last: str) -> Iterator[str]:
    """Every date from the first to the last."""
    day, end = date.fromisoformat(first), date.fromisoformat(last)
    while day <= end:
        yield day.isoformat()
        day += timedelta(days=1)


def _history(
    target: tuple[str, str],
    seen: dict[str, list[Observation]],
    calendar: Sequence[str],
    threshold: float,
    span: Span | None,
) -> ModelHistory:
    span = span or _span(seen)
    worked = span.first_called is not None and span.first_called < calendar[0]
    days = []
    for day in calendar:
        standing = _day(day, seen.get(day, []), threshold, worked=worked)
        worked = worked or bool(standing.calling.k)
        days.append(standing)
    return ModelHistory(
        endpoint=target[0], model=target[1], days=tuple(days), first_seen=span.first_seen, last_seen=span.last_seen
    )


def _span(seen: dict[str, list[Observation]]) -> Span:
    called = [day for day, found in seen.items() if any(one.called for one in found)]
    return Span(first_seen=min(seen), last_seen=max(seen), first_called=min(called, default=None))


def _day(day: str, found: Sequence[Observation], threshold: float, *, worked: bool) -> Day:
    if not found:
        return Day(day=day, status=DayStatus.NOT_TESTED)
    last = found[-1]
    calling, handling, call, answer = last.calling, last.handling, last.call_p50, last.answer_p50
    if len(found) > 1:
        calling = sum((one.calling for one in found), Rate())
        handling = sum((one.handling for one in found), Rate())
        call = _last_known(one.call_p50 for one in found)
        answer = _last_known(one.answer_p50 for one in found)
    refused = any(one.unsupported for one in found)
    return Day(
        day=day,
        status=_status(calling, handling, threshold, worked=worked, refused=refused),
        calling=calling,
        handling=handling,
        call_p50=call,
        answer_p50=answer,
        reason=last.reason,
        run=last.run,
        word=word_of(calling, handling, sum(one.unsupported for one in found), threshold),
    )


@lru_cache(maxsize=4096)  # most days of a long history have the same counts
def word_of(calling: Rate, handling: Rate, refused: int, threshold: float) -> Word:
    """What the rule says of calls and the use of results alone."""
    calls = Ability(name="calls", k=calling.k, n=calling.n, refused=refused, core=True)
    use = Ability(name="results used", k=handling.k, n=handling.n, core=True)
    measured = calling.n + refused
    return decide([calls, use], coverage=Coverage(measured=measured, planned=measured), threshold=threshold).word


def _status(calling: Rate, handling: Rate, threshold: float, *, worked: bool, refused: bool) -> DayStatus:
    if calling.value is None:
        # A refusal is an answer: the server says it cannot. Only silence is "not measured".
        return (DayStatus.BROKEN if worked else DayStatus.NOT_SUPPORTED) if refused else DayStatus.NOT_MEASURED
    if not calling.k:
        return DayStatus.BROKEN if worked else DayStatus.NOT_SUPPORTED
    if handling.n and not handling.k:
        return DayStatus.CALLS_ONLY
    reached = reaches(calling.k, calling.n, threshold) and (
        not handling.n or reaches(handling.k, handling.n, threshold)
    )
    return DayStatus.WORKING if reached else DayStatus.UNRELIABLE


def _last_known(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return known[-1] if known else None


SIZES = (1, 7, 28, 91, 364)
"""Allowed lengths of a stretch, in days."""
_WORST_FIRST = (
    DayStatus.BROKEN,
    DayStatus.CALLS_ONLY,
    DayStatus.UNRELIABLE,
    DayStatus.PARTIAL,
    DayStatus.WORKING,
    DayStatus.NOT_SUPPORTED,
    DayStatus.NOT_MEASURED,
    DayStatus.NOT_TESTED,
)
"""A stretch has the worst status of its days; days without a measurement count only if there are no others."""


class Stretch(Value):
    """Consecutive days of one model, summed up."""

    first: str
    last: str
    status: DayStatus
    calling: Rate = Rate()
    handling: Rate = Rate()
    call_time: float | None = None
    """Median of the daily medians, in seconds."""
    answer_time: float | None = None
    tested: int = 0


def size_for(days: int, room: int) -> int:
    """The shortest stretch length with which `days` fit into `room` columns."""
    return next((size for size in SIZES if -(-days // size) <= room), SIZES[-1])


def stretches(days: Sequence[Day], size: int) -> list[Stretch]:
    """Group the days into stretches of `size`. The oldest stretch may be shorter, so that the newest is complete."""
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
