"""A summary in Markdown, small enough for a job summary or a pull request."""

from __future__ import annotations

import re
from collections.abc import Iterator

from toolcert.probes.scorecard import Cause, ModelSummary, ProbeSummary
from toolcert.reports.labels import label_of
from toolcert.reports.text import count, plural, seconds, shorten, visible
from toolcert.reports.verdicts import verdict_of

LONGEST = 60_000
"""Bytes; GitHub cuts a comment at 65,536 characters and a job summary at 1 MiB."""
_SIGNS = {"good": "✅", "half": "🟡", "bad": "❌", "cannot": "➖", "unknown": "❔"}
_ACTIVE = re.compile(r"([\\`*_{}\[\]()#+!|<>&~@:])")


def probe_markdown(summary: ProbeSummary) -> str:
    """The report of a probe run; what does not fit is counted."""
    head = [f"### {escape(summary.headline)}", "", *(escape(line) for line in summary.lines), ""]
    table = ["| Model | Score | Verdict | Reliable | Call, s | Main reason |", "|---|--:|---|--:|--:|---|"]
    causes = list(_causes(summary))
    tail = ["", _sum(summary), ""]
    room = LONGEST - sum(len(line.encode()) + 1 for line in [*head, *table, *causes, *tail])
    rows, left_out = _fitting([_row(summary, model) for model in summary.models], room)
    if left_out:
        rows.append(f"| … and {plural(left_out, 'model')} more | | | | | |")
    return "\n".join([*head, *table, *rows, *causes, *tail])


def escape(text: str) -> str:
    """Text that Markdown shows as it is: a model's name must not become a link, a mention or a tag."""
    return _ACTIVE.sub(r"\\\1", visible(text))


def _row(summary: ProbeSummary, model: ModelSummary) -> str:
    role, word = verdict_of(model)
    rate = str(model.reliability.rate) if model.reliability.rate.n else "–"
    reason = escape(shorten(model.reason, 120))
    name = escape(shorten(label_of(summary, model), 120))
    cells = (name, model.score, f"{_SIGNS[role]} {word}", rate, seconds(model.seconds("call")), reason)
    return "| " + " | ".join(map(str, cells)) + " |"


def _causes(summary: ProbeSummary) -> Iterator[str]:
    if not summary.causes:
        return
    yield ""
    yield "| Finding | Severity | Models | What |"
    yield "|---|---|--:|---|"
    for cause in summary.causes[:30]:
        yield _cause(cause)


def _cause(cause: Cause) -> str:
    return f"| `{cause.code}` | {cause.severity.value} | {len(cause.models)} | {escape(cause.title)} |"


def _sum(summary: ProbeSummary) -> str:
    totals = summary.totals
    missing = count(totals.counts.not_measured)
    asked = plural(totals.usage.requests, "request")
    return f"{asked}, {missing} not measured. Run `{summary.run}`, toolcert {summary.toolcert}."


def _fitting(rows: list[str], room: int) -> tuple[list[str], int]:
    kept: list[str] = []
    for number, row in enumerate(rows):
        room -= len(row.encode()) + 1
        if room < 0:
            return kept, len(rows) - number
        kept.append(row)
    return kept, 0
