"""A verify run as CSV: one line per row of the dataset."""

from __future__ import annotations

from toolcert.core.records import Record, RowFacts
from toolcert.reports.display_text import cell_figure, csv_text
from toolcert.reports.formats import NOTHING, Extras
from toolcert.reports.verify.rows import every_row
from toolcert.verification.summary.figures import VerifySummary

COLUMNS = (
    "row",
    "outcome",
    "called",
    "valid",
    "correct",
    "finish_reason",
    "tools_called",
    "tools_offered",
    "turns",
    "streamed",
    "findings",
    "buckets",
    "seconds",
    "first_token_s",
    "attempts",
    "prompt_tokens",
    "completion_tokens",
    "tags",
    "reason",
)


def verify_csv(summary: VerifySummary, extras: Extras = NOTHING) -> str:  # noqa: ARG001 - signature of renderers
    """The report of a verify run; its rows come from the log."""
    return csv_text(COLUMNS, (_line(record, row) for record, row in every_row(extras)))


def _line(record: Record, row: RowFacts) -> tuple[object, ...]:
    return (
        row.index,
        record.outcome.value,
        row.called,
        row.valid,
        row.correct,
        row.finish,
        " ".join(row.names),
        row.tools,
        row.turns,
        row.streamed,
        " ".join(record.codes),
        " ".join(row.buckets),
        cell_figure(row.seconds),
        cell_figure(row.first_token),
        row.attempts,
        row.prompt_tokens,
        row.completion_tokens,
        " ".join(row.tags),
        record.reason,
    )
