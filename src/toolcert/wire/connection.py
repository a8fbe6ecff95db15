"""One connection to a server: a request out, an answer in, one at a time."""

from __future__ import annotations

import asyncio
from time import monotonic
from typing import cast

from toolcert.core.exchanges import Fault
from toolcert.core.targets import Timeouts
from toolcert.wire.answer import Answer
from toolcert.wire.faults import timed_out


class Connection(asyncio.Protocol):
    """Bytes go straight from the event loop into the answer; its task is woken once, at the end.

    That is what makes long streams cheap, and the times of their tokens exact.
    """

    def __init__(self) -> None:
        self.used = False
        """Whether it has carried an exchange before."""
        self.idle_since = 0.0
        self._transport: asyncio.Transport | None = None
        self._answer: Answer | None = None
        self._done: asyncio.Future[None] | None = None
        self._touched = 0.0

    @property
    def is_open(self) -> bool:
        return self._transport is not None and not self._transport.is_closing()

    @property
    def is_reusable(self) -> bool:
        """Whether another request may follow: everything is sent and nothing is half read."""
        return self.is_open and self._transport is not None and not self._transport.get_write_buffer_size()

    async def exchange(self, content: bytes, answer: Answer, timeouts: Timeouts, started: float) -> None:
        """Send `content` and let `answer` fill; `started` is when the attempt began on the clock."""
        loop = asyncio.get_running_loop()
        self._answer, self._done = answer, loop.create_future()
        self._touched = monotonic()
        watch = _Watch(self, answer, timeouts, started, sent=self._touched)
        try:
            if self.is_open and self._transport is not None:
                self._transport.write(content)
                await self._done
            else:
                answer.lose(None)
        finally:
            watch.stop()
            if not answer.ended or not answer.keep_alive:
                self.abort()
            self._answer = self._done = None
            self.used = True

    def abort(self) -> None:
        """Close at once; what is under way is lost."""
        if self._transport is not None:
            self._transport.abort()

    def give_up(self, fault: Fault) -> None:
        """End the exchange under way with `fault`."""
        if self._answer is not None:
            self._answer.fail(fault)
            self._wake()

    @property
    def touched(self) -> float:
        """Clock time of the last bytes."""
        return self._touched

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Event loop callback."""
        self._transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        """Event loop callback."""
        answer = self._answer
        if answer is None or answer.ended:
            self.abort()  # bytes that nobody asked for: the connection cannot be trusted any more
            return
        self._touched = now = monotonic()
        if answer.feed(data, now):
            self._wake()

    def connection_lost(self, exc: Exception | None) -> None:
        """Event loop callback."""
        if self._answer is not None:
            self._touched = monotonic()
            self._answer.lose(exc)
            self._wake()

    def _wake(self) -> None:
        if self._done is not None and not self._done.done():
            self._done.set_result(None)


class _Watch:
    """The time limits of one exchange, on a single timer that looks again instead of being moved."""

    __slots__ = ("_answer", "_connection", "_handle", "_sent", "_started", "_timeouts")

    def __init__(self, connection: Connection, answer: Answer, timeouts: Timeouts, started: float, sent: float) -> None:
        self._connection = connection
        self._answer = answer
        self._timeouts = timeouts
        self._started = started
        self._sent = sent
        wait = min(timeouts.read, timeouts.between_chunks, started + timeouts.total - sent)
        self._handle = asyncio.get_running_loop().call_later(max(0.0, wait), self._look)

    def stop(self) -> None:
        self._handle.cancel()

    def _look(self) -> None:
        now = monotonic()
        due, fault = self._next_limit()
        if now >= due:
            self._connection.give_up(fault)
        else:
            self._handle = asyncio.get_running_loop().call_later(due - now, self._look)

    def _next_limit(self) -> tuple[float, Fault]:
        """The nearest limit, and what it means to reach it."""
        timeouts, status = self._timeouts, self._answer.status
        end = self._started + timeouts.total
        if self._answer.first_byte is None:
            due, fault = self._sent + timeouts.read, timed_out("no answer began", timeouts.read)
        else:
            due = self._connection.touched + timeouts.between_chunks
            fault = timed_out("nothing more came", timeouts.between_chunks, status)
        return (due, fault) if due <= end else (end, timed_out("the answer was not complete", timeouts.total, status))
