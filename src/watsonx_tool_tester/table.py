"""The results table and the four summary blocks below it, over all measured models."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any

from toolcert.reports.display_text import fit, percent, plural, seconds, visible, width_of
from toolcert.reports.formats import OwnWords
from watsonx_tool_tester.config import RELIABILITY_THRESHOLD

Result = dict[str, Any]
UNRELIABLE = "full support, unreliable"


def summary_of(results: Sequence[Result], iterations: int) -> dict[str, Any]:
    """Statistics, performance, reliability and categories."""
    full = [result for result in results if is_full(result)]
    able = [result for result in results if result["tool_call_support"]]
    return {
        "total_models": len(results),
        "tool_call_support_count": len(able),
        "response_handling_count": len(full),
        "not_measured_count": sum(is_unknown(result) for result in results),
        "performance": _performance_figures(full),
        "reliability": _reliability_figures(results, iterations),
        "support_categories": {
            "full": [result["model"] for result in full],
            "partial": [result["model"] for result in able if result["handles_response"] is False],
            "none": [result["model"] for result in results if result["tool_call_support"] is False],
            "not_measured": [result["model"] for result in results if is_unknown(result)],
        },
    }


def is_full(result: Result) -> bool:
    """Calls the tool and uses its result."""
    return bool(result["tool_call_support"] and result["handles_response"])


def is_unknown(result: Result) -> bool:
    """Whether calling or handling could not be measured."""
    return result["tool_call_support"] is None or bool(
        result["tool_call_support"] and result["handles_response"] is None
    )


def category_of(result: Result) -> tuple[str, str]:
    """The support category of a model, for the console and the page: its role there, and its words."""
    if is_unknown(result):
        return "unknown", "not measured"
    if not result["tool_call_support"]:
        return "bad", "no support"
    if not result["handles_response"]:
        return "half", "partial support"
    return ("good", "full support") if result["reliability"]["is_reliable"] else ("half", UNRELIABLE)


def page_words(results: Sequence[Result]) -> OwnWords:
    """What the page says in place of toolcert's verdicts."""
    full = [result for result in results if is_full(result)]
    weak = sum(category_of(result)[1] == UNRELIABLE for result in full)
    fastest = _performance_figures(full)["fastest_model"]
    return OwnWords(
        headline=f"{len(full)} of {plural(len(results), 'model')} call the tool and use its result"
        + (f", {weak} of them not reliably." if weak else "."),
        lines=(f"The fastest of them is {fastest}.",) if fastest else (),
        rule=f"Full support: calls the tool and uses its result. Partial support: calls the tool and ignores its "
        f"result. No support: does not call the tool. Unreliable: below {RELIABILITY_THRESHOLD:.0%} in one of both.",
        verdicts={result["model"]: category_of(result) for result in results},
        reasons={result["model"]: result["details"] for result in results},
        totals={result["model"]: result["response_times"]["total_time"] for result in results},
    )


def _performance_figures(full: Sequence[Result]) -> dict[str, Any]:
    """Average times of fully successful models."""
    fastest = min(full, key=lambda result: result["response_times"]["total_time"], default=None)
    return {
        "average_tool_call_time": _mean(result["response_times"]["tool_call_time"] for result in full),
        "average_response_processing_time": _mean(
            result["response_times"]["response_processing_time"] for result in full
        ),
        "average_total_time": _mean(result["response_times"]["total_time"] for result in full),
        "fastest_model": fastest and fastest["model"],
        "fastest_time": fastest and fastest["response_times"]["total_time"],
    }


def _reliability_figures(results: Sequence[Result], iterations: int) -> dict[str, Any]:
    able = [result["reliability"] for result in results if result["tool_call_support"]]
    measured = [result["reliability"] for result in results if result["reliability"]["iterations"]]
    return {
        "iterations": iterations,
        "threshold": RELIABILITY_THRESHOLD,
        "reliable_models": sum(one["is_reliable"] is True for one in able),
        "unreliable_models": sum(one["is_reliable"] is False for one in able),
        "average_tool_call_success_rate": _mean(one["tool_call_success_rate"] for one in measured),
        "average_response_handling_success_rate": _mean(
            one["response_handling_success_rate"] for one in able if one["responses_measured"]
        ),
    }


def _mean(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


_MARKS = {True: "✅", False: "❌", None: "n/a"}


def table_lines(results: Sequence[Result], iterations: int) -> list[str]:
    """The table: a header and one line per model, never shortened."""
    heads = ("MODEL", "TOOL SUPPORT", "HANDLED", f"RELIABILITY ({iterations}x)", "CALL TIME", "RESP TIME", "TOTAL TIME")
    rows = [(*heads, "DETAILS"), *(_row(result) for result in results)]
    widths = [max(width_of(row[column]) for row in rows) for column in range(len(heads))]
    return [_line(row, widths) for row in rows]


def reliability_cell(result: Result) -> str:
    """The verdict of a row, with its counts."""
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
    """The summary blocks; reliability only with more than one iteration."""
    summary = summary_of(results, iterations)
    blocks = [_basic(summary), _performance(summary["performance"])]
    if iterations > 1:
        blocks.append(_reliability(summary["reliability"]))
    weak = {result["model"] for result in results if category_of(result)[1] == UNRELIABLE}
    blocks.append(_categories(summary["support_categories"], weak))
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


def _categories(categories: dict[str, list[str]], weak: Collection[str]) -> Iterator[str]:
    yield "Support Categories"
    for name, title in (
        ("full", "Full support (calls the tool and uses its result)"),
        ("partial", "Partial support (calls the tool and ignores its result)"),
        ("none", "No support (does not call the tool)"),
        ("not_measured", "Not measured"),
    ):
        models = [f"{visible(model)} (unreliable)" if model in weak else visible(model) for model in categories[name]]
        if models or name != "not_measured":
            yield f"  {title}: {len(models)}{': ' + ', '.join(models) if models else ''}"
