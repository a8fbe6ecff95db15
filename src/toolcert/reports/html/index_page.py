"""The index of the daily pages."""

from __future__ import annotations

from collections.abc import Sequence

from toolcert.core.values import Value
from toolcert.history.overview import Overview
from toolcert.reports import history_words as words
from toolcert.reports.html.page import render
from toolcert.reports.text import visible


class IndexRow(Value):
    """One day's page."""

    day: str
    file: str
    models: str
    working: str
    reliable: str


def index_html(found: Overview, reports: Sequence[tuple[str, str]]) -> str:
    """The page that leads to all others; `reports` are days and file names, newest first."""
    totals = {line.day: line for line in found.totals}
    rows = []
    for day, file in reports:
        line = totals.get(day)
        figures = ("–", "–", "–") if line is None else (str(line.models), str(line.working), str(line.reliable))
        rows.append(IndexRow(day=day, file=file, models=figures[0], working=figures[1], reliable=figures[2]))
    return render(
        "index.html.j2",
        rows=rows,
        headline=visible(words.headline(found)),
        lines=[visible(line) for line in words.standing_lines(found)],
        last=words.day_text(found.last, year=True),
        history=None,
    )
