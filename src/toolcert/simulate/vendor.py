"""A simulated vendor that runs in its own thread, for tests, the demo and `toolcert simulate`."""

from __future__ import annotations

import asyncio
import errno
import socket
import ssl
import threading
from collections.abc import Callable, Mapping, Sequence
from types import TracebackType
from typing import Protocol, Self, TypedDict, Unpack

from aiohttp import web

from toolcert.core.errors import UsageError
from toolcert.core.values import JsonObject
from toolcert.http.connection import loop_factory
from toolcert.simulate.backend import Backend, Latency, Outage, RateLimit
from toolcert.simulate.backend import latency as read_latency
from toolcert.simulate.server import OpenAiApi
from toolcert.simulate.traffic import RequestLog

_STARTS_WITHIN = 10.0
_ENDS_WITHIN = 10.0


class Background:
    """Serves an application until it is stopped."""

    def __init__(
        self, app: Callable[[], web.Application], host: str, port: int = 0, tls: ssl.SSLContext | None = None
    ) -> None:
        self.port = port
        self._app = app
        self._host = host
        self._tls = tls
        self._thread: threading.Thread | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._ready = threading.Event()
        self._failure: OSError | None = None
        self._end: asyncio.Event | None = None

    def start(self) -> None:
        """Start to serve. Returns when the port is open; raises if it cannot be opened."""
        self._ready.clear()
        self._thread = threading.Thread(target=self._run, name="simulated vendor", daemon=True)
        self._thread.start()
        self._ready.wait(_STARTS_WITHIN)
        if self._failure is not None:
            raise UsageError(
                f"Cannot listen on {self._host}:{self.port}: {self._failure.strerror}.",
                remedy=_remedy(self._failure),
            )

    def stop(self) -> None:
        """Close every connection and end the thread."""
        if self._loop is not None and self._end is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._end.set)
        if self._thread is not None:
            self._thread.join(_ENDS_WITHIN)

    def _run(self) -> None:
        with asyncio.Runner(loop_factory=loop_factory()) as runner:
            self._loop = runner.get_loop()
            runner.run(self._serve())

    async def _serve(self) -> None:
        self._end = asyncio.Event()
        runner = web.AppRunner(self._app(), access_log=None, shutdown_timeout=0.0, handler_cancellation=True)
        await runner.setup()
        try:
            await self._listen(runner)
            self._ready.set()
            if self._failure is None:
                await self._end.wait()
        finally:
            await runner.cleanup()

    async def _listen(self, runner: web.AppRunner) -> None:
        site = web.TCPSite(runner, self._host, self.port, ssl_context=self._tls, backlog=1024)
        try:
            await site.start()
        except OSError as problem:
            self._failure = problem
            return
        self.port = runner.addresses[0][1]


def _remedy(failure: OSError) -> str:
    if isinstance(failure, socket.gaierror) or failure.errno == errno.EADDRNOTAVAIL:
        return "Choose an address of this machine: 127.0.0.1, or 0.0.0.0 for all it has."
    return "Choose another port, or 0 for a free one."


class Behaviour(TypedDict, total=False):
    """How a vendor behaves, whichever model is asked."""

    latency: float | str | Latency
    """Seconds before an answer, as a number or in the notation of `backend.latency`."""
    chunk_gap: float
    """Seconds between the events of a stream."""
    seed: int
    rate_limit: int | RateLimit | None
    """Requests per minute; more are answered with 429."""
    capacity: int | None
    """Requests at the same time; more are answered with 429."""
    queueing: float
    """Seconds that each other request in flight adds to an answer."""


class Api(Protocol):
    """A server that makes a backend reachable."""

    def app(self) -> web.Application: ...


class Simulation:
    """A simulated endpoint that runs inside a `with` block."""

    def __init__(
        self, backend: Backend, api: Api, *, host: str = "127.0.0.1", port: int = 0, tls: ssl.SSLContext | None = None
    ) -> None:
        self.backend = backend
        self._host = host
        self._scheme = "https" if tls else "http"
        self._thread = Background(api.app, host, port, tls)

    @property
    def root(self) -> str:
        """The address without the path of the protocol."""
        return f"{self._scheme}://{self._host}:{self._thread.port}"

    @property
    def url(self) -> str:
        """The base URL for clients."""
        return f"{self.root}/v1"

    def hints(self) -> list[str]:
        """Headers and other settings that a client needs besides the address."""
        return []

    @property
    def requests(self) -> RequestLog:
        """The log of requests."""
        return self.backend.requests

    @property
    def peak(self) -> int:
        """The highest number of requests handled at the same time."""
        return self.backend.peak

    def listing(self) -> list[JsonObject]:
        """The models served."""
        return self.backend.models.listing()

    def outage(
        self,
        kind: str,
        *,
        after: int = 0,
        count: int | None = None,
        retry_after: float | None = None,
        model: str | None = None,
        share: float = 1.0,
        seed: int = 1,
    ) -> None:
        """Fail from now on (or `after` so many requests), `count` times or until `restore()`.

        Kinds: 400 (an upstream error), 401 (the key), 402 (no credit), 429, 500, 502, 503, 504, 529,
        reset (the connection breaks), timeout (no answer). With a `share`, that part of the requests fails at random.
        """
        self.backend.outages.add(
            Outage(kind, after=after, count=count, retry_after=retry_after, model=model, share=share, seed=seed)
        )

    def restore(self) -> None:
        """End every outage."""
        self.backend.outages.clear()

    def start(self) -> Self:
        """Start to serve; returns when the port is open."""
        self._thread.start()
        return self

    def stop(self) -> None:
        """Close all connections and end the thread."""
        self._thread.stop()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()


class Vendor(Simulation):
    """An OpenAI-compatible endpoint on a free loopback port.

    with Vendor(models=["faithful", "fault:args.empty"]) as vendor:
        ask(vendor.url)
    """

    def __init__(
        self,
        models: Sequence[str] | Mapping[str, str] | None = None,
        *,
        api_key: str | None = None,
        host: str = "127.0.0.1",
        port: int = 0,
        **behaviour: Unpack[Behaviour],
    ) -> None:
        backend = make_backend(models, **behaviour)
        super().__init__(backend, OpenAiApi(backend, api_key=api_key), host=host, port=port)


def make_backend(models: Sequence[str] | Mapping[str, str] | None = None, **behaviour: Unpack[Behaviour]) -> Backend:
    """Make a backend from settings as users write them: a delay as text, a limit as requests per minute."""
    limit = behaviour.get("rate_limit")
    return Backend(
        models,
        latency=read_latency(behaviour.get("latency", 0.0)),
        chunk_gap=behaviour.get("chunk_gap", 0.0),
        seed=behaviour.get("seed", 1),
        rate_limit=RateLimit(limit) if isinstance(limit, int) else limit,
        capacity=behaviour.get("capacity"),
        queueing=behaviour.get("queueing", 0.0),
    )
