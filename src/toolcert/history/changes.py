"""What changed since the day tested before, and outages."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Sequence
from datetime import date, timedelta
from enum import StrEnum

from toolcert.core.statistics.rates import Rate, reaches
from toolcert.core.values import Value
from toolcert.core.verdict import Word, worst
from toolcert.history.daily_status import Day, DayStatus, ModelHistory, word_of
from toolcert.history.last_good import loss_p

_GOOD = (DayStatus.WORKING, DayStatus.PARTIAL, DayStatus.UNRELIABLE, DayStatus.CALLS_ONLY)
_ASKED = (*_GOOD, DayStatus.BROKEN, DayStatus.NOT_SUPPORTED)
"""Statuses based on a measurement; outages and days without a run are skipped when days are compared."""


WINDOW = 14
"""Measured days that show what a model was before."""
STEADY = 5
"""Good days in a row after which an error that came and went is over."""
CHANCE = 0.005
"""Largest probability, if nothing changed, at which a change is still reported."""


class ChangeKind(StrEnum):
    """How a model changed; in the order in which a reader should see it."""

    NEWLY_BROKEN = "newly broken"
    NEWLY_WORKING = "newly working"
    RECOVERED = "back again"
    BECAME_PARTIAL = "works in part"
    BECAME_UNRELIABLE = "became unreliable"
    STOPPED_HANDLING = "stopped using results"
    BECAME_RELIABLE = "became reliable"
    BEGAN_HANDLING = "began to use results"
    NEW_MODEL = "new model"
    GONE = "no longer listed"
    NOT_TESTED = "not tested"
    """The last run asked only some of the listed models, and not this one."""

    @property
    def word(self) -> str:
        """How reports name it; the JSON values stay as version 0.1 wrote them."""
        return _SAID.get(self, self.value)


_SAID = {
    ChangeKind.NEWLY_BROKEN: "stopped calling",
    ChangeKind.NEWLY_WORKING: "began to call",
    ChangeKind.RECOVERED: "recovered",
    ChangeKind.BECAME_UNRELIABLE: "below the threshold",
    ChangeKind.BECAME_RELIABLE: "passes now",
}
_LOSSES = (ChangeKind.NEWLY_BROKEN, ChangeKind.BECAME_UNRELIABLE, ChangeKind.STOPPED_HANDLING)


class Change(Value):
    """One model whose status changed."""

    endpoint: str
    model: str
    kind: ChangeKind
    day: str
    before: Day | None = None
    after: Day | None = None


class Outage(Value):
    """Consecutive tested days on which a model that had worked did not call, or nothing could be measured."""

    endpoint: str
    model: str
    first: str
    last: str
    days: int
    broken: bool
    """True: it answered and did not call. False: nothing could be measured."""
    over: bool
    reason: str = ""


class _Course:
    """A model's tested and measured days, for a look back from any day."""

    def __init__(self, history: ModelHistory) -> None:
        self.history = history
        self.tested = [day for day in history.days if day.status is not DayStatus.NOT_TESTED]
        self.asked = [day for day in self.tested if day.status in _ASKED]
        self._tested_days = [day.day for day in self.tested]
        self._asked_days = [day.day for day in self.asked]
        self.proven = _proven(history, self.asked)

    def last_tested(self, until: str) -> Day | None:
        place = bisect_right(self._tested_days, until)
        return self.tested[place - 1] if place else None

    def last_asked(self, until: str) -> Sequence[Day]:
        """The last two measured days up to `until`, the newer one last."""
        place = bisect_right(self._asked_days, until)
        return self.asked[max(0, place - 2) : place]


def latest_changes(
    histories: Iterable[ModelHistory], last_run_day: str, partial_days: Collection[str] = ()
) -> list[Change]:
    """What changed on the last day with a run, at most one change per model."""
    return _changes([_Course(history) for history in histories], last_run_day, partial_days)


def recent_changes(
    histories: Iterable[ModelHistory], last: str, days: int, partial_days: Collection[str] = ()
) -> list[Change]:
    """What changed on the last `days` days with a run, newest first."""
    courses = [_Course(history) for history in histories]
    run_days = sorted({day.day for course in courses for day in course.tested if day.day <= last}, reverse=True)
    return [change for day in run_days[:days] for change in _changes(courses, day, partial_days)]


def _changes(courses: Sequence[_Course], run_day: str, partial_days: Collection[str]) -> list[Change]:
    yesterday = (date.fromisoformat(run_day) - timedelta(days=1)).isoformat()
    earlier = [day.day for course in courses if (day := course.last_tested(yesterday)) is not None]
    before = max(earlier, default=None)
    absent = ChangeKind.NOT_TESTED if run_day in partial_days else ChangeKind.GONE
    changes = [change for course in courses if (change := _change(course, run_day, before, absent)) is not None]
    order = list(ChangeKind)
    return sorted(changes, key=lambda change: (order.index(change.kind), change.model))


_RELIABILITY = (DayStatus.WORKING, DayStatus.UNRELIABLE)
"""Statuses that differ only by the rates of a few tries, so that chance alone moves a model between them."""


def standing(history: ModelHistory, last: str, threshold: float) -> DayStatus:
    """What a model is on the last day.

    Whether it is reliable is decided by all days since its last proven change, at most 14; everything else by that day.
    """
    now = next((day.status for day in reversed(history.days) if day.day == last), DayStatus.NOT_TESTED)
    if now not in _RELIABILITY:
        return now
    reached = all(reaches(rate.k, rate.n, threshold) for rate in _steady_rates(history, last) if rate.n)
    return DayStatus.WORKING if reached else DayStatus.UNRELIABLE


def verdict_now(history: ModelHistory, last: str, threshold: float) -> Word | None:
    """The verdict of a model on the last day, by the same days as its standing."""
    day = next((day for day in reversed(history.days) if day.day == last), None)
    if day is None or day.status not in _RELIABILITY:
        return None if day is None else day.word
    word = word_of(*_steady_rates(history, last), 0, threshold)
    if word not in (Word.CERTIFIED, Word.PASSES):
        return worst([word, day.word] if day.word else [word])
    # What proves the calls does not prove the other probes of the day.
    return Word.PASSES if word is Word.CERTIFIED and day.word is not Word.CERTIFIED else word


def _steady_rates(history: ModelHistory, last: str) -> tuple[Rate, Rate]:
    """Calls made and results used on the days since the last proven change."""
    course = _Course(history)
    since = max((day for day in course.proven if day <= last), default="")
    days = [day for day in course.asked if since <= day.day <= last and day.status in _RELIABILITY][-WINDOW:]
    return sum((day.calling for day in days), Rate()), sum((day.handling for day in days), Rate())


def _change(course: _Course, run_day: str, day_before: str | None, absent: ChangeKind) -> Change | None:
    """How a model changed; `absent` is what it means that it has no result of this day."""
    history, tested, asked = course.history, course.last_tested(run_day), course.last_asked(run_day)
    if tested is None:
        return None
    if tested.day != run_day:
        return _made(history, absent, tested, None) if tested.day == day_before else None
    if not asked or asked[-1].day != run_day:
        return None
    if len(asked) == 1:
        new = day_before is not None and history.first_seen == run_day
        return _made(history, ChangeKind.NEW_MODEL, None, asked[-1]) if new else None
    return course.proven.get(run_day)


def _proven(history: ModelHistory, asked: Sequence[Day]) -> dict[str, Change]:
    """The changes by day, each on the first day on which chance no longer explains it.

    A model near the threshold has good and bad days. They change its status of the day and are not a change: a status
    is left only when the days of another one in a row differ from the days since the last change by more than
    chance.
    """
    found: dict[str, Change] = {}
    status, steady, streak = None, list[Day](), list[Day]()
    for day in asked:
        if status is None or day.status is status:
            status = day.status
            steady, streak = [*steady, *streak, day][-WINDOW:], []
            continue
        if streak and streak[-1].status is not day.status:
            steady, streak = [*steady, *streak][-WINDOW:], []
        streak.append(day)
        kind = _kind(status, day.status)
        if kind is None or _shown(kind, steady, streak):
            if kind is not None:
                found[day.day] = _made(history, kind, steady[-1], day)
            status, steady, streak = day.status, streak, []
    return found


def _shown(kind: ChangeKind, before: Sequence[Day], after: Sequence[Day]) -> bool:
    """Whether the days of a new status differ from those before by more than chance."""
    if kind is ChangeKind.BECAME_PARTIAL:
        # What caps a day was reproduced on that day; a fault that comes and goes is reported when it is first seen.
        return not any(day.status is DayStatus.PARTIAL for day in before)
    if kind is ChangeKind.BECAME_RELIABLE and any(day.status is DayStatus.PARTIAL for day in before):
        return len(after) >= STEADY
    measures: tuple[Callable[[Day], Rate], ...] = (lambda day: day.calling, lambda day: day.handling)
    tables = [(sum(map(read, before), Rate()), sum(map(read, after), Rate())) for read in measures]
    known = [(old, new) for old, new in tables if old.n and new.n]
    if kind not in _LOSSES:
        known = [(_misses(old), _misses(new)) for old, new in known]
    return not known or loss_p(known) <= CHANCE


def _misses(rate: Rate) -> Rate:
    return Rate(k=rate.n - rate.k, n=rate.n)


def _kind(before: DayStatus, after: DayStatus) -> ChangeKind | None:
    if after is DayStatus.BROKEN:
        return ChangeKind.NEWLY_BROKEN if before in _GOOD else None
    if after not in _GOOD:
        return None
    if before not in _GOOD:
        # BROKEN implies that the model worked once, so working now is a recovery.
        return ChangeKind.RECOVERED if before is DayStatus.BROKEN else ChangeKind.NEWLY_WORKING
    if before is DayStatus.CALLS_ONLY and after is DayStatus.UNRELIABLE:
        return ChangeKind.BEGAN_HANDLING
    return {
        DayStatus.WORKING: ChangeKind.BECAME_RELIABLE,
        DayStatus.PARTIAL: ChangeKind.BECAME_PARTIAL,
        DayStatus.UNRELIABLE: ChangeKind.BECAME_UNRELIABLE,
        DayStatus.CALLS_ONLY: ChangeKind.STOPPED_HANDLING,
    }[after]


def _made(history: ModelHistory, kind: ChangeKind, before: Day | None, after: Day | None) -> Change:
    day = after or before
    assert day is not None
    return Change(endpoint=history.endpoint, model=history.model, kind=kind, day=day.day, before=before, after=after)


def outages(history: ModelHistory) -> list[Outage]:
    """The outages of a model, oldest first. A day without a test neither begins nor ends an outage."""
    found: list[Outage] = []
    run: list[Day] = []
    for day in history.days:
        if day.status is DayStatus.NOT_TESTED:
            continue
        if run and day.status is not run[0].status:
            found.append(_outage(history, run, over=True))
            run = []
        if day.status in (DayStatus.BROKEN, DayStatus.NOT_MEASURED):
            run.append(day)
    if run:
        found.append(_outage(history, run, over=False))
    return found


def _outage(history: ModelHistory, run: Sequence[Day], *, over: bool) -> Outage:
    return Outage(
        endpoint=history.endpoint,
        model=history.model,
        first=run[0].day,
        last=run[-1].day,
        days=len(run),
        broken=run[0].status is DayStatus.BROKEN,
        over=over,
        reason=run[-1].reason,
    )
