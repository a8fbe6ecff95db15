"""What a request asked for: the facts that checks need."""

from __future__ import annotations

from typing import Any

from toolcert.core.requests import Request, function_name


def choice_of(request: Request) -> str | None:
    """`auto`, `none`, `required`, or None where `tool_choice` is absent or more than a word."""
    choice = request.body.get("tool_choice")
    return choice if isinstance(choice, str) else None


def named_tool(request: Request) -> str | None:
    """The one function that `tool_choice` demands."""
    return function_name(request.body.get("tool_choice"))


def names_a_tool(request: Request) -> bool:
    """Whether `tool_choice` demands one function by name."""
    return named_tool(request) is not None


def json_mode(request: Request) -> str | None:
    """`json_object` or `json_schema`, where the answer has to be JSON."""
    response_format = request.body.get("response_format")
    kind = response_format.get("type") if isinstance(response_format, dict) else None
    return kind if kind in ("json_object", "json_schema") else None


def token_limit(request: Request) -> int | None:
    """The most tokens the answer may have."""
    for field in ("max_completion_tokens", "max_tokens"):
        limit = request.body.get(field)
        if isinstance(limit, int):
            return limit
    return None


def messages(request: Request) -> list[dict[str, Any]]:
    """The messages that are objects."""
    listed = request.body.get("messages")
    return [message for message in listed if isinstance(message, dict)] if isinstance(listed, list) else []


def last_question(request: Request) -> str:
    """The text of the user's last message."""
    listed = request.body.get("messages")
    for message in reversed(listed) if isinstance(listed, list) else ():
        if isinstance(message, dict) and message.get("role") == "user":
            content = message.get("content")
            return content if isinstance(content, str) else _joined(content)
    return ""


def _joined(value: Any) -> str:
    """All text in a value."""
    parts: list[str] = []
    _collect(value, parts)
    return "\n".join(parts)


def instructions(request: Request) -> str:
    """What people told the model: system, developer and user messages; slow, so use it only after a quicker test."""
    parts: list[str] = []
    for message in messages(request):
        if message.get("role") in ("system", "developer", "user"):
            _collect(message.get("content"), parts)
    return "\n".join(parts)


def conversation_text(request: Request) -> str:
    """Everything the model was given to read, in one string; slow, so use it only after a quicker test."""
    parts: list[str] = []
    for message in messages(request):
        _collect(message.get("content"), parts)
        _collect(message.get("tool_calls"), parts)
    _collect(request.tools, parts)
    _collect(request.body.get("prompt"), parts)
    return "\n".join(parts)


def _collect(value: Any, parts: list[str]) -> None:
    if isinstance(value, str):
        parts.append(value)
    elif isinstance(value, dict):
        for inner in value.values():
            _collect(inner, parts)
    elif isinstance(value, list):
        for inner in value:
            _collect(inner, parts)
