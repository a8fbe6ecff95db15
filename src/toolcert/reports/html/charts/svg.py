"""The shapes and scales that charts are made of."""

from __future__ import annotations

import math
from collections.abc import Iterable

from markupsafe import Markup

from toolcert.core.values import Value

_DRAWN = Markup('<svg class="chart {}" role="img" aria-label="{}" {}>{}</svg>')


def fluid(height: float, body: str, label: str) -> Markup:
    """A chart as wide as its cell."""
    return _drawn("fluid", f'width="100%" height="{height:g}"', body, label)


def fixed(width: float, height: float, body: str, label: str) -> Markup:
    """A chart of one size."""
    return _drawn("sized", f'width="{width:g}" height="{height:g}" viewBox="0 0 {width:g} {height:g}"', body, label)


def _drawn(style: str, size: str, body: str, label: str) -> Markup:
    # Numbers and our own words; the label is escaped by format.
    return _DRAWN.format(style, label, Markup(size), Markup(body))  # noqa: S704


def at(share: float) -> str:
    """A position between 0 and 1 as a percentage of the width."""
    return f"{100 * min(1.0, max(0.0, share)):.2f}".rstrip("0").rstrip(".") + "%"


def across(start: float, end: float, y: float, style: str) -> str:
    """A line along the chart."""
    return f'<line class="{style}" x1="{at(start)}" x2="{at(end)}" y1="{y:g}" y2="{y:g}"/>'


def upright(x: float, top: float, bottom: float, style: str) -> str:
    """A line from top to bottom."""
    return f'<line class="{style}" x1="{at(x)}" x2="{at(x)}" y1="{top:g}" y2="{bottom:g}"/>'


def block(start: float, end: float, top: float, height: float, style: str) -> str:
    """A filled horizontal bar."""
    width = at(max(0.0, end - start))
    return f'<rect class="{style}" x="{at(start)}" y="{top:g}" width="{width}" height="{height:g}"/>'


def dot(x: float, y: float, style: str, radius: float = 3.4) -> str:
    """A round mark."""
    return f'<circle class="{style}" cx="{at(x)}" cy="{y:g}" r="{radius:g}"/>'


def mark(x: float, y: float, path: str, style: str) -> str:
    """A mark of any form, drawn around its own zero point."""
    return f'<svg x="{at(x)}" y="{y:g}" overflow="visible"><path class="{style}" d="{path}"/></svg>'


DIAMOND = "M0-4.2L4.2 0 0 4.2-4.2 0z"
TRIANGLE = "M0-4L4.4 3.6H-4.4z"


def text(x: float, y: float, words: str, *, anchor: str = "middle", style: str = "") -> str:
    """A label made of figures or our own words."""
    named = f' class="{style}"' if style else ""
    return f'<text x="{at(x)}" y="{y:g}" text-anchor="{anchor}"{named}>{words}</text>'


def end_anchor(place: float) -> str:
    """How a label at a place is set so that it stays inside the chart."""
    return "start" if place < 0.03 else "end" if place > 0.97 else "middle"


STRETCH = 1000
"""Width of the drawing that `stretched` fits to its cell."""


def stretched(path: str, height: float, style: str) -> str:
    """A path drawn on STRETCH x height and fitted to the cell: many strokes in few bytes."""
    return (
        f'<svg width="100%" height="{height:g}" viewBox="0 0 {STRETCH} {height:g}" preserveAspectRatio="none">'
        f'<path class="{style}" vector-effect="non-scaling-stroke" d="{path}"/></svg>'
    )


class LogScale(Value):
    """A logarithmic axis between two positive values; values outside are drawn at its ends."""

    low: float = 0.01
    high: float = 100.0

    @classmethod
    def around(cls, values: Iterable[float | None]) -> LogScale:
        """The decade steps (1, 3, 10, ...) that hold all values."""
        known = [value for value in values if value is not None and value > 0]
        if not known:
            return cls(low=0.1, high=10.0)
        low, high = _step_below(min(known)), _step_above(max(known))
        return cls(low=low, high=high if high > low else low * 10)

    def place(self, value: float) -> float:
        """0 at the low end, 1 at the high end."""
        inside = min(self.high, max(self.low, value))
        return math.log(inside / self.low) / math.log(self.high / self.low)

    def ticks(self) -> list[float]:
        """The steps between the ends, both included; every other one if they are many."""
        steps = [value for value in _steps() if self.low * 0.999 <= value <= self.high * 1.001]
        decades = [value for value in steps if math.isclose(math.log10(value), round(math.log10(value)))]
        return decades if len(steps) > 7 and len(decades) > 1 else steps


def _steps() -> list[float]:
    return [digit * 10.0**power for power in range(-4, 5) for digit in (1, 3)]


def _step_below(value: float) -> float:
    return max((step for step in _steps() if step <= value * 1.001), default=1e-4)


def _step_above(value: float) -> float:
    return min((step for step in _steps() if step >= value * 0.999), default=3e4)


def nice_top(value: float) -> float:
    """The next round number (1, 1.2, 1.5, 2, 3, 4, 5, 6 or 8 of a power of ten) at or above a value."""
    if value <= 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(value))
    return next(digit * power for digit in (1, 1.2, 1.5, 2, 3, 4, 5, 6, 8, 10) if digit * power >= value * 0.999)
