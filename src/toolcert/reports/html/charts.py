"""Charts as SVG made of numbers only, so nothing a vendor wrote can reach their markup."""

from __future__ import annotations

import math
from collections.abc import Sequence

from markupsafe import Markup

from toolcert.probes.scorecard import Rate

WHISKER_WIDTH, WHISKER_HEIGHT = 150, 18
STRIP_WIDTH, STRIP_HEIGHT = 420, 18
LOWEST, HIGHEST = 0.01, 100.0
"""Seconds at the ends of the log axis that all latency strips of a page share."""


_SVG = Markup('<svg class="chart" role="img" aria-label="{}" width="{}" height="{}" viewBox="0 0 {} {}">{}</svg>')


def _svg(width: float, height: float, body: str, label: str) -> Markup:
    drawn = Markup(body)  # noqa: S704 - numbers and our own words
    return _SVG.format(label, width, height, width, height, drawn)


def whisker(rate: Rate, threshold: float) -> Markup:
    """A rate as a dot with its Wilson interval on a fixed 0 to 1 axis, the threshold dashed."""
    if rate.value is None or rate.low is None or rate.high is None:
        return Markup("")

    def x(value: float) -> float:
        return round(4 + value * (WHISKER_WIDTH - 8), 1)

    middle = WHISKER_HEIGHT / 2
    proven, reached = rate.low >= threshold, rate.value >= threshold
    tone = "ok" if proven else "warn" if reached else "bad"
    dot = (
        f'<circle class="{"fill" if proven else "open"}" cx="{x(rate.value)}" cy="{middle}" r="3.4"/>'
        if reached
        else f'<path class="fill" d="M{x(rate.value)} {middle - 4.2}l4.2 4.2-4.2 4.2-4.2-4.2z"/>'
    )
    body = (
        f'<path class="axis" d="M{x(0)} {middle}H{x(1)}"/>'
        f'<path class="limit" d="M{x(threshold)} 1V{WHISKER_HEIGHT - 1}"/>'
        f'<g class="t-{tone}"><path class="stroke" d="M{x(rate.low)} {middle}H{x(rate.high)}'
        f'M{x(rate.low)} {middle - 3}v6M{x(rate.high)} {middle - 3}v6"/>{dot}</g>'
    )
    label = f"{rate.k} of {rate.n}, 95 % interval {rate.low:.2f} to {rate.high:.2f}"
    return _svg(WHISKER_WIDTH, WHISKER_HEIGHT, body, label)


def score_bar(low: float, high: float) -> Markup:
    """Points of 100 as a thin bar; what could still be won is hatched."""
    width, height = 72, 6
    body = f'<path class="track" d="M0 3H{width}"/>'
    if high > low:
        body += f'<path class="maybe" d="M{low * width / 100:.1f} 3H{high * width / 100:.1f}"/>'
    tone = "ok" if low >= 90 else "warn" if low >= 50 else "bad"
    body += f'<path class="t-{tone} bar" d="M0 3H{low * width / 100:.1f}"/>'
    return _svg(width, height, body, f"score {low:.0f} of 100")


def strip(samples: Sequence[float], p50: float | None, p95: float | None) -> Markup:
    """Every kept measurement as a tick, the median thick, the 95th percentile thin, on a log axis."""
    middle = STRIP_HEIGHT / 2
    # Neighbours are nudged so that equal times stay visible as several ticks.
    ticks = "".join(f"M{log_x(sample):.1f} {middle - 5 + (number * 7) % 5}v5" for number, sample in enumerate(samples))
    body = f'<path class="axis" d="M0 {middle}H{STRIP_WIDTH}"/><path class="ticks" d="{ticks}"/>'
    if p95 is not None:
        body += f'<path class="p95" d="M{log_x(p95):.1f} 1V{STRIP_HEIGHT - 1}"/>'
    if p50 is not None:
        body += f'<path class="p50" d="M{log_x(p50):.1f} 0V{STRIP_HEIGHT}"/>'
    return _svg(STRIP_WIDTH, STRIP_HEIGHT, body, f"median {p50 or 0:.2f} s, 95th percentile {p95 or 0:.2f} s")


def log_axis() -> Markup:
    """The shared axis below the strips."""
    marks = [0.01, 0.1, 1, 10, 100]
    body = "".join(
        f'<path class="axis" d="M{log_x(mark):.1f} 0v4"/>'
        f'<text x="{log_x(mark):.1f}" y="15" text-anchor="{_anchor(mark, marks)}">{mark:g} s</text>'
        for mark in marks
    )
    return _svg(STRIP_WIDTH, STRIP_HEIGHT, body, "logarithmic axis from 0.01 to 100 seconds")


def _anchor(mark: float, marks: Sequence[float]) -> str:
    return "start" if mark == marks[0] else "end" if mark == marks[-1] else "middle"


def log_x(seconds: float) -> float:
    """Place on the log axis; what lies outside is drawn at its end."""
    inside = min(HIGHEST, max(LOWEST, seconds))
    return math.log(inside / LOWEST) / math.log(HIGHEST / LOWEST) * STRIP_WIDTH
