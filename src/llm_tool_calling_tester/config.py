"""Defaults, variables, weights and thresholds. To add a test, add a method and a weight."""

from __future__ import annotations

from toolcert.probes.suites import SUITES

API_URL_VARIABLE = "MODEL_TESTER_API_URL"
API_KEY_VARIABLE = "MODEL_TESTER_API_KEY"
TIMEOUT_VARIABLE = "MODEL_TESTER_TIMEOUT"
MAX_WORKERS_VARIABLE = "MODEL_TESTER_MAX_WORKERS"
DB_VARIABLES = "MODEL_TESTER_DB_"
"""Prefix of variables that were never used; they are accepted and reported as unused."""

API_BASE_URL = "http://localhost:8317/v1"
REQUEST_TIMEOUT = 30.0
MAX_WORKERS = 5
MAX_RETRIES = 2
OUTPUT_DIR = "output"

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
