"""How a run is going, counted from its events: the figures behind every progress display."""

from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import Callable

from toolcert.core.events import AttemptMade, CaseFinished, CaseStarted, Event, RunStarted
from toolcert.core.outcomes import Outcome

RATE_WINDOW = 10.0
"""Seconds the shown rate looks back: steady enough to read, quick enough to see a stall."""


class Pace:
    """A handler that keeps counts and a rate; it prints nothing."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._begun = clock()
        self._recent: deque[tuple[float, int]] = deque()
        self.total: int | None = None
        self.resumed = 0
        self.done = 0
        self._under_way = 0
        self._most = 0
        """Requests the endpoints of the run may answer at a time."""
        self.retried = 0
        self.throttled = 0
        self.outcomes: Counter[Outcome] = Counter()
        self.last_fault = ""

    def __call__(self, event: Event) -> None:
        if isinstance(event, RunStarted):
            self.total, self.resumed = event.total, event.resumed
            self._most = sum(spec.concurrency for spec in event.manifest.endpoints)
        elif isinstance(event, CaseStarted):
            self._under_way += 1
        elif isinstance(event, AttemptMade):
            self._attempt(event)
        elif isinstance(event, CaseFinished):
            self._finished(event.record.outcome)

    @property
    def in_flight(self) -> int:
        """Requests under way; of the cases a worker has taken, some may still wait for their turn."""
        return min(self._under_way, self._most) if self._most else self._under_way

    @property
    def rate(self) -> float:
        """Cases per second over the last moments."""
        now = self._clock()
        while self._recent and now - self._recent[0][0] > RATE_WINDOW:
            self._recent.popleft()
        if not self._recent:
            return 0.0
        window = min(RATE_WINDOW, max(now - self._begun, 0.001))
        return sum(cases for _, cases in self._recent) / window

    @property
    def left(self) -> float | None:
        """Seconds to go at this rate, where the total is known."""
        if self.total is None or not self.rate:
            return None
        return max(0, self.total - self.resumed - self.done) / self.rate

    def _attempt(self, event: AttemptMade) -> None:
        self.retried += event.attempt.number > 1
        self.throttled += event.attempt.status == 429
        if event.attempt.fault is not None:
            self.last_fault = f"{event.case.model}: {event.attempt.fault.message}"

    def _finished(self, outcome: Outcome) -> None:
        self._under_way -= 1
        self.done += 1
        self.outcomes[outcome] += 1
        now = self._clock()
        if self._recent and now - self._recent[-1][0] < 0.1:
            # Ten buckets a second bound the memory at any speed.
            self._recent[-1] = (self._recent[-1][0], self._recent[-1][1] + 1)
        else:
            self._recent.append((now, 1))
