"""A dataset and a planned run described on the console."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from toolcert.reports.text import count, plural, visible
from toolcert.verify.dry_run import DryRun
from toolcert.verify.inspection import DatasetReport

SHOWN = 12
"""Entries of a list shown; JSON has all."""


def dry_run_lines(planned: DryRun) -> list[list[str]]:
    """What would be sent, then what is wrong with the rows."""
    where = visible(f"{planned.model} at {planned.url or planned.endpoint}")
    head = [
        f"{plural(planned.requests, 'request')} to {where}; none was sent",
        f"about {count(planned.tokens)} prompt tokens",
        f"adapter {planned.adapter}",
    ]
    if planned.settled:
        head.append(f"{plural(planned.settled, 'row')} measured by the run in --output would not be asked again")
    longest = [f"  line {row.row}: about {count(row.tokens)} tokens" for row in planned.dataset.longest]
    return [head, ["longest rows", *longest] if longest else [], list(problem_lines(planned.dataset))]


def problem_lines(report: DatasetReport) -> Iterator[str]:
    """The problems by kind, with their first lines."""
    if not report.problems:
        yield f"no problem in {plural(report.lines, 'line')}"
    for problem in report.problems:
        lines = list(dict.fromkeys(str(example.row) for example in problem.examples))
        more = ", …" if problem.rows > len(lines) else ""
        where = f"{'line' if problem.rows == 1 else 'lines'} {', '.join(lines)}{more}"
        yield f"{problem.severity.value:<8} {problem.code:<24} {count(problem.rows):>6}   {where}"


def stats_lines(report: DatasetReport) -> list[list[str]]:
    """A dataset described."""
    rough = f"about {count(report.tokens)} prompt tokens"
    if report.tokens_p50 is not None and report.tokens_p95 is not None:
        rough += f" (a row: median {count(round(report.tokens_p50))}, p95 {count(round(report.tokens_p95))})"
    head = [
        f"{visible(report.name)}: {plural(report.lines, 'line')}, {plural(report.rows, 'row')} to ask",
        rough,
        f"{plural(report.tools, 'distinct tool')} in {plural(report.toolsets, 'distinct list')}",
        f"{plural(report.duplicates, 'duplicate')}, {count(report.streamed)} streamed",
        f"{plural(report.expecting, 'row')} with expectations",
    ]
    blocks = [
        head,
        [f"line {row.row}: about {count(row.tokens)} tokens" for row in report.longest],
        _listed("tools offered", report.tool_names),
        _listed("tools per row", report.tools_per_row),
        _listed("user turns", report.turns),
        _listed("schema features", report.schema_features),
        _listed("tags", report.tags),
        _listed("models", report.models),
        list(problem_lines(report)),
    ]
    return [block for block in blocks if block]


def _listed(title: str, counts: Mapping[str, int]) -> list[str]:
    if not counts:
        return []
    shown = [f"{visible(name)} {count(number)}" for name, number in list(counts.items())[:SHOWN]]
    hidden = len(counts) - SHOWN
    return [f"{title:<16} {', '.join(shown)}" + (f" and {count(hidden)} more" if hidden > 0 else "")]
