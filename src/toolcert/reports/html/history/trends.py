"""Which models are worth a chart, and what it shows."""

from __future__ import annotations

from collections.abc import Sequence

from toolcert.core.statistics import Rate
from toolcert.core.values import Value
from toolcert.history.days import DayStatus, ModelHistory
from toolcert.history.drift import Metric
from toolcert.history.overview import Overview
from toolcert.history.stretches import size_for, stretches
from toolcert.reports.history_words import short_name
from toolcert.reports.html.charts.trend import Pooled, TrendLine
from toolcert.reports.html.history.notes import Note
from toolcert.reports.html.history.timeline import date_labels
from toolcert.reports.text import visible

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
    """The models the notes are about, the most telling first; without any, the first that calls."""
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
    banded = [note for note in own if note.status is not DayStatus.CALLS_ONLY and note.word != "unreliable"][:3]
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
