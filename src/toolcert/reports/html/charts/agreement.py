"""A vendor beside the baseline: who called, each figure beside its noise ceiling, and differences in tokens."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Protocol

from markupsafe import Markup

from toolcert.core.statistics.rates import Interval
from toolcert.core.values import Value
from toolcert.reports.display_text import count
from toolcert.reports.html.charts.svg import (
    DIAMOND,
    TRIANGLE,
    across,
    block,
    dot,
    end_anchor,
    fixed,
    fluid,
    mark,
    nice_top,
    text,
    upright,
)

LARGEST = 96
"""Side of the largest square."""
LEFT, TOP, WIDE, HIGH = 76, 24, 200, 132
"""Where the matrix begins, and the size of a cell."""
RIGHT, BOTTOM = LEFT + 2 * WIDE, TOP + 2 * HIGH
MIDDLE = 62
"""Place of the square within its cell; the text is to its right."""
WORDS = 122


class Cells(Protocol):
    """Rows by whether the baseline (first) and the vendor call."""

    @property
    def tp(self) -> float: ...
    @property
    def fp(self) -> float: ...
    @property
    def fn(self) -> float: ...
    @property
    def tn(self) -> float: ...


class _Square(Value):
    """One of the four cells of the matrix."""

    word: str
    tone: str
    rows: float
    usual: float | None
    """The same cell for the baseline compared with itself."""


def confusion(cells: Cells, ceiling: Cells | None) -> Markup:
    """The matrix; without a ceiling the dashed squares are left out."""
    squares = [
        _Square(word=word, tone=tone, rows=getattr(cells, name), usual=getattr(ceiling, name, None))
        for word, tone, name in (
            ("both", "ok", "tp"),
            ("missed", "bad", "fn"),
            ("extra", "half", "fp"),
            ("neither", "ok", "tn"),
        )
    ]
    largest = max(1.0, *(square.rows for square in squares), *(square.usual or 0 for square in squares))
    drawn = [_cell(square, number, largest) for number, square in enumerate(squares)]
    label = ", ".join(f"{square.word} {round(square.rows)}" for square in squares)
    return fixed(RIGHT + 44, BOTTOM + 30, _frame(cells) + "".join(drawn), f"Who called, in rows: {label}")


def _cell(square: _Square, number: int, largest: float) -> str:
    left, top = LEFT + WIDE * (number % 2), TOP + HIGH * (number // 2)
    x, y = left + MIDDLE, top + HIGH / 2
    drawn = _square(x, y, LARGEST * math.sqrt(square.rows / largest), f"square t-{square.tone}")
    words = _text(left + WORDS, y - 3, count(round(square.rows)), "figure")
    words += _text(left + WORDS, y + 13, square.word, "said")
    if square.usual is not None:
        drawn += _square(x, y, LARGEST * math.sqrt(square.usual / largest), "usual")
        words += _text(left + WORDS, y + 28, f"ceiling {count(round(square.usual))}")
    return drawn + words


def _square(x: float, y: float, side: float, style: str) -> str:
    start, end = x - side / 2, y - side / 2
    return f'<rect class="{style}" x="{start:.1f}" y="{end:.1f}" width="{side:.1f}" height="{side:.1f}"/>'


def _frame(cells: Cells) -> str:
    """The grid lines, the headings, and the sums at the edges."""
    first, second = LEFT + MIDDLE, LEFT + WIDE + MIDDLE
    upper, lower = TOP + HIGH / 2, TOP + HIGH * 1.5
    return "".join((
        f'<path class="grid" d="M{LEFT} {TOP + HIGH}H{RIGHT}M{LEFT + WIDE} {TOP}V{BOTTOM}"/>',
        _text(first, 12, "vendor called", "said", "middle"),
        _text(second, 12, "vendor did not", "said", "middle"),
        _text(0, upper - 4, "baseline", "said"),
        _text(0, upper + 10, "called", "said"),
        _text(0, lower - 4, "baseline", "said"),
        _text(0, lower + 10, "did not", "said"),
        _text(RIGHT + 40, upper + 4, count(round(cells.tp + cells.fn)), "", "end"),
        _text(RIGHT + 40, lower + 4, count(round(cells.fp + cells.tn)), "", "end"),
        _text(first, BOTTOM + 20, count(round(cells.tp + cells.fp)), "", "middle"),
        _text(second, BOTTOM + 20, count(round(cells.fn + cells.tn)), "", "middle"),
    ))  # fmt: skip


def _text(x: float, y: float, words: str, style: str = "", anchor: str = "start") -> str:
    return f'<text class="{style}" x="{x:g}" y="{y:g}" text-anchor="{anchor}">{words}</text>'


FOREST_HEIGHT = 26
MARGIN_HEIGHT = 18
_NARROWEST = 0.006
"""Smallest width of a band, so that an interval of no width is still visible."""
TICKS = (0.0, 0.25, 0.5, 0.75, 1.0)


class ForestLine(Value):
    """What is drawn of one figure; values below 0 are drawn at 0 and printed exactly beside it."""

    value: float
    interval: Interval
    ceiling: float
    band: Interval
    below: bool
    always: float | None = None
    blind: float | None = None


def forest(line: ForestLine) -> Markup:
    """The band and its middle, the figure with its whisker, triangles for the trivial baselines."""
    middle = FOREST_HEIGHT / 2 - 2
    body = "".join(upright(tick, 0, FOREST_HEIGHT, "grid") for tick in TICKS)
    start, end = _band(line.band)
    body += block(start, end, 2, FOREST_HEIGHT - 8, "band") + upright(
        line.ceiling, 2, FOREST_HEIGHT - 6, "stroke t-mute"
    )
    body += _figure(line, middle)
    for trivial, form in ((line.blind, "M0 4L4.4-3.6H-4.4z"), (line.always, TRIANGLE)):
        if trivial is not None:
            body += f'<g class="t-ink">{mark(trivial, FOREST_HEIGHT - 4, form, "open thin")}</g>'
    words = f"{line.value:.3f}, {line.interval.lower:.3f} to {line.interval.upper:.3f}"
    return fluid(FOREST_HEIGHT, body, f"vendor {words}; ceiling {line.ceiling:.3f}")


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


HISTOGRAM_WIDTH, HISTOGRAM_HEIGHT, HISTOGRAM_LEFT, HISTOGRAM_BOTTOM = 520, 230, 40, 34
MOST_BARS = 24
"""Most bars side by side; a wider range of differences is grouped."""


def histogram(rows: Mapping[int, int], unit: str, *, expected: int | None = None) -> Markup:
    """Bars with their counts; `expected` rows at zero are dashed: the baseline against itself."""
    low, high = min(0, *rows) - 1, max(0, *rows) + 1
    step = -(-(high - low + 1) // MOST_BARS)
    bars: dict[int, int] = {}
    for value, number in rows.items():
        place = (value - low) // step
        bars[place] = bars.get(place, 0) + number
    top = nice_top(max(*bars.values(), expected or 0))
    places = (high - low) // step + 1
    slot = (HISTOGRAM_WIDTH - HISTOGRAM_LEFT) / places
    body = _axis(top) + "".join(_bar(place, number, slot, top) for place, number in sorted(bars.items()))
    if expected is not None:
        body += _expected((0 - low) // step, expected, slot, top)
    body += "".join(_label(place, low + place * step, slot) for place in range(0, places, max(1, places // 12)))
    middle = HISTOGRAM_LEFT + (HISTOGRAM_WIDTH - HISTOGRAM_LEFT) / 2
    body += f'<text x="{middle}" y="{HISTOGRAM_HEIGHT}" text-anchor="middle">{unit}</text>'
    return fixed(HISTOGRAM_WIDTH, HISTOGRAM_HEIGHT + 4, body, f"{unit}: from {min(rows)} to {max(rows)}")


def _y(number: float, top: float) -> float:
    return 14 + (HISTOGRAM_HEIGHT - HISTOGRAM_BOTTOM - 14) * (1 - number / top)


def _axis(top: float) -> str:
    return "".join(
        f'<path class="{"axis" if value == 0 else "grid"}" d="M{HISTOGRAM_LEFT} {_y(value, top):.1f}'
        f'H{HISTOGRAM_WIDTH}"/>'
        f'<text x="{HISTOGRAM_LEFT - 6}" y="{_y(value, top) + 4:.1f}" text-anchor="end">{value:g}</text>'
        for value in (0, top / 2, top)
    )


def _bar(place: int, number: int, slot: float, top: float) -> str:
    x, y = HISTOGRAM_LEFT + place * slot + 2, _y(number, top)
    middle = x + slot / 2 - 2
    return (
        f'<rect class="fill t-accent" x="{x:.1f}" y="{y:.1f}" width="{slot - 4:.1f}" height="{_y(0, top) - y:.1f}"/>'
        f'<text class="said" x="{middle:.1f}" y="{y - 4:.1f}" text-anchor="middle">{count(number)}</text>'
    )


def _expected(place: int, number: int, slot: float, top: float) -> str:
    x, y = HISTOGRAM_LEFT + place * slot + 2, _y(number, top)
    return (
        f'<rect class="usual" x="{x:.1f}" y="{y:.1f}" width="{slot - 4:.1f}" height="{_y(0, top) - y:.1f}"/>'
        f'<text x="{x + slot:.1f}" y="{y + 10:.1f}">baseline against itself: {count(number)}</text>'
    )


def _label(place: int, value: int, slot: float) -> str:
    x = HISTOGRAM_LEFT + (place + 0.5) * slot
    y, text = HISTOGRAM_HEIGHT - HISTOGRAM_BOTTOM + 14, f"{value:+d}" if value else "0"
    return f'<text x="{x:.1f}" y="{y}" text-anchor="middle">{text}</text>'
