"""A probe run as CSV: one line per model and probe."""

from __future__ import annotations

from toolcert.probes.summary.scorecard import Cell, ModelSummary, ProbeSummary
from toolcert.reports.display_text import cell_figure, csv_text
from toolcert.reports.formats import NOTHING, Extras

COLUMNS = (
    "endpoint",
    "model",
    "verdict",
    "probe",
    "group",
    "state",
    "passed",
    "measured",
    "rate",
    "low",
    "high",
    "first_try_passed",
    "first_try_measured",
    "called",
    "handled",
    "not_measured",
    "skipped",
    "reliable",
    "certainty",
    "call_p50_s",
    "findings",
    "reason",
)


def probe_csv(summary: ProbeSummary, extras: Extras = NOTHING) -> str:  # noqa: ARG001 - signature of renderers
    """The report of a probe run."""
    return csv_text(COLUMNS, (_line(model, cell) for model in summary.models for cell in model.cells))


def _line(model: ModelSummary, cell: Cell) -> tuple[object, ...]:
    rate = cell.rate
    return (
        model.endpoint,
        model.model,
        model.verdict.word.value,
        cell.probe,
        cell.group,
        cell.state.value,
        rate.k,
        rate.n,
        cell_figure(rate.value),
        cell_figure(rate.low),
        cell_figure(rate.high),
        cell.first_try.k,
        cell.first_try.n,
        str(cell.called) if cell.called.n else "",
        str(cell.handled) if cell.handled.n else "",
        cell.counts.not_measured,
        cell.counts.skipped,
        cell.reliable,
        cell.certainty.value if rate.n else "",
        cell_figure(cell.latency[0].p50 if cell.latency else None),
        " ".join(found.code for found in cell.findings),
        cell.reason,
    )
