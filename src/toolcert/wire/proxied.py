"""The client for servers behind a proxy, on aiohttp, which knows how to talk to proxies."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable
from time import monotonic
from types import SimpleNamespace

import aiohttp

from toolcert.core.exchanges import Fault, FaultKind, Timing
from toolcert.core.secrets import Eraser
from toolcert.core.targets import Timeouts
from toolcert.wire.address import parse_address
from toolcert.wire.coding import ACCEPTED
from toolcert.wire.faults import broken_off, oversized, timed_out, tls_failed, unconnected, unresolved
from toolcert.wire.http import HttpRequest, HttpResponse
from toolcert.wire.intake import Caps, Intake
from toolcert.wire.opening import tls_context
from toolcert.wire.outcome import erased_fault, erased_headers, follow
from toolcert.wire.pool import IDLE_SECONDS
from toolcert.wire.proxies import Proxies

_UNSET_HEADERS = ("Accept", "User-Agent", "Content-Type")
"""Headers aiohttp would add by itself; what is sent is what the dialect composed."""


class AiohttpClient:
    """The general client: slower than the direct one, same answers, same faults."""

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
        self._ca_bundle = ca_bundle
        self._limit = limit
        self._proxies = Proxies(trust_env=trust_env)
        self._session: aiohttp.ClientSession | None = None

    async def send(self, request: HttpRequest, *, on_first_token: Callable[[], None] | None = None) -> HttpResponse:
        """Send one attempt; redirects within the server are followed."""
        started = monotonic()

        async def attempt(hop: HttpRequest) -> HttpResponse:
            pass_through = _Passage(hop, started, Intake(self._caps, on_first_token))
            await pass_through.run(self._opened(), self._proxies)
            return pass_through.response(self._eraser)

        return await follow(attempt, request, await attempt(request))

    async def close(self) -> None:
        """Close all connections."""
        if self._session is not None:
            await self._session.close()

    def _opened(self) -> aiohttp.ClientSession:
        if self._session is None:
            connector = aiohttp.TCPConnector(
                limit=self._limit, keepalive_timeout=IDLE_SECONDS, ssl=tls_context(self._ca_bundle)
            )
            self._session = aiohttp.ClientSession(
                connector=connector,
                cookie_jar=aiohttp.DummyCookieJar(),
                skip_auto_headers=_UNSET_HEADERS,
                trace_configs=[_connection_trace()],
            )
        return self._session


class _Passage:
    """One attempt through aiohttp."""

    def __init__(self, request: HttpRequest, started: float, intake: Intake) -> None:
        self._request = request
        self._started = started
        self._intake = intake
        self._status: int | None = None
        self._headers: dict[str, str] = {}
        self._fault: Fault | None = None
        self._connected = SimpleNamespace(at=None)
        self._first_byte: float | None = None
        self._last_byte: float | None = None

    async def run(self, session: aiohttp.ClientSession, proxies: Proxies) -> None:
        """Send and take in; whatever the server or the network does wrong becomes the fault."""
        where = parse_address(self._request.url).origin
        try:
            await self._exchange(session, proxies.for_origin(where))
        except (TimeoutError, aiohttp.ClientError, OSError) as error:
            self._fault = self._describe(error, where.authority)

    async def _exchange(self, session: aiohttp.ClientSession, proxy: str | None) -> None:
        request, timeouts = self._request, self._request.timeouts
        async with session.request(
            request.method,
            request.url,
            headers={"Accept-Encoding": ACCEPTED} | request.headers,
            data=request.content,
            timeout=_aiohttp_timeout(timeouts, self._started),
            allow_redirects=False,
            proxy=proxy,
            trace_request_ctx=self._connected,
        ) as response:
            self._first_byte = monotonic()
            self._status = response.status
            self._headers = {name.lower(): value for name, value in response.headers.items()}
            if response.connection is not None and response.connection.protocol is not None:
                response.connection.protocol.read_timeout = timeouts.between_chunks
            await self._take_in(response)

    async def _take_in(self, response: aiohttp.ClientResponse) -> None:
        intake = self._intake
        intake.expect(self._headers.get("content-type", ""), self._headers.get("content-length"))
        while intake.oversized is None and (data := await response.content.readany()):
            intake.add(data, monotonic())
        if intake.oversized is not None:
            self._fault = oversized(intake.oversized, self._status)
            response.close()
        else:
            self._last_byte = monotonic()

    def _describe(self, error: BaseException, where: str) -> Fault:
        """What an exception of aiohttp means."""
        if isinstance(error, asyncio.TimeoutError):
            return self._late(error, where)
        if isinstance(error, aiohttp.ClientConnectorError | aiohttp.ClientConnectorCertificateError | ssl.SSLError):
            return _unopened(error, where)
        if isinstance(error, aiohttp.ClientHttpProxyError):
            text = f"the proxy refuses to connect to {where}: status {error.status}"
            return Fault(kind=FaultKind.CONNECT, message=text)
        if isinstance(error, aiohttp.ClientResponseError):
            return broken_off(f"what the server sends is not HTTP: {error.message}", self._status)
        return self._broken()

    def _late(self, error: asyncio.TimeoutError, where: str) -> Fault:
        timeouts = self._request.timeouts
        if isinstance(error, aiohttp.ConnectionTimeoutError):
            return timed_out(f"no connection to {where}", timeouts.connect)
        if not isinstance(error, aiohttp.SocketTimeoutError):
            return timed_out("the answer was not complete", timeouts.total, self._status)
        if self._status is None:
            return timed_out("no answer began", timeouts.read)
        return timed_out("nothing more came", timeouts.between_chunks, self._status)

    def _broken(self) -> Fault:
        if self._status is None:
            return broken_off("the connection was closed before any answer")
        text = f"the connection was closed inside the answer, after {self._intake.size} bytes"
        return broken_off(text, self._status)

    def response(self, eraser: Eraser) -> HttpResponse:
        """What came of it."""
        timing = Timing(
            connect=self._since(self._connected.at),
            first_byte=self._since(self._first_byte),
            first_token=self._since(self._intake.first_token),
            last_byte=self._since(self._last_byte),
        )
        return HttpResponse(
            status=self._status,
            headers=erased_headers(eraser, self._headers),
            payload=eraser.bytes(self._intake.payload()),
            event_stream=self._intake.event_stream,
            timing=timing,
            fault=None if self._fault is None else erased_fault(eraser, self._fault),
        )

    def _since(self, moment: float | None) -> float | None:
        return None if moment is None else moment - self._started


def _unopened(error: BaseException, where: str) -> Fault:
    """Why there is no connection, from the most specific kind of exception to the least."""
    if isinstance(error, aiohttp.ClientConnectorCertificateError):
        return tls_failed(where, error.certificate_error)
    if isinstance(error, aiohttp.ClientConnectorSSLError):
        return tls_failed(where, error.os_error)
    if isinstance(error, aiohttp.ClientProxyConnectionError):
        return unconnected(f"the proxy {error.host}:{error.port}", error.os_error)
    if isinstance(error, aiohttp.ClientConnectorDNSError):
        return unresolved(error.host or where, error.os_error)
    if isinstance(error, aiohttp.ClientConnectorError):
        return unconnected(where, error.os_error)
    return tls_failed(where, error)


def _aiohttp_timeout(timeouts: Timeouts, started: float) -> aiohttp.ClientTimeout:
    left = started + timeouts.total - monotonic()
    return aiohttp.ClientTimeout(total=max(left, 0.001), connect=timeouts.connect, sock_read=timeouts.read)


def _connection_trace() -> aiohttp.TraceConfig:
    """Tells each attempt when it had its connection."""

    async def connected(_session: aiohttp.ClientSession, context: SimpleNamespace, _params: object) -> None:
        context.trace_request_ctx.at = monotonic()

    trace = aiohttp.TraceConfig()
    trace.on_connection_create_end.append(connected)
    trace.on_connection_reuseconn.append(connected)
    return trace
