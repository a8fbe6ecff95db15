"""The answer as read from the wire: nothing repaired, every irregularity named."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from toolcert.core.values import JsonObject, Value


class CallsField(StrEnum):
    """How the answer's `tool_calls` field was written."""

    ABSENT = "absent"
    NULL = "null"
    EMPTY = "empty"
    LIST = "list"
    WRONG = "wrong"
    """Present, but not a list."""


class ToolCall(Value):
    """One structured call exactly as the server wrote it; no field is trusted to have its type."""

    id: Any = None
    type: Any = None
    name: Any = None
    arguments: Any = None
    index: Any = None
    raw: Any = None


class Irregularity(Value):
    """Something the reader noticed and did not hide; `code` is a code of the catalogue of findings."""

    code: str
    evidence: str


class Reply(Value):
    """The first choice of an answer, plain or assembled from a stream."""

    role: Any = None
    content: str | None = None
    reasoning: str | None = None
    tool_calls: tuple[ToolCall, ...] = ()
    calls_field: CallsField = CallsField.ABSENT
    finish_reason: str | None = None
    finish_reasons: tuple[str, ...] = ()
    """Every terminal reason seen for the choice, in order."""
    usage: JsonObject | None = None
    id: Any = None
    model: Any = None
    provider: Any = None
    system_fingerprint: Any = None
    streamed: bool = False
    complete: bool = True
    """False when a stream ended before its finish reason and end marker."""
    readable: bool = True
    """False when the answer is not of the protocol's shape at all (see irregularities)."""
    irregularities: tuple[Irregularity, ...] = ()

    @property
    def called(self) -> bool:
        """Whether a call happened: judged by payload, never by the finish reason."""
        return bool(self.tool_calls)
