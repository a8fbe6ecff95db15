"""The numbered notes under the timeline: what broke, declined, could not be measured or is no longer listed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import date
from itertools import groupby

import msgspec

from toolcert.core.statistics.rates import Rate
from toolcert.core.values import Value
from toolcert.history.changes import Outage
from toolcert.history.daily_status import Day, DayStatus, ModelHistory
from toolcert.history.drift import ChangePoint, Metric
from toolcert.history.overview import Overview
from toolcert.reports.display_text import plural, visible
from toolcert.reports.history.phrases import WORDS, chance, day_text, figures, level, ratio, short_name, span_text

MOST = 40
"""Most notes on a page; the tables below hold everything."""
APART = 4
"""Smallest distance, in days, at which two note numbers do not overlap."""
USUALLY = 0.3
"""If a model is below the threshold on a larger share of its days, one note covers all of them."""


class Note(Value):
    """A note; its number is drawn under the days it is about."""

    models: tuple[str, ...]
    targets: tuple[tuple[str, str], ...]
    status: DayStatus
    word: str
    first: str
    last: str
    text: str
    number: int = 0
    metric: Metric | None = None

    @property
    def when(self) -> str:
        return span_text(self.first, self.last)


def notes(found: Overview) -> list[Note]:
    """The most important notes, numbered; the most severe first."""
    by_model = {(history.endpoint, history.model): history for history in found.models}
    every = [
        *(_broken(by_model[one.endpoint, one.model], one) for one in found.outages if one.broken),
        *_not_measured([one for one in found.outages if not one.broken]),
        *_drift(by_model, found.drift.changes, found.last),
        *(note for history in found.models for note in _habits(history, found.threshold)),
        *(note for history in found.models for note in _no_longer_tested(history, found)),
    ]
    return [msgspec.structs.replace(note, number=number) for number, note in enumerate(_joined(every)[:MOST], 1)]


def _joined(every: Sequence[Note]) -> list[Note]:
    """Merge notes on the same model and nearly the same days, so that their numbers do not overlap."""
    kept: list[Note] = []
    for note in every:
        place = next((place for place, other in enumerate(kept) if _meet(other, note)), None)
        if place is None:
            kept.append(note)
        elif not (kept[place].status is DayStatus.BROKEN and kept[place].when == note.when):  # said already
            kept[place] = msgspec.structs.replace(kept[place], text=f"{kept[place].text} {note.when}: {note.text}")
    return kept


def _meet(first: Note, second: Note) -> bool:
    within = first.first <= second.first and second.last <= first.last
    return first.targets == second.targets and (within or abs(_middle(first) - _middle(second)) < APART)


def _middle(note: Note) -> float:
    return (date.fromisoformat(note.first).toordinal() + date.fromisoformat(note.last).toordinal()) / 2


def _note(history: ModelHistory, look: tuple[DayStatus, str], days: tuple[str, str], text: str) -> Note:
    """`look` is the sign and its word, `days` the first and the last."""
    target = (history.endpoint, history.model)
    name = (visible(short_name(history.model)),)
    status, word = look
    return Note(models=name, targets=(target,), status=status, word=word, first=days[0], last=days[1], text=text)


def _broken(history: ModelHistory, outage: Outage) -> Note:
    out = [day for day in history.days if outage.first <= day.day <= outage.last]
    tries = sum((day.calling for day in out), Rate())
    after = next((day for day in history.days if day.day > outage.last and day.calling.n), None)
    before = next((day for day in reversed(history.days) if day.day < outage.first and day.calling.n), None)
    text = f"No call in {plural(tries.n, 'try', 'tries')} on {plural(outage.days, 'day')}"
    text += f"; {figures(before)} the day before" if before else ""
    text += f", {figures(after)} on the first day back." if after else "; not tested since."
    return _note(history, (DayStatus.BROKEN, WORDS[DayStatus.BROKEN]), (outage.first, outage.last), text)


def _not_measured(outages: Sequence[Outage]) -> Iterator[Note]:
    """One note for all models that could not be measured on the same days: usually their endpoint was down."""

    def span(one: Outage) -> tuple[str, str]:
        return one.first, one.last

    for (first, last), group in groupby(sorted(outages, key=span), key=span):
        every = list(group)
        targets = tuple((one.endpoint, one.model) for one in every)
        names = tuple(visible(short_name(one.model)) for one in every)
        reason = next((f": {one.reason.rstrip('.')}" for one in every if one.reason), "")
        text = f"{plural(len(every), 'model')} could not be measured{reason}. That says nothing about the models."
        shown = names if len(names) < 3 else (f"{names[0]} and {len(names) - 1} more",)
        yield Note(
            models=shown,
            targets=targets,
            status=DayStatus.NOT_MEASURED,
            word="not measured",
            first=first,
            last=last,
            text=text,
        )


def _drift(by_model: dict[tuple[str, str], ModelHistory], changes: Sequence[ChangePoint], last: str) -> Iterator[Note]:
    """What got worse, and the day on which it recovered if it did."""

    def series(change: ChangePoint) -> tuple[str, str, str]:
        return change.endpoint, change.model, change.metric.value

    for (endpoint, model, _), group in groupby(sorted(changes, key=lambda one: (series(one), one.day)), key=series):
        points = list(group)
        for place, change in enumerate(points):
            if change.worse:
                recovery = next((later for later in points[place + 1 :] if not later.worse), None)
                yield _decline(by_model[endpoint, model], change, recovery, last)


def _decline(history: ModelHistory, change: ChangePoint, recovery: ChangePoint | None, last: str) -> Note:
    text = (
        f"{change.metric.value.capitalize()} from {level(change, change.before)} to {level(change, change.after)}"
        f" ({chance(change.p)})"
    )
    end = last
    if recovery is not None:
        end = max((day.day for day in history.days if day.day < recovery.day and day.calling.n), default=change.day)
        text += f"; back to {level(change, recovery.after)} on {day_text(recovery.day)}"
    word = "slower" if change.metric is Metric.CALL_TIME else "declined"
    note = _note(history, (DayStatus.UNRELIABLE, word), (change.day, end), f"{text}.")
    return msgspec.structs.replace(note, metric=change.metric)


def _habits(history: ModelHistory, threshold: float) -> Iterator[Note]:
    """Models that never use results, and those that miss the threshold now and then or as a rule."""
    measured = [day for day in history.days if day.calling.n]
    only = [day for day in measured if day.status is DayStatus.CALLS_ONLY]
    weak = [day for day in measured if day.status is DayStatus.UNRELIABLE]
    if only:
        used = sum((day.handling for day in only), Rate())
        text = f"Calls on {plural(len(only), 'day')} and did not use a result once: {ratio(used)}."
        yield _note(history, (DayStatus.CALLS_ONLY, WORDS[DayStatus.CALLS_ONLY]), (only[0].day, only[-1].day), text)
    if weak and len(weak) > USUALLY * len(measured):
        text = f"Below {threshold:g} on {len(weak)} of {plural(len(measured), 'day')}; {_pooled(measured)} in all."
        yield _note(history, (DayStatus.UNRELIABLE, WORDS[DayStatus.UNRELIABLE]), (weak[0].day, weak[-1].day), text)
    elif weak:
        worst = min(weak, key=_lowest)
        more = f" The lowest of {plural(len(weak), 'day')} below {threshold:g}." if len(weak) > 1 else ""
        text = f"{figures(worst).capitalize()}.{more}"
        yield _note(history, (DayStatus.UNRELIABLE, "dip"), (worst.day, worst.day), text)


def _lowest(day: Day) -> float:
    return min(rate.value for rate in (day.calling, day.handling) if rate.value is not None)


def _pooled(days: Iterable[Day]) -> str:
    known = list(days)
    calling = sum((day.calling for day in known), Rate())
    handling = sum((day.handling for day in known), Rate())
    return f"{ratio(calling)} calls, {ratio(handling)} used"


def _no_longer_tested(history: ModelHistory, found: Overview) -> Iterator[Note]:
    latest = history.latest
    if latest is None or latest.day == found.last or not any(day.calling.k for day in history.days):
        return
    if latest.status is DayStatus.BROKEN:
        return  # the note on its outage says so already
    text = f"Not tested since; {figures(latest)} on its last day."
    # Only a run of all listed models shows that one has left the list.
    gone = any(line.day > latest.day and line.day not in found.partial_days for line in found.totals)
    word = "no longer listed" if gone else "not tested"
    yield _note(history, (DayStatus.NOT_TESTED, word), (latest.day, latest.day), text)
