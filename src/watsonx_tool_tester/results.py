"""Results in the forms of this tool: dictionaries and JSON, and the HTML report of toolcert."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from typing import Any

import msgspec

from toolcert.api.probe import ProbeRun
from toolcert.cli.support.exit import echo
from toolcert.core.records import Record
from toolcert.core.verdict import Word
from toolcert.probes.summary.scorecard import Cell, ModelSummary, ProbeSummary
from toolcert.reports.formats import Extras, write_reports
from toolcert.runs.files import write_whole
from watsonx_tool_tester.config import in_own_names
from watsonx_tool_tester.table import page_words, summary_lines, summary_of, table_lines

_SORTS = {"tool_call_time": "call-time", "response_time": "response-time", "total_time": "total-time"}
_SORTED_TIMES = {
    "tool_call_time": "tool_call_time",
    "response_time": "response_processing_time",
    "total_time": "total_time",
}
_NO_ANSWER = "envelope.not_openai"
_BUCKETS = {
    "InvalidJson": "not JSON",
    "DoubleEncoded": "JSON inside a string",
    "NotString": "an object instead of text",
    "Empty": "empty",
    "SchemaMismatch": "against the tool's schema",
    "SchemaMismatch.required": "a required one is missing",
    "SchemaMismatch.type": "a value of the wrong type",
    "SchemaMismatch.enum": "a value that the tool does not allow",
}
_TIMES = {
    "tool_call_time": "tool_call_time_seconds",
    "response_processing_time": "response_processing_time_seconds",
    "total_time": "total_time_seconds",
}


class ResultHandler:
    """Prints results and writes them to files."""

    def __init__(self, iterations: int | None = None) -> None:
        self.iterations = iterations

    def _iterations_of(self, results: Sequence[dict[str, Any]]) -> int:
        """The iterations asked for; the older package's handler is not told them, so the results say."""
        if self.iterations is not None:
            return self.iterations
        return max((result["reliability"]["iterations"] for result in results), default=1)

    def sort_results(self, results: Sequence[dict[str, Any]], sort_key: str) -> list[dict[str, Any]]:
        """The results in another order."""
        return sorted_results(results, sort_key)

    def format_table(self, results: Sequence[dict[str, Any]]) -> str:
        """The table as text."""
        return "\n".join(table_lines(results, self._iterations_of(results)))

    def summarize_results(self, results: Sequence[dict[str, Any]]) -> dict[str, Any]:
        """The figures of the summary."""
        return summary_of(results, self._iterations_of(results))

    def format_json_output(self, results: Sequence[dict[str, Any]]) -> str:
        """Results and summary as JSON."""
        content = {"results": [_as_json(result) for result in results], "summary": self.summarize_results(results)}
        return json.dumps(content, indent=2, ensure_ascii=False)

    def print_summary(self, results: Sequence[dict[str, Any]], sort_key: str = "name") -> None:
        """Print the table and the summary in another order."""
        self.show(sorted_results(results, sort_key))

    def show(self, results: Sequence[dict[str, Any]]) -> None:
        """Print the table and the summary."""
        number = self._iterations_of(results)
        echo("\n".join([*table_lines(results, number), "", *summary_lines(results, number)]))

    def save_json(self, results: Sequence[dict[str, Any]], path: str) -> None:
        """Results and summary as JSON."""
        write_whole(Path(path), [self.format_json_output(results).encode(), b"\n"])

    def save_html(
        self, run: ProbeRun, results: Sequence[dict[str, Any]], path: str, *, sort: str = "name", extras: Extras
    ) -> None:
        """Write the HTML report of toolcert in the order of the results and in the words of this tool."""
        places = {result["model"]: place for place, result in enumerate(results)}
        models = tuple(sorted(run.summary.models, key=lambda model: places[model.model]))
        order, words = _SORTS.get(sort, sort), page_words(results)
        summary = msgspec.structs.replace(run.summary, models=models)
        write_reports("probe", summary, {"html": path}, msgspec.structs.replace(extras, order=order, own_words=words))


def sorted_results(results: Sequence[dict[str, Any]], sort: str) -> list[dict[str, Any]]:
    """The results by name or by a time; those without the time come last."""
    column = _SORTED_TIMES.get(sort)

    def key(result: dict[str, Any]) -> tuple[bool, float, str]:
        time = result["response_times"][column] if column else None
        return column is not None and time is None, time or 0.0, result["model"].lower()

    return sorted(results, key=key)


def results_of(summary: ProbeSummary, records: Iterable[Record]) -> list[dict[str, Any]]:
    """One dictionary per model, in the order of the summary."""
    by_model: dict[str, list[Record]] = {}
    for record in records:
        by_model.setdefault(record.model, []).append(record)
    return [_result(model, by_model.get(model.model, []), summary.started_at) for model in summary.models]


def _result(model: ModelSummary, records: list[Record], started_at: float) -> dict[str, Any]:
    cell = model.cells[0]
    support = _support(model, cell)
    return {
        "model": model.model,
        "tool_call_support": support,
        "handles_response": bool(cell.handled.k) if cell.handled.n else None,
        "details": details_of(model, cell),
        "response_times": _median_times(records),
        "reliability": _reliability(cell, support=support),
        "iteration_results": [_iteration(record) for record in sorted(records, key=_iteration_number) if record.probe],
        "timestamp": datetime.fromtimestamp(max((one.at for one in records), default=started_at), UTC).isoformat(),
    }


def _support(model: ModelSummary, cell: Cell) -> bool | None:
    """Whether the model calls tools, or None if that was not measured."""
    if cell.called.n:
        return bool(cell.called.k)
    # Nothing was judged: a refusal of tools is an answer, an outage or an error inside a 200 is none.
    return False if model.verdict.word is Word.UNSUPPORTED or cell.counts.unsupported else None


def details_of(model: ModelSummary, cell: Cell) -> str:
    """The reason of failure, how often it occurred, and what the rates leave out."""
    counts, reason = cell.counts, _in_words(in_own_names(cell.reason or model.reason))
    failed, missing = _wrong(cell), _without_verdict(cell)
    if missing and not failed:
        # The server's own words say more than that its answer has another form.
        said = (one.example.evidence for one in cell.findings if one.code == _NO_ANSWER)
        reason = next((f"{reason.partition(': ')[0]}: {words}" for words in said), reason)
    if counts.passed and counts.passed == counts.total:
        return "calls the tool and uses its result"
    if counts.passed and missing and not failed:
        return f"{missing} not measured: {reason}"
    if counts.passed and failed:
        reason = f"{failed} of {counts.passed + failed} failed: {reason}"
    left_out = f"{missing} not measured" if missing else ""
    return "; ".join(part for part in (reason, cell.stopped, left_out) if part)


def _wrong(cell: Cell) -> int:
    """Iterations in which the model did not call the tool, or did not use its result."""
    return cell.called.n - cell.called.k + cell.handled.n - cell.handled.k


def _without_verdict(cell: Cell) -> int:
    """Iterations that say nothing about the model: no answer came, or an error inside one."""
    return cell.counts.not_measured + cell.counts.failed - _wrong(cell)


def _in_words(reason: str) -> str:
    """A reason without toolcert's codes for invalid arguments."""
    return re.sub(r"\(([A-Z]\w+(?:\.\w+)?(?:, )?)+\)", _bucket_words, reason)


def _bucket_words(found: re.Match[str]) -> str:
    words = (
        _BUCKETS.get(code) or _BUCKETS.get(code.partition(".")[0], code) for code in found[0].strip("()").split(", ")
    )
    return f"({', '.join(dict.fromkeys(words))})"


def _reliability(cell: Cell, *, support: bool | None) -> dict[str, Any]:
    """Counts, and the rates of what was measured; a rate without a measurement is None."""
    return {
        "iterations": cell.called.n,
        "tool_call_success_rate": cell.called.value,
        "response_handling_success_rate": cell.handled.value,
        "is_reliable": cell.reliable if cell.handled.n else None if support is not False else False,
        "error_count": _without_verdict(cell),
        "tool_calls": cell.called.k,
        "responses_handled": cell.handled.k,
        "responses_measured": cell.handled.n,
    }


def _median_times(records: Iterable[Record]) -> dict[str, float | None]:
    """Medians over the iterations with a call; the total is the median of totals, not a sum of medians."""
    facts = [one.probe for one in records if one.probe is not None and one.probe.called and one.probe.seconds]
    calls = [one.seconds[0] for one in facts]
    both = [one.seconds for one in facts if one.handled is not None and len(one.seconds) > 1]
    return {
        "tool_call_time": _median(calls),
        "response_processing_time": _median([seconds[1] for seconds in both]),
        "total_time": _median([seconds[0] + seconds[1] for seconds in both] or calls),
    }


def _median(values: Sequence[float]) -> float | None:
    return median(values) if values else None


def _times(call: float | None, answer: float | None) -> dict[str, float | None]:
    """The times of one iteration."""
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
