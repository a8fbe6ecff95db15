"""A request in the neutral form that every dialect translates from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import StrEnum
from typing import Any

import msgspec

from toolcert.core.values import JsonObject, Value


class RequestKind(StrEnum):
    """Which route of the server a request takes."""

    CHAT = "chat"
    COMPLETIONS = "completions"


class Request(Value):
    """One request: an OpenAI chat-completions body, complete with `model`."""

    body: JsonObject
    kind: RequestKind = RequestKind.CHAT

    @property
    def model(self) -> str:
        return str(self.body.get("model", ""))

    @property
    def stream(self) -> bool:
        return self.body.get("stream") is True

    @property
    def tools(self) -> list[Any]:
        """The offered tools as written; an element may be anything."""
        tools = self.body.get("tools")
        return tools if isinstance(tools, list) else []


class SharedTools(list[Any]):
    """A tool list that many requests offer, with its JSON: it is encoded once, so it must not be changed."""

    __slots__ = ("json",)

    def __init__(self, tools: Iterable[Any], json: bytes | None = None) -> None:
        super().__init__(tools)
        self.json = _encode(self) if json is None else json


class EncodedBody(dict[str, Any]):
    """The body of a request with its JSON, which is sent as it is, so it must not be changed."""

    __slots__ = ("json",)
    json: bytes


_encode = msgspec.json.Encoder().encode


def encode_body(body: JsonObject) -> bytes:
    """The JSON of a request's body."""
    if isinstance(body, EncodedBody):
        return body.json
    tools = body.get("tools")
    return _encode(body | {"tools": msgspec.Raw(tools.json)} if isinstance(tools, SharedTools) else body)


def function_of(tool: Any) -> JsonObject | None:
    """The `function` object of an offered tool, of a call or of a tool choice; None where it has none."""
    function = tool.get("function") if isinstance(tool, dict) else None
    return function if isinstance(function, dict) else None


def function_name(tool: Any) -> str | None:
    """The name of that function; None where it is missing or no text."""
    function = function_of(tool)
    name = None if function is None else function.get("name")
    return name if isinstance(name, str) else None


def named_functions(tools: Iterable[Any]) -> Iterator[JsonObject]:
    """The functions of a tool list that have a name: others cannot be called."""
    for tool in tools:
        function = function_of(tool)
        if function is not None and isinstance(function.get("name"), str):
            yield function


def tool(name: str, description: str, parameters: JsonObject | None = None, **extra: Any) -> JsonObject:
    """A function tool in the protocol's form."""
    function: JsonObject = {"name": name, "description": description, **extra}
    if parameters is not None:
        function["parameters"] = parameters
    return {"type": "function", "function": function}


def system(content: str) -> JsonObject:
    """A system message."""
    return {"role": "system", "content": content}


def user(content: str) -> JsonObject:
    """A user message."""
    return {"role": "user", "content": content}


def tool_result(call_id: str | None, content: str, name: str | None = None) -> JsonObject:
    """The answer of a tool to one call."""
    message: JsonObject = {"role": "tool", "tool_call_id": call_id, "content": content}
    if name is not None:
        message["name"] = name
    return message
