"""A rate over many days with its intervals, and the time below it: single days stay visible behind the weeks."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from toolcert.core.statistics import Rate
from toolcert.core.values import Value
from toolcert.reports.html.charts.scale import nice_top
from toolcert.reports.html.charts.svg import STRETCH, across, block, end_anchor, fixed, fluid, stretched, text, upright

TOP, BOTTOM = 8.0, 88.0
"""The rate's axis: 1 above, 0 below."""
TIME_TOP, TIME_BOTTOM = 108.0, 142.0
HEIGHT = 160
GUTTER = 32


class Pooled(Value):
    """Some days together, by their places."""

    first: int
    last: int
    rate: Rate


class TrendLine(Value):
    """What one chart shows."""

    title: str
    rates: tuple[Rate, ...]
    """One a day."""
    times: tuple[float | None, ...]
    pooled: tuple[Pooled, ...]
    bands: tuple[tuple[int, int], ...] = ()
    """Days that a note is about."""
    dates: tuple[tuple[int, str], ...] = ()
    threshold: float = 0.9
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
    body += "".join(across(0, 1, y, "grid") for y in (_y(1.0), _y(0.5), TIME_TOP)) + across(0, 1, BOTTOM, "axis")
    body += stretched(_whiskers(line.rates), HEIGHT, "day-whisker") + _weeks(line, number)
    body += across(0, 1, _y(line.threshold), "limit")
    body += stretched(_course(line.times, line.longest), HEIGHT, "time-line") + across(0, 1, TIME_BOTTOM, "axis")
    for place, words in line.dates:
        body += text(place / number, HEIGHT - 4, words, anchor=end_anchor(place / number))
    if line.said and line.bands:
        middle = (line.bands[0][0] + line.bands[0][1] + 1) / 2 / number
        body += text(
            middle,
            101,
            line.said,
            anchor="start" if middle < 0.2 else "end" if middle > 0.8 else "middle",
            style="said",
        )
    return fluid(HEIGHT, body, line.title)


def _y(rate: float) -> float:
    return round(BOTTOM - (BOTTOM - TOP) * rate, 1)


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
    """A line through the days; a gap where nothing was measured, a point where a day stands alone."""
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
    marks = ((_y(1.0), "1"), (_y(0.5), "0.5"), (BOTTOM, "0"), (TIME_TOP, f"{line.longest:g} s"), (TIME_BOTTOM, "0"))
    body = "".join(f'<text x="{GUTTER - 6}" y="{y + 4:g}" text-anchor="end">{words}</text>' for y, words in marks)
    return fixed(GUTTER, HEIGHT, body, f"rate from 0 to 1, time from 0 to {line.longest:g} seconds")


def trend_threshold(line: TrendLine) -> Markup:
    """The threshold's figure at the right."""
    body = f'<text class="strong" x="5" y="{_y(line.threshold) + 4:g}">{line.threshold:g}</text>'
    return fixed(GUTTER, HEIGHT, body, f"threshold {line.threshold:g}")


def spark(rates: Sequence[float | None]) -> Markup:
    """A rate in small: its course on a fixed axis from 0 to 1."""
    line = _joined([None if rate is None else 16 - 14 * rate for rate in rates])
    body = upright(1, 2, 16, "grid") + across(0, 1, 16, "grid") + stretched(line, 18, "spark")
    known = [rate for rate in rates if rate is not None]
    return fluid(18, body, f"between {min(known):.2f} and {max(known):.2f}" if known else "nothing measured")
