"""The command and library of watsonx-tool-tester, implemented with toolcert."""

from toolcert.version import __version__
from watsonx_tool_tester import older_names
from watsonx_tool_tester.clients import BaseClient, LiteLLMClient, WatsonXClient
from watsonx_tool_tester.config import RELIABILITY_THRESHOLD, ClientType, Config
from watsonx_tool_tester.results import ResultHandler
from watsonx_tool_tester.tester import ModelTester
from watsonx_tool_tester.tools import BaseTool, HelloWorldTool

__all__ = [
    "RELIABILITY_THRESHOLD",
    "BaseClient",
    "BaseTool",
    "ClientType",
    "Config",
    "HelloWorldTool",
    "LiteLLMClient",
    "ModelTester",
    "ResultHandler",
    "WatsonXClient",
    "__version__",
]
older_names.register()
