"""The command and library of watsonx-tool-tester, implemented with toolcert."""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import Any

from toolcert.version import __version__
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

_MODULES = {
    "clients.base": "watsonx_tool_tester.clients",
    "clients.watsonx": "watsonx_tool_tester.clients",
    "clients.litellm": "watsonx_tool_tester.clients",
    "testers": "watsonx_tool_tester",
    "testers.model_tester": "watsonx_tool_tester.tester",
    "testers.result_handler": "watsonx_tool_tester.results",
    "tools.base": "watsonx_tool_tester.tools",
    "tools.hello_world": "watsonx_tool_tester.tools",
    "utils": "watsonx_tool_tester.history",
    "utils.errors": "toolcert.core.errors",
    "utils.history_manager": "watsonx_tool_tester.history",
}
"""Modules of the older package that scripts import: each stands for a module of this one."""
_NAMES = {
    "ToolTestError": "ToolcertError",
    "ClientError": "NothingMeasuredError",
    "CredentialError": "UnauthorisedError",
    "ToolExecutionError": "InputError",
}
"""Errors under their older names."""


class _Alias(ModuleType):
    """A module that looks its names up in another one, which is loaded when the first is asked for."""

    def __init__(self, name: str, target: str) -> None:
        super().__init__(name, f"The older name of {target}.")
        self._target = target
        self.__path__: list[str] = []  # a package, so that modules below it can be imported

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(import_module(self._target), _NAMES.get(name, name))


def _register_older_modules() -> None:
    """Make the older modules importable."""
    for name, target in _MODULES.items():
        full = f"{__name__}.{name}"
        alias = sys.modules.setdefault(full, _Alias(full, target))
        parent, _, last = full.rpartition(".")
        if parent in sys.modules:
            setattr(sys.modules[parent], last, alias)


_register_older_modules()
