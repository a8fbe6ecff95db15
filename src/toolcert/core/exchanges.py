"""One request, everything that came back exactly as it was received, and the reply that was read from it.

A reply is the answer as the server wrote it: nothing is repaired, and every irregularity is named.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from typing import Annotated, Any, TypeAlias

from msgspec import Meta

from toolcert.core.requests import Request
from toolcert.core.values import JsonObject, Seconds, Value


class FaultKind(StrEnum):
    """Why an exchange gave nothing to judge. All but UNSUPPORTED are `not_measured`."""

    CONNECT = "connect"
    TLS = "tls"
    TIMEOUT = "timeout"
    RESET = "reset"
    OVERSIZED = "oversized"
    AUTH = "auth"
    PAYMENT = "payment"
    """The key is good, and the account behind it has no credit."""
    RATE_LIMITED = "rate_limited"
    SERVER_ERROR = "server_error"
    REJECTED = "rejected"
    """A 4xx that names no cause: a control request decides whether the feature is at fault."""
    UNKNOWN_MODEL = "unknown_model"
    CONFIGURATION = "configuration"
    UNSUPPORTED = "unsupported"
    """The server says that it cannot do what was asked."""


class FaultCause(StrEnum):
    """What is known of a fault beyond its kind: the advice depends on it."""

    PROXY = "proxy"
    """The proxy in front of the server failed, not the server."""
    NO_TLS = "no_tls"
    """The server answers without TLS where it was asked for."""
    MALFORMED_CALL = "malformed_call"
    """The server says that it could not read the call which the model wrote."""


class Fault(Value):
    """A failure of an attempt below the level of the protocol, or an error answer."""

    kind: FaultKind
    message: str
    """One line, free of secrets: what happened, in the server's words where it had some."""
    status: int | None = None
    cause: FaultCause | None = None
    wait: float | None = None
    """Seconds that the server asks us to wait, if that is longer than a request waits."""


class Timing(Value):
    """Seconds since the attempt began (monotonic clock); None where that point was not reached."""

    queue: Seconds = 0.0
    """Waited for a free slot before the attempt began."""
    connect: Seconds | None = None
    first_byte: Seconds | None = None
    first_token: Seconds | None = None
    """First streamed event that carried content, reasoning or a piece of a call."""
    last_byte: Seconds | None = None


class Attempt(Value):
    """One try at a request."""

    number: int
    started_at: float
    """Unix time, for people; differences come from `timing`."""
    timing: Timing = Timing()
    status: int | None = None
    fault: Fault | None = None
    retry_after: float | None = None
    """Seconds the server asked us to wait."""
    waited: float = 0.0
    """Seconds waited before this attempt because of the one before."""


OnAttempt: TypeAlias = Callable[[Attempt], None]
"""Called with every attempt as soon as it ends."""


class Arrivals(Value):
    """When the pieces of a stream came."""

    pieces: tuple[Annotated[int, Meta(ge=0)], ...]
    """In turns: milliseconds since the piece before (the first: since the attempt began), and bytes of the piece."""
    grain: Annotated[int, Meta(ge=1)] = 1
    """Milliseconds by which times may be too early; more than 1 only behind the first pieces of a long stream."""


class Cut(Value):
    """What is known of an answer of which only the beginning was kept."""

    length: int
    digest: str
    """SHA-256 of the whole."""


class Exchange(Value):
    """A request, its attempts, and the raw answer of the last one."""

    request: Request
    url: str = ""
    sent: JsonObject | None = None
    """The body as sent, where the dialect's form differs from `request.body`."""
    encoded: tuple[JsonObject, bytes] | None = None
    """The body with its bytes as sent, so that the log need not encode it again; never kept itself."""
    status: int | None = None
    headers: dict[str, str] = {}
    """Response headers that matter (lower-case names), never a credential."""
    payload: bytes = b""
    """The body, or the whole event stream, exactly as received (secrets erased)."""
    event_stream: bool = False
    """Whether the answer came as a stream of events."""
    arrivals: Arrivals | None = None
    """When the pieces of the stream came, where the answer is one and its raw form is kept."""
    from_file: bool = False
    """Whether another program received the answer and wrote it down: then it says nothing about the wire."""
    fault: Fault | None = None
    attempts: tuple[Attempt, ...] = ()
    notes: tuple[str, ...] = ()
    """What was changed to get an answer at all, in words."""
    left_out: tuple[str, ...] = ()
    """Parameters that the server refuses and that were not sent, not even under another name."""
    cut: Cut | None = None
    """Set where the answer was too long to be kept: `payload` is its beginning, and cannot be judged again."""

    @property
    def last(self) -> Attempt:
        return self.attempts[-1]

    @property
    def seconds(self) -> float | None:
        """How long the last attempt took, without queueing or back-off."""
        return self.attempts[-1].timing.last_byte if self.attempts else None


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
