"""The page of a history, its section in other pages, and the index of the daily pages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from statistics import median
from types import MappingProxyType

from toolcert.core.findings import Severity
from toolcert.core.values import Value
from toolcert.history.changes import Change, Outage
from toolcert.history.daily_status import Day, DayStatus, ModelHistory, calendar_days
from toolcert.history.drift import ChangePoint
from toolcert.history.last_good import Standing
from toolcert.history.overview import DailyTotals, ErrorPattern, Overview
from toolcert.reports.display_text import NO_VALUE, count, plural, seconds, visible
from toolcert.reports.formats import OwnWords, Section
from toolcert.reports.history import phrases as words
from toolcert.reports.history.notes import Note, notes
from toolcert.reports.history.phrases import CHANGE_ROLES, chance, change_sentence, day_text, ratio, short_name
from toolcert.reports.history.timeline import NeverRow, Timeline, Trend, never_called, timeline, trends
from toolcert.reports.html.charts import calendar as days
from toolcert.reports.html.charts import calendar as trend
from toolcert.reports.html.page import render

USUAL_DAYS = 14
SLOWER = 1.5
"""A day is reported if its time is this many times the usual one."""


class ChangeRow(Value):
    """One line of what changed."""

    day: str
    role: str
    word: str
    model: str
    text: str
    find: str = ""
    """What the filter by name looks at."""
    endpoint: str = ""


def facts(found: Overview) -> tuple[tuple[str, str], ...]:
    """Name and value of each figure below the headline."""
    tested = [day for history in found.models for day in history.days if day.status is not DayStatus.NOT_TESTED]
    lost = sum(day.status is DayStatus.NOT_MEASURED for day in tested)
    run_days = len({day.day for day in tested})
    now = sum(day.day == found.last for day in tested)
    endpoints = sorted({history.endpoint for history in found.models})
    at = datetime.fromtimestamp(found.last_run_at, UTC).strftime("%Y-%m-%d %H:%M") if found.last_run_at else "–"
    return (
        ("Endpoint", visible(", ".join(endpoints) if len(endpoints) < 4 else plural(len(endpoints), "endpoint"))),
        ("Last run, UTC", at),
        ("Days", f"{run_days} of {len(found.models[0].days)} tested"),
        ("Models", f"{count(len(found.models))} seen, {count(now)} on the last day"),
        ("Probe", found.probe),
        ("Rows", count(len(tested))),
        ("Not measured", count(lost)),
        ("Threshold", f"{found.threshold:g}, inclusive"),
    )


def change_rows(found: Overview) -> tuple[ChangeRow, ...]:
    """What is different on the last day: status, then sure losses, then unusual times."""
    rows = [_status(change) for change in found.changes]
    rows += [
        ChangeRow(
            day=day_text(one.day),
            role="bad",
            word="worse than the last good run",
            model=visible(short_name(one.model)),
            find=visible(one.model).lower(),
            endpoint=visible(one.endpoint),
            text=f"{ratio(one.before)} passed on {day_text(one.good_day)} → {ratio(one.after)} ({chance(one.p)})",
        )
        for one in found.against_last_good
        if one.standing is Standing.WORSE
    ]
    return (*rows, *(row for history in found.models if (row := _slower(history, found.last)) is not None))


def earlier_rows(found: Overview) -> tuple[ChangeRow, ...]:
    """The status changes of the days before."""
    return tuple(_status(change) for change in found.recent if change not in found.changes)


def _status(change: Change) -> ChangeRow:
    return ChangeRow(
        day=day_text(change.day),
        role=CHANGE_ROLES[change.kind],
        word=change.kind.word,
        model=visible(short_name(change.model)),
        find=visible(change.model).lower(),
        endpoint=visible(change.endpoint),
        text=change_sentence(change),
    )


def _slower(history: ModelHistory, last: str) -> ChangeRow | None:
    """A last day slower than each of the fortnight before, and clearly so."""
    timed = [(day, total) for day in history.days if (total := _total(day)) is not None]
    if len(timed) <= USUAL_DAYS or timed[-1][0].day != last:
        return None
    now, before = timed[-1][1], [total for _, total in timed[-1 - USUAL_DAYS : -1]]
    usual = median(before)
    if now < max(before) or now < SLOWER * usual:
        return None
    text = (
        f"{seconds(now)} s for call and answer, usually {seconds(usual)} s; the {USUAL_DAYS} tested days before lay "
        f"between {seconds(min(before))} and {seconds(max(before))} s"
    )
    return ChangeRow(
        day=day_text(last),
        role="warning",
        word="slower",
        model=visible(short_name(history.model)),
        find=visible(history.model).lower(),
        endpoint=visible(history.endpoint),
        text=text,
    )


def _total(day: Day) -> float | None:
    return None if day.call_p50 is None else day.call_p50 + (day.answer_p50 or 0.0)


SIGNS = {
    DayStatus.WORKING: ("good", "v-good"),
    DayStatus.PARTIAL: ("half", "v-half"),
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
    find: str
    endpoint: str
    text: str
    worse: bool
    p: str
    days: str


class HistoryPage(Value):
    """Everything the template shows."""

    reports: Mapping[str, str]
    """Pages of single days, by date."""
    span: str
    headline: str
    lines: tuple[str, ...]
    facts: tuple[tuple[str, str], ...]
    last: str
    changes: tuple[ChangeRow, ...]
    unchanged: str
    """Text shown if nothing changed."""
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


def history_html(found: Overview, reports: Mapping[str, str] = MappingProxyType({})) -> str:
    """The whole page; `reports` are the pages of single days, in the same folder."""
    return render("history.html.j2", page=_page(found, reports), history=None, **_TOOLS)


def history_section(found: Overview) -> Section:
    """The history inside the page of a run: what changed, the timeline, the trends."""
    html = render("history_section.html.j2", page=_page(found), **_TOOLS)
    return Section(anchor="history", title="History", html=html)


_TOOLS = {"days": days, "trend": trend, "words": words, "signs": SIGNS, "statuses": tuple(DayStatus)}
"""Functions that the templates call."""


def _page(found: Overview, reports: Mapping[str, str] = MappingProxyType({})) -> HistoryPage:
    noted = notes(found)
    return HistoryPage(
        reports=reports,
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
        find=visible(change.model).lower(),
        endpoint=visible(change.endpoint),
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


class IndexRow(Value):
    """One day's page."""

    day: str
    file: str
    models: str = NO_VALUE
    working: str = NO_VALUE
    reliable: str = NO_VALUE
    not_measured: str = NO_VALUE


def index_html(
    found: Overview, reports: Sequence[tuple[str, str]], *, history_page: bool = True, own: OwnWords | None = None
) -> str:
    """The page that leads to all others; `reports` are days and file names, newest first."""
    headline, lines = (words.headline(found), words.standing_lines(found)) if own is None else (own.headline, own.lines)
    totals = {line.day: line for line in found.totals}
    rows = [_row(day, file, totals.get(day)) for day, file in reports]
    return render(
        "index.html.j2",
        rows=rows,
        headline=visible(headline),
        lines=[visible(line) for line in lines],
        last=words.day_text(found.last, year=True),
        history=None,
        history_page=history_page,
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
