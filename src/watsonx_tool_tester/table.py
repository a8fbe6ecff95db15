"""The table and the four blocks below it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from toolcert.reports.text import fit, percent, seconds, visible, width_of
from watsonx_tool_tester.config import RELIABILITY_THRESHOLD
from watsonx_tool_tester.totals import Result, summary_of

_MARKS = {True: "✅", False: "❌", None: "n/a"}


def table_lines(results: Sequence[Result], iterations: int) -> list[str]:
    """One line per model under the heads; nothing is cut."""
    heads = ("MODEL", "TOOL SUPPORT", "HANDLED", f"RELIABILITY ({iterations}x)", "CALL TIME", "RESP TIME", "TOTAL TIME")
    rows = [(*heads, "DETAILS"), *(_row(result) for result in results)]
    widths = [max(width_of(row[column]) for row in rows) for column in range(len(heads))]
    return [_line(row, widths) for row in rows]


def reliability_cell(result: Result) -> str:
    """The one verdict of a row, with the true counts."""
    one = result["reliability"]
    if result["tool_call_support"] is None:
        return "not measured"
    counts = f"{one['tool_calls']}/{one['iterations']}"
    if not result["tool_call_support"]:
        return f"NOT SUPPORTED {counts}" if one["iterations"] else "NOT SUPPORTED"
    if one["is_reliable"] is None:
        return f"calls {counts}, handled not measured"
    handled = f"{one['responses_handled']}/{one['responses_measured']}"
    return f"{'✅' if one['is_reliable'] else '⚠️'} calls {counts}, handled {handled}"


def summary_lines(results: Sequence[Result], iterations: int) -> list[str]:
    """The blocks; reliability only where there is more than one iteration."""
    summary = summary_of(results, iterations)
    blocks = [_basic(summary), _performance(summary["performance"])]
    if iterations > 1:
        blocks.append(_reliability(summary["reliability"]))
    blocks.append(_categories(summary["support_categories"]))
    return [line for block in blocks for line in (*block, "")][:-1]


def _row(result: Result) -> tuple[str, ...]:
    times = result["response_times"]
    return (
        visible(result["model"]),
        _MARKS[result["tool_call_support"]],
        _MARKS[result["handles_response"]],
        reliability_cell(result),
        *(_time(times[name]) for name in ("tool_call_time", "response_processing_time", "total_time")),
        visible(result["details"]),
    )


def _line(row: Sequence[str], widths: Sequence[int]) -> str:
    cells = [fit(text, width) for text, width in zip(row, widths, strict=False)]
    return "  ".join([*cells, row[-1]]).rstrip()


def _time(value: float | None) -> str:
    return "n/a" if value is None else f"{seconds(value)}s"


def _basic(summary: dict[str, Any]) -> Iterator[str]:
    yield "Basic Statistics"
    yield f"  Total models tested: {summary['total_models']}"
    yield f"  Models that support tool calls: {summary['tool_call_support_count']}"
    yield f"  Models that handle tool responses: {summary['response_handling_count']}"
    if summary["not_measured_count"]:
        yield f"  Models that could not be measured: {summary['not_measured_count']}"


def _performance(figures: dict[str, Any]) -> Iterator[str]:
    yield "Performance Metrics (fully successful models only)"
    yield f"  Average tool call time: {_time(figures['average_tool_call_time'])}"
    yield f"  Average response processing time: {_time(figures['average_response_processing_time'])}"
    yield f"  Average total time: {_time(figures['average_total_time'])}"
    fastest = figures["fastest_model"]
    yield (
        f"  Fastest model: {visible(fastest)} ({_time(figures['fastest_time'])})" if fastest else "  Fastest model: n/a"
    )


def _reliability(figures: dict[str, Any]) -> Iterator[str]:
    yield "Reliability Assessment"
    yield f"  Test iterations per model: {figures['iterations']}"
    yield f"  Success rate required for reliability: ≥{RELIABILITY_THRESHOLD:.0%}"
    yield f"  Reliable models: {figures['reliable_models']}, unreliable models: {figures['unreliable_models']}"
    yield f"  Average tool call success rate: {percent(figures['average_tool_call_success_rate'])}"
    yield f"  Average response handling success rate: {percent(figures['average_response_handling_success_rate'])}"


def _categories(categories: dict[str, list[str]]) -> Iterator[str]:
    yield "Support Categories"
    for name, title in (
        ("full", "Full support (calls the tool and uses its result)"),
        ("partial", "Partial support (calls the tool and ignores its result)"),
        ("none", "No support (does not call the tool)"),
        ("not_measured", "Not measured"),
    ):
        models = categories[name]
        if models or name != "not_measured":
            yield f"  {title}: {len(models)}{': ' + ', '.join(map(visible, models)) if models else ''}"
