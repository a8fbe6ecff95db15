"""The page of a verify run."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import PurePath

from toolcert.core.values import Value
from toolcert.reports.extras import NOTHING, Extras
from toolcert.reports.html.charts.scale import LogScale
from toolcert.reports.html.page import render
from toolcert.reports.html.verify.findings import DatasetView, FindingView, dataset_views, finding_views
from toolcert.reports.html.verify.funnel import RateRow, Step, funnel, rate_rows
from toolcert.reports.html.verify.parts import SliceGroup, ToolRow, slice_groups, tool_rows
from toolcert.reports.html.verify.run_course import RunCourse, run_course
from toolcert.reports.text import count, duration, plural, shorten, visible
from toolcert.verify.figures import Times, Traffic, VerifySummary
from toolcert.verify.words import USABLE, Level, level

SHOWN_NAMES = 12
"""Distinct model names, fingerprints or finish reasons listed."""
ROLES = {Level.FIT: "good", Level.CARE: "half", Level.UNFIT: "bad", None: "unknown"}


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
    dataset: tuple[DatasetView, ...]
    times: tuple[Times, ...]
    scale: LogScale
    course: RunCourse | None
    tools: tuple[ToolRow, ...]
    slices: tuple[SliceGroup, ...]
    expects: bool
    tallies: tuple[Tally, ...]
    threshold: float


def verify_html(summary: VerifySummary, extras: Extras = NOTHING) -> str:
    """The whole page."""
    return render("verify.html.j2", page=_page(summary, extras), history=extras.history)


def _page(summary: VerifySummary, extras: Extras) -> VerifyPage:
    reached = level(summary)
    return VerifyPage(
        title=visible(f"{summary.model} at {summary.base_url or summary.endpoint}"),
        run=summary.run,
        folder=visible(extras.run or "RUN"),
        toolcert=summary.toolcert,
        role=ROLES[reached],
        word="incomplete" if summary.incomplete else reached.value.lower() if reached else "not decided",
        headline=visible(summary.headline),
        lines=tuple(visible(line) for line in summary.lines),
        unfinished=summary.incomplete,
        facts=_facts(summary),
        funnel=funnel(summary),
        whole=max(summary.rows.lines, 1),
        rates=rate_rows(summary),
        findings=finding_views(summary, extras),
        dataset=dataset_views(summary),
        times=summary.times,
        scale=LogScale.around(value for line in summary.times for value in (line.p5, line.longest)),
        course=run_course(summary),
        tools=tool_rows(summary),
        slices=slice_groups(summary),
        expects=summary.expects,
        tallies=_tallies(summary),
        threshold=USABLE,
    )


def _facts(summary: VerifySummary) -> tuple[tuple[str, str], ...]:
    traffic = summary.traffic
    dataset = summary.dataset
    measured = datetime.fromtimestamp(summary.started_at, UTC).strftime("%Y-%m-%d %H:%M UTC")
    pairs = (
        ("Endpoint", visible(summary.base_url or summary.endpoint)),
        ("Model", shorten(visible(summary.model), 120)),
        ("Dataset", "" if dataset is None else _dataset(dataset.path, dataset.digest)),
        ("Measured", measured if summary.started_at else ""),
        ("Requests sent", f"{count(traffic.requests)}, {plural(traffic.retried, 'row')} retried"),
        ("Tokens in, out", f"{count(traffic.prompt_tokens)}, {count(traffic.completion_tokens)}"),
        ("Wall time", _wall(traffic)),
    )
    return tuple((name, value) for name, value in pairs if value)


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
