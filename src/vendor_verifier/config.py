"""Defaults of the command line."""

DEFAULT_CONCURRENCY = 5
DEFAULT_TIMEOUT = 600.0
DEFAULT_RETRIES = 3
DEFAULT_OUTPUT = "results.jsonl"
DEFAULT_SUMMARY = "summary.json"
API_KEY_VARIABLE = "OPENAI_API_KEY"
RUN_SUFFIX = ".run"
"""The run folder beside the results; it holds every reported row, also after a crash."""
FAILED_SUFFIX = ".failed"
"""Where a run without any answer writes its results if the earlier ones have answers."""
