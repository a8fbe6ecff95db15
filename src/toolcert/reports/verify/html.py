"""The page of a verify run: funnel, rates, tools, slices and the course of the run."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from datetime import UTC, datetime
from itertools import groupby
from pathlib import PurePath

from toolcert.core.statistics.quantiles import Timings
from toolcert.core.statistics.rates import Rate
from toolcert.core.values import Value
from toolcert.reports.display_text import MOST_MARKS, count, duration, mark_text, percent, plural, shorten, visible
from toolcert.reports.formats import NOTHING, Extras
from toolcert.reports.html.charts.svg import LogScale
from toolcert.reports.html.charts.times import Form, Track
from toolcert.reports.html.page import render
from toolcert.reports.probe.phrases import ROLES
from toolcert.reports.verify.row_evidence import (
    DatasetView,
    FindingView,
    RowView,
    dataset_views,
    finding_views,
    row_views,
)
from toolcert.runs.location import run_name
from toolcert.verification.summary.figures import Moment, SliceLine, Times, ToolLine, Traffic, VerifySummary

SHOWN = 4
"""Causes named in a line; the rest are counted."""


class Step(Value):
    """One step of the funnel."""

    name: str
    left: int
    before: int
    lost: str
    share: str
    interval: str
    last: bool = False
    bad: int = 0
    """Rows lost here that count against the vendor."""
    bad_lost: str = ""
    """The same in words."""


class RateRow(Value):
    """A rate in words and as a chart."""

    name: str
    meaning: str
    share: Rate


def funnel(summary: VerifySummary) -> tuple[Step, ...]:
    """The four steps."""
    rows = summary.rows
    return (
        _step("Rows sent", rows.sent, rows.lines, _some(rows.skipped, "line that cannot be asked", "lines"), Rate()),
        _step("Answered", rows.answered, rows.sent, _unanswered(summary), summary.answered),
        _step(
            "Called a tool",
            rows.called,
            rows.answered,
            _uncalled(summary),
            summary.called,
            bad=rows.lost + rows.unreadable,
            bad_lost=_lost_calls(summary),
        ),
        _step("Valid calls", rows.valid, rows.called, _invalid(summary), summary.valid, last=True, bad=rows.invalid),
    )


def _step(
    name: str,
    left: int,
    before: int,
    lost: str,
    share: Rate,
    *,
    last: bool = False,
    bad: int = 0,
    bad_lost: str = "",
) -> Step:
    known = share.low is not None and share.high is not None
    return Step(
        name=name,
        left=left,
        before=before,
        lost=lost,
        share=percent(share.value) if known else "",
        interval=interval(share),
        last=last,
        bad=bad,
        bad_lost=bad_lost,
    )


def interval(share: Rate) -> str:
    """`96.2 to 97.8`."""
    if share.low is None or share.high is None:
        return ""
    return f"{100 * share.low:.1f} to {100 * share.high:.1f}"


def _some(number: int, noun: str, many: str) -> str:
    return f"{count(number)} {noun if number == 1 else many + ' that cannot be asked'}" if number else ""


def _unanswered(summary: VerifySummary) -> str:
    rows = summary.rows
    parts = [f"{count(rows.not_measured)} not measured{_listed(summary.not_measured_by)}"] if rows.not_measured else []
    if rows.unsupported:
        parts.append(f"{count(rows.unsupported)} refused as unsupported")
    return "; ".join(parts)


def _uncalled(summary: VerifySummary) -> str:
    in_words = summary.rows.in_text - summary.rows.lost
    return f"{count(in_words)} answered in text" if in_words else ""


def _lost_calls(summary: VerifySummary) -> str:
    rows = summary.rows
    parts = [f"{plural(rows.lost, 'call')} lost in text"] if rows.lost else []
    if rows.unreadable:
        parts.append(f"{count(rows.unreadable)} not of the protocol")
    return "; ".join(parts)


def _invalid(summary: VerifySummary) -> str:
    rows = summary.rows
    parts = [f"{count(rows.invalid)} invalid{_listed(summary.buckets, 'call')}"] if rows.invalid else []
    if rows.unjudged:
        parts.append(f"{count(rows.unjudged)} not judged, the tool's own schema is broken")
    return "; ".join(parts)


def _listed(counts: Mapping[str, int], noun: str = "") -> str:
    if not counts:
        return ""
    shown = [f"{count(number)} {visible(name).replace('_', ' ')}" for name, number in list(counts.items())[:SHOWN]]
    hidden = len(counts) - SHOWN
    more = f" and {plural(hidden, 'more cause')}" if hidden > 0 else ""
    return f" ({'calls: ' if noun else ''}{', '.join(shown)}{more})"


def rate_rows(summary: VerifySummary) -> tuple[RateRow, ...]:
    """Every rate that was measured."""
    rates = (
        ("Sound", "no error of the vendor, and valid calls: the rate of the headline", summary.sound),
        ("Valid, per answer", "all calls of the answer satisfy their schemas", summary.valid),
        ("Valid, per call", "each call on its own", summary.valid_calls),
        ("Called as expected", "of the rows that say whether they expect a call", summary.trigger),
        ("As expected", "of the rows that say what they expect", summary.correct),
        ("Valid at worst", "if every unmeasured row failed", summary.if_missing_were_wrong),
    )
    return tuple(RateRow(name=name, meaning=meaning, share=share) for name, meaning, share in rates if share.n)


CHARTED = 150
"""Most lines with a chart; the others have figures only, which keeps the page small."""
LONGEST_NAME = 120
TITLES = {
    "n_tools": "By number of tools offered",
    "turns": "By turns of the user",
    "stream": "By way of answering",
    "tag": "By tag",
}


class ToolRow(Value):
    """One tool."""

    name: str
    rows: int
    called: int
    called_share: float | None
    lost: int
    valid: Rate
    charted: bool
    p50: float | None
    main: str


class SliceRow(Value):
    """One part of the rows."""

    value: str
    line: SliceLine
    charted: bool


class SliceGroup(Value):
    """All parts of one kind."""

    title: str
    rows: tuple[SliceRow, ...]


def tool_rows(summary: VerifySummary) -> tuple[ToolRow, ...]:
    """The tools, most offered first."""
    return tuple(_tool(tool, number < CHARTED) for number, tool in enumerate(summary.tools))


def _tool(tool: ToolLine, charted: bool) -> ToolRow:
    return ToolRow(
        name=shorten(visible(tool.name), LONGEST_NAME),
        rows=tool.rows,
        called=tool.called,
        called_share=min(1.0, tool.called / tool.rows) if tool.rows else None,
        lost=tool.lost,
        valid=tool.valid,
        charted=charted,
        p50=tool.p50,
        main=visible(tool.main),
    )


def slice_groups(summary: VerifySummary) -> tuple[SliceGroup, ...]:
    """Every kind of slice but tools, which have a table of their own; a kind with one value says nothing."""
    groups = []
    for kind, lines in groupby(summary.slices, lambda line: line.slice):
        rows = [
            SliceRow(value=shorten(visible(line.value), LONGEST_NAME), line=line, charted=number < CHARTED)
            for number, line in enumerate(lines)
        ]
        if kind in TITLES and len(rows) > 1:
            groups.append(SliceGroup(title=TITLES[kind], rows=tuple(rows)))
    return tuple(groups)


FEWEST = 3
"""Fewest periods worth a chart over time."""


class RunCourse(Value):
    """Tracks and the axis they share."""

    tracks: tuple[Track, ...]
    starts: tuple[float, ...]
    width: float
    end: float


def run_course(summary: VerifySummary) -> RunCourse | None:
    """The course of a run; None if it was too short to have one."""
    moments = summary.moments
    if len(moments) < FEWEST:
        return None
    width = moments[0].width
    return RunCourse(
        tracks=tuple(track for track in _tracks(moments, width) if any(track.values)),
        starts=tuple(moment.start for moment in moments),
        width=width,
        end=moments[-1].start + width,
    )


def _tracks(moments: tuple[Moment, ...], width: float) -> list[Track]:
    def track(title: str, unit: str, form: Form, values: list[float | None]) -> Track:
        return Track(title=title, unit=unit, form=form, values=tuple(values))

    return [
        track("Answers", "per second", Form.AREA, [moment.answered / width for moment in moments]),
        track("Retried", "rows", Form.BARS, [float(moment.retried) for moment in moments]),
        track("Not measured", "rows", Form.BARS, [float(moment.not_measured) for moment in moments]),
        track("First token", "mean, seconds", Form.LINE, [moment.first_token for moment in moments]),
        track("Whole answer", "mean, seconds", Form.LINE, [moment.seconds for moment in moments]),
    ]


SHOWN_NAMES = 12
"""Distinct model names, fingerprints or finish reasons listed."""


class Tally(Value):
    """Names and how often each was seen."""

    title: str
    entries: tuple[tuple[str, str], ...]
    hidden: int


class VerifyPage(Value):
    """Everything the template shows."""

    title: str
    run: str
    folder: str
    toolcert: str
    role: str
    word: str
    headline: str
    lines: tuple[str, ...]
    unfinished: bool
    facts: tuple[tuple[str, str], ...]
    funnel: tuple[Step, ...]
    whole: int
    rates: tuple[RateRow, ...]
    findings: tuple[FindingView, ...]
    marks: tuple[str, ...]
    rows: tuple[RowView, ...]
    failed: int
    rows_note: str
    row_codes: tuple[str, ...]
    row_tools: tuple[str, ...]
    """Tools of the failing rows, for the filter."""
    kept: bool
    """Whether the run keeps requests and answers."""
    view: str
    """The command that shows what the page has no room for."""
    dataset: tuple[DatasetView, ...]
    times: tuple[Times, ...]
    scale: LogScale
    course: RunCourse | None
    timings: Timings
    tools: tuple[ToolRow, ...]
    lost: bool
    """Whether calls of known tools were lost."""
    slices: tuple[SliceGroup, ...]
    expects: bool
    tallies: tuple[Tally, ...]
    threshold: float


def verify_html(summary: VerifySummary, extras: Extras = NOTHING) -> str:
    """The whole page."""
    return render("verify.html.j2", page=_page(summary, extras), history=extras.history)


def _page(summary: VerifySummary, extras: Extras) -> VerifyPage:
    rows = row_views(summary, extras)
    return VerifyPage(
        title=visible(f"{summary.model} at {summary.base_url or summary.endpoint}"),
        run=summary.run,
        folder=visible(run_name(extras.run) if extras.run else "RUN"),
        toolcert=summary.toolcert,
        role=ROLES[summary.verdict.word],
        word=summary.verdict.word.text,
        headline=visible(summary.headline),
        lines=tuple(visible(line) for line in summary.lines),
        unfinished=summary.incomplete,
        facts=facts(summary),
        funnel=funnel(summary),
        whole=max(summary.rows.lines, 1),
        rates=rate_rows(summary),
        findings=finding_views(summary, rows),
        marks=tuple(mark_text(mark) for mark in summary.marks[:MOST_MARKS]),
        rows=rows,
        failed=summary.rows.failed,
        rows_note=_rows_note(summary, rows),
        row_codes=tuple(sorted({code for row in rows for code in row.codes})),
        row_tools=tuple(sorted({name for row in rows for name in row.tool_names.split("|") if name})[:SHOWN_TOOLS]),
        kept=any(row.shown is not None for row in rows),
        view=visible(f"toolcert view {shlex.quote(extras.run)}") if extras.run else "",
        dataset=dataset_views(summary),
        times=summary.times,
        scale=LogScale.around(value for line in summary.times for value in (line.p5, line.longest)),
        course=run_course(summary),
        timings=summary.timings,
        tools=tool_rows(summary),
        lost=any(tool.lost for tool in summary.tools),
        slices=slice_groups(summary),
        expects=summary.expects,
        tallies=_tallies(summary),
        threshold=summary.verdict.threshold,
    )


SHOWN_TOOLS = 200
"""Tools that can be chosen in the filter of rows; the text filter finds all."""


def _rows_note(summary: VerifySummary, rows: tuple[RowView, ...]) -> str:
    """How many of the failing rows are here, and how many of these with request and answer."""
    failing = [row for row in rows if row.role == "bad"]
    which = "All of them" if len(failing) >= summary.rows.failed else f"The first {count(len(failing))} of them"
    opened = sum(row.shown is not None for row in failing)
    if opened == len(failing):
        return f"{which}, each with request and answer."
    return f"{which}, {count(opened)} with request and answer."


def facts(summary: VerifySummary) -> tuple[tuple[str, str], ...]:
    """Name and value of each figure of the certificate."""
    traffic = summary.traffic
    dataset = summary.dataset
    measured = datetime.fromtimestamp(summary.started_at, UTC).strftime("%Y-%m-%d %H:%M UTC")
    pairs = (
        ("Endpoint", visible(summary.base_url or summary.endpoint)),
        ("Model", shorten(visible(summary.model), 120)),
        ("Dataset", "" if dataset is None else _dataset(dataset.path, dataset.digest)),
        ("Date", measured if summary.started_at else ""),
        ("Measured", _covered(summary)),
        ("Requests recorded", f"{count(traffic.requests)}, {plural(traffic.retried, 'row')} retried"),
        ("Tokens in, out", f"{count(traffic.prompt_tokens)}, {count(traffic.completion_tokens)}"),
        ("Wall time", _wall(traffic)),
    )
    return tuple((name, value) for name, value in pairs if value)


def _covered(summary: VerifySummary) -> str:
    coverage = summary.verdict.coverage
    return f"{count(coverage.measured)} of {plural(coverage.planned, 'row')}" if coverage.planned else ""


def _wall(traffic: Traffic) -> str:
    if not traffic.seconds:
        return ""
    rate = "" if traffic.per_second is None else f", {traffic.per_second:.1f}/s"
    return f"{duration(traffic.seconds)}{rate}"


def _dataset(path: str, digest: str | None) -> str:
    name = visible(PurePath(path).name or path)
    return f"{name}, {digest.rpartition(':')[2][:7]}" if digest else name


def _tallies(summary: VerifySummary) -> tuple[Tally, ...]:
    tallies = (
        _tally("Finish reasons", summary.finish),
        _tally("Of answers with calls", summary.finish_with_calls),
        _tally("Answered as", summary.answered_as),
        _tally("Fingerprints", summary.fingerprints),
    )
    return tuple(tally for tally in tallies if tally.entries)


def _tally(title: str, counts: Mapping[str, int]) -> Tally:
    entries = tuple((shorten(visible(name), 80), count(number)) for name, number in list(counts.items())[:SHOWN_NAMES])
    return Tally(title=title, entries=entries, hidden=max(0, len(counts) - SHOWN_NAMES))
