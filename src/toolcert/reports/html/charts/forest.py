"""A figure beside its noise ceiling: the band nobody can be asked to leave, and what senseless callers reach."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from toolcert.core.statistics import Interval
from toolcert.core.values import Value
from toolcert.reports.html.charts.svg import (
    DIAMOND,
    TRIANGLE,
    across,
    block,
    dot,
    end_anchor,
    fluid,
    mark,
    text,
    upright,
)

HEIGHT = 26
MARGIN_HEIGHT = 18
_NARROWEST = 0.006
"""A band of no width must still be seen."""
TICKS = (0.0, 0.25, 0.5, 0.75, 1.0)


class ForestLine(Value):
    """What is drawn of one figure; values below 0 stand at 0, their number says the rest."""

    value: float
    interval: Interval
    ceiling: float
    band: Interval
    below: bool
    always: float | None = None
    blind: float | None = None


def forest(line: ForestLine) -> Markup:
    """The band and its middle, the figure with its whisker, triangles for the callers without sense."""
    middle = HEIGHT / 2 - 2
    body = "".join(upright(tick, 0, HEIGHT, "grid") for tick in TICKS)
    start, end = _band(line.band)
    body += block(start, end, 2, HEIGHT - 8, "band") + upright(line.ceiling, 2, HEIGHT - 6, "stroke t-mute")
    body += _figure(line, middle)
    for trivial, form in ((line.blind, "M0 4L4.4-3.6H-4.4z"), (line.always, TRIANGLE)):
        if trivial is not None:
            body += f'<g class="t-ink">{mark(trivial, HEIGHT - 4, form, "open thin")}</g>'
    words = f"{line.value:.3f}, {line.interval.lower:.3f} to {line.interval.upper:.3f}"
    return fluid(HEIGHT, body, f"vendor {words}; ceiling {line.ceiling:.3f}")


def _band(band: Interval) -> tuple[float, float]:
    if band.upper - band.lower >= _NARROWEST:
        return band.lower, band.upper
    middle = (band.lower + band.upper) / 2
    return min(middle - _NARROWEST / 2, 1 - _NARROWEST), min(1.0, middle + _NARROWEST / 2)


def _figure(line: ForestLine, middle: float) -> str:
    tone = "bad" if line.below else "ink"
    low, high = line.interval.lower, line.interval.upper
    point = mark(line.value, middle, DIAMOND, "fill") if line.below else dot(line.value, middle, "fill")
    ends = upright(low, middle - 3, middle + 3, "stroke") + upright(high, middle - 3, middle + 3, "stroke")
    return f'<g class="t-{tone}">{across(low, high, middle, "stroke")}{ends}{point}</g>'


def forest_axis(ticks: Sequence[float] = TICKS) -> Markup:
    """The axis that all figures share."""
    body = "".join(text(tick, 11, f"{tick:g}", anchor=end_anchor(tick)) for tick in ticks)
    return fluid(14, body, "axis from 0 to 1")


def margin_plot(interval: Interval, margin: float, reach: float, tone: str) -> Markup:
    """A difference with its interval between -reach and +reach; the shaded side is worse by more than the margin."""

    def place(value: float) -> float:
        return (value + reach) / (2 * reach)

    middle = MARGIN_HEIGHT / 2
    body = block(0, place(-margin), 1, MARGIN_HEIGHT - 2, "worse") + across(0, 1, middle, "grid")
    body += upright(0.5, 1, MARGIN_HEIGHT - 1, "axis") + upright(place(-margin), 1, MARGIN_HEIGHT - 1, "limit")
    low, high = place(interval.lower), place(interval.upper)
    ends = upright(low, middle - 3, middle + 3, "stroke") + upright(high, middle - 3, middle + 3, "stroke")
    body += f'<g class="t-{tone}">{across(low, high, middle, "stroke wide")}{ends}</g>'
    return fluid(MARGIN_HEIGHT, body, f"difference {interval.lower:+.3f} to {interval.upper:+.3f}, margin {margin:g}")
