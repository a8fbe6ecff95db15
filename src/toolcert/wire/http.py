"""What one HTTP attempt is: the small interface the rest of the program sees."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from toolcert.core.exchanges import Fault, Timing
from toolcert.core.targets import Timeouts
from toolcert.core.values import JsonObject, Value


class HttpRequest(Value):
    """One attempt to send; `headers` may hold credentials and is never kept."""

    method: str
    url: str
    headers: dict[str, str] = {}
    content: bytes | None = None
    body: JsonObject | None = None
    """What `content` encodes, where it is not the body that was asked for; an exchange keeps it."""
    timeouts: Timeouts = Timeouts()


class HttpResponse(Value):
    """What came back from one attempt. A vendor's fault is in `fault`, never an exception."""

    status: int | None = None
    headers: dict[str, str] = {}
    """All response headers, names in lower case."""
    payload: bytes = b""
    """Body or event stream as received so far, secrets erased."""
    event_stream: bool = False
    timing: Timing = Timing()
    fault: Fault | None = None
    """Connect, TLS, timeout, reset or oversized; error statuses are the dialect's to read."""


class HttpClient(Protocol):
    """Sends one attempt; pools connections; closes."""

    async def send(self, request: HttpRequest, *, on_first_token: Callable[[], None] | None = None) -> HttpResponse: ...

    async def close(self) -> None: ...
