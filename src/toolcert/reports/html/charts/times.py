"""Seconds on a logarithmic axis: single measurements stay visible behind the summary."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from markupsafe import Markup

from toolcert.reports.html.charts.scale import LogScale
from toolcert.reports.html.charts.svg import STRETCH, across, block, end_anchor, fluid, stretched, text, upright

HEIGHT = 20


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


def strip(samples: Sequence[float], p50: float | None, p95: float | None, scale: LogScale) -> Markup:
    """Every kept measurement as a tick, the median thick, the 95th percentile thin."""
    middle = HEIGHT / 2
    # Neighbours are nudged so that equal times stay visible as several ticks.
    ticks = "".join(
        f"M{STRETCH * scale.place(sample):.0f} {middle - 5 + (number * 7) % 5:g}v5"
        for number, sample in enumerate(samples)
    )
    body = across(0, 1, middle, "grid") + stretched(ticks, HEIGHT, "ticks")
    if p95 is not None:
        body += upright(scale.place(p95), 2, HEIGHT - 2, "p95")
    if p50 is not None:
        body += upright(scale.place(p50), 1, HEIGHT - 1, "p50")
    return fluid(HEIGHT, body, f"median {p50 or 0:.2f} s, 95th percentile {p95 or 0:.2f} s")


def box(times: Spread, scale: LogScale) -> Markup:
    """Line from the 5th to the 95th percentile, box around the middle half, thick tick at the median."""
    middle = HEIGHT / 2
    body = "".join(upright(scale.place(tick), 0, HEIGHT, "grid") for tick in scale.ticks())
    body += across(scale.place(times.p5), scale.place(times.p95), middle, "stroke t-ink")
    body += block(scale.place(times.p25), scale.place(times.p75), middle - 4.5, 9, "box")
    body += upright(scale.place(times.p50), middle - 6, middle + 6, "p50")
    body += upright(scale.place(times.p99), middle - 3.5, middle + 3.5, "p95")
    body += upright(scale.place(times.longest), middle - 1.5, middle + 1.5, "p95")
    return fluid(HEIGHT, body, f"median {times.p50:.2f} s, 5 to 95 % from {times.p5:.2f} to {times.p95:.2f} s")


def time_axis(scale: LogScale) -> Markup:
    """The axis that all charts of a table share."""
    places = [(tick, scale.place(tick)) for tick in scale.ticks()]
    body = "".join(text(place, 11, f"{tick:g}", anchor=end_anchor(place)) for tick, place in places)
    return fluid(14, body, f"logarithmic axis from {scale.low:g} to {scale.high:g} seconds")
