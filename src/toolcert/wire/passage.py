"""One attempt through aiohttp: its time limits, its body, and what its exceptions mean."""

from __future__ import annotations

import asyncio
import ssl
from time import monotonic

import aiohttp

from toolcert.core.exchanges import Fault, FaultKind, Timing
from toolcert.core.secrets import Eraser
from toolcert.wire.address import parse_address
from toolcert.wire.coding import ACCEPTED, CodingError
from toolcert.wire.faults import broken_off, oversized, timed_out, tls_failed, unconnected, unresolved
from toolcert.wire.http import HttpRequest, HttpResponse
from toolcert.wire.intake import Intake
from toolcert.wire.outcome import erased_fault, erased_headers
from toolcert.wire.pieces import erased_payload


class Passage:
    """Sends one request through a session and keeps account of what happens."""

    def __init__(self, request: HttpRequest, started: float, intake: Intake, proxy: str = "") -> None:
        """`proxy` is how faults call the proxy in between, if there is one."""
        self._request = request
        self._proxy = proxy
        self._started = started
        self._intake = intake
        self._watch = asyncio.timeout(None)
        self._limit = timed_out("the answer was not complete", request.timeouts.total)
        """What it means if the watch goes off now."""
        self._status: int | None = None
        self._headers: dict[str, str] = {}
        self._fault: Fault | None = None
        self._connected: float | None = None
        self._first_byte: float | None = None
        self._last_byte: float | None = None

    async def run(self, session: aiohttp.ClientSession, proxy: str | None, tls: ssl.SSLContext | bool) -> None:
        """Send and take in; whatever the server or the network does wrong becomes the fault."""
        where = parse_address(self._request.url).origin.authority
        try:
            async with self._watch:
                self._allow(self._request.timeouts.total, self._limit)
                await self._exchange(session, proxy, tls)
        except (aiohttp.ClientError, CodingError, OSError) as error:  # a timeout is an OSError
            self._fault = self._limit if self._watch.expired() else self._describe(error, where)

    def connected(self) -> None:
        """There is a connection: from now on the answer is awaited."""
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
            self._first_byte = monotonic()
            self._status = response.status
            self._headers = {name.lower(): value for name, value in response.headers.items()}
            self._intake.expect(self._headers)
            await self._take_in(response)

    async def _take_in(self, response: aiohttp.ClientResponse) -> None:
        intake, seconds = self._intake, self._request.timeouts.between_chunks
        pause = timed_out("nothing more came", seconds, self._status)
        self._allow(seconds, pause)
        while intake.oversized is None and (data := await response.content.readany()):
            intake.add(data, monotonic())
            self._allow(seconds, pause)
        if intake.oversized is not None:
            self._fault = oversized(intake.oversized, self._status)
            response.close()
        else:
            intake.finish()
            self._last_byte = monotonic()

    def _allow(self, seconds: float, limit: Fault) -> None:
        """Set the watch to `seconds` from now, or to the end of the whole attempt if that is sooner."""
        left = self._started + self._request.timeouts.total - monotonic()
        total = timed_out("the answer was not complete", self._request.timeouts.total, self._status)
        self._limit = limit if seconds < left else total
        self._watch.reschedule(asyncio.get_running_loop().time() + max(0.0, min(seconds, left)))

    def _describe(self, error: Exception, where: str) -> Fault:
        """What an exception means, from the most specific kind to the least."""
        if isinstance(error, aiohttp.ConnectionTimeoutError):
            through = f" through {self._proxy}" if self._proxy else ""
            return timed_out(f"no connection to {where}{through}", self._request.timeouts.connect)
        if isinstance(error, aiohttp.ClientConnectorError | aiohttp.ClientConnectorCertificateError | ssl.SSLError):
            return _unopened(error, where, self._proxy)
        if isinstance(error, aiohttp.ClientHttpProxyError):
            text = f"{self._proxy} refuses to connect to {where}: status {error.status}"
            return Fault(kind=FaultKind.CONNECT, message=text)
        if isinstance(error, aiohttp.ClientResponseError):
            return broken_off(f"what the server sends is not HTTP: {error.message}", self._status)
        if isinstance(error, CodingError):
            return broken_off(str(error), self._status)
        return self._broken()

    def _broken(self) -> Fault:
        if self._status is None:
            return broken_off("the connection was closed before any answer")
        text = f"the connection was closed inside the answer, after {self._intake.size} bytes"
        return broken_off(text, self._status)

    def response(self, eraser: Eraser) -> HttpResponse:
        """What came of it."""
        timing = Timing(
            connect=self._since(self._connected),
            first_byte=self._since(self._first_byte),
            first_token=self._since(self._intake.first_token),
            last_byte=self._since(self._last_byte),
        )
        return HttpResponse(
            status=self._status,
            headers=erased_headers(eraser, self._headers),
            payload=erased_payload(eraser, self._intake.payload(), event_stream=self._intake.event_stream),
            event_stream=self._intake.event_stream,
            timing=timing,
            fault=None if self._fault is None else erased_fault(eraser, self._fault),
        )

    def _since(self, moment: float | None) -> float | None:
        return None if moment is None else moment - self._started


def _unopened(error: Exception, where: str, proxy: str) -> Fault:
    """Why there is no connection; names are those of the proxy where there is one."""
    if isinstance(error, aiohttp.ClientConnectorCertificateError):
        return tls_failed(where, error.certificate_error)
    if isinstance(error, aiohttp.ClientConnectorSSLError):
        return tls_failed(where, error.os_error)
    if isinstance(error, aiohttp.ClientProxyConnectionError):
        return unconnected(proxy, error.os_error)
    if isinstance(error, aiohttp.ClientConnectorDNSError):
        return unresolved(proxy or error.host or where, error.os_error)
    if isinstance(error, aiohttp.ClientConnectorError):
        return unconnected(where, error.os_error)
    return tls_failed(where, error)
