"""The columns of the older tool's history files."""

from __future__ import annotations

RESULTS = (
    "timestamp",
    "date",
    "model_id",
    "tool_call_support",
    "handles_response",
    "is_reliable",
    "tool_call_time",
    "response_time",
    "total_time",
    "iterations",
    "tool_success_rate",
    "response_success_rate",
    "details",
    "tool_call_raw",
    "response_raw",
    "error_message",
    "test_prompt",
    "expected_result",
    "actual_result",
    "model_version",
    "test_config",
)
PROVIDER = "model_provider"
"""A 22nd column that some files have."""
NEEDED = ("date", "model_id", "tool_call_support", "handles_response", "iterations", "tool_success_rate")
"""Without these a row says nothing that could be kept."""
REGISTRY = (
    "model_id",
    "first_seen",
    "last_seen",
    "ever_worked",
    "ever_handled_response",
    "total_tests",
    "working_days",
    "response_handling_days",
    "display_name",
    "last_error",
    "avg_tool_time",
    "avg_response_time",
    "best_tool_time",
    "best_response_time",
    "consistency_score",
)
SUMMARY = (
    "date",
    "total_models",
    "working_models",
    "handling_models",
    "reliable_models",
    "avg_tool_time",
    "avg_response_time",
    "avg_total_time",
    "fastest_model",
    "fastest_time",
)
RESULTS_FILE = "test_results.csv"
REGISTRY_FILE = "models_registry.csv"
SUMMARY_FILE = "daily_summary.csv"
