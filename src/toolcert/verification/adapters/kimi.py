"""The adapter for Kimi models of Moonshot AI."""

from __future__ import annotations

import re
from typing import Any, ClassVar

from toolcert.core.text.lazy_pattern import lazy_pattern
from toolcert.core.values import JsonObject
from toolcert.verification.adapters.base import ModelAdapter, protocol_call

_SECTION = lazy_pattern(
    r"<\|tool_calls_section_begin\|>(.*?)(?:<\|tool_calls_section_end\|>|\Z)",
    re.DOTALL,
)
_CALL = lazy_pattern(
    r"<\|tool_call_begin\|>\s*(?P<id>\S+?)\s*<\|tool_call_argument_begin\|>\s*(?P<arguments>.*?)\s*"
    r"(?:<\|tool_call_end\|>|(?=<\|tool_call_begin\|>)|\Z)",
    re.DOTALL,
)
_NAME = lazy_pattern(r"(?:functions\.)?(?P<name>.+?)(?::\d+)?\Z", re.DOTALL)


class KimiAdapter(ModelAdapter):
    """Sets the roles and fields that Kimi's template needs, and reads calls by its markers."""

    model_patterns: ClassVar[tuple[str, ...]] = ("kimi", "moonshot")

    def transform_messages(self, messages: list[JsonObject]) -> list[JsonObject]:
        """Role `_input` becomes system; a turn with calls gets a reasoning of one space where it has none."""
        changed = [_adapted(message) for message in messages]
        same = all(new is old for new, old in zip(changed, messages, strict=True))
        return messages if same else changed

    def extract_tool_calls_from_text(self, text: str) -> list[JsonObject] | None:
        found = (match for section in _SECTION.findall(text) for match in _CALL.finditer(section))
        calls = [_call(place, match) for place, match in enumerate(found)]
        return calls or None

    def text_before_calls(self, text: str) -> str:
        return text.partition("<|tool_calls_section_begin|>")[0]


def _adapted(message: Any) -> Any:
    if not isinstance(message, dict):
        return message  # a broken row is sent as it is; its finding names it
    if message.get("role") == "_input":
        return message | {"role": "system"}
    if message.get("role") == "assistant" and message.get("tool_calls") and "reasoning_content" not in message:
        return message | {"reasoning_content": " "}
    return message


def _call(place: int, match: re.Match[str]) -> JsonObject:
    identity = match["id"]
    name = _NAME.match(identity)
    assert name is not None  # the pattern takes any text that is not empty
    return protocol_call(place, identity, name["name"], match["arguments"])
