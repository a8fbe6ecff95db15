"""The index of the daily pages."""

from __future__ import annotations

from collections.abc import Sequence

from toolcert.core.values import Value
from toolcert.history.overview import DailyTotals, Overview
from toolcert.reports import history_words as words
from toolcert.reports.html.page import render
from toolcert.reports.text import NO_VALUE, visible


class IndexRow(Value):
    """One day's page."""

    day: str
    file: str
    models: str = NO_VALUE
    working: str = NO_VALUE
    reliable: str = NO_VALUE
    not_measured: str = NO_VALUE


def index_html(found: Overview, reports: Sequence[tuple[str, str]]) -> str:
    """The page that leads to all others; `reports` are days and file names, newest first."""
    totals = {line.day: line for line in found.totals}
    rows = [_row(day, file, totals.get(day)) for day, file in reports]
    return render(
        "index.html.j2",
        rows=rows,
        headline=visible(words.headline(found)),
        lines=[visible(line) for line in words.standing_lines(found)],
        last=words.day_text(found.last, year=True),
        history=None,
    )


def _row(day: str, file: str, line: DailyTotals | None) -> IndexRow:
    if line is None:
        return IndexRow(day=day, file=file)
    return IndexRow(
        day=day,
        file=file,
        models=str(line.models),
        working=str(line.working),
        reliable=str(line.reliable),
        not_measured=str(line.not_measured),
    )
