"""Cases that take time to read, read several at a time and while the endpoint is at work."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from time import monotonic

from toolcert.core.cases import Case

MOST_AHEAD = 16
"""Cases read and not yet taken."""
LONGEST = 0.001
"""Seconds that are read at a time: meanwhile no answer is received."""


class ReadAhead(Iterator[Case]):
    """The same cases in the same order. To read several at a time takes less time than one now and then."""

    def __init__(self, cases: Iterator[Case]) -> None:
        self._cases = cases
        self._ready: deque[Case] = deque()
        self._more = True
        self._damage: Exception | None = None

    def __next__(self) -> Case:
        if not self._ready:
            self._read()
        if self._ready:
            return self._ready.popleft()
        damage, self._damage = self._damage, None
        raise damage or StopIteration

    def refill(self) -> None:
        """Read now what would else be read when it is asked for, while an answered connection waits for it."""
        if len(self._ready) <= MOST_AHEAD // 2:
            self._read()

    def _read(self) -> None:
        """Read for a while, one case at least."""
        until = monotonic() + LONGEST
        while self._more and len(self._ready) < MOST_AHEAD:
            try:
                self._ready.append(next(self._cases))
            except StopIteration:
                self._more = False
            except Exception as error:  # noqa: BLE001 - raised later: what stands before the damage in a file is asked
                self._more, self._damage = False, error
            if monotonic() >= until:
                return
