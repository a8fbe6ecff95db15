"""The tool that models are tested with; the test is toolcert's probe `hello_world`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from toolcert.probes.catalogue.hello_world import GREETINGS, HELLO_WORLD, greet


class BaseTool(ABC):
    """A tool: its definition, its function, and the text that a correct answer contains."""

    @property
    @abstractmethod
    def name(self) -> str: ...

    @abstractmethod
    def get_definition(self) -> dict[str, Any]:
        """The tool in the protocol's form."""

    @abstractmethod
    def execute(self, **arguments: Any) -> dict[str, Any]:
        """What the tool returns."""


class HelloWorldTool(BaseTool):
    """Greets a person in one of five languages."""

    name = "hello_world"
    languages = tuple(GREETINGS)

    def get_definition(self) -> dict[str, Any]:
        return HELLO_WORLD

    def execute(self, **arguments: Any) -> dict[str, Any]:
        """Greeting, language, name and message."""
        return greet(arguments["name"], arguments.get("language", "english"))
