"""A verify run in Markdown, small enough for a job summary or a pull request."""

from __future__ import annotations

from toolcert.core.statistics.rates import Rate
from toolcert.reports.display_text import MOST_MARKS, NO_VALUE, count, mark_text, percent, plural
from toolcert.reports.formats import NOTHING, Extras
from toolcert.reports.markdown import code, document, escape, prose, short, table
from toolcert.verification.summary.figures import FindingLine, VerifySummary
from toolcert.verification.summary.headline import target_text

SHOWN_TOOLS = 20


def verify_markdown(summary: VerifySummary, extras: Extras = NOTHING) -> str:  # noqa: ARG001 - signature of renderers
    """The report of a verify run."""
    return document(
        [f"### {escape(summary.headline)}"],
        [escape(" ".join(summary.lines))] if summary.lines else [],
        _funnel(summary),
        _findings("Problems of the vendor", summary.vendor),
        _findings("Problems of the dataset, not charged to the vendor", summary.of_dataset),
        [f"- {escape(mark_text(mark))}" for mark in summary.marks[:MOST_MARKS]],
        _tools(summary),
        [_sum(summary)],
    )


def _funnel(summary: VerifySummary) -> list[str]:
    rows = summary.rows
    steps = [
        ("sent", rows.sent, None),
        ("answered", rows.answered, summary.answered),
        ("called a tool", rows.called, summary.called),
        *([("with a lost call", rows.lost, None)] if rows.lost else []),
        ("valid calls", rows.valid, summary.valid),
    ]
    return table(["Rows", ">Count", ">Of those before", "95 % interval"], [_step(*step) for step in steps])


def _step(word: str, number: int, share: Rate | None) -> tuple[object, ...]:
    if share is None or share.low is None or share.high is None:
        return word, count(number), NO_VALUE, NO_VALUE
    return word, count(number), percent(share.value), f"{100 * share.low:.1f} to {100 * share.high:.1f}"


def _findings(title: str, lines: tuple[FindingLine, ...]) -> list[str]:
    if not lines:
        return []
    return table([title, "Severity", ">Rows", "What", "Such as"], [_finding(line) for line in lines])


def _finding(line: FindingLine) -> tuple[object, ...]:
    which = ", ".join(str(example.row) for example in line.examples[:3]) or NO_VALUE
    follows = f" From it follows: {', '.join(line.follows)}" if line.follows else ""
    return code(line.code), line.severity.value, count(line.rows), prose(line.title + follows), which


def _tools(summary: VerifySummary) -> list[str]:
    faulty = [tool for tool in summary.tools if tool.valid.k < tool.valid.n]
    worst = sorted(faulty, key=lambda tool: tool.valid.k - tool.valid.n)[:SHOWN_TOOLS]
    rows = [(short(tool.name), f"{tool.valid.k}/{tool.valid.n}", short(tool.main)) for tool in worst]
    return table(["Tools with invalid calls", ">Valid", "Most often"], rows) if rows else []


def _sum(summary: VerifySummary) -> str:
    missing = count(summary.rows.not_measured)
    asked = plural(summary.traffic.requests, "request")
    target = escape(target_text(summary))
    return f"{target}: {asked}, {missing} rows not measured. Run `{summary.run}`, toolcert {summary.toolcert}."
