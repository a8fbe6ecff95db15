"""Defaults, variables, weights and thresholds. To add a test, add a method and a weight.

The settings that the environment may hold (`API_BASE_URL`, `MAX_WORKERS`, ...) are looked up there at each use.
"""

from __future__ import annotations

import os
from typing import Any

from toolcert.core.errors import ConfigurationError
from toolcert.probes.suites import SUITES

API_URL_VARIABLE = "MODEL_TESTER_API_URL"
API_KEY_VARIABLE = "MODEL_TESTER_API_KEY"
TIMEOUT_VARIABLE = "MODEL_TESTER_TIMEOUT"
MAX_WORKERS_VARIABLE = "MODEL_TESTER_MAX_WORKERS"
DB_VARIABLES = "MODEL_TESTER_DB_"
"""Prefix of variables that were never used; they are accepted and reported as unused."""

DEFAULT_API_URL = "http://localhost:8317/v1"
DEFAULT_TIMEOUT = 30.0
DEFAULT_MAX_WORKERS = 5
MAX_RETRIES = 2
RETRY_DELAY = 0.5
"""Seconds of the first wait before a retry, at most; each further one doubles it."""
DELAY_BETWEEN_TESTS = 0.0
"""Seconds to wait before each test, for servers that limit requests and do not say so."""
OUTPUT_DIR = "output"
_FROM_ENVIRONMENT: dict[str, tuple[str, str | int | float]] = {
    "API_BASE_URL": (API_URL_VARIABLE, DEFAULT_API_URL),
    "REQUEST_TIMEOUT": (TIMEOUT_VARIABLE, DEFAULT_TIMEOUT),
    "TIMEOUT_SECONDS": (TIMEOUT_VARIABLE, DEFAULT_TIMEOUT),
    "MAX_WORKERS": (MAX_WORKERS_VARIABLE, DEFAULT_MAX_WORKERS),
    "DB_HOST": ("MODEL_TESTER_DB_HOST", "localhost"),
    "DB_PORT": ("MODEL_TESTER_DB_PORT", 5432),
    "DB_NAME": ("MODEL_TESTER_DB_NAME", ""),
    "DB_USER": ("MODEL_TESTER_DB_USER", ""),
    "DB_PASSWORD": ("MODEL_TESTER_DB_PASSWORD", ""),
}
"""Settings by the variable that holds them, and their defaults; those of the database have no effect."""

QUICK_TESTS = ("basic_tool_calling",)
PROBES = {
    "basic_tool_calling": "basic",
    "tool_output_reasoning": "result_use",
    "multi_tool_calling": "multi_tool",
    "json_mode": "json_mode",
    "streaming_tool_calls": "streaming",
}
"""The tests, and the probes of toolcert that do them."""
AUTONOMOUS_AGENT_WEIGHTS: dict[str, float] = {test: SUITES["agent"].weights[probe] for test, probe in PROBES.items()}
"""Points by test, in the order in which tests are run and shown."""
RECOMMENDED_THRESHOLD = 90.0
PARTIAL_THRESHOLD = 50.0
RECOMMENDATION_THRESHOLDS = {"recommended": RECOMMENDED_THRESHOLD, "partial": PARTIAL_THRESHOLD, "no_tool_calling": 0.0}


def __getattr__(name: str) -> Any:
    """A setting that the environment may hold."""
    if name not in _FROM_ENVIRONMENT:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    variable, default = _FROM_ENVIRONMENT[name]
    text = os.environ.get(variable)
    if not text or isinstance(default, str):
        return text or default
    try:
        number = type(default)(text)
    except ValueError:
        number = type(default)()
    if number <= 0:
        raise ConfigurationError(f"{variable} is {text!r}, not a number above 0.")
    return number
