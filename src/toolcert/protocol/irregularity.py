"""Departures from the protocol: each is noted once, with its first evidence and a count."""

from __future__ import annotations

from typing import Any

from toolcert.core.exchanges import Irregularity
from toolcert.core.text.excerpt import shown
from toolcert.core.values import JsonObject

ERROR_FIELDS = ("error", "errors", "detail", "errorMessage")
"""Where servers put an error: OpenAI, IBM and others, FastAPI, AWS gateways."""


class Notices:
    """Collects irregularities while an answer is read."""

    __slots__ = ("_counts", "_first")

    def __init__(self) -> None:
        self._first: dict[tuple[str, str], str] = {}
        self._counts: dict[tuple[str, str], int] = {}

    def note(self, code: str, evidence: str, *, rule: str = "") -> None:
        """Note that `code` was seen; the same `rule` of a code is kept once and counted."""
        key = (code, rule)
        self._first.setdefault(key, evidence)
        self._counts[key] = self._counts.get(key, 0) + 1

    def __contains__(self, code: str) -> bool:
        return any(noted == code for noted, _ in self._first)

    def irregularities(self) -> tuple[Irregularity, ...]:
        """All that was noted, in the order it was first seen."""
        if not self._first:
            return ()
        return tuple(
            Irregularity(code=code, evidence=_counted(evidence, self._counts[code, rule]), rule=rule)
            for (code, rule), evidence in self._first.items()
        )


def _counted(evidence: str, count: int) -> str:
    return evidence if count == 1 else f"{evidence} ({count} times)"


def error_in(value: Any) -> Any:
    """The error that a JSON value carries instead of an answer, in the forms servers use; None for none."""
    if not isinstance(value, dict) or value.get("choices"):
        return value.get("error") if isinstance(value, dict) else None
    for field in ERROR_FIELDS:
        if value.get(field):
            return value[field]
    if "message" in value and ("code" in value or "type" in value or value.get("object") == "error"):
        return value["message"]
    return None


def choices_asked(body: JsonObject) -> int:
    """How many choices the request asks for."""
    count = body.get("n")
    return count if type(count) is int and count > 0 else 1


def legacy_call(function_call: Any, body: JsonObject) -> str | None:
    """Evidence of a call in the protocol's old form; None for a placeholder, and where the request used that form."""
    if "functions" in body or not isinstance(function_call, dict) or not any(function_call.values()):
        return None
    return f"function_call, replaced by tool_calls long ago: {shown(function_call)}"


def leaves_nothing(error: Any, finish_reason: Any) -> bool:
    """Whether a choice may lack its message: an upstream error or a content filter ended it, and says so."""
    return bool(error) or (isinstance(finish_reason, str) and finish_reason.startswith("content_filter"))
