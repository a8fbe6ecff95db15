"""The client for servers behind a proxy, on aiohttp, which knows how to talk to proxies."""

from __future__ import annotations

import ssl
from collections.abc import Callable
from time import monotonic

import aiohttp

from toolcert.core.secrets import Eraser
from toolcert.wire.address import parse_address
from toolcert.wire.http import HttpRequest, HttpResponse
from toolcert.wire.intake import Caps, Intake
from toolcert.wire.opening import tls_context
from toolcert.wire.outcome import follow
from toolcert.wire.passage import Passage
from toolcert.wire.pool import IDLE_SECONDS
from toolcert.wire.proxies import Proxies

_NOT_ADDED = ("Accept", "User-Agent", "Content-Type")
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
        self._tls: ssl.SSLContext | None = None

    async def send(self, request: HttpRequest, *, on_first_token: Callable[[], None] | None = None) -> HttpResponse:
        """Send one attempt; redirects within the server are followed."""
        session = self._opened()
        if self._tls is None and "https:" in (request.url[:6], (self._proxy(request) or "")[:6]):
            self._tls = tls_context(self._ca_bundle)  # takes tens of milliseconds, which are not the server's
        started = monotonic()

        async def attempt(hop: HttpRequest) -> HttpResponse:
            passage = Passage(hop, started, Intake(self._caps, on_first_token), self._described(hop))
            await passage.run(session, self._proxy(hop), self._tls or True)
            return passage.response(self._eraser)

        return await follow(attempt, request, await attempt(request))

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
    """The connection went away under a request."""


async def _send_once(request: aiohttp.ClientRequest, handler: aiohttp.ClientHandlerType) -> aiohttp.ClientResponse:
    """Keep aiohttp from sending a GET again by itself when its connection is lost: an attempt is one request."""
    try:
        return await handler(request)
    except aiohttp.ClientConnectorError:
        raise
    except (aiohttp.ClientOSError, aiohttp.ServerDisconnectedError) as error:
        raise LostConnection from error


def _connection_trace() -> aiohttp.TraceConfig:
    """Tells each passage when it has its connection."""

    async def connected(_session: aiohttp.ClientSession, context: object, _params: object) -> None:
        passage = getattr(context, "trace_request_ctx", None)
        if isinstance(passage, Passage):
            passage.connected()

    trace = aiohttp.TraceConfig()
    trace.on_connection_create_end.append(connected)
    trace.on_connection_reuseconn.append(connected)
    return trace
