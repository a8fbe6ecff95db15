"""The HTTP client: connects to servers directly, or through the proxy that the environment names.

The direct client is a parser on a socket. It exists for speed: a general HTTP client uses several times the CPU
of all our reading and judging of an answer; this one sends a request and receives its answer in a few tens of
microseconds.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable, Coroutine
from functools import lru_cache
from time import monotonic
from typing import Any

from toolcert.core.errors import ConfigurationError
from toolcert.core.exchanges import Fault, FaultKind
from toolcert.core.secrets import Eraser
from toolcert.http.base import HttpClient, HttpRequest, HttpResponse
from toolcert.http.connection import Connection, Pool, open_connection, tls_context
from toolcert.http.response import ACCEPTED, Body, Caps, IncomingResponse, Intake, as_response
from toolcert.http.url import Address, Origin, Proxies, next_hop, parse_address
from toolcert.protocol.redaction import erased_fault


class DirectClient:
    """HTTP/1.1 with connections kept alive. One attempt is one request on the wire; nothing is resent silently."""

    def __init__(
        self, *, eraser: Eraser | None = None, ca_bundle: str | None = None, limit: int = 512, caps: Caps | None = None
    ) -> None:
        """`limit` is how many idle connections are kept per server."""
        self._eraser = eraser or Eraser()
        self._caps = caps or Caps()
        self._ca_bundle = ca_bundle
        self._tls: ssl.SSLContext | None = None
        self._pool = Pool(limit)
        self._intake = Intake(self._caps.together)

    async def send(self, request: HttpRequest, *, on_first_token: Callable[[], None] | None = None) -> HttpResponse:
        """Send one attempt; redirects within the server are followed."""
        if self._tls is None and request.url.startswith("https"):
            self._tls = tls_context(self._ca_bundle)  # takes tens of milliseconds, which are not the server's
        started = monotonic()
        hops = 0
        while True:
            address = parse_address(request.url)
            content = compose(request, address)
            connection = await self._connect(address.origin, min(request.timeouts.connect, request.timeouts.total))
            if isinstance(connection, Fault):
                return HttpResponse(fault=erased_fault(self._eraser, connection))
            connected = monotonic()
            answer = IncomingResponse(Body(self._caps, on_first_token, self._intake))
            try:
                await connection.exchange(content, answer, request.timeouts, started)
            finally:
                self._pool.give_back(address.origin, connection)
                answer.body.release()
            if connection.unsent and connection.idle_since and _is_lost(answer.fault):
                continue  # the server closed an idle connection; nothing was sent, so another one is taken
            # The wait for others that go out with it is ours, and in no time of the server's.
            waited = connection.written - connected
            started, connected = started + waited, connected + waited
            # A broken answer has no last byte: its duration would enter the statistics of whole answers.
            last = connection.touched if answer.ended and answer.fault is None else None
            response = as_response(answer, self._eraser, started=started, connected=connected, last_byte=last)
            following = next_hop(request, response, hops)
            if isinstance(following, HttpResponse):
                return following
            request, hops = following, hops + 1

    async def close(self) -> None:
        """Close all connections."""
        self._pool.close()
        await asyncio.sleep(0)  # the event loop closes the sockets on its next turn

    async def _connect(self, origin: Origin, seconds: float) -> Connection | Fault:
        connection = self._pool.take(origin)
        if connection is not None:
            return connection
        tls = self._tls if origin.scheme == "https" else None
        opened = await open_connection(origin, tls, seconds)
        if isinstance(opened, Connection):
            self._pool.adopt(origin, opened)
        return opened


def _is_lost(fault: Fault | None) -> bool:
    return fault is not None and fault.kind is FaultKind.RESET


def compose(request: HttpRequest, address: Address) -> bytes:
    """The request as bytes."""
    content = request.content or b""
    length = f"Content-Length: {len(content)}\r\n" if request.content is not None else ""
    return f"{request.method}{address.opening}{_head(tuple(request.headers.items()))}{length}\r\n".encode() + content


@lru_cache(maxsize=64)  # the requests of a run have the same headers, but for a token that is renewed
def _head(headers: tuple[tuple[str, str], ...]) -> str:
    lines = [f"{name}: {value}\r\n" for name, value in headers]
    text = "".join(lines)
    if text.count("\n") != len(lines) or text.count("\r") != len(lines):
        raise ConfigurationError(
            "A request header has a line break in it.",
            remedy="Check the key and the extra headers for stray line ends.",
        )
    coding = "" if "accept-encoding:" in text.lower() else f"Accept-Encoding: {ACCEPTED}\r\n"
    return f"{coding}{text}"


class Client:
    """Sends each request directly or through its proxy. A fault of the server is in the response, never raised."""

    def __init__(
        self,
        *,
        eraser: Eraser | None = None,
        ca_bundle: str | None = None,
        limit: int = 512,
        trust_env: bool = True,
        caps: Caps | None = None,
    ) -> None:
        """`limit` bounds the connections kept; `trust_env` takes proxies from the environment."""
        self._eraser = eraser or Eraser()
        self._ca_bundle = ca_bundle
        self._limit = limit
        self._trust_env = trust_env
        self._caps = caps or Caps()
        self._proxies = Proxies(trust_env=trust_env)
        self._direct = DirectClient(eraser=self._eraser, ca_bundle=ca_bundle, limit=limit, caps=self._caps)
        self._proxied: HttpClient | None = None

    def send(
        self, request: HttpRequest, *, on_first_token: Callable[[], None] | None = None
    ) -> Coroutine[Any, Any, HttpResponse]:
        """Send one attempt."""
        if self._proxies and self._proxies.for_origin(parse_address(request.url).origin):
            return self._through_proxy().send(request, on_first_token=on_first_token)
        return self._direct.send(request, on_first_token=on_first_token)

    async def close(self) -> None:
        """Close all connections."""
        await self._direct.close()
        if self._proxied is not None:
            await self._proxied.close()

    def _through_proxy(self) -> HttpClient:
        if self._proxied is None:
            from toolcert.http.aiohttp_client import AiohttpClient

            self._proxied = AiohttpClient(
                eraser=self._eraser,
                ca_bundle=self._ca_bundle,
                limit=self._limit,
                trust_env=self._trust_env,
                caps=self._caps,
            )
        return self._proxied
