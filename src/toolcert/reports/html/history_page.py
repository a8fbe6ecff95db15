"""The page of a history: what changed, every model's days, trends, outages, drift."""

from __future__ import annotations

from toolcert.core.findings import Severity
from toolcert.core.values import Value
from toolcert.history.changes import Outage
from toolcert.history.days import DayStatus, calendar_days
from toolcert.history.drift import ChangePoint
from toolcert.history.last_good import Standing
from toolcert.history.overview import DailyTotals, ErrorPattern, Overview
from toolcert.reports import history_words as words
from toolcert.reports.extras import Section
from toolcert.reports.html.charts import days, trend
from toolcert.reports.html.history.facts import ChangeRow, change_rows, earlier_rows, facts
from toolcert.reports.html.history.notes import Note, notes
from toolcert.reports.html.history.timeline import NeverRow, Timeline, never_called, timeline
from toolcert.reports.html.history.trends import Trend, trends
from toolcert.reports.html.page import render
from toolcert.reports.text import plural, visible

SIGNS = {
    DayStatus.WORKING: ("good", "v-good"),
    DayStatus.UNRELIABLE: ("half", "v-half"),
    DayStatus.CALLS_ONLY: ("extra", "v-half"),
    DayStatus.BROKEN: ("bad", "v-bad"),
    DayStatus.NOT_SUPPORTED: ("cannot", "v-cannot"),
    DayStatus.NOT_MEASURED: ("unknown", "v-unknown"),
    DayStatus.NOT_TESTED: ("cannot", "c-skipped"),
}
"""Role and symbol of a status."""


class PatternRow(Value):
    """A finding over time."""

    code: str
    severity: Severity
    count: int
    models: str
    first: str
    last: str
    by_day: tuple[int, ...]


class DriftRow(Value):
    """A change point in words."""

    model: str
    text: str
    worse: bool
    p: str
    days: str


class HistoryPage(Value):
    """Everything the template shows."""

    span: str
    headline: str
    lines: tuple[str, ...]
    facts: tuple[tuple[str, str], ...]
    last: str
    changes: tuple[ChangeRow, ...]
    unchanged: str
    """What stands there where nothing changed."""
    earlier: tuple[ChangeRow, ...]
    timeline: Timeline
    notes: tuple[Note, ...]
    trends: tuple[Trend, ...]
    outages: tuple[Outage, ...]
    drift: tuple[DriftRow, ...]
    budget: str
    searched: bool
    """Whether there were days enough to look for drift."""
    last_good: tuple[str, ...]
    totals: tuple[DailyTotals, ...]
    patterns: tuple[PatternRow, ...]
    never: tuple[NeverRow, ...]
    threshold: float


def history_html(found: Overview) -> str:
    """The whole page."""
    return render("history.html.j2", page=_page(found), history=None, **_TOOLS)


def history_section(found: Overview) -> Section:
    """The history inside the page of a run: what changed, the timeline, the trends."""
    html = render("history_section.html.j2", page=_page(found), **_TOOLS)
    return Section(anchor="history", title="History", html=html)


_TOOLS = {"days": days, "trend": trend, "words": words, "signs": SIGNS, "statuses": tuple(DayStatus)}
"""What the templates draw and speak with."""


def _page(found: Overview) -> HistoryPage:
    noted = notes(found)
    return HistoryPage(
        span=words.window_text(found.first, found.last),
        headline=visible(words.headline(found)),
        lines=tuple(visible(line) for line in words.standing_lines(found)),
        facts=facts(found),
        last=words.day_text(found.last),
        changes=change_rows(found),
        unchanged=words.unchanged(found),
        earlier=earlier_rows(found),
        timeline=timeline(found, noted),
        notes=tuple(noted),
        trends=trends(found, noted),
        outages=found.outages,
        drift=tuple(_drift_row(change) for change in found.drift.changes),
        budget=words.budget_sentence(found.drift),
        searched=bool(found.drift.series),
        last_good=_last_good(found),
        totals=tuple(reversed(found.totals)),
        patterns=tuple(_pattern(pattern, found) for pattern in found.patterns),
        never=never_called(found),
        threshold=found.threshold,
    )


def _drift_row(change: ChangePoint) -> DriftRow:
    return DriftRow(
        model=visible(words.short_name(change.model)),
        text=words.drift_sentence(change),
        worse=change.worse,
        p=words.chance(change.p),
        days=f"{change.days_before} and {change.days_after}",
    )


def _last_good(found: Overview) -> tuple[str, ...]:
    told = [one for one in found.against_last_good if one.standing is not Standing.NOT_SHOWN]
    lines = [visible(words.last_good_sentence(one)) for one in told]
    quiet = len(found.against_last_good) - len(told)
    if quiet:
        lines.append(f"{plural(quiet, 'model')}: no loss shown.")
    return tuple(lines)


def _pattern(pattern: ErrorPattern, found: Overview) -> PatternRow:
    shown = ", ".join(words.short_name(model) for model in pattern.models[:3])
    more = len(pattern.models) - 3
    return PatternRow(
        code=pattern.code,
        severity=pattern.severity,
        count=pattern.count,
        models=visible(f"{shown} and {more} more" if more > 0 else shown),
        first=pattern.first,
        last=pattern.last,
        by_day=tuple(pattern.by_day.get(day, 0) for day in calendar_days(found.first, found.last)),
    )
