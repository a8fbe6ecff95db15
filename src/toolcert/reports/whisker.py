"""A rate as a dot with its interval on a fixed 0 to 1 axis, in one line of characters."""

from __future__ import annotations

from toolcert.probes.scorecard import Rate
from toolcert.reports.glyphs import Glyphs

WIDTH = 12


def whisker(rate: Rate, threshold: float, glyphs: Glyphs, width: int = WIDTH) -> str:
    """The axis with threshold, interval and dot; blank where nothing was measured."""
    if rate.value is None or rate.low is None or rate.high is None:
        return " " * width
    cells = [glyphs.track] * width
    cells[_place(threshold, width)] = glyphs.threshold
    low, high = _place(rate.low, width), _place(rate.high, width)
    cells[low : high + 1] = [glyphs.bar] * (high - low + 1)
    cells[low], cells[high] = glyphs.left, glyphs.right
    cells[_place(rate.value, width)] = dot(rate, threshold, glyphs)
    return "".join(cells)


def axis(threshold: float, width: int = WIDTH) -> str:
    """The head of the column: where 0, the threshold and 1 are."""
    head = [" "] * width
    head[0], head[-1] = "0", "1"
    label = f"{threshold:g}".removeprefix("0")
    end = min(_place(threshold, width) + 1, width - 1)
    start = max(1, end - len(label))
    head[start:end] = label[: end - start]
    return "".join(head)


def dot(rate: Rate, threshold: float, glyphs: Glyphs) -> str:
    """Filled when the lower bound clears the threshold, open when only the rate does, a diamond below."""
    if rate.low is not None and rate.low >= threshold:
        return glyphs.proven
    return glyphs.likely if rate.value is not None and rate.value >= threshold else glyphs.below


def _place(value: float, width: int) -> int:
    return min(width - 1, max(0, int(value * (width - 1) + 1e-9)))
