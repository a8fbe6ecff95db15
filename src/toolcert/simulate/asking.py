"""A request as the simulated vendor received it."""

from __future__ import annotations

import zlib
from functools import cached_property
from random import Random
from typing import Any

import msgspec

from toolcert.core.values import JsonObject


class Ask:
    """The body of a chat request with the questions that personas put to it."""

    def __init__(self, body: JsonObject, *, number: int = 0, option: str = "") -> None:
        self.body = body
        self.number = number
        """How many requests this model had before."""
        self.option = option
        """What stands after the fault's code in the model id."""

    def with_option(self, option: str) -> Ask:
        """The same request for a fault with its own option."""
        return Ask(self.body, number=self.number, option=option)

    @property
    def model(self) -> str:
        return str(self.body.get("model", ""))

    @property
    def stream(self) -> bool:
        return self.body.get("stream") is True

    @property
    def wants_usage(self) -> bool:
        """Whether a stream shall end with its usage."""
        options = self.body.get("stream_options")
        return isinstance(options, dict) and options.get("include_usage") is True

    @property
    def messages(self) -> list[JsonObject]:
        messages = self.body.get("messages")
        return messages if isinstance(messages, list) else []

    @property
    def tools(self) -> list[Any]:
        tools = self.body.get("tools")
        return tools if isinstance(tools, list) else []

    @property
    def after_result(self) -> bool:
        """Whether the last word belongs to a tool."""
        return bool(self.messages) and self.messages[-1].get("role") == "tool"

    @property
    def token_limit(self) -> int | None:
        limit = self.body.get("max_completion_tokens", self.body.get("max_tokens"))
        return limit if isinstance(limit, int) and not isinstance(limit, bool) else None

    @cached_property
    def prompt(self) -> bytes:
        """What the model reads: the same for a request streamed and not streamed."""
        return msgspec.json.encode((self.messages, self.tools))

    @property
    def dice(self) -> Random:
        """Chance that falls the same way for the same conversation."""
        return Random(zlib.crc32(self.prompt))
