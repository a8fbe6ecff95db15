"""The adapter for any model behind an OpenAI-compatible server."""

from __future__ import annotations

import re

from toolcert.core.text.lazy_pattern import lazy_pattern
from toolcert.core.values import JsonObject
from toolcert.verification.adapters.base import ModelAdapter, call_from_json

_HERMES = lazy_pattern(r"<tool_call>\s*(.*?)\s*(?:</tool_call>|\Z)", re.DOTALL)


class GenericAdapter(ModelAdapter):
    """Changes nothing; in raw completions it knows the widespread `<tool_call>` form."""

    def extract_tool_calls_from_text(self, text: str) -> list[JsonObject] | None:
        calls = [call_from_json(place, found) for place, found in enumerate(_HERMES.findall(text))]
        return calls or None

    def text_before_calls(self, text: str) -> str:
        return text.partition("<tool_call>")[0]
