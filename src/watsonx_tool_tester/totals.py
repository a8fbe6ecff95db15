"""The figures over all models; rates and averages over what was measured only."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from watsonx_tool_tester.config import RELIABILITY_THRESHOLD

Result = dict[str, Any]


def summary_of(results: Sequence[Result], iterations: int) -> dict[str, Any]:
    """Statistics, performance, reliability and categories."""
    full = [result for result in results if is_full(result)]
    able = [result for result in results if result["tool_call_support"]]
    return {
        "total_models": len(results),
        "tool_call_support_count": len(able),
        "response_handling_count": len(full),
        "not_measured_count": sum(is_unknown(result) for result in results),
        "performance": _performance(full),
        "reliability": _reliability(results, iterations),
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
    """Calling, or what comes after a call, could not be measured."""
    return result["tool_call_support"] is None or bool(
        result["tool_call_support"] and result["handles_response"] is None
    )


def _performance(full: Sequence[Result]) -> dict[str, Any]:
    """Of fully successful models only."""
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


def _reliability(results: Sequence[Result], iterations: int) -> dict[str, Any]:
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
