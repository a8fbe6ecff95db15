"""The data models."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from toolcert.core.values import JsonObject, Value


class TestStatus(StrEnum):
    """The outcome of a test."""

    __test__ = False  # or pytest would collect the class by its name
    PASSED = "passed"
    FAILED = "failed"
    ERROR = "error"
    SKIPPED = "skipped"


class TestResult(Value, omit_defaults=False):
    """One test of one model."""

    __test__ = False
    test_name: str
    status: TestStatus
    latency_ms: float = 0.0
    error: str | None = None
    details: JsonObject = {}


class ModelTestResults(Value, omit_defaults=False):
    """All tests of one model."""

    model_id: str
    owned_by: str | None = None
    tests: dict[str, TestResult] = {}
    overall_score: float = 0.0
    recommendation: str = "no_tool_calling"
    total_latency_ms: float = 0.0


class ToolDefinition(Value):
    """A function tool in the protocol's form."""

    function: JsonObject
    type: str = "function"


class ToolCall(Value):
    """A call as a model makes it."""

    id: str
    function: JsonObject
    type: str = "function"


class ChatMessage(Value):
    """A message of a conversation."""

    role: str
    content: str | None = None
    tool_calls: list[ToolCall] | None = None
    tool_call_id: str | None = None
    name: str | None = None


class ChatCompletionRequest(Value):
    """A request; fields at their default are not sent."""

    model: str
    messages: list[ChatMessage]
    tools: list[ToolDefinition] | None = None
    tool_choice: Any = None
    stream: bool = False
    temperature: float | None = None
    max_tokens: int | None = None
    response_format: JsonObject | None = None


class TestSummary(Value, omit_defaults=False):
    """The figures over all models."""

    __test__ = False
    timestamp: str
    api_endpoint: str
    total_models: int
    tested_models: int
    recommended: list[str] = []
    partial_support: list[str] = []
    no_tool_calling: list[str] = []
    left_out: dict[str, str] = {}
    """Listed models that were not tested, with the reason."""
    test_statistics: dict[str, dict[str, int]] = {}


class FullReport(Value, omit_defaults=False):
    """The JSON report."""

    summary: TestSummary
    results: list[ModelTestResults]
    metadata: JsonObject = {}
