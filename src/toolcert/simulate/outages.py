"""Trouble on demand: windows in which a vendor fails, its limits, and its door."""

from __future__ import annotations

import time
from collections.abc import Callable
from threading import Lock

from toolcert.core.errors import UsageError
from toolcert.simulate.answers import Disruption, Raw, Reset, Silence, rate_limited, server_error

KINDS = ("429", "500", "502", "503", "504", "529", "reset", "timeout")


class Outage:
    """A window of failing answers: from one request on, for so many of them or until it is lifted."""

    def __init__(
        self, kind: str, *, after: int, count: int | None, retry_after: float | None, model: str | None
    ) -> None:
        if kind not in KINDS:
            raise UsageError(f"{kind!r} is no kind of outage.", remedy=f"Choose one of {', '.join(KINDS)}.")
        self.kind = kind
        self._after = after
        self._left = count
        self._retry_after = retry_after
        self._model = model

    def strike(self, model: str) -> Disruption | None:
        """What the next request gets, or None where it passes."""
        if self._model not in (None, model):
            return None
        if self._after > 0:
            self._after -= 1
            return None
        if self._left is not None:
            if self._left <= 0:
                return None
            self._left -= 1
        return self._answer()

    def _answer(self) -> Disruption:
        if self.kind == "reset":
            return Reset()
        if self.kind == "timeout":
            return Silence()
        if self.kind == "429":
            return rate_limited(self._retry_after)
        answer = server_error(int(self.kind))
        wait = {} if self._retry_after is None else {"retry-after": f"{self._retry_after:g}"}
        return Raw(content=answer.content, status=answer.status, headers=wait)


class RateLimit:
    """At most so many requests in any window of so many seconds."""

    def __init__(self, requests: int, seconds: float = 60.0, clock: Callable[[], float] = time.monotonic) -> None:
        self._most = requests
        self._window = seconds
        self._clock = clock
        self._times: list[float] = []

    def strike(self) -> Disruption | None:
        """A 429 with the time until there is room again, or None."""
        now = self._clock()
        self._times = [at for at in self._times if now - at < self._window]
        if len(self._times) >= self._most:
            return rate_limited(round(self._window - (now - self._times[0]) + 0.001, 3))
        self._times.append(now)
        return None


class Outages:
    """All that stands between a request and the model, switched from any thread."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._active: list[Outage] = []

    def add(self, outage: Outage) -> None:
        """One more window."""
        with self._lock:
            self._active.append(outage)

    def clear(self) -> None:
        """All is well again."""
        with self._lock:
            self._active.clear()

    def strike(self, model: str) -> Disruption | None:
        """The first outage that catches this request."""
        with self._lock:
            return next((struck for outage in self._active if (struck := outage.strike(model))), None)
