"""A load run as Markdown, CSV and JUnit."""

from __future__ import annotations

from collections.abc import Iterator

from toolcert.core.findings import Severity
from toolcert.core.verdict import Word
from toolcert.load_test.summary import LevelFigures, LoadSummary
from toolcert.reports.display_text import NO_VALUE, cell_figure, count, csv_text, plural, seconds
from toolcert.reports.formats import NOTHING, Extras
from toolcert.reports.junit import Case, Tag, junit
from toolcert.reports.load.console import counts
from toolcert.reports.markdown import code, document, escape, prose, short, table

COLUMNS = (
    "at_a_time",
    "right",
    "answered",
    "crosstalk",
    "unanswered",
    "in_flight",
    "retried",
    "first_token_p50_s",
    "first_token_p95_s",
    "first_token_p99_s",
    "call_p50_s",
    "call_p95_s",
    "call_p99_s",
    "tokens_per_second_p50",
)


def load_csv(summary: LoadSummary, extras: Extras = NOTHING) -> str:  # noqa: ARG001 - signature of renderers
    """One line per level."""
    return csv_text(COLUMNS, (_csv_line(figures) for figures in summary.levels))


def _csv_line(figures: LevelFigures) -> tuple[object, ...]:
    times = figures.timings
    return (
        figures.level,
        figures.right.k,
        figures.right.n,
        figures.crosstalk,
        figures.unanswered,
        cell_figure(figures.busy),
        figures.retried,
        *(cell_figure(getattr(times.first_token, name)) for name in ("p50", "p95", "p99")),
        *(cell_figure(getattr(times.call, name)) for name in ("p50", "p95", "p99")),
        cell_figure(times.tokens_per_second.p50),
    )


def load_markdown(summary: LoadSummary, extras: Extras = NOTHING) -> str:  # noqa: ARG001 - signature of renderers
    """Small enough for a job summary or a pull request."""
    findings = [
        (code(found.code), found.severity.value, counts(found), prose(found.title), short(found.evidence, 300))
        for found in summary.findings
    ]
    levels = [
        (
            figures.level,
            str(figures.right),
            count(figures.unanswered),
            seconds(figures.timings.first_token.p50),
            seconds(figures.timings.call.p50),
            seconds(figures.timings.call.p95),
            NO_VALUE if figures.busy is None else f"{figures.busy:.1f}",
        )
        for figures in summary.levels
    ]
    heads = [
        ">At a time",
        ">Right",
        ">No answer",
        ">First token p50 (s)",
        ">Whole call p50 (s)",
        ">p95 (s)",
        ">In flight",
    ]
    return document(
        [f"### {escape(summary.headline)}"],
        [escape(" ".join(summary.lines))] if summary.lines else [],
        table(["Finding", "Severity", ">Seen", "What", "Evidence"], findings) if findings else [],
        table(heads, levels) if levels else [],
        [f"{plural(summary.requests, 'request')}. Run {code(summary.run)}, toolcert {escape(summary.toolcert)}."],
    )


def load_junit(summary: LoadSummary, extras: Extras = NOTHING) -> bytes:
    """A case per finding of the catalogue's load area that can fail a run, and the verdict."""
    suite = f"{summary.model} at {summary.endpoint}, {summary.level} at a time"
    return junit([(suite, summary.started_at, list(_cases(summary, extras)))])


def _cases(summary: LoadSummary, extras: Extras) -> Iterator[Case]:
    found = {one.code: one for one in summary.findings}
    unmeasured = summary.verdict.word in (Word.UNDECIDED, Word.NOT_MEASURED)
    for name in ("load.crosstalk", "load.corruption", "load.degrades"):
        if name == "load.degrades" and summary.drift is None:
            continue
        one = found.get(name)
        tag = None if one is None else Tag.FAILURE if one.severity is Severity.ERROR else None
        if one is None and not summary.pairs.measured:
            tag = Tag(extras.not_measured.value)
        yield Case(
            classname=summary.model,
            name=name,
            tag=tag,
            message="" if tag is None else f"{one.title} {counts(one)}" if one else "no pair was measured",
            text="" if one is None else one.evidence,
        )
    if not summary.verdict.good and not summary.verdict.caps:
        tag = Tag(extras.not_measured.value) if unmeasured else Tag.FAILURE
        yield Case(classname=summary.model, name="verdict", tag=tag, message=summary.verdict.sentence)
