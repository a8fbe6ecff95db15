"""Results in the forms of this tool: dictionaries and JSON, and the HTML report of toolcert."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from toolcert.api.probe import ProbeRun
from toolcert.core.records import Record
from toolcert.core.verdict import Word
from toolcert.probes.summary.scorecard import Cell, ModelSummary, ProbeSummary
from toolcert.reports.formats import Extras, write_reports
from toolcert.reports.probe.phrases import in_order as sorted_by
from toolcert.runs.files import write_whole
from watsonx_tool_tester.config import in_own_names
from watsonx_tool_tester.table import summary_lines, summary_of, table_lines

_SORTS = {"tool_call_time": "call-time", "response_time": "response-time", "total_time": "total-time"}
_TIMES = {
    "tool_call_time": "tool_call_time_seconds",
    "response_processing_time": "response_processing_time_seconds",
    "total_time": "total_time_seconds",
}


class ResultHandler:
    """Prints results and writes them to files."""

    def __init__(self, iterations: int) -> None:
        self.iterations = iterations

    def show(self, results: Sequence[dict[str, Any]]) -> None:
        """Print the table and the summary."""
        click.echo("\n".join([*table_lines(results, self.iterations), "", *summary_lines(results, self.iterations)]))

    def save_json(self, results: Sequence[dict[str, Any]], path: str) -> None:
        """Results and summary as JSON."""
        content = {"results": [_as_json(result) for result in results], "summary": summary_of(results, self.iterations)}
        write_whole(Path(path), [json.dumps(content, indent=2, ensure_ascii=False).encode(), b"\n"])

    def save_html(self, run: ProbeRun, path: str, *, sort: str = "name", extras: Extras | None = None) -> None:
        """Write the HTML report of toolcert."""
        write_reports("probe", in_order(run.summary, sort), {"html": path}, extras or Extras(run=run.folder))


def in_order(summary: ProbeSummary, sort: str) -> ProbeSummary:
    """Sort the models; those without the value come last."""
    return sorted_by(summary, _SORTS.get(sort, sort))


def results_of(summary: ProbeSummary, records: Iterable[Record]) -> list[dict[str, Any]]:
    """One dictionary per model, in the order of the summary."""
    by_model: dict[str, list[Record]] = {}
    for record in records:
        by_model.setdefault(record.model, []).append(record)
    return [_result(model, by_model.get(model.model, []), summary.started_at) for model in summary.models]


def _result(model: ModelSummary, records: list[Record], started_at: float) -> dict[str, Any]:
    cell = model.cells[0]
    call, answer = model.seconds("call"), model.seconds("answer")
    return {
        "model": model.model,
        "tool_call_support": _support(model, cell),
        "handles_response": bool(cell.handled.k) if cell.handled.n else None,
        "details": details_of(model, cell),
        "response_times": _times(call, answer),
        "reliability": _reliability(cell),
        "iteration_results": [_iteration(record) for record in sorted(records, key=_iteration_number) if record.probe],
        "timestamp": datetime.fromtimestamp(max((one.at for one in records), default=started_at), UTC).isoformat(),
    }


def _support(model: ModelSummary, cell: Cell) -> bool | None:
    """Whether the model calls tools, or None if that was not measured."""
    if cell.called.k:
        return True
    return None if model.verdict.word is Word.NOT_MEASURED else False


def details_of(model: ModelSummary, cell: Cell) -> str:
    """The reason of failure, how often it occurred, and what the rates leave out."""
    counts, reason = cell.counts, in_own_names(cell.reason or model.reason)
    if counts.passed and counts.passed == counts.total:
        return "calls the tool and uses its result"
    if counts.passed and not counts.failed and counts.not_measured:
        return f"{counts.not_measured} not measured: {reason}"
    if counts.passed and counts.failed:
        reason = f"{counts.failed} of {counts.measured} failed: {reason}"
    missing = f"{counts.not_measured} not measured" if counts.not_measured else ""
    return "; ".join(part for part in (reason, cell.stopped, missing) if part)


def _reliability(cell: Cell) -> dict[str, Any]:
    return {
        "iterations": cell.called.n,
        "tool_call_success_rate": cell.called.value or 0.0,
        "response_handling_success_rate": cell.handled.value or 0.0,
        "is_reliable": cell.reliable if cell.handled.n else None if cell.called.k else False,
        "error_count": cell.counts.not_measured,
        "tool_calls": cell.called.k,
        "responses_handled": cell.handled.k,
        "responses_measured": cell.handled.n,
    }


def _times(call: float | None, answer: float | None) -> dict[str, float | None]:
    total = None if call is None else call + (answer or 0.0)
    return {"tool_call_time": call, "response_processing_time": answer, "total_time": total}


def _iteration(record: Record) -> dict[str, Any]:
    facts = record.probe
    assert facts is not None
    seconds = (*facts.seconds, None, None)
    return {
        "iteration": facts.iteration,
        "tool_call_support": facts.called,
        "handles_response": facts.handled,
        "details": record.reason or record.outcome.value,
        "outcome": record.outcome.value,
        "response_times": _times(seconds[0], seconds[1]),
    }


def _iteration_number(record: Record) -> int:
    return record.probe.iteration if record.probe else 0


def _as_json(result: dict[str, Any]) -> dict[str, Any]:
    times = result["response_times"]
    return {
        "model": result["model"],
        "supports_tool_calls": result["tool_call_support"],
        "handles_response": result["handles_response"],
        "details": result["details"],
        "timings": {_TIMES[name]: value for name, value in times.items()},
        "timestamp": result["timestamp"],
        "reliability": result["reliability"],
    }
