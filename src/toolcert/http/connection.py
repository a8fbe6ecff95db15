"""Connections to a server: opened (name, address, TLS), used for one request at a time, pooled; their event loop."""

from __future__ import annotations

import asyncio
import importlib.util
import select
import socket
import ssl
import sys
from collections import deque
from collections.abc import Callable, Coroutine
from functools import partial
from time import monotonic
from typing import Any, TypeVar, cast

from toolcert.core.errors import ConfigurationError
from toolcert.core.exchanges import Fault
from toolcert.core.targets import Timeouts
from toolcert.core.values import Value
from toolcert.http.base import timed_out, tls_failed, unconnected, unresolved
from toolcert.http.response import IncomingResponse
from toolcert.http.url import Origin

if sys.platform == "win32":

    def news_of(descriptor: int) -> Callable[[], object]:
        """A function that says whether bytes or a close have arrived."""
        return lambda: select.select([descriptor], [], [], 0)[0]

else:

    def news_of(descriptor: int) -> Callable[[], object]:
        """A function that says whether bytes or a close have arrived; `select` fails on descriptors above 1023."""
        poller = select.poll()
        poller.register(descriptor, select.POLLIN)
        return partial(poller.poll, 0)


_AT_ONCE = 1.0
"""Seconds after an answer within which a close counts as part of it, not as the end of a long idle time."""


class Limits(Value, gc=False):
    """The time limits of one exchange, and the clock times they count from."""

    timeouts: Timeouts
    started: float
    """When the attempt began, connecting included."""
    sent: float

    def next(self, answer: IncomingResponse, touched: float) -> tuple[float, Fault]:
        """The nearest limit for an answer whose last bytes came at `touched`, and what it means to reach it."""
        timeouts, status = self.timeouts, answer.status
        end = self.started + timeouts.total
        if answer.first_byte is None:
            due, fault = self.sent + timeouts.read, timed_out("no answer began", timeouts.read)
        else:
            due, fault = (
                touched + timeouts.between_chunks,
                timed_out("nothing more came", timeouts.between_chunks, status),
            )
        return (due, fault) if due <= end else (end, timed_out("the answer was not complete", timeouts.total, status))


class Habits:
    """What earlier connections showed about a server."""

    __slots__ = ("closes_after_streams",)

    def __init__(self) -> None:
        self.closes_after_streams = False
        """Some servers close after every stream without saying so (llama.cpp's does); the next request is lost."""


MOST_TOGETHER = 32
"""Requests that are sent together: the first of them waits for about three milliseconds at most."""


class Outbox:
    """Requests that go out together, at the end of a turn of the event loop.

    A server that waits for work is woken once for all of them. To wake it for each takes longer than to send them.
    """

    def __init__(self) -> None:
        self._ready: list[tuple[Connection, bytes]] = []
        self._loop: asyncio.AbstractEventLoop | None = None

    def add(self, connection: Connection, content: bytes) -> None:
        """Have `content` sent before the next turn ends."""
        loop = asyncio.get_running_loop()
        if self._loop is not loop:  # what an earlier loop left behind can no longer be sent
            self._loop, self._ready = loop, []
        if not self._ready:
            loop.call_soon(self._send)
        self._ready.append((connection, content))
        if len(self._ready) >= MOST_TOGETHER:
            self._send()

    def _send(self) -> None:
        ready, self._ready = self._ready, []
        for connection, content in ready:
            connection.write(content)


class Connection(asyncio.Protocol):
    """Bytes go straight from the event loop into the answer; its task is woken once, at the end.

    That is what makes long streams cheap, and the times of their tokens exact.
    """

    def __init__(self) -> None:
        self.habits = Habits()
        self.outbox: Outbox | None = None
        self.idle_since = 0.0
        self.written = 0.0
        """Clock time at which the request went out."""
        self.unsent = True
        """Whether nothing of the last request is on the wire."""
        self.after_stream = False
        """Whether the last answer was an event stream."""
        self.touched = 0.0
        """Clock time of the last bytes."""
        self._transport: asyncio.Transport | None = None
        self._answer: IncomingResponse | None = None
        self._done: asyncio.Future[None] | None = None
        self._limits: Limits | None = None
        self._alarm: asyncio.TimerHandle | None = None
        self._alarm_at = 0.0
        self._has_news: Callable[[], object] = bool
        self._aborted = False

    @property
    def is_open(self) -> bool:
        return self._transport is not None and not self._transport.is_closing()

    @property
    def is_reusable(self) -> bool:
        """Whether another request may follow: everything is sent, and the server is not known to close now."""
        if self._transport is None or self._transport.is_closing() or self._transport.get_write_buffer_size():
            return False
        return not (self.after_stream and self.habits.closes_after_streams)

    def survived_idling(self) -> bool:
        """Whether nothing has arrived since, not even a close that the event loop has not seen yet."""
        if self._transport is None or self._transport.is_closing():
            return False
        if self._has_news():
            self._learn()
            return False
        return True

    async def exchange(self, content: bytes, answer: IncomingResponse, timeouts: Timeouts, started: float) -> None:
        """Send `content` and let `answer` fill; `started` is when the attempt began on the clock."""
        self._answer, self._done = answer, asyncio.get_running_loop().create_future()
        self.touched = self.written = now = monotonic()
        self.unsent = True
        self._limits = Limits(timeouts=timeouts, started=started, sent=now)
        self._watch(min(now + timeouts.read, now + timeouts.between_chunks, started + timeouts.total))
        try:
            if not self.is_open:
                answer.lose(None)
                return
            if self.outbox is None:
                self.write(content)
            else:
                self.outbox.add(self, content)
            await self._done
        finally:
            if not answer.keep_alive:
                self.abort()
            self._answer = self._done = self._limits = None
            self.after_stream = answer.body.event_stream

    def write(self, content: bytes) -> None:
        """Send now, unless the request was given up or the connection closed meanwhile."""
        answer, transport = self._answer, self._transport
        if answer is None or answer.ended or transport is None or transport.is_closing():
            return
        if self.idle_since and not self.survived_idling():
            self.abort()
            return
        self.unsent = False
        if answer.first_byte is None:
            self.written = monotonic()
        transport.write(content)

    def abort(self) -> None:
        """Close at once; what is under way is lost."""
        self._aborted = True
        if self._transport is not None:
            self._transport.abort()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Event loop callback."""
        self._transport = cast(asyncio.Transport, transport)
        self._has_news = news_of(transport.get_extra_info("socket").fileno())

    def data_received(self, data: bytes) -> None:
        """Event loop callback."""
        answer = self._answer
        if answer is None or answer.ended or (self.unsent and self.idle_since):
            self.abort()  # unrequested bytes: the next answer on this connection could not be told from them
            return
        self.touched = now = monotonic()
        if answer.feed(data, now):
            self._wake()

    def connection_lost(self, exc: Exception | None) -> None:
        """Event loop callback."""
        if self._alarm is not None:
            self._alarm.cancel()
            self._alarm = None
        if not self._aborted:
            self._learn()
        if self._answer is not None:
            self.touched = monotonic()
            self._answer.lose(exc)
            self._wake()

    def _learn(self) -> None:
        """Remember a server that closes right after a stream although it announced keep-alive."""
        unanswered = self._answer is None or self._answer.first_byte is None
        if self.after_stream and unanswered and monotonic() - self.idle_since < _AT_ONCE:
            self.habits.closes_after_streams = True

    def _wake(self) -> None:
        if self._done is not None and not self._done.done():
            self._done.set_result(None)

    def _watch(self, due: float) -> None:
        """Look at the limits at clock time `due` or before.

        One timer serves all exchanges of a connection: when it goes off too early, it is set again.
        Setting and cancelling one for each exchange would cost more than parsing its answer.
        """
        if self._alarm is not None:
            if self._alarm_at <= due:
                return
            self._alarm.cancel()
        self._alarm_at = due
        self._alarm = asyncio.get_running_loop().call_later(max(0.0, due - monotonic()), self._look)

    def _look(self) -> None:
        self._alarm = None
        if self._limits is None or self._answer is None:
            return
        due, fault = self._limits.next(self._answer, self.touched)
        if monotonic() < due:
            self._watch(due)
        else:
            self._answer.fail(fault)
            self._wake()


_HEAD_START = 0.25
"""Seconds one address family leads before the other is tried too (RFC 8305)."""


def tls_context(ca_bundle: str | None) -> ssl.SSLContext:
    """Verified TLS: the system's authorities, and those of `ca_bundle`."""
    context = ssl.create_default_context()
    context.set_alpn_protocols(["http/1.1"])
    if ca_bundle is not None:
        try:
            context.load_verify_locations(cafile=ca_bundle)
        except (OSError, ssl.SSLError) as error:
            raise ConfigurationError(
                f"The CA bundle {ca_bundle!r} cannot be read: {error}.",
                remedy="Give a file of certificates in PEM form.",
            ) from None
    return context


async def open_connection(origin: Origin, tls: ssl.SSLContext | None, seconds: float) -> Connection | Fault:
    """A new connection to `origin` within `seconds`, encrypted where `tls` is given; or why there is none."""
    opening = _Opening(origin, tls)
    try:
        async with asyncio.timeout(seconds):
            return await opening.open()
    except TimeoutError:
        return timed_out(f"{opening.awaiting} {origin.authority}", seconds)


class _Opening:
    """A connection being opened, and the step it is waiting for."""

    def __init__(self, origin: Origin, tls: ssl.SSLContext | None) -> None:
        self.awaiting = "no address for"
        self._origin = origin
        self._tls = tls

    async def open(self) -> Connection | Fault:
        addresses = await self._resolve()
        if isinstance(addresses, Fault):
            return addresses
        self.awaiting = "no connection to"
        try:
            if self._tls is None and len(addresses) == 1 and addresses[0][0] == socket.AF_INET:
                return await self._connect_at_once(*addresses[0][4])
            sock = await self._connect_to_first(addresses)
        except OSError as error:
            return unconnected(self._origin.authority, error)
        self.awaiting = "no TLS agreement with"
        try:
            return await self._agree(sock)
        except OSError as error:
            describe = tls_failed if self._tls is not None else unconnected
            return describe(self._origin.authority, error)

    async def _resolve(self) -> list[Any] | Fault:
        host, port = self._origin.host, self._origin.port
        try:
            return await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
        except (OSError, UnicodeError) as error:
            return unresolved(host, error)

    async def _connect_at_once(self, host: str, port: int) -> Connection:
        """Leave it to the event loop where there is nothing to choose: it takes a third of the time."""
        _, connection = await asyncio.get_running_loop().create_connection(Connection, host, port)
        return connection

    async def _connect_to_first(self, addresses: list[Any]) -> socket.socket:
        """The address that answers first, of either family."""
        import aiohappyeyeballs

        return await aiohappyeyeballs.start_connection(addresses, happy_eyeballs_delay=_HEAD_START)

    async def _agree(self, sock: socket.socket) -> Connection:
        try:
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            _, connection = await asyncio.get_running_loop().create_connection(
                Connection,
                sock=sock,
                ssl=self._tls,
                server_hostname=self._origin.host if self._tls is not None else None,
            )
        except BaseException:
            sock.close()
            raise
        return connection


IDLE_SECONDS = 4.0
"""Many servers close idle connections after 5 s (uvicorn, node); a request sent in that very moment is lost,
and a lost request is recorded as an attempt. A new connection after a pause costs less."""


class Pool:
    """Idle connections by origin, the most recently used first: that one is the least likely to be closed."""

    def __init__(self, most_idle: int) -> None:
        self._most_idle = most_idle
        self._idle: dict[Origin, deque[Connection]] = {}
        self._busy: set[Connection] = set()
        self._habits: dict[Origin, Habits] = {}
        self._outbox = Outbox()
        self._closed = False

    def take(self, origin: Origin) -> Connection | None:
        """An idle connection that is still open, or None."""
        idle = self._idle.get(origin)
        oldest = monotonic() - IDLE_SECONDS
        while idle:
            connection = idle.pop()
            if connection.idle_since >= oldest and connection.survived_idling():
                self._busy.add(connection)
                return connection
            connection.abort()
        return None

    def adopt(self, origin: Origin, connection: Connection) -> None:
        """Look after a connection that has just been opened for use; opened too late, it is closed again."""
        connection.habits = self._habits.setdefault(origin, connection.habits)
        connection.outbox = self._outbox
        self._busy.add(connection)
        if self._closed:
            connection.abort()

    def give_back(self, origin: Origin, connection: Connection) -> None:
        """Keep a connection for the next request, if it can be reused."""
        self._busy.discard(connection)
        idle = self._idle.setdefault(origin, deque())
        if self._closed or not connection.is_reusable:
            connection.abort()
            return
        connection.idle_since = monotonic()
        idle.append(connection)
        if len(idle) > self._most_idle:
            idle.popleft().abort()

    def close(self) -> None:
        """Close all connections, busy or idle."""
        self._closed = True
        for connection in [*self._busy, *(each for idle in self._idle.values() for each in idle)]:
            connection.abort()
        self._busy.clear()
        self._idle.clear()


Result = TypeVar("Result")


def run(main: Coroutine[Any, Any, Result]) -> Result:
    """Run `main` to its end, on uvloop where it exists (it does not on Windows)."""
    with asyncio.Runner(loop_factory=loop_factory()) as runner:
        return runner.run(main)


def loop_factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    """What makes the loop; None means the standard one."""
    if importlib.util.find_spec("uvloop") is None:
        return None
    import uvloop

    return uvloop.new_event_loop


_OTHER_DESCRIPTORS = 64
"""Descriptors for everything else: logs, the history, libraries, the event loop."""


def allow_connections(wanted: int) -> int:
    """Raise the soft limit where needed and possible; how many connections may be open, at most `wanted`."""
    if sys.platform == "win32":
        return wanted  # sockets are no files there
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    unlimited = resource.RLIM_INFINITY
    needed = wanted + _OTHER_DESCRIPTORS
    if soft != unlimited and soft < needed:
        raised = needed if hard == unlimited else min(needed, hard)
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, raised), hard))
        except (OSError, ValueError):  # some systems refuse even what they announce
            raised = soft
        soft = max(soft, raised)
    return wanted if soft == unlimited else max(1, min(wanted, soft - _OTHER_DESCRIPTORS))
