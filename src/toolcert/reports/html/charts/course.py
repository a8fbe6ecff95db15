"""A run over time: small multiples on one axis, each a figure per stretch."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

from markupsafe import Markup

from toolcert.core.values import Value
from toolcert.reports.html.charts.scale import nice_top
from toolcert.reports.html.charts.svg import across, block, end_anchor, fluid, text

HEIGHT = 56
_LABELS = 4
FEWEST = 4
"""Rows at the end of the shortest axis of counts."""


class Form(StrEnum):
    """How a figure is drawn."""

    AREA = "area"
    BARS = "bars"
    LINE = "line"


class Track(Value):
    """One figure over the run; None where a stretch has none."""

    title: str
    unit: str
    form: Form
    values: tuple[float | None, ...]

    @property
    def top(self) -> float:
        """The end of its axis; one retried row is not made to look like many."""
        highest = max((value for value in self.values if value is not None), default=1.0)
        return nice_top(max(highest, FEWEST) if self.form is Form.BARS else highest)


def course(track: Track, starts: Sequence[float], end: float, width: float) -> Markup:
    """A track; stretches begin at `starts` seconds and last `width`, the run ends at `end`."""
    grid = across(0, 1, 0.5, "grid") + across(0, 1, HEIGHT / 2, "grid") + across(0, 1, HEIGHT - 0.5, "axis")
    spans = [(start / end, min(1.0, (start + width) / end)) for start in starts]
    draw = _line if track.form is Form.LINE else _bars
    highest = max((value for value in track.values if value is not None), default=0.0)
    return fluid(HEIGHT, grid + draw(track, spans), f"{track.title}, {track.unit}: at most {highest:.3g}")


def _bars(track: Track, spans: Sequence[tuple[float, float]]) -> str:
    style = "area" if track.form is Form.AREA else "fill t-bad"
    return "".join(
        block(start, stop, HEIGHT - _height(value, track), _height(value, track), style)
        for (start, stop), value in zip(spans, track.values, strict=True)
        if value
    )


def _line(track: Track, spans: Sequence[tuple[float, float]]) -> str:
    """A step per stretch, joined; a gap where nothing was measured."""
    drawn, before = [], None
    for (start, stop), value in zip(spans, track.values, strict=True):
        if value is None:
            before = None
            continue
        y = HEIGHT - _height(value, track)
        if before is not None:
            drawn.append(
                f'<line class="line" x1="{100 * start:.2f}%" x2="{100 * start:.2f}%" y1="{before:.1f}" y2="{y:.1f}"/>'
            )
        drawn.append(across(start, stop, round(y, 1), "line"))
        before = y
    return "".join(drawn)


def _height(value: float, track: Track) -> float:
    return round(HEIGHT * value / track.top, 1)


def gutter(track: Track) -> Markup:
    """The figures at the left of a track."""
    body = text(1, 8, f"{track.top:g}", anchor="end") + text(1, HEIGHT, "0", anchor="end")
    return fluid(HEIGHT, body, f"axis from 0 to {track.top:g}")


def clock(end: float) -> Markup:
    """The axis below all tracks, in seconds or minutes."""
    unit, size = ("min", 60.0) if end >= 180 else ("s", 1.0)
    step = nice_top(end / size / _LABELS)
    marks = [number * step for number in range(int(end / size / step) + 1)]
    body = "".join(_tick(mark, mark * size / end, unit if mark == marks[-1] else "") for mark in marks)
    return fluid(16, body, f"time axis, {end / size:.3g} {unit}")


def _tick(mark: float, place: float, unit: str) -> str:
    return text(place, 12, f"{mark:g} {unit}".strip(), anchor=end_anchor(place))
