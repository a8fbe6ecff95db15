"""One HTTP attempt: request, response, the interface of a client, and faults that leave it unmeasured."""

from __future__ import annotations

import os
import socket
import ssl
from collections.abc import Callable
from typing import Protocol

from toolcert.core.exchanges import Arrivals, Fault, FaultCause, FaultKind, Timing
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
    arrivals: Arrivals | None = None
    """When the pieces of an event stream came."""
    timing: Timing = Timing()
    fault: Fault | None = None
    """Connect, TLS, timeout, reset or oversized; error statuses are the dialect's to read."""


class HttpClient(Protocol):
    """Sends one attempt; pools connections; closes."""

    async def send(self, request: HttpRequest, *, on_first_token: Callable[[], None] | None = None) -> HttpResponse: ...

    async def close(self) -> None: ...


_CERTIFICATE_REMEDY = "give the CA that signed it as CA bundle"
_SPEAKS_NO_TLS = "WRONG_VERSION_NUMBER"
"""OpenSSL's word for an answer that is not encrypted."""


def unresolved(host: str, error: Exception, cause: FaultCause | None = None) -> Fault:
    """The name of the host is not known."""
    return Fault(kind=FaultKind.CONNECT, message=f"cannot resolve {host}: {_reason(error)}", cause=cause)


def unconnected(where: str, error: OSError, cause: FaultCause | None = None) -> Fault:
    """No connection to the address could be made."""
    return Fault(kind=FaultKind.CONNECT, message=f"cannot connect to {where}: {_reason(error)}", cause=cause)


def tls_failed(where: str, error: BaseException) -> Fault:
    """No trusted, encrypted connection could be made."""
    if isinstance(error, ssl.SSLCertVerificationError):
        text = f"the certificate of {where} is not trusted: {error.verify_message} ({_CERTIFICATE_REMEDY})"
    else:
        text = f"no TLS connection with {where}: {_reason(error)}"
    plain = getattr(error, "reason", None) == _SPEAKS_NO_TLS
    return Fault(kind=FaultKind.TLS, message=text, cause=FaultCause.NO_TLS if plain else None)


def timed_out(phase: str, seconds: float, status: int | None = None, *, cause: FaultCause | None = None) -> Fault:
    """A time limit was reached; `phase` says what was awaited."""
    return Fault(kind=FaultKind.TIMEOUT, message=f"{phase} within {seconds:g} s", status=status, cause=cause)


def broken_off(text: str, status: int | None = None) -> Fault:
    """The connection ended early, or what came over it is not HTTP."""
    return Fault(kind=FaultKind.RESET, message=text, status=status)


def oversized(text: str, status: int | None = None) -> Fault:
    """The answer exceeds one of the size limits."""
    return Fault(kind=FaultKind.OVERSIZED, message=text, status=status)


def _reason(error: BaseException) -> str:
    """The operating system's text for an error, without its number."""
    if isinstance(error, OSError) and error.errno and not isinstance(error, socket.gaierror | ssl.SSLError):
        return os.strerror(error.errno).lower()
    text = getattr(error, "strerror", None) or str(error) or type(error).__name__
    return text[:1].lower() + text[1:]
