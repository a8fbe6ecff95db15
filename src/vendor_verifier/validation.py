"""The judgement of single calls, and the hash of a request."""

from __future__ import annotations

from typing import Any

from toolcert.core.exchanges import Reply, ToolCall
from toolcert.core.requests import Request, function_of
from toolcert.core.text.json_value import canonical
from toolcert.core.values import JsonObject
from toolcert.diagnose import judge_calls
from toolcert.verification.digest import digest

__all__ = ["compute_hash", "validate_tool_call"]


def validate_tool_call(tool_call: JsonObject, tools: list[Any]) -> bool:
    """Whether the call names one of the tools and its arguments satisfy that tool's schema."""
    function = function_of(tool_call) or {}
    call = ToolCall(name=function.get("name"), arguments=function.get("arguments"), raw=tool_call)
    (judged,) = judge_calls(Request(body={"tools": tools}), Reply(tool_calls=(call,)))
    return judged.valid is True


def compute_hash(obj: JsonObject) -> str:
    """A hash of a request that does not depend on the order of its keys; not the older tool's formula."""
    return digest(canonical(obj))
