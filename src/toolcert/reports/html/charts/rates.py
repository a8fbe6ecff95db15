"""A rate as a dot with its interval on a fixed axis from 0 to 1; never a bar, never a gauge."""

from __future__ import annotations

from typing import Protocol

from markupsafe import Markup

from toolcert.reports.html.charts.svg import DIAMOND, across, dot, end_anchor, fluid, mark, text, upright

HEIGHT = 18


class Proportion(Protocol):
    """k of n with its interval."""

    @property
    def k(self) -> int: ...
    @property
    def n(self) -> int: ...
    @property
    def low(self) -> float | None: ...
    @property
    def high(self) -> float | None: ...
    @property
    def value(self) -> float | None: ...


def whisker(rate: Proportion, threshold: float) -> Markup:
    """Filled dot: the lower bound clears the threshold; open dot: the rate does; diamond: the rate is below."""
    if rate.value is None or rate.low is None or rate.high is None:
        return Markup("")
    middle = HEIGHT / 2
    proven, reached = rate.low >= threshold, rate.value >= threshold
    tone = "ok" if proven else "warn" if reached else "bad"
    point = (
        dot(rate.value, middle, "fill" if proven else "open") if reached else mark(rate.value, middle, DIAMOND, "fill")
    )
    whiskers = (
        across(rate.low, rate.high, middle, "stroke")
        + upright(rate.low, middle - 3, middle + 3, "stroke")
        + upright(rate.high, middle - 3, middle + 3, "stroke")
    )
    body = across(0, 1, middle, "grid") + upright(threshold, 1, HEIGHT - 1, "limit")
    body += f'<g class="t-{tone}">{whiskers}{point}</g>'
    return fluid(HEIGHT, body, f"{rate.k} of {rate.n}, 95 % interval {rate.low:.2f} to {rate.high:.2f}")


def rate_axis(threshold: float) -> Markup:
    """The head of the column: where 0, the middle and the threshold are."""
    marks = [(0.0, ""), (0.5, ""), (threshold, "strong")]
    if threshold < 0.85:
        marks.append((1.0, ""))
    shown = [(place, style) for place, style in marks if style or abs(place - threshold) > 0.12]
    body = "".join(text(place, 11, f"{place:g}", anchor=end_anchor(place), style=style) for place, style in shown)
    return fluid(14, body, f"axis from 0 to 1, threshold {threshold:g}")
