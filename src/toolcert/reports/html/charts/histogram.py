"""Rows by a whole number, such as the difference in prompt tokens."""

from __future__ import annotations

from collections.abc import Mapping

from markupsafe import Markup

from toolcert.reports.html.charts.scale import nice_top
from toolcert.reports.html.charts.svg import fixed
from toolcert.reports.text import count

WIDTH, HEIGHT, LEFT, BOTTOM = 520, 230, 40, 34
MOST = 24
"""Bars side by side; a wider range is shown in steps of several."""


def histogram(rows: Mapping[int, int], unit: str, *, expected: int | None = None) -> Markup:
    """Bars with their counts; `expected` rows at zero are dashed: the baseline against itself."""
    low, high = min(0, *rows) - 1, max(0, *rows) + 1
    step = -(-(high - low + 1) // MOST)
    bars: dict[int, int] = {}
    for value, number in rows.items():
        place = (value - low) // step
        bars[place] = bars.get(place, 0) + number
    top = nice_top(max(*bars.values(), expected or 0))
    places = (high - low) // step + 1
    slot = (WIDTH - LEFT) / places
    body = _axis(top) + "".join(_bar(place, number, slot, top) for place, number in sorted(bars.items()))
    if expected is not None:
        body += _expected((0 - low) // step, expected, slot, top)
    body += "".join(_label(place, low + place * step, slot) for place in range(0, places, max(1, places // 12)))
    body += f'<text x="{LEFT + (WIDTH - LEFT) / 2}" y="{HEIGHT}" text-anchor="middle">{unit}</text>'
    return fixed(WIDTH, HEIGHT + 4, body, f"{unit}: from {min(rows)} to {max(rows)}")


def _y(number: float, top: float) -> float:
    return 14 + (HEIGHT - BOTTOM - 14) * (1 - number / top)


def _axis(top: float) -> str:
    return "".join(
        f'<path class="{"axis" if value == 0 else "grid"}" d="M{LEFT} {_y(value, top):.1f}H{WIDTH}"/>'
        f'<text x="{LEFT - 6}" y="{_y(value, top) + 4:.1f}" text-anchor="end">{value:g}</text>'
        for value in (0, top / 2, top)
    )


def _bar(place: int, number: int, slot: float, top: float) -> str:
    x, y = LEFT + place * slot + 2, _y(number, top)
    middle = x + slot / 2 - 2
    return (
        f'<rect class="fill t-accent" x="{x:.1f}" y="{y:.1f}" width="{slot - 4:.1f}" height="{_y(0, top) - y:.1f}"/>'
        f'<text class="said" x="{middle:.1f}" y="{y - 4:.1f}" text-anchor="middle">{count(number)}</text>'
    )


def _expected(place: int, number: int, slot: float, top: float) -> str:
    x, y = LEFT + place * slot + 2, _y(number, top)
    return (
        f'<rect class="usual" x="{x:.1f}" y="{y:.1f}" width="{slot - 4:.1f}" height="{_y(0, top) - y:.1f}"/>'
        f'<text x="{x + slot:.1f}" y="{y + 10:.1f}">baseline against itself: {count(number)}</text>'
    )


def _label(place: int, value: int, slot: float) -> str:
    x = LEFT + (place + 0.5) * slot
    return f'<text x="{x:.1f}" y="{HEIGHT - BOTTOM + 14}" text-anchor="middle">{value:+d}</text>'.replace("+0", "0")
