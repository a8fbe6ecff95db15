"""Who called: four squares whose area is the number of rows, the baseline against itself dashed around them."""

from __future__ import annotations

import math
from typing import Protocol

from markupsafe import Markup

from toolcert.core.values import Value
from toolcert.reports.html.charts.svg import fixed
from toolcert.reports.text import count

LARGEST = 96
"""Side of the largest square."""
LEFT, TOP, WIDE, HIGH = 76, 24, 200, 132
"""Where the matrix begins, and the size of a cell."""
RIGHT, BOTTOM = LEFT + 2 * WIDE, TOP + 2 * HIGH
MIDDLE = 62
"""Of the square within its cell; the words stand right of it."""
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
    """One of the four."""

    word: str
    tone: str
    rows: float
    usual: float | None
    """Of the baseline against itself."""


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
    """The cross, the heads, and the sums at the edges."""
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
