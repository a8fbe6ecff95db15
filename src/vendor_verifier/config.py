"""Defaults of the command line."""

DEFAULT_CONCURRENCY = 5
DEFAULT_TIMEOUT = 600.0
DEFAULT_RETRIES = 3
DEFAULT_OUTPUT = "results.jsonl"
DEFAULT_SUMMARY = "summary.json"
API_KEY_VARIABLE = "OPENAI_API_KEY"
RUN_SUFFIX = ".run"
"""The folder beside the results that holds each row from the moment it is reported."""
FAILED_SUFFIX = ".failed"
"""Beside results that have answers: the results of a later run that has none."""
