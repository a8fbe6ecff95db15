"""The page of a load run: findings with both answers, pairs, times by level, the search, and the course of time."""

from __future__ import annotations

from datetime import UTC, datetime

from toolcert.core.statistics.p_values import p_words
from toolcert.core.statistics.quantiles import Percentiles
from toolcert.core.values import Value
from toolcert.diagnose import kind_of
from toolcert.load_test.summary import (
    Drift,
    LevelFigures,
    LoadExample,
    LoadFinding,
    LoadSummary,
    PairFigures,
    SearchStep,
)
from toolcert.reports.display_text import NO_VALUE, count, duration, percent, shorten, visible
from toolcert.reports.formats import NOTHING, Extras
from toolcert.reports.html.charts.svg import LogScale
from toolcert.reports.html.page import render
from toolcert.reports.load.console import counts
from toolcert.reports.probe.phrases import ROLES


class FindingView(Value):
    """One finding with its catalogue entry."""

    code: str
    severity: str
    title: str
    seen: str
    evidence: str
    meaning: str
    cause: str
    remedy: str
    examples: tuple[LoadExample, ...]


class LevelView(Value):
    """One line of the table of levels."""

    level: int
    first: tuple[float, float] | None
    whole: tuple[float, float] | None
    first_p50: float | None
    call_p50: float | None
    call_p95: float | None
    call_p99: float | None
    speed: str
    right: str
    below: bool
    unanswered: str
    busy: str


class LoadPage(Value):
    """Everything the template shows."""

    title: str
    run: str
    toolcert: str
    level: int
    role: str
    word: str
    headline: str
    lines: tuple[str, ...]
    unfinished: bool
    facts: tuple[tuple[str, str], ...]
    findings: tuple[FindingView, ...]
    pairs: PairFigures
    test: str
    levels: tuple[LevelView, ...]
    scale: LogScale
    steps: tuple[SearchStep, ...]
    thirds: tuple[tuple[str, str, float | None], ...]
    held: str


def load_html(summary: LoadSummary, extras: Extras = NOTHING) -> str:
    """The whole page."""
    return render("load.html.j2", page=_page(summary), history=extras.history)


def _page(summary: LoadSummary) -> LoadPage:
    times = [time for one in summary.levels for time in (one.timings.first_token, one.timings.call)]
    return LoadPage(
        title=visible(f"{summary.model} at {summary.base_url or summary.endpoint}"),
        run=visible(summary.run),
        toolcert=visible(summary.toolcert),
        level=summary.level,
        role=ROLES[summary.verdict.word],
        word=summary.verdict.word.text,
        headline=visible(summary.headline),
        lines=tuple(visible(line) for line in summary.lines),
        unfinished=summary.incomplete,
        facts=load_facts(summary),
        findings=tuple(_finding(found) for found in summary.findings),
        pairs=summary.pairs,
        test=_test(summary.pairs),
        levels=tuple(_level(figures, summary) for figures in summary.levels),
        scale=LogScale.around(value for time in times for value in (time.p50, time.p95)),
        steps=() if summary.search is None else summary.search.steps,
        thirds=() if summary.drift is None else _thirds(summary.drift),
        held="" if summary.drift is None else _held(summary.drift),
    )


def load_facts(summary: LoadSummary) -> tuple[tuple[str, str], ...]:
    """What the certificate names below its sentence."""
    measured = datetime.fromtimestamp(summary.started_at, UTC).strftime("%Y-%m-%d %H:%M UTC")
    coverage = summary.verdict.coverage
    pairs = (
        ("Endpoint", visible(summary.base_url or summary.endpoint)),
        ("Model", shorten(visible(summary.model), 120)),
        ("Date", measured if summary.started_at else ""),
        ("Measured", f"{count(coverage.measured)} of {count(coverage.planned)}" if coverage.planned else ""),
        ("Requests recorded", f"{count(summary.requests)}, {count(summary.retried)} retried"),
        ("To find where", "" if summary.search is None else f"{count(summary.search.requests)} of them"),
        ("Wall time", "" if summary.seconds is None else duration(summary.seconds)),
    )
    return tuple((name, value) for name, value in pairs if value)


def _finding(found: LoadFinding) -> FindingView:
    kind = kind_of(found.code)
    return FindingView(
        code=found.code,
        severity=found.severity.value,
        title=found.title,
        seen=counts(found),
        evidence=visible(found.evidence),
        meaning=kind.meaning,
        cause=kind.cause,
        remedy=kind.remedy,
        examples=tuple(
            LoadExample(**{name: visible(getattr(one, name)) for name in one.__struct_fields__})
            for one in found.examples
        ),
    )


def _test(pairs: PairFigures) -> str:
    result = f"p {p_words(pairs.p)} whenever one looks (by McNemar's exact test at the end p {p_words(pairs.exact)}); "
    decided = "load breaks calls" if pairs.breaks else "not enough to say that load breaks calls"
    power = (
        "" if pairs.detectable is None else f" This many pairs find {percent(pairs.detectable)} in nine of ten runs."
    )
    return f"{result}it takes {pairs.alpha:g} to decide: {decided}.{power}"


def _level(figures: LevelFigures, summary: LoadSummary) -> LevelView:
    first, call = figures.timings.first_token, figures.timings.call
    speed = figures.timings.tokens_per_second.p50
    return LevelView(
        level=figures.level,
        first=_span(first),
        whole=_span(call),
        first_p50=first.p50,
        call_p50=call.p50,
        call_p95=call.p95,
        call_p99=call.p99,
        speed=NO_VALUE if speed is None else f"{speed:.0f}",
        right=str(figures.right),
        below=bool(summary.verdict.caps) and figures.right.k < figures.right.n and figures.level > 1,
        unanswered=count(figures.unanswered),
        busy=NO_VALUE if figures.busy is None else f"{figures.busy:.1f}",
    )


def _span(times: Percentiles) -> tuple[float, float] | None:
    return None if times.p50 is None or times.p95 is None else (times.p50, times.p95)


def _thirds(drift: Drift) -> tuple[tuple[str, str, float | None], ...]:
    return (
        ("first third", str(drift.first), drift.first_seconds),
        ("last third", str(drift.last), drift.last_seconds),
    )


def _held(drift: Drift) -> str:
    return (
        f"The load was kept up for {duration(drift.seconds)}. p {p_words(drift.p)} that the last third is not wrong "
        f"more often, p {p_words(drift.p_slower)} that it is not slower."
    )
