"""The tools that the tests offer, and their results."""

from __future__ import annotations

import json
from typing import Any

from toolcert.probes.sample_tools import CALCULATE, SEARCH, WEATHER

WEATHER_TOOL = WEATHER
CALCULATOR_TOOL = CALCULATE
SEARCH_TOOL = SEARCH
_MOCKS: dict[str, dict[str, Any]] = {
    "get_weather": {"temperature": 21, "conditions": "clear", "unit": "celsius"},
    "calculate": {"result": 42},
    "search_web": {"results": [{"title": "Example", "url": "https://example.com"}]},
}


def get_test_tools() -> list[dict[str, Any]]:
    """All test tools."""
    return [WEATHER_TOOL, CALCULATOR_TOOL, SEARCH_TOOL]


def get_mock_tool_response(tool_name: str, arguments: dict[str, Any] | None = None) -> str:
    """The result of a tool as JSON; it repeats the arguments."""
    if tool_name not in _MOCKS:
        return json.dumps({"error": f"there is no tool {tool_name}"})
    return json.dumps({**(arguments or {}), **_MOCKS[tool_name]})
