"""Requests and answers written by hand, as a vendor would have sent them."""

from __future__ import annotations

import json
from typing import Any

from toolcert.core.exchanges import CallsField, Exchange, Reply, ToolCall
from toolcert.core.findings import Finding
from toolcert.core.requests import Request, tool, user
from toolcert.diagnose import examine

CITY: dict[str, Any] = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
WEATHER = tool("get_weather", "The weather in a city.", CITY)
TIME = tool("get_time", "The time now.", {"type": "object", "properties": {}})


def asked(*messages: dict[str, Any], **fields: Any) -> Request:
    """A request that offers `get_weather` and `get_time`."""
    body: dict[str, Any] = {
        "model": "demo-7b",
        "messages": list(messages) or [user("What is the weather in Tokyo?")],
        "tools": [WEATHER, TIME],
    }
    return Request(body=body | fields)


def call(name: Any = "get_weather", arguments: Any = '{"city": "Tokyo"}', **fields: Any) -> ToolCall:
    """A faithful call, but for what is given."""
    return ToolCall(**({"id": "call_1f9a", "type": "function", "name": name, "arguments": arguments} | fields))


def called(*calls: ToolCall, **fields: Any) -> Reply:
    """A faithful answer with these calls (one good one by default), but for what is given."""
    return said(
        None,
        **({"tool_calls": calls or (call(),), "calls_field": CallsField.LIST, "finish_reason": "tool_calls"} | fields),
    )


def said(text: str | None, **fields: Any) -> Reply:
    """A faithful answer in words, but for what is given."""
    reason = fields.get("finish_reason", "stop")
    usage = {"prompt_tokens": 80, "completion_tokens": 12, "total_tokens": 92}
    defaults: dict[str, Any] = {
        "role": "assistant",
        "content": text,
        "finish_reason": reason,
        "finish_reasons": () if reason is None else (reason,),
        "usage": usage,
        "id": "chatcmpl-7",
        "model": "demo-7b",
    }
    return Reply(**(defaults | fields))


def found(request: Request, reply: Reply) -> tuple[Finding, ...]:
    """What is found in an answer to a request."""
    return examine(Exchange(request=request, status=200), reply)


def codes(request: Request, reply: Reply) -> list[str]:
    """The codes of what is found, in order."""
    return [finding.code for finding in found(request, reply)]


def as_json(value: Any) -> str:
    """JSON text as servers write it."""
    return json.dumps(value, ensure_ascii=False)
