"""A raw completion as an answer: calls written between markers become calls, and nothing else is touched."""

from __future__ import annotations

from typing import Any

import msgspec

from toolcert.core.replies import CallsField, Reply, ToolCall
from toolcert.core.values import JsonObject
from toolcert.verify.adapters.base import ModelAdapter


def reply_of_completion(reply: Reply, adapter: ModelAdapter) -> Reply:
    """The answer with the calls its text holds; its finish reason stays what the server said."""
    if not reply.readable or not reply.content:
        return reply
    found = adapter.extract_tool_calls_from_text(reply.content)
    if not found:
        return reply
    return msgspec.structs.replace(
        reply,
        content=adapter.text_before_calls(reply.content) or None,
        tool_calls=tuple(_call(call) for call in found),
        calls_field=CallsField.LIST,
    )


def _call(call: JsonObject) -> ToolCall:
    function: Any = call.get("function") or {}
    return ToolCall(
        id=call.get("id"),
        type=call.get("type"),
        name=function.get("name"),
        arguments=function.get("arguments"),
        index=call.get("index"),
        raw=call,
    )
