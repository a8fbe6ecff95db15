"""Times: latencies on a logarithmic axis, and the course of a run."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import Protocol

from markupsafe import Markup

from toolcert.core.values import Value
from toolcert.reports.html.charts.svg import (
    STRETCH,
    LogScale,
    across,
    block,
    dot,
    end_anchor,
    fluid,
    nice_top,
    stretched,
    text,
    upright,
)

SPREAD_HEIGHT = 20


class Spread(Protocol):
    """Percentiles of one kind of time."""

    @property
    def p5(self) -> float: ...
    @property
    def p25(self) -> float: ...
    @property
    def p50(self) -> float: ...
    @property
    def p75(self) -> float: ...
    @property
    def p95(self) -> float: ...
    @property
    def p99(self) -> float: ...
    @property
    def longest(self) -> float: ...


def pace_strip(times: Sequence[float], token: int | None, call: int | None, label: str) -> Markup:
    """Every event of a stream as a tick from the start of the attempt to the end; first token and first call longer."""
    whole = max(times) or 1.0
    drawn = dict.fromkeys(round(STRETCH / 4 * time / whole) * 4 for time in times)
    body = across(0, 1, 9, "grid") + stretched("".join(f"M{place} 5v8" for place in drawn), 18, "ticks")
    if token is not None:
        body += upright(times[token] / whole, 1, 17, "p50")
    if call is not None and call != token:
        body += upright(times[call] / whole, 1, 17, "p95")
    return fluid(18, body, label)


def strip(samples: Sequence[float], p50: float | None, p95: float | None, scale: LogScale) -> Markup:
    """Every kept measurement as a tick, the median thick, the 95th percentile thin."""
    middle = SPREAD_HEIGHT / 2
    # Neighbours are nudged so that equal times stay visible as several ticks.
    ticks = "".join(
        f"M{STRETCH * scale.place(sample):.0f} {middle - 5 + (number * 7) % 5:g}v5"
        for number, sample in enumerate(samples)
    )
    body = across(0, 1, middle, "grid") + stretched(ticks, SPREAD_HEIGHT, "ticks")
    if p95 is not None:
        body += upright(scale.place(p95), 2, SPREAD_HEIGHT - 2, "p95")
    if p50 is not None:
        body += upright(scale.place(p50), 1, SPREAD_HEIGHT - 1, "p50")
    return fluid(SPREAD_HEIGHT, body, f"median {p50 or 0:.2f} s, 95th percentile {p95 or 0:.2f} s")


def box(times: Spread, scale: LogScale) -> Markup:
    """Line from the 5th to the 95th percentile, box around the middle half, thick tick at the median."""
    middle = SPREAD_HEIGHT / 2
    body = "".join(upright(scale.place(tick), 0, SPREAD_HEIGHT, "grid") for tick in scale.ticks())
    body += across(scale.place(times.p5), scale.place(times.p95), middle, "stroke t-ink")
    body += block(scale.place(times.p25), scale.place(times.p75), middle - 4.5, 9, "box")
    body += upright(scale.place(times.p50), middle - 6, middle + 6, "p50")
    body += upright(scale.place(times.p99), middle - 3.5, middle + 3.5, "p95")
    body += upright(scale.place(times.longest), middle - 1.5, middle + 1.5, "p95")
    return fluid(SPREAD_HEIGHT, body, f"median {times.p50:.2f} s, 5 to 95 % from {times.p5:.2f} to {times.p95:.2f} s")


def spans(first: tuple[float, float] | None, whole: tuple[float, float] | None, scale: LogScale) -> Markup:
    """Median and 95th percentile of two times, each a dot and a line: open for the first token, filled for the call."""
    body = "".join(upright(scale.place(tick), 0, SPREAD_HEIGHT, "grid") for tick in scale.ticks())
    label = []
    for times, y, tone, form, name in (
        (first, 6, "accent", "open", "first token"),
        (whole, 14, "ink", "fill", "whole call"),
    ):
        if times is not None:
            start, end = map(scale.place, times)
            drawn = across(start, end, y, "stroke") + upright(end, y - 3, y + 3, "stroke") + dot(start, y, form)
            body += f'<g class="t-{tone}">{drawn}</g>'
            label.append(f"{name}: median {times[0]:.2f} s, 95th percentile {times[1]:.2f} s")
    return fluid(SPREAD_HEIGHT, body, "; ".join(label) or "no times")


def time_axis(scale: LogScale) -> Markup:
    """The axis that all charts of a table share."""
    places = [(tick, scale.place(tick)) for tick in scale.ticks()]
    body = "".join(text(place, 11, f"{tick:g}", anchor=end_anchor(place)) for tick, place in places)
    return fluid(14, body, f"logarithmic axis from {scale.low:g} to {scale.high:g} seconds")


TRACK_HEIGHT = 56
_LABELS = 4
FEWEST_ROWS = 4
"""Rows at the end of the shortest axis of counts."""


class Form(StrEnum):
    """How a figure is drawn."""

    AREA = "area"
    BARS = "bars"
    LINE = "line"


class Track(Value):
    """One figure over the run; None for a period without a value."""

    title: str
    unit: str
    form: Form
    values: tuple[float | None, ...]

    @property
    def top(self) -> float:
        """The end of its axis; never so short that one retried row looks like many."""
        highest = max((value for value in self.values if value is not None), default=1.0)
        return nice_top(max(highest, FEWEST_ROWS) if self.form is Form.BARS else highest)


def course(track: Track, starts: Sequence[float], end: float, width: float) -> Markup:
    """A figure over time; periods begin at `starts` seconds and last `width`, the run ends at `end`."""
    grid = across(0, 1, 0.5, "grid") + across(0, 1, TRACK_HEIGHT / 2, "grid") + across(0, 1, TRACK_HEIGHT - 0.5, "axis")
    spans = [(start / end, min(1.0, (start + width) / end)) for start in starts]
    draw = _line if track.form is Form.LINE else _bars
    highest = max((value for value in track.values if value is not None), default=0.0)
    return fluid(TRACK_HEIGHT, grid + draw(track, spans), f"{track.title}, {track.unit}: at most {highest:.3g}")


def _bars(track: Track, spans: Sequence[tuple[float, float]]) -> str:
    style = "area" if track.form is Form.AREA else "fill t-bad"
    return "".join(
        block(start, stop, TRACK_HEIGHT - _height(value, track), _height(value, track), style)
        for (start, stop), value in zip(spans, track.values, strict=True)
        if value
    )


def _line(track: Track, spans: Sequence[tuple[float, float]]) -> str:
    """One step per period, joined, with a gap where nothing was measured."""
    drawn, before = [], None
    for (start, stop), value in zip(spans, track.values, strict=True):
        if value is None:
            before = None
            continue
        y = TRACK_HEIGHT - _height(value, track)
        if before is not None:
            drawn.append(
                f'<line class="line" x1="{100 * start:.2f}%" x2="{100 * start:.2f}%" y1="{before:.1f}" y2="{y:.1f}"/>'
            )
        drawn.append(across(start, stop, round(y, 1), "line"))
        before = y
    return "".join(drawn)


def _height(value: float, track: Track) -> float:
    return round(TRACK_HEIGHT * value / track.top, 1)


def gutter(track: Track) -> Markup:
    """The figures at the left of a track."""
    body = text(1, 8, f"{track.top:g}", anchor="end") + text(1, TRACK_HEIGHT, "0", anchor="end")
    return fluid(TRACK_HEIGHT, body, f"axis from 0 to {track.top:g}")


def clock(end: float) -> Markup:
    """The axis below all tracks, in seconds or minutes."""
    unit, size = ("min", 60.0) if end >= 180 else ("s", 1.0)
    step = nice_top(end / size / _LABELS)
    marks = [number * step for number in range(int(end / size / step) + 1)]
    body = "".join(_tick(mark, mark * size / end, unit if mark == marks[-1] else "") for mark in marks)
    return fluid(16, body, f"time axis, {end / size:.3g} {unit}")


def _tick(mark: float, place: float, unit: str) -> str:
    return text(place, 12, f"{mark:g} {unit}".strip(), anchor=end_anchor(place))
