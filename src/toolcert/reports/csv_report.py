"""One line per model and probe, safe to open in a spreadsheet."""

from __future__ import annotations

import csv
import io

from toolcert.probes.scorecard import Cell, ModelSummary, ProbeSummary
from toolcert.reports.text import visible

COLUMNS = (
    "endpoint",
    "model",
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
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def probe_csv(summary: ProbeSummary) -> str:
    """The report of a probe run."""
    out = io.StringIO(newline="")
    writer = csv.writer(out)
    writer.writerow(COLUMNS)
    for model in summary.models:
        for cell in model.cells:
            writer.writerow([harmless(value) for value in _line(model, cell)])
    return out.getvalue()


def harmless(value: object) -> object:
    """A spreadsheet runs a cell that begins like a formula; an apostrophe makes it text."""
    if not isinstance(value, str):
        return value
    text = visible(value)
    return f"'{text}" if text.lstrip().startswith(_FORMULA) else text


def _line(model: ModelSummary, cell: Cell) -> tuple[object, ...]:
    rate = cell.rate
    return (
        model.endpoint,
        model.model,
        cell.probe,
        cell.group,
        cell.state.value,
        rate.k,
        rate.n,
        _figure(rate.value),
        _figure(rate.low),
        _figure(rate.high),
        cell.first_try.k,
        cell.first_try.n,
        str(cell.called) if cell.called.n else "",
        str(cell.handled) if cell.handled.n else "",
        cell.counts.not_measured,
        cell.counts.skipped,
        "" if cell.reliable is None else str(cell.reliable).lower(),
        cell.certainty.value if rate.n else "",
        _figure(cell.latency[0].p50 if cell.latency else None),
        " ".join(found.code for found in cell.findings),
        cell.reason,
    )


def _figure(value: float | None) -> str:
    return "" if value is None else f"{value:.4f}"
