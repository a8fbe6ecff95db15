"""A web application served from a thread with its own event loop."""

from __future__ import annotations

import asyncio
import errno
import socket
import ssl
import threading
from collections.abc import Callable

from aiohttp import web

from toolcert.core.errors import UsageError
from toolcert.wire.loop import loop_factory

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
        """Serve; returns once the port is open, raises where it cannot be."""
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
