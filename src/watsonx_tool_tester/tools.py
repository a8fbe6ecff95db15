"""The tool the models are tested with; the question itself is toolcert's probe `hello_world`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from toolcert.probes.calling.hello_world import GREETINGS, HELLO_WORLD, greet


class BaseTool(ABC):
    """A tool with its definition, its work, and the greeting or value to look for in an answer."""

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
