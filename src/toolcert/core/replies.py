"""An answer as the server wrote it: nothing is repaired, and every irregularity is named."""

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


class Unreadable(StrEnum):
    """Why a body cannot be read as an answer."""

    NOT_JSON = "not_json"
    PAGE = "page"
    """A web page, as gateways send."""
    ERROR = "error"
    """An error of the server in place of an answer."""
    SHAPE = "shape"
    """JSON of another shape than the protocol's."""


class ToolCall(Value):
    """One structured call exactly as the server wrote it; no field is trusted to have its type."""

    id: Any = None
    type: Any = None
    name: Any = None
    arguments: Any = None
    index: Any = None
    raw: Any = None

    def as_sent(self) -> JsonObject:
        """The call in the protocol's form."""
        function = {"name": self.name, "arguments": self.arguments}
        return {"id": self.id, "type": self.type or "function", "function": function}


class Irregularity(Value):
    """A departure from the protocol that the reader noticed; `code` is a code of the catalogue of findings."""

    code: str
    evidence: str
    rule: str = ""
    """Which rule of the code was broken, without the values of this answer: equal faults are counted by it."""


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
    unreadable: Unreadable | None = None
    """Why it is not readable, where it came as one body."""
    irregularities: tuple[Irregularity, ...] = ()

    @property
    def called(self) -> bool:
        """Whether the answer holds calls; the finish reason does not matter."""
        return bool(self.tool_calls)

    def as_completion(self) -> JsonObject:
        """The answer as a chat completion that was not streamed."""
        message: JsonObject = {"role": self.role or "assistant", "content": self.content}
        if self.reasoning is not None:
            message["reasoning_content"] = self.reasoning
        if self.tool_calls:
            message["tool_calls"] = [call.as_sent() for call in self.tool_calls]
        return {
            "id": self.id,
            "object": "chat.completion",
            "model": self.model,
            "choices": [{"index": 0, "message": message, "finish_reason": self.finish_reason}],
            "usage": self.usage,
            "system_fingerprint": self.system_fingerprint,
        }
