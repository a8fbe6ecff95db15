"""Calls that were left in text: the markup of model families, and JSON that names an offered tool.

Only shapes that nobody writes in prose are matched, and none that the conversation itself showed to
the model: a system prompt that teaches a text form of calling gets what it asked for.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, NamedTuple

from toolcert.core.jsontext import NotJson, leading_json
from toolcert.core.requests import Request
from toolcert.diagnose.asked import instructions
from toolcert.diagnose.judging import offered_tools

_MARKERS = re.compile(
    r"""
      <\|tool_calls?_(?:section_)?(?:begin|start)\|>     # Kimi, LFM2
    | <[|｜]tool[▁_]calls?[▁_]begin[|｜]>                  # DeepSeek
    | <[|｜]DSML[|｜](?:function_calls|invoke)\b           # DeepSeek, newer
    | <\|tool_calls?\|?>\s*(?=[\[{\w])                    # Granite, Phi
    | <\|python_tag\|>                                   # Llama
    | <\|channel\|>\s*commentary\s+to=functions\.         # gpt-oss
    | <\|action_start\|>\s*<\|plugin\|>                   # InternLM
    | \[TOOL_CALLS\]\s*(?=\[|\{|[\w.-]+\s*(?:\[|\{))      # Mistral
    | <(?:\w+:)?tool_calls?>\s*(?=[\[{<]|[\w.-]+\s*<arg_key>)  # Hermes, Qwen, GLM, MiniMax, Seed
    | <function=[\w.-]+>\s*(?=\{|<parameter=|</function>)  # Llama 3, Qwen Coder
    | <(?:\w+:)?function_calls>\s*<(?:\w+:)?invoke\b      # XML form
    | \bfunctools\s*(?=\[\s*\{)                           # Firefunction
    """,
    re.VERBOSE,
)
_FENCE = re.compile(r"```(\w*)[ \t]*\r?\n(.*?)```", re.DOTALL)
_OBJECT_START = re.compile(
    r'[\[{]\s*(?:\{\s*)?"(?:name|function|type|id|tool|tool_name|tool_calls|action|arguments)"\s*:'
)
_PYTHONIC = re.compile(r"\[?\s*([A-Za-z_][\w.]*)\((.*)\)\s*\]?\s*", re.DOTALL)
_ARGUMENT_FIELDS = ("arguments", "parameters", "args", "input", "action_input")
_MOST_TRIES = 8
"""JSON starts looked at in one text; a document full of JSON is no call anyway."""


class TextCall(NamedTuple):
    """Where in a text a call was found."""

    start: int
    end: int


def call_in(text: str | None, request: Request) -> TextCall | None:
    """The first call left in `text`, if the request offered any tool to call."""
    if not text or not request.tools:
        return None
    marker = _marker(text)
    if marker is None:
        return _spelt_call(text, request)
    if marker[0].strip() in instructions(request):
        return None
    return TextCall(marker.start(), min(len(text), marker.end() + 120))


def _marker(text: str) -> re.Match[str] | None:
    if "<" not in text and "[TOOL_CALLS]" not in text and "functools" not in text:
        return None
    match = _MARKERS.search(text)
    return None if match is None or text[: match.start()].endswith("`") else match


def _spelt_call(text: str, request: Request) -> TextCall | None:
    """A call spelt out as JSON, or as a line of Python, that names an offered tool."""
    if "{" not in text and "(" not in text:
        return None
    offered = offered_tools(request)
    if not any(name in text for name in offered):
        return None
    return _json_call(text, offered) or _pythonic_call(text, offered)


def _json_call(text: str, offered: Iterable[str]) -> TextCall | None:
    position = 0
    for _ in range(_MOST_TRIES):
        match = _OBJECT_START.search(text, position)
        if match is None:
            return None
        try:
            value, end = leading_json(text, match.start())
        except NotJson:
            position = match.start() + 1
            continue
        if _names_tool(value, offered):
            return TextCall(match.start(), end)
        position = end
    return None


def _names_tool(value: Any, offered: Iterable[str]) -> bool:
    """Whether a JSON value is a call, or a list of calls, of an offered tool."""
    if isinstance(value, list):
        return bool(value) and all(_names_tool(item, offered) for item in value)
    if not isinstance(value, dict):
        return False
    inner = value.get("tool_calls") or value.get("function")
    if isinstance(inner, dict | list):
        return _names_tool(inner, offered)
    name = next((value[field] for field in ("name", "function", "tool", "tool_name", "action") if field in value), None)
    return (
        isinstance(name, str)
        and name.removeprefix("functions.") in offered
        and any(isinstance(value.get(field), dict | str) for field in _ARGUMENT_FIELDS)
    )


def _pythonic_call(text: str, offered: Iterable[str]) -> TextCall | None:
    """`[get_weather(city="Tokyo")]` as the whole text, or in a `tool_code` fence."""
    fence = _FENCE.search(text)
    body = fence[2].strip() if fence and fence[1] in ("tool_code", "tool_call", "tool_calls") else text.strip()
    if fence and body.startswith("print("):
        body = body.removeprefix("print(").removesuffix(")")
    match = _PYTHONIC.fullmatch(body)
    if match is None or match[1].removeprefix("default_api.") not in offered:
        return None
    start = text.index(body)
    return TextCall(start, start + len(body))
