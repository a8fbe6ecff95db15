"""The client for servers behind a proxy, built on aiohttp, which implements proxies."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable
from time import monotonic

import aiohttp

from toolcert.core.exchanges import Fault, FaultCause, FaultKind
from toolcert.core.secrets import Eraser
from toolcert.http.base import (
    HttpRequest,
    HttpResponse,
    broken_off,
    oversized,
    timed_out,
    tls_failed,
    unconnected,
    unresolved,
)
from toolcert.http.connection import IDLE_SECONDS, tls_context
from toolcert.http.response import ACCEPTED, Body, Caps, CodingError, Intake, as_response
from toolcert.http.url import Proxies, next_hop, parse_address


class AiohttpAttempt:
    """Sends one request through a session and keeps account of what happens."""

    def __init__(self, request: HttpRequest, started: float, body: Body, proxy: str = "") -> None:
        """`proxy` is how faults call the proxy in between, if there is one."""
        self._request = request
        self._proxy = proxy
        self._started = started
        self.body = body
        self._watch = asyncio.timeout(None)
        self._limit = timed_out("the answer was not complete", request.timeouts.total)
        """The fault to report if the timer expires now."""
        self.status: int | None = None
        self.headers: dict[str, str] = {}
        self.fault: Fault | None = None
        self._connected: float | None = None
        self.first_byte: float | None = None
        self._last_byte: float | None = None

    async def run(self, session: aiohttp.ClientSession, proxy: str | None, tls: ssl.SSLContext | bool) -> None:
        """Send the request and receive the answer; any error of server or network becomes the fault."""
        where = parse_address(self._request.url).origin.authority
        try:
            async with self._watch:
                self._allow(self._request.timeouts.total, self._limit)
                await self._exchange(session, proxy, tls)
        except (aiohttp.ClientError, CodingError, OSError) as error:  # a timeout is an OSError
            self.fault = self._limit if self._watch.expired() else self._describe(error, where)

    def connected(self) -> None:
        """The connection is open: from now on the read timeout counts."""
        self._connected = monotonic()
        seconds = self._request.timeouts.read
        self._allow(seconds, timed_out("no answer began", seconds))

    async def _exchange(self, session: aiohttp.ClientSession, proxy: str | None, tls: ssl.SSLContext | bool) -> None:
        request = self._request
        async with session.request(
            request.method,
            request.url,
            headers={"Accept-Encoding": ACCEPTED} | request.headers,
            data=request.content,
            timeout=aiohttp.ClientTimeout(total=None, connect=request.timeouts.connect),
            allow_redirects=False,
            proxy=proxy,
            ssl=tls,
            trace_request_ctx=self,
        ) as response:
            self.first_byte = monotonic()
            self.status = response.status
            self.headers = {name.lower(): value for name, value in response.headers.items()}
            self.body.expect(self.headers)
            await self._take_in(response)

    async def _take_in(self, response: aiohttp.ClientResponse) -> None:
        body, seconds = self.body, self._request.timeouts.between_chunks
        pause = timed_out("nothing more came", seconds, self.status)
        self._allow(seconds, pause)
        while body.oversized is None and (data := await response.content.readany()):
            body.add(data, monotonic())
            self._allow(seconds, pause)
        if body.oversized is not None:
            self.fault = oversized(body.oversized, self.status)
            response.close()
        else:
            body.finish()
            self._last_byte = monotonic()

    def _allow(self, seconds: float, limit: Fault) -> None:
        """Set the timer to `seconds` from now, or to the end of the whole attempt if that is sooner."""
        left = self._started + self._request.timeouts.total - monotonic()
        total = timed_out("the answer was not complete", self._request.timeouts.total, self.status)
        self._limit = limit if seconds < left else total
        self._watch.reschedule(asyncio.get_running_loop().time() + max(0.0, min(seconds, left)))

    def _describe(self, error: Exception, where: str) -> Fault:
        """What an exception means, from the most specific kind to the least."""
        if isinstance(error, aiohttp.ConnectionTimeoutError):
            through, cause = (f" through {self._proxy}", FaultCause.PROXY) if self._proxy else ("", None)
            return timed_out(f"no connection to {where}{through}", self._request.timeouts.connect, cause=cause)
        if isinstance(error, aiohttp.ClientConnectorError | aiohttp.ClientConnectorCertificateError | ssl.SSLError):
            return _unopened(error, where, self._proxy)
        if isinstance(error, aiohttp.ClientHttpProxyError):
            text = f"{self._proxy} refuses to connect to {where}: status {error.status}"
            return Fault(kind=FaultKind.CONNECT, message=text, cause=FaultCause.PROXY)
        if isinstance(error, aiohttp.ClientResponseError):
            return broken_off(f"what the server sends is not HTTP: {error.message}", self.status)
        if isinstance(error, CodingError):
            return broken_off(str(error), self.status)
        return self._broken()

    def _broken(self) -> Fault:
        if self.status is None:
            return broken_off("the connection was closed before any answer")
        text = f"the connection was closed inside the answer, after {self.body.size} bytes"
        return broken_off(text, self.status)

    def response(self, eraser: Eraser) -> HttpResponse:
        """The result of the attempt."""
        return as_response(self, eraser, started=self._started, connected=self._connected, last_byte=self._last_byte)


def _unopened(error: Exception, where: str, proxy: str) -> Fault:
    """Why there is no connection; names are those of the proxy where there is one."""
    if isinstance(error, aiohttp.ClientConnectorCertificateError):
        return tls_failed(where, error.certificate_error)
    if isinstance(error, aiohttp.ClientConnectorSSLError):
        return tls_failed(where, error.os_error)
    if isinstance(error, aiohttp.ClientProxyConnectionError):
        return unconnected(proxy, error.os_error, FaultCause.PROXY)
    if isinstance(error, aiohttp.ClientConnectorDNSError):
        return unresolved(proxy or error.host or where, error.os_error, FaultCause.PROXY if proxy else None)
    if isinstance(error, aiohttp.ClientConnectorError):
        return unconnected(where, error.os_error)
    return tls_failed(where, error)


_NOT_ADDED = ("Accept", "User-Agent", "Content-Type")
"""Headers that aiohttp must not add: only what the dialect composed is sent."""


class AiohttpClient:
    """Slower than the direct client, with the same answers and faults."""

    def __init__(
        self,
        *,
        eraser: Eraser | None = None,
        ca_bundle: str | None = None,
        limit: int = 512,
        trust_env: bool = True,
        caps: Caps | None = None,
    ) -> None:
        self._eraser = eraser or Eraser()
        self._caps = caps or Caps()
        self._intake = Intake(self._caps.together)
        self._ca_bundle = ca_bundle
        self._limit = limit
        self._proxies = Proxies(trust_env=trust_env)
        self._session: aiohttp.ClientSession | None = None
        self._tls: ssl.SSLContext | None = None

    async def send(self, request: HttpRequest, *, on_first_token: Callable[[], None] | None = None) -> HttpResponse:
        """Send one attempt; redirects within the server are followed."""
        session = self._opened()
        if self._tls is None and "https:" in (request.url[:6], (self._proxy(request) or "")[:6]):
            self._tls = tls_context(self._ca_bundle)  # takes tens of milliseconds, which are not the server's
        started = monotonic()
        hops = 0
        while True:
            body = Body(self._caps, on_first_token, self._intake)
            attempt = AiohttpAttempt(request, started, body, self._described(request))
            try:
                await attempt.run(session, self._proxy(request), self._tls or True)
            finally:
                body.release()
            following = next_hop(request, attempt.response(self._eraser), hops)
            if isinstance(following, HttpResponse):
                return following
            request, hops = following, hops + 1

    async def close(self) -> None:
        """Close all connections."""
        if self._session is not None:
            await self._session.close()

    def _proxy(self, request: HttpRequest) -> str | None:
        return self._proxies.for_origin(parse_address(request.url).origin)

    def _described(self, request: HttpRequest) -> str:
        """The proxy in the words of faults; nothing where there is none."""
        return self._proxies.described(parse_address(request.url).origin) if self._proxy(request) else ""

    def _opened(self) -> aiohttp.ClientSession:
        if self._session is None:
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=self._limit, keepalive_timeout=IDLE_SECONDS),
                cookie_jar=aiohttp.DummyCookieJar(),
                skip_auto_headers=_NOT_ADDED,
                auto_decompress=False,
                middlewares=[_send_once],
                trace_configs=[_connection_trace()],
            )
        return self._session


class LostConnection(aiohttp.ClientError):
    """The connection was lost during a request."""


async def _send_once(request: aiohttp.ClientRequest, handler: aiohttp.ClientHandlerType) -> aiohttp.ClientResponse:
    """Keep aiohttp from sending a GET again by itself when its connection is lost: an attempt is one request."""
    try:
        return await handler(request)
    except aiohttp.ClientConnectorError:
        raise
    except (aiohttp.ClientOSError, aiohttp.ServerDisconnectedError) as error:
        raise LostConnection from error


def _connection_trace() -> aiohttp.TraceConfig:
    """Tells each attempt when its connection is open."""

    async def connected(_session: aiohttp.ClientSession, context: object, _params: object) -> None:
        attempt = getattr(context, "trace_request_ctx", None)
        if isinstance(attempt, AiohttpAttempt):
            attempt.connected()

    trace = aiohttp.TraceConfig()
    trace.on_connection_create_end.append(connected)
    trace.on_connection_reuseconn.append(connected)
    return trace
