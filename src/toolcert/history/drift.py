"""Find drift: days on which a model's rates or times changed, with a limit on false alarms.

A series is a model's call rate, handling rate or call time, with one value per measured day. Days of an outage
have no value, so an outage cannot look like a regression. The test sums the ranks of the days minus their mean and
takes the range of that walk (Kuiper's statistic on a rank CUSUM). It finds a step as well as a temporary decline,
assumes no distribution, and a single odd day hardly moves it. The parts between change points are searched again.

The budget: if nothing changed and the days of each series are exchangeable, the chance of one or more false
alarms in the whole report is at most `budget`. Each series gets an equal share, and each level of the search spends
half of what is left of it. Days that depend on each other (a slow week) make false alarms more likely.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from enum import StrEnum
from itertools import accumulate, pairwise
from statistics import median

from toolcert.core.values import Value
from toolcert.history.daily_status import Day, ModelHistory

BUDGET = 0.05
SHORTEST_SIDE = 5
"""Fewest days on each side of a change. Shorter changes are visible in the timeline and are not reported as drift."""
SMALLEST_RATE_CHANGE = 0.02
SMALLEST_TIME_RATIO = 1.2
"""Smaller changes are not reported, however certain they are."""


class Metric(StrEnum):
    """The measurements that are searched for drift."""

    CALLING = "call rate"
    HANDLING = "handling rate"
    CALL_TIME = "call time"


class ChangePoint(Value):
    """The day on which the level of a series changed."""

    endpoint: str
    model: str
    metric: Metric
    day: str
    """The first day of the new level."""
    before: float
    """Level before, a rate or seconds."""
    after: float
    p: float
    """Probability of a change at least this strong in a series in which nothing changed."""
    days_before: int
    days_after: int
    worse: bool


class DriftReport(Value):
    """All change points, with the budget and the number of series that were searched."""

    budget: float
    series: int
    changes: tuple[ChangePoint, ...] = ()


class _Point(Value, gc=False):
    day: str
    value: float


_SERIES: dict[Metric, Callable[[Day], float | None]] = {
    Metric.CALLING: lambda day: day.calling.value,
    Metric.HANDLING: lambda day: day.handling.value,
    Metric.CALL_TIME: lambda day: day.call_p50,
}


def find_drift(histories: Iterable[ModelHistory], budget: float = BUDGET) -> DriftReport:
    """Search every series of every model that ever called."""
    series = [found for history in histories for found in _series_of(history)]
    share = budget / max(1, len(series))
    changes = [
        change
        for history, metric, points in series
        for change in _change_points(history, metric, points, share)
        if _matters(change)
    ]
    return DriftReport(budget=budget, series=len(series), changes=tuple(sorted(changes, key=lambda change: change.p)))


def _series_of(history: ModelHistory) -> Iterator[tuple[ModelHistory, Metric, list[_Point]]]:
    if not any(day.calling.k for day in history.days):
        return
    for metric, read in _SERIES.items():
        points = [_Point(day=day.day, value=value) for day in history.days if (value := read(day)) is not None]
        if len(points) >= 2 * SHORTEST_SIDE:
            yield history, metric, points


def _change_points(
    history: ModelHistory, metric: Metric, points: Sequence[_Point], share: float
) -> Iterator[ChangePoint]:
    """The change points of a series; each level is compared with the one just before it."""
    found = dict(sorted(_splits([point.value for point in points], 0, len(points), share)))
    borders = [0, *found, len(points)]
    for number, (split, p) in enumerate(found.items(), 1):
        before, after = points[borders[number - 1] : split], points[split : borders[number + 1]]
        yield _change_point(history, metric, before, after, p)


def _splits(values: Sequence[float], start: int, end: int, share: float) -> Iterator[tuple[int, float]]:
    """Places of change between two places; each level of the search spends half of its share."""
    if end - start < 2 * SHORTEST_SIDE:
        return
    first, last, p = walk_range(values[start:end])
    if p > share / 2:
        return
    inner = [start + place for place in (first, last) if SHORTEST_SIDE <= place <= end - start - SHORTEST_SIDE]
    yield from ((place, p) for place in inner)
    borders = [start, *inner, end]
    for left, right in pairwise(borders if inner else ()):
        yield from _splits(values, left, right, share / (2 * (len(borders) - 1)))


def walk_range(values: Sequence[float]) -> tuple[int, int, float]:
    """The two turning points of the rank walk, in order, and the p-value of its range."""
    n = len(values)
    ranks, untied = _midranks(values)
    if untied <= 0:
        return 0, n, 1.0
    places = list(accumulate((rank - (n + 1) / 2 for rank in ranks), initial=0.0))
    top, bottom = max(range(n + 1), key=places.__getitem__), min(range(n + 1), key=places.__getitem__)
    spread = math.sqrt(n * (n * n - 1) / 12 * untied)
    first, last = sorted((top, bottom))
    return first, last, _kuiper_p((places[top] - places[bottom]) / spread)


def _kuiper_p(value: float) -> float:
    """Probability that a Brownian bridge ranges at least this far; finite walks range less, so p is conservative."""
    if value < 0.6:
        return 1.0
    terms = ((4 * (j * value) ** 2 - 1) * math.exp(-2 * (j * value) ** 2) for j in range(1, 20))
    return min(1.0, max(0.0, 2 * sum(terms)))


def _midranks(values: Sequence[float]) -> tuple[list[float], float]:
    """Mid-ranks, and the share of the rank variance that remains after ties."""
    order = sorted(range(len(values)), key=values.__getitem__)
    ranks = [0.0] * len(values)
    tied, start = 0.0, 0
    while start < len(order):
        end = start
        while end < len(order) and values[order[end]] == values[order[start]]:
            end += 1
        for place in order[start:end]:
            ranks[place] = (start + 1 + end) / 2
        tied += (end - start) ** 3 - (end - start)
        start = end
    n = len(values)
    return ranks, 1 - tied / (n**3 - n)


def _change_point(
    history: ModelHistory, metric: Metric, before: Sequence[_Point], after: Sequence[_Point], p: float
) -> ChangePoint:
    old, new = _level(before, metric), _level(after, metric)
    higher_is_worse = metric is Metric.CALL_TIME
    return ChangePoint(
        endpoint=history.endpoint,
        model=history.model,
        metric=metric,
        day=after[0].day,
        before=old,
        after=new,
        p=p,
        days_before=len(before),
        days_after=len(after),
        worse=(new > old) is higher_is_worse,
    )


def _level(points: Sequence[_Point], metric: Metric) -> float:
    values = [point.value for point in points]
    return median(values) if metric is Metric.CALL_TIME else sum(values) / len(values)


def _matters(change: ChangePoint) -> bool:
    if change.metric is Metric.CALL_TIME:
        low, high = sorted((change.before, change.after))
        return low > 0 and high / low >= SMALLEST_TIME_RATIO
    return abs(change.after - change.before) >= SMALLEST_RATE_CHANGE
