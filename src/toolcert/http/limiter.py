"""How many requests may be in flight at one endpoint, adapted to the server's own signals.

Only a server that says "too many" changes the limit: slow answers and broken connections say
nothing about its capacity, and slowing down for them would only make a run longer.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from time import monotonic
from types import TracebackType

CUT = 0.5
"""Halving finds a limit far below the ceiling in a few steps."""
ROUNDS_TO_RECOVER = 8
"""A halved limit is back after this many full rounds of successes: slower than it was cut, because each
new refusal costs an attempt, but soon enough that one bad moment does not shape the whole run."""
_FLOOR = 1.0
_SECONDS_PER_MINUTE = 60.0


class AdaptiveLimiter:
    """First come, first served; starts at the ceiling, halves on overload, grows back additively."""

    def __init__(
        self,
        ceiling: int,
        rpm: float | None = None,
        *,
        longest_pause: float = 60.0,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        """A Retry-After of more than `longest_pause` stops no request: pass the retry policy's patience."""
        self.ceiling = max(1, ceiling)
        self.in_flight = 0
        self._limit = float(self.ceiling)
        self._step = self.ceiling * CUT / ROUNDS_TO_RECOVER
        self._longest_pause = longest_pause
        self._pace = _SECONDS_PER_MINUTE / rpm if rpm else 0.0
        self._clock = clock
        self._gate = 0.0
        self._next_start = 0.0
        self._last_cut = float("-inf")
        self._episode = 0
        self._left_of_episode = 0
        self._waiting: deque[asyncio.Future[int]] = deque()
        self._alarm: asyncio.TimerHandle | None = None

    @property
    def limit(self) -> int:
        """How many requests may be in flight now."""
        return int(self._limit)

    @property
    def pause(self) -> float:
        """Seconds for which the server asks us to send nothing."""
        return max(0.0, self._gate - self._clock())

    def slot(self) -> Slot:
        """Room for one request: `async with limiter.slot() as queued_seconds`."""
        return Slot(self)

    def overloaded(self, retry_after: float | None = None, *, started: float | None = None) -> None:
        """The server refused a request because it gets too many.

        Requests that were sent before the last cut still report the old load, so one episode cuts
        once. `started` is the clock time this one was sent at; without it the limiter looks at whether
        requests from before the cut are still in flight. No request starts while `retry_after` lasts.
        """
        now = self._clock()
        if retry_after and retry_after <= self._longest_pause:
            self._gate = max(self._gate, now + retry_after)
        stale = started <= self._last_cut if started is not None else self._left_of_episode > 0
        if not stale:
            self._limit = max(_FLOOR, self._limit * CUT)
            self._last_cut = now
            self._episode += 1
            self._left_of_episode = self.in_flight

    def succeeded(self) -> None:
        """A request was answered: one round of these raises the limit by one step."""
        if self._limit < self.ceiling:
            self._limit = min(self.ceiling, self._limit + self._step / self._limit)
            self._admit()

    def _try_start(self) -> bool:
        """Take a place if there is one now."""
        if self._waiting or self.in_flight >= int(self._limit) or self._wait_for_clock() > 0:
            return False
        self._start()
        return True

    def _start(self) -> None:
        self.in_flight += 1
        if self._pace:
            self._next_start = max(self._clock(), self._next_start) + self._pace

    def _wait_for_clock(self) -> float:
        """Seconds until the server's Retry-After and our own pace allow the next start."""
        if not self._gate and not self._pace:
            return 0.0
        now = self._clock()
        if now >= self._gate:
            self._gate = 0.0
        return max(self._gate, self._next_start) - now

    async def _queue(self) -> int:
        """Wait for a place; the episode it was given in."""
        place: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self._waiting.append(place)
        self._admit()
        try:
            return await place
        except asyncio.CancelledError:
            if place.done() and not place.cancelled():
                self._release(place.result())  # admitted in the same moment: give the place back
            raise

    def _admit(self) -> None:
        """Admit waiting requests in order, as far as the limit allows."""
        while self._waiting and self.in_flight < int(self._limit):
            if self._waiting[0].done():
                self._waiting.popleft()
            elif (wait := self._wait_for_clock()) > 0:
                self._wake_later(wait)
                return
            else:
                self._start()
                self._waiting.popleft().set_result(self._episode)

    def _wake_later(self, wait: float) -> None:
        if self._alarm is None:
            self._alarm = asyncio.get_running_loop().call_later(wait, self._wake)

    def _wake(self) -> None:
        self._alarm = None
        self._admit()

    def _release(self, episode: int) -> None:
        self.in_flight -= 1
        if episode != self._episode:
            self._left_of_episode = max(0, self._left_of_episode - 1)
        if self._waiting:
            self._admit()


class Slot:
    """One place under the limit, held from entering to leaving."""

    __slots__ = ("_episode", "_limiter")

    def __init__(self, limiter: AdaptiveLimiter) -> None:
        self._limiter = limiter
        self._episode = 0

    async def __aenter__(self) -> float:
        limiter = self._limiter
        if limiter._try_start():
            self._episode = limiter._episode
            return 0.0
        since = limiter._clock()
        self._episode = await limiter._queue()
        return limiter._clock() - since

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._limiter._release(self._episode)


class SharedLimiter(AdaptiveLimiter):
    """One worker's share of a limit that is held elsewhere: it learns how many places it has, and reports refusals."""

    def __init__(self, tell: Callable[[float | None, bool], None], *, longest_pause: float = 60.0) -> None:
        """`tell` is called with the Retry-After of each refusal, and whether it says something new about the limit."""
        super().__init__(1, longest_pause=longest_pause)
        self._limit = 0.0
        self._tell = tell
        self.answered = 0

    def share(self, places: int, pace: float, pause: float, *, cut: bool) -> None:
        """Take a new share; after a `cut`, refusals of requests that were sent before it say nothing new."""
        now = self._clock()
        self._limit, self._pace = float(places), pace
        if pause:
            self._gate = max(self._gate, now + pause)
        if cut:
            self._last_cut = now
        self._admit()

    def overloaded(self, retry_after: float | None = None, *, started: float | None = None) -> None:
        before = self._last_cut
        super().overloaded(retry_after, started=started)
        self._tell(retry_after, self._last_cut != before)

    def succeeded(self) -> None:
        self.answered += 1  # the share grows only where the whole limit is held
