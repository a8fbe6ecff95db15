"""One connection to a server: a request out, an answer in, one at a time."""

from __future__ import annotations

import asyncio
from time import monotonic
from typing import cast

from toolcert.core.exchanges import Fault
from toolcert.core.targets import Timeouts
from toolcert.core.values import Value
from toolcert.wire.answer import Answer
from toolcert.wire.faults import timed_out
from toolcert.wire.readiness import has_news

_AT_ONCE = 1.0
"""Seconds after an answer within which a close counts as part of it, not as the end of a long idle time."""


class Limits(Value, gc=False):
    """The time limits of one exchange, and the clock times they count from."""

    timeouts: Timeouts
    started: float
    """When the attempt began, connecting included."""
    sent: float

    def next(self, answer: Answer, touched: float) -> tuple[float, Fault]:
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
    """What the connections to one server have taught us about it."""

    __slots__ = ("closes_after_streams",)

    def __init__(self) -> None:
        self.closes_after_streams = False
        """Some servers close after every stream without saying so (llama.cpp's does); the next request is lost."""


class Connection(asyncio.Protocol):
    """Bytes go straight from the event loop into the answer; its task is woken once, at the end.

    That is what makes long streams cheap, and the times of their tokens exact.
    """

    def __init__(self) -> None:
        self.habits = Habits()
        self.idle_since = 0.0
        self.after_stream = False
        """Whether the last answer was an event stream."""
        self.touched = 0.0
        """Clock time of the last bytes."""
        self._transport: asyncio.Transport | None = None
        self._answer: Answer | None = None
        self._done: asyncio.Future[None] | None = None
        self._limits: Limits | None = None
        self._alarm: asyncio.TimerHandle | None = None
        self._alarm_at = 0.0
        self._descriptor = -1
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
        """Whether nothing has come meanwhile, not even a goodbye that the event loop has yet to see."""
        if self._transport is None or self._transport.is_closing():
            return False
        if has_news(self._descriptor):
            self._learn()
            return False
        return True

    async def exchange(self, content: bytes, answer: Answer, timeouts: Timeouts, started: float) -> None:
        """Send `content` and let `answer` fill; `started` is when the attempt began on the clock."""
        self._answer, self._done = answer, asyncio.get_running_loop().create_future()
        self.touched = now = monotonic()
        self._limits = Limits(timeouts=timeouts, started=started, sent=now)
        self._watch(min(now + timeouts.read, now + timeouts.between_chunks, started + timeouts.total))
        try:
            if self.is_open and self._transport is not None:
                self._transport.write(content)
                await self._done
            else:
                answer.lose(None)
        finally:
            if not answer.keep_alive:
                self.abort()
            self._answer = self._done = self._limits = None
            self.after_stream = answer.intake.event_stream

    def abort(self) -> None:
        """Close at once; what is under way is lost."""
        self._aborted = True
        if self._transport is not None:
            self._transport.abort()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Event loop callback."""
        self._transport = cast(asyncio.Transport, transport)
        self._descriptor = transport.get_extra_info("socket").fileno()

    def data_received(self, data: bytes) -> None:
        """Event loop callback."""
        answer = self._answer
        if answer is None or answer.ended:
            self.abort()  # bytes that nobody asked for: the connection cannot be trusted any more
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
        """Remember a server that closes right after a stream it had promised to keep the connection for."""
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
