"""The command and library of llm-tool-calling-tester, implemented with toolcert."""

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
from llm_tool_calling_tester.runner import ModelTestRunner
from llm_tool_calling_tester.tester import ModelTester
from llm_tool_calling_tester.tools import (
    CALCULATOR_TOOL,
    SEARCH_TOOL,
    WEATHER_TOOL,
    get_mock_tool_response,
    get_test_tools,
)
from toolcert.version import __version__

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
