"""The timeline of the page, a row per model, and the trends worth a chart."""

from __future__ import annotations

import re
from collections.abc import Sequence

from toolcert.core.statistics.rates import Rate
from toolcert.core.values import Value
from toolcert.history.daily_status import DayStatus, ModelHistory, Stretch, size_for, stretches
from toolcert.history.drift import Metric
from toolcert.history.overview import Overview
from toolcert.reports.display_text import plural, seconds, visible
from toolcert.reports.history.notes import Note
from toolcert.reports.history.phrases import (
    WORDS,
    day_text,
    ever_called,
    latest_sign,
    latest_word,
    ranked,
    ratio,
    short_name,
    span_text,
)
from toolcert.reports.html.charts.calendar import FEWEST_BARS, Mark, Pooled, TrendLine

MOST_BARS = 100
SHORT = 30
"""Days of the shorter of the two windows."""
_LABELS = 5


class TimelineRow(Value):
    """One model."""

    label: str
    publisher: str
    statuses: tuple[DayStatus, ...]
    marks: tuple[Mark, ...]
    said: tuple[str, ...]
    """Tooltip text of each bar."""
    runs: tuple[str, ...]
    """The last run behind each bar."""
    endpoint: str
    summary: str
    status: DayStatus
    word: str
    working: int
    measured: int
    rates: tuple[float | None, ...]
    last_time: float | None


class Timeline(Value):
    """All rows on one axis."""

    rows: tuple[TimelineRow, ...]
    days: tuple[str, ...]
    """Tooltip title of each bar."""
    labels: tuple[tuple[int, str], ...]
    size: int
    short: int
    """How many bars the shorter window has; 0 if there is no choice."""
    endpoints: tuple[str, ...]
    words: tuple[str, ...]
    """The states that models are in now, for the filter."""
    dates: tuple[str, ...]
    """The last date of each bar."""


class NeverRow(Value):
    """A model that never called a tool."""

    label: str
    publisher: str
    calls: str
    days: int


def timeline(found: Overview, notes: Sequence[Note]) -> Timeline:
    """The models that called a tool at least once."""
    models = [history for history in ranked(found) if ever_called(history)]
    days = len(found.models[0].days)
    size = size_for(days, MOST_BARS)
    bars = stretches(found.models[0].days, size)
    rows = tuple(_row(history, found, size, notes) for history in models)
    return Timeline(
        rows=rows,
        endpoints=tuple(sorted({row.endpoint for row in rows})),
        words=tuple(dict.fromkeys(row.word for row in rows)),
        dates=tuple(bar.last for bar in bars),
        days=tuple(span_text(bar.first, bar.last) for bar in bars),
        labels=date_labels(bars, max(FEWEST_BARS, len(bars))),
        size=size,
        short=SHORT if size == 1 and days > SHORT else 0,
    )


def never_called(found: Overview) -> tuple[NeverRow, ...]:
    """Embedding, guard and base models, mostly: asked on many days, no call on any."""
    rows = []
    for history in found.models:
        if not ever_called(history):
            tries = sum((day.calling for day in history.days), Rate())
            tested = sum(day.status is not DayStatus.NOT_TESTED for day in history.days)
            publisher, name = _parts(history)
            rows.append(NeverRow(label=name, publisher=publisher, calls=ratio(tries), days=tested))
    return tuple(sorted(rows, key=lambda row: row.label))


def _row(history: ModelHistory, found: Overview, size: int, notes: Sequence[Note]) -> TimelineRow:
    bars = stretches(history.days, size)
    measured = history.measured
    working = sum(day.status is DayStatus.WORKING for day in measured)
    status, word = latest_sign(history, found.last), latest_word(history, found.last)
    publisher, name = _parts(history)
    own = [note for note in notes if (history.endpoint, history.model) in note.targets]
    return TimelineRow(
        label=name,
        publisher=publisher,
        statuses=tuple(bar.status for bar in bars),
        marks=tuple(_mark(note, bars) for note in own if note.status is not DayStatus.CALLS_ONLY),
        said=tuple(_said(bar) for bar in bars),
        runs=_runs(history, bars),
        endpoint=visible(history.endpoint),
        summary=f"{name}: {working} of {plural(len(measured), 'measured day')} good, now {word}",
        status=status,
        word=word,
        working=working,
        measured=len(measured),
        rates=tuple(bar.calling.value for bar in bars),
        last_time=next((day.call_p50 for day in reversed(measured) if day.call_p50 is not None), None),
    )


def _runs(history: ModelHistory, bars: Sequence[Stretch]) -> tuple[str, ...]:
    """The last run of each bar that can be opened; those of imported files have no folder."""
    runs = {day.day: day.run for day in history.days if day.run and _OWN_RUN.fullmatch(day.run)}
    days = [day.day for day in history.days]
    places = {day: place for place, day in enumerate(days)}
    return tuple(
        next((runs[day] for day in reversed(days[places[bar.first] : places[bar.last] + 1]) if day in runs), "")
        for bar in bars
    )


_OWN_RUN = re.compile(r"[0-9a-f]{8}|daily-\d{4}-\d{2}-\d{2}-[0-9a-f]{8}")
"""The id of a run, or the name of a day's run in the history."""


def _parts(history: ModelHistory) -> tuple[str, str]:
    publisher, _, name = visible(history.model).rpartition("/")
    return publisher, name


def _mark(note: Note, bars: Sequence[Stretch]) -> Mark:
    inside = [place for place, bar in enumerate(bars) if note.first <= bar.last and bar.first <= note.last]
    return Mark(number=note.number, first=inside[0], last=inside[-1])


def _said(bar: Stretch) -> str:
    words = [WORDS[bar.status]]
    if bar.calling.n:
        words.append(f"{ratio(bar.calling)} calls")
    if bar.handling.n:
        words.append(f"{ratio(bar.handling)} used")
    if bar.call_time is not None:
        words.append(f"call {seconds(bar.call_time)} s")
    return ", ".join(words)


def date_labels(bars: Sequence[Stretch], places: int) -> tuple[tuple[int, str], ...]:
    """A few dates, evenly spaced, that fit an axis of this many places."""
    step = max(1, -(-places // _LABELS))
    return tuple((place, _short(bars[place].first)) for place in range(0, len(bars), step))


def _short(day: str) -> str:
    number, month = day_text(day).split()
    return f"{number} {month[:3]}"


MOST = 6
_POOLED = 60
"""Most boxes in a chart."""


class Trend(Value):
    """A chart with its words."""

    model: str
    figure: str
    caption: str
    line: TrendLine


def trends(found: Overview, notes: Sequence[Note]) -> tuple[Trend, ...]:
    """The models that the notes are about, the most important first; without notes, the first model that calls."""
    by_model = {(history.endpoint, history.model): history for history in found.models}
    wanted = list(dict.fromkeys(note.targets[0] for note in notes if len(note.targets) == 1 and _tells(note)))
    return tuple(_trend(by_model[target], found, notes) for target in wanted[:MOST])


def _tells(note: Note) -> bool:
    return note.status is not DayStatus.NOT_TESTED


def _trend(history: ModelHistory, found: Overview, notes: Sequence[Note]) -> Trend:
    own = [note for note in notes if note.targets == ((history.endpoint, history.model),) and _tells(note)]
    handling = _shows_handling(history, own)
    size = size_for(len(history.days), _POOLED) if len(history.days) > 7 * _POOLED else 7
    figure = "results used, of calls made, and call time" if handling else "calls made, and call time"
    name = visible(short_name(history.model))
    places = {day.day: place for place, day in enumerate(history.days)}
    habits = (WORDS[DayStatus.CALLS_ONLY], WORDS[DayStatus.UNRELIABLE])
    banded = [note for note in own if note.word not in habits][:3]
    return Trend(
        model=name,
        figure=figure,
        caption=" ".join(f"{note.when}: {note.text}" for note in own[:3]),
        line=TrendLine(
            title=f"{name}: {figure}, day by day with weeks pooled",
            rates=tuple(day.handling if handling else day.calling for day in history.days),
            times=tuple(day.call_p50 for day in history.days),
            pooled=_pooled(history, size, handling=handling),
            bands=tuple((places[note.first], places[note.last]) for note in banded),
            dates=date_labels(stretches(history.days, 1), len(history.days)),
            threshold=found.threshold,
            said=f"{banded[0].number} {banded[0].word}" if banded else "",
        ),
    )


def _shows_handling(history: ModelHistory, own: Sequence[Note]) -> bool:
    """The rate that is the lower one, unless drift was found in the other."""
    metrics = {note.metric for note in own}
    if Metric.CALLING in metrics or any(note.status is DayStatus.BROKEN and len(own) == 1 for note in own):
        return False
    calling = sum((day.calling for day in history.days), Rate()).value or 0.0
    handling = sum((day.handling for day in history.days), Rate()).value
    return handling is not None and (Metric.HANDLING in metrics or handling < calling)


def _pooled(history: ModelHistory, size: int, *, handling: bool) -> tuple[Pooled, ...]:
    places = {day.day: place for place, day in enumerate(history.days)}
    return tuple(
        Pooled(first=places[one.first], last=places[one.last], rate=one.handling if handling else one.calling)
        for one in stretches(history.days, size)
    )
