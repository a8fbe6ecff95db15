"""The figures of a vendor, beside ceiling and trivial callers."""

from __future__ import annotations

from itertools import groupby

from toolcert.compare.comparison import Figure, Standing
from toolcert.core.statistics import Interval
from toolcert.core.values import Value
from toolcert.reports.compare_words import FAMILY_NAMES, FIGURE_NAMES, decimal, span
from toolcert.reports.html.charts.forest import ForestLine

STANDINGS = {
    Standing.WITHIN: ("good", "within"),
    Standing.OVERLAPS: ("half", "overlaps"),
    Standing.BELOW: ("bad", "below"),
    Standing.UNKNOWN: ("unknown", "no ceiling"),
}


class FigureRow(Value):
    """One figure."""

    name: str
    note: str
    value: str
    interval: str
    ceiling: str
    ceiling_interval: str
    trivial: str
    role: str
    word: str
    line: ForestLine | None
    """None without a ceiling: a figure alone says nothing, so it is not drawn."""


class Family(Value):
    """Figures of one kind."""

    title: str
    rows: tuple[FigureRow, ...]


def families(figures: tuple[Figure, ...]) -> tuple[Family, ...]:
    """All figures by kind."""
    return tuple(
        Family(title=FAMILY_NAMES.get(family, family.capitalize()), rows=tuple(_row(figure) for figure in members))
        for family, members in groupby(figures, lambda figure: figure.family)
    )


def _row(figure: Figure) -> FigureRow:
    role, word = STANDINGS[figure.standing]
    return FigureRow(
        name=FIGURE_NAMES.get(figure.name, figure.name),
        note="from a sample of the rows" if figure.sampled else "",
        value=decimal(figure.value),
        interval=_span(figure.interval),
        ceiling=decimal(figure.ceiling),
        ceiling_interval=_span(figure.ceiling_interval),
        trivial="" if figure.always is None else decimal(figure.always),
        role=role,
        word=word,
        line=forest_line(figure),
    )


def forest_line(figure: Figure) -> ForestLine | None:
    """What is drawn of a figure."""
    if figure.value is None or figure.interval is None or figure.ceiling is None or figure.ceiling_interval is None:
        return None
    return ForestLine(
        value=figure.value,
        interval=figure.interval,
        ceiling=figure.ceiling,
        band=figure.ceiling_interval,
        below=figure.standing is Standing.BELOW,
        always=figure.always,
        blind=figure.blind,
    )


def _span(interval: Interval | None) -> str:
    return "" if interval is None else span(interval)
