"""Progress of a run on standard error, counted from its events."""

from __future__ import annotations

import os
import sys
import time
from collections import Counter, deque
from collections.abc import Callable
from types import TracebackType
from typing import IO, Protocol, Self

from toolcert.core.cases import Outcome
from toolcert.core.events import AttemptMade, CaseFinished, CaseStarted, Event, RunFinished, RunStarted, RunStopping
from toolcert.core.statistics.quantiles import Quantiles
from toolcert.reports.display_text import count, seconds, visible

RATE_WINDOW = 10.0
"""Seconds over which the rate is averaged: steady enough to read, fast enough to show a stall."""


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
        """Requests that the endpoints may answer at the same time."""
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
        """Requests under way; some cases that a worker has taken may still wait for the limiter."""
        return min(self._under_way, self._most) if self._most else self._under_way

    @property
    def rate(self) -> float:
        """Cases per second over the last RATE_WINDOW seconds."""
        now = self._clock()
        while self._recent and now - self._recent[0][0] > RATE_WINDOW:
            self._recent.popleft()
        if not self._recent:
            return 0.0
        window = min(RATE_WINDOW, max(now - self._begun, 0.001))
        return sum(cases for _, cases in self._recent) / window

    @property
    def left(self) -> float | None:
        """Seconds to go at this rate if the total is known."""
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


class Progress(Protocol):
    """A handler of events that shows them; as a context it takes the terminal and gives it back."""

    def __call__(self, event: Event) -> None: ...
    def say(self, line: str) -> None: ...
    def __enter__(self) -> Self: ...
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


def progress(title: str, *, quiet: bool = False, extra: Callable[[], str] | None = None) -> Progress:
    """Redrawn in place on a terminal, else a line every few seconds; `extra` adds a line of the job's own."""
    if not quiet and sys.stderr.isatty() and os.environ.get("TERM") != "dumb":
        # Rich takes a tenth of a second to import, so only a terminal loads it.
        from toolcert.reports.console.live_progress import LiveProgress

        return LiveProgress(title, extra)
    return PlainProgress(title, None if quiet else sys.stderr, extra)


def stop_notice(event: RunStopping) -> str:
    """The answer to the first Ctrl-C, so that the user knows that it was received."""
    return f"Stopping; answers under way have {event.grace:g} s to arrive. Ctrl-C again stops at once."


PLAIN_SECONDS = 5.0
"""Seconds between plain lines: often enough to show progress in a CI log without flooding it."""


class PlainProgress:
    """A line every few seconds, and one at the end; without a file, none at all."""

    def __init__(self, title: str, file: IO[str] | None, extra: Callable[[], str] | None = None) -> None:
        self._file = file
        self._extra = extra
        self._pace = Pace()
        self._said = time.monotonic()
        self.say(title)

    def __call__(self, event: Event) -> None:
        self._pace(event)
        if isinstance(event, RunStopping):
            self.say(stop_notice(event))
        due = time.monotonic() - self._said >= PLAIN_SECONDS
        # Not in the middle of many finished cases: the figures of the job know all of them already.
        if isinstance(event, RunFinished) or (isinstance(event, CaseStarted | AttemptMade) and due):
            self._said = time.monotonic()
            self.say(self._line())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        return None

    def _line(self) -> str:
        parts = [share(self._pace), figures(self._pace)]
        if self._extra is not None:
            parts.append(self._extra())
        return "   ".join(parts)

    def say(self, line: str) -> None:
        if self._file is not None:
            self._file.write(f"{visible(line)}\n")
            self._file.flush()


def share(pace: Pace) -> str:
    """How much is done."""
    done = pace.done + pace.resumed
    if not pace.total:
        return f"{count(done)} done"
    total = max(done, pace.total)  # a second look at an error adds a case
    return f"{count(done)}/{count(total)}  {100 * done // total} %"


def figures(pace: Pace) -> str:
    """Requests in flight, rate, retries and cases not measured."""
    missing = pace.outcomes[Outcome.NOT_MEASURED]
    parts = [f"{pace.in_flight} in flight", f"{pace.rate:.1f}/s", f"{count(pace.retried)} retried"]
    if pace.throttled:
        parts.append(f"{count(pace.throttled)} times 429")
    parts.append(f"{count(missing)} not measured")
    return "   ".join(parts)


_THROTTLED_SHOWN = 50
"""The display says `backed off` for this many attempts after a 429."""


class VerifyFigures:
    """A handler that keeps the line of figures only verify has."""

    def __init__(self) -> None:
        self._valid = 0
        self._judged = 0
        self._first_token = Quantiles()
        self._since_429 = _THROTTLED_SHOWN

    def __call__(self, event: Event) -> None:
        if isinstance(event, AttemptMade):
            self._since_429 = 0 if event.attempt.status == 429 else self._since_429 + 1
        elif isinstance(event, CaseFinished) and event.record.row is not None:
            row = event.record.row
            self._judged += row.valid is not None
            self._valid += row.valid is True
            if row.first_token is not None:
                self._first_token.add(row.first_token)

    def line(self) -> str:
        """The figures now."""
        parts = [f"valid {count(self._valid)}/{count(self._judged)}"]
        if self._first_token.count:
            parts.append(f"first token {seconds(self._first_token.quantile(0.5))} s")
        if self._since_429 < _THROTTLED_SHOWN:
            parts.append("backed off, 429")
        return "   ".join(parts)
