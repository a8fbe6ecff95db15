"""llm-tool-calling-tester, as its users know it, on top of toolcert."""

from typing import TYPE_CHECKING, Any

from llm_tool_calling_tester.models import (
    ChatCompletionRequest,
    ChatMessage,
    FullReport,
    ModelTestResults,
    TestResult,
    TestStatus,
    TestSummary,
    ToolCall,
    ToolDefinition,
)
from llm_tool_calling_tester.tester import ModelTester
from llm_tool_calling_tester.tools import (
    CALCULATOR_TOOL,
    SEARCH_TOOL,
    WEATHER_TOOL,
    get_mock_tool_response,
    get_test_tools,
)
from toolcert.version import __version__

if TYPE_CHECKING:
    from llm_tool_calling_tester.main import ModelTestRunner

__all__ = [
    "CALCULATOR_TOOL",
    "SEARCH_TOOL",
    "WEATHER_TOOL",
    "ChatCompletionRequest",
    "ChatMessage",
    "FullReport",
    "ModelTestResults",
    "ModelTestRunner",
    "ModelTester",
    "TestResult",
    "TestStatus",
    "TestSummary",
    "ToolCall",
    "ToolDefinition",
    "__version__",
    "get_mock_tool_response",
    "get_test_tools",
]


def __getattr__(name: str) -> Any:
    """`main` is a program of its own, so it is imported by who runs it or by who asks for its class."""
    if name == "ModelTestRunner":
        from llm_tool_calling_tester.main import ModelTestRunner

        return ModelTestRunner
    raise AttributeError(f"module 'llm_tool_calling_tester' has no attribute {name!r}")
