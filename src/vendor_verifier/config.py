"""Defaults of the command line."""

DEFAULT_CONCURRENCY = 5
DEFAULT_TIMEOUT = 600.0
DEFAULT_RETRIES = DEFAULT_MAX_RETRIES = 3
DEFAULT_OUTPUT = DEFAULT_OUTPUT_FILE = "results.jsonl"
DEFAULT_SUMMARY = DEFAULT_SUMMARY_FILE = "summary.json"
API_KEY_VARIABLE = "OPENAI_API_KEY"
RUN_SUFFIX = ".run"
"""The run folder beside the results; it holds every reported row, also after a crash."""
FAILED_SUFFIX = ".failed"
"""Where a run without any answer writes its results if the earlier ones have answers."""
BACKUP_SUFFIX = ".before"
"""Results that are not continued are kept under this ending and a number."""
