"""A history by day: the status of each day as bars, and rates and times as a trend."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from toolcert.core.statistics.rates import PROBE_THRESHOLD, Rate
from toolcert.core.values import Value
from toolcert.history.daily_status import DayStatus
from toolcert.reports.html.charts.svg import (
    STRETCH,
    across,
    at,
    block,
    end_anchor,
    fixed,
    fluid,
    nice_top,
    stretched,
    text,
    upright,
)

BARS_HEIGHT = 24
NUMBERS_HEIGHT = 15
FEWEST_BARS = 30
"""Smallest number of places on the axis."""
_FORMS: dict[DayStatus, tuple[tuple[float, float], ...]] = {
    DayStatus.WORKING: ((0, 24),),
    DayStatus.PARTIAL: ((0, 16), (20, 4)),
    DayStatus.UNRELIABLE: ((8, 16),),
    DayStatus.CALLS_ONLY: ((16, 8),),
    DayStatus.BROKEN: ((0, 10), (14, 10)),
    DayStatus.NOT_SUPPORTED: ((22.5, 1.5),),
    DayStatus.NOT_MEASURED: ((0, 3), (7, 3), (14, 3), (21, 3)),
    DayStatus.NOT_TESTED: (),
}
"""Start and height of each piece of a status bar."""


class Mark(Value):
    """A numbered note under a stretch of days."""

    number: int
    first: int
    """Place of its first bar."""
    last: int


def days_chart(statuses: Sequence[DayStatus], marks: Sequence[Mark], label: str) -> Markup:
    """One bar a day (or a longer stretch), newest right, with the numbers of the notes below."""
    number, before = _places(len(statuses))
    bars = "".join(
        f'<path class="d-{status.value}" d="{path}"/>' for status in DayStatus if (path := _path(statuses, status))
    )
    body = (
        f'<svg class="bars-of-days" width="100%" height="{BARS_HEIGHT}" viewBox="{-before} 0 {number} {BARS_HEIGHT}" '
        f'preserveAspectRatio="none">{bars}</svg>'
    )
    return fluid(BARS_HEIGHT, body, label) + (_marks(marks, number, before) if marks else Markup(""))


def _places(bars: int) -> tuple[int, int]:
    """The places on the axis, and how many of them stay empty on the left: a short history is not stretched."""
    number = max(FEWEST_BARS, bars)
    return number, number - bars


def _marks(marks: Sequence[Mark], number: int, before: int) -> Markup:
    """The note numbers below the bars; a separate picture, because links inside an image are not accessible to all."""
    body = "".join(_mark(mark, number, before) for mark in marks)
    opening = f'<svg class="chart fluid marks" role="group" aria-label="Notes" width="100%" height="{NUMBERS_HEIGHT}">'
    return Markup(f"{opening}{body}</svg>")  # noqa: S704 - numbers only


def _path(statuses: Sequence[DayStatus], wanted: DayStatus) -> str:
    if wanted is DayStatus.NOT_TESTED:
        return "".join(f"M{place + 0.35:g} 22.6h.3v1.2h-.3z" for place, one in enumerate(statuses) if one is wanted)
    return "".join(
        f"M{place + 0.11:g} {top:g}h.78v{height:g}h-.78z"
        for place, one in enumerate(statuses)
        if one is wanted
        for top, height in _FORMS[wanted]
    )


def _mark(mark: Mark, number: int, before: int) -> str:
    start, end = (mark.first + before) / number, (mark.last + 1 + before) / number
    middle = (start + end) / 2
    return (
        f'<a class="mark" href="#note-{mark.number}" aria-label="Note {mark.number}" '
        f'data-from="{mark.first}" data-to="{mark.last + 1}">'
        f'<line class="p95" x1="{at(start)}" x2="{at(end)}" y1="3.5" y2="3.5"/>'
        f'<text class="strong" x="{at(middle)}" y="15" text-anchor="{end_anchor(middle)}">{mark.number}</text></a>'
    )


def days_axis(labels: Sequence[tuple[int, str]], bars: int) -> Markup:
    """Dates above the bars, as pairs of place and date."""
    number, before = _places(bars)
    body = "".join(
        f'<text data-from="{place}" data-to="{place + 1}" x="{at((place + before + 0.5) / number)}" y="11" '
        f'text-anchor="{end_anchor((place + before + 0.5) / number)}">{words}</text>'
        for place, words in labels
    )
    return fluid(14, body, "dates")


def day_key(status: DayStatus) -> Markup:
    """The bar of a status, for the legend."""
    path = _path([status], status)
    body = f'<svg width="7" height="{BARS_HEIGHT}" viewBox="0 0 1 {BARS_HEIGHT}" preserveAspectRatio="none">'
    return Markup(
        '<svg class="chart day-key" width="7" height="16" viewBox="0 0 7 24" aria-hidden="true">{}</svg>'
    ).format(
        Markup(f'{body}<path class="d-{status.value}" d="{path}"/></svg>')  # noqa: S704 - numbers and our own names
    )


def presence_by_day(counts: Sequence[int]) -> Markup:
    """How often something was seen, day by day, as bars of one axis."""
    highest = max(counts, default=0) or 1
    path = "".join(
        f"M{place + 0.1:g} 16v{-max(1.5, 16 * number / highest):.1f}h.8V16z"
        for place, number in enumerate(counts)
        if number
    )
    body = (
        f'<line class="grid" x1="0" x2="100%" y1="16" y2="16"/><svg width="100%" height="16" '
        f'viewBox="0 0 {max(1, len(counts))} 16" preserveAspectRatio="none"><path class="seen" d="{path}"/></svg>'
    )
    return fluid(17, body, f"at most {highest} a day")


RATE_TOP, RATE_BOTTOM = 8.0, 88.0
"""The rate's axis: 1 above, 0 below."""
TIME_TOP, TIME_BOTTOM = 108.0, 142.0
TREND_HEIGHT = 160
GUTTER = 32


class Pooled(Value):
    """A group of days, by their places."""

    first: int
    last: int
    rate: Rate


class TrendLine(Value):
    """What one chart shows."""

    title: str
    rates: tuple[Rate, ...]
    """One value per day."""
    times: tuple[float | None, ...]
    pooled: tuple[Pooled, ...]
    bands: tuple[tuple[int, int], ...] = ()
    """Days that a note is about."""
    dates: tuple[tuple[int, str], ...] = ()
    threshold: float = PROBE_THRESHOLD
    said: str = ""
    """The one annotation in the chart."""

    @property
    def longest(self) -> float:
        """The end of the time axis."""
        return nice_top(max((time for time in self.times if time is not None), default=1.0))


def trend_chart(line: TrendLine) -> Markup:
    """The chart itself, as wide as its place."""
    number = max(1, len(line.rates))
    body = "".join(block(first / number, (last + 1) / number, 0, TIME_BOTTOM, "band") for first, last in line.bands)
    body += "".join(across(0, 1, y, "grid") for y in (_y(1.0), _y(0.5), TIME_TOP)) + across(0, 1, RATE_BOTTOM, "axis")
    body += stretched(_whiskers(line.rates), TREND_HEIGHT, "day-whisker") + _weeks(line, number)
    body += across(0, 1, _y(line.threshold), "limit")
    body += stretched(_course(line.times, line.longest), TREND_HEIGHT, "time-line") + across(0, 1, TIME_BOTTOM, "axis")
    for place, words in line.dates:
        body += text(place / number, TREND_HEIGHT - 4, words, anchor=end_anchor(place / number))
    if line.said and line.bands:
        middle = (line.bands[0][0] + line.bands[0][1] + 1) / 2 / number
        body += text(
            middle,
            101,
            line.said,
            anchor="start" if middle < 0.2 else "end" if middle > 0.8 else "middle",
            style="said",
        )
    return fluid(TREND_HEIGHT, body, line.title)


def _y(rate: float) -> float:
    return round(RATE_BOTTOM - (RATE_BOTTOM - RATE_TOP) * rate, 1)


def _whiskers(rates: Sequence[Rate]) -> str:
    """Each day's 95 % interval as a thin stroke."""
    number = max(1, len(rates))
    path = []
    for place, rate in enumerate(rates):
        if (interval := rate.interval) is not None:
            path.append(f"M{STRETCH * (place + 0.5) / number:.1f} {_y(interval.lower):g}V{_y(interval.upper):g}")
    return "".join(path)


def _weeks(line: TrendLine, number: int) -> str:
    """Pooled intervals as boxes, the rate as a thick stroke; the tone says what the interval allows."""
    drawn = ""
    for week in line.pooled:
        interval, value = week.rate.interval, week.rate.value
        if interval is None or value is None:
            continue
        tone = "ok" if interval.lower >= line.threshold else "warn" if interval.upper >= line.threshold else "bad"
        start, end = (week.first + 0.08) / number, (week.last + 0.92) / number
        high = max(1.0, _y(interval.lower) - _y(interval.upper))
        drawn += f'<g class="t-{tone}">{block(start, end, _y(interval.upper), high, "week-box")}'
        drawn += f"{across(start, end, _y(value), 'week-rate')}</g>"
    return drawn


def _course(times: Sequence[float | None], longest: float) -> str:
    """The time as a line."""
    return _joined([None if time is None else _time_y(time, longest) for time in times])


def _time_y(time: float, longest: float) -> float:
    return TIME_BOTTOM - (TIME_BOTTOM - TIME_TOP) * min(1.0, time / longest)


def _joined(heights: Sequence[float | None]) -> str:
    """A line through the days, with a gap where nothing was measured and a dot for a single day."""
    path, joined = [], False
    for place, y in enumerate(heights):
        if y is None:
            joined = False
            continue
        x = STRETCH * (place + 0.5) / len(heights)
        path.append(f"L{x:.1f} {y:.1f}" if joined else f"M{x:.1f} {y:.1f}h.1")
        joined = True
    return "".join(path)


def trend_axis(line: TrendLine) -> Markup:
    """The figures at the left."""
    marks = (
        (_y(1.0), "1"),
        (_y(0.5), "0.5"),
        (RATE_BOTTOM, "0"),
        (TIME_TOP, f"{line.longest:g} s"),
        (TIME_BOTTOM, "0"),
    )
    body = "".join(f'<text x="{GUTTER - 6}" y="{y + 4:g}" text-anchor="end">{words}</text>' for y, words in marks)
    return fixed(GUTTER, TREND_HEIGHT, body, f"rate from 0 to 1, time from 0 to {line.longest:g} seconds")


def trend_threshold(line: TrendLine) -> Markup:
    """The threshold's figure at the right."""
    body = f'<text class="strong" x="5" y="{_y(line.threshold) + 4:g}">{line.threshold:g}</text>'
    return fixed(GUTTER, TREND_HEIGHT, body, f"threshold {line.threshold:g}")


def spark(rates: Sequence[float | None]) -> Markup:
    """A small line chart of a rate, on a fixed axis from 0 to 1."""
    line = _joined([None if rate is None else 16 - 14 * rate for rate in rates])
    body = upright(1, 2, 16, "grid") + across(0, 1, 16, "grid") + stretched(line, 18, "spark")
    known = [rate for rate in rates if rate is not None]
    return fluid(18, body, f"between {min(known):.2f} and {max(known):.2f}" if known else "nothing measured")
