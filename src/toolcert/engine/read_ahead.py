"""Cases that take time to read, read several at a time and while the endpoint is at work."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from time import monotonic

from toolcert.core.cases import Case

CASES_AHEAD = 16
"""Cases that are read and not yet taken, at most."""
READ_SECONDS = 0.001
"""How long cases are read at a time, where a single one does not take longer: meanwhile no answer is received."""


class ReadAhead(Iterator[Case]):
    """The same cases in the same order. To read several at a time takes less time than one now and then."""

    def __init__(self, cases: Iterator[Case]) -> None:
        self._cases = cases
        self._ready: deque[Case] = deque()
        self._more = True
        self._damage: Exception | None = None
        self._slow = False
        """Whether the last case alone took longer than cases are read at a time."""

    def __next__(self) -> Case:
        if not self._ready:
            self._read()
        if self._ready:
            return self._ready.popleft()
        damage, self._damage = self._damage, None
        if damage is not None:
            raise damage
        raise StopIteration

    def refill(self) -> None:
        """Read now what would else be read when it is asked for, while an answered connection waits for it.

        Not so cases that are slow to read: answers would be received late, and several large ones fill the memory.
        """
        if len(self._ready) <= CASES_AHEAD // 2 and not self._slow:
            self._read()

    def _read(self) -> None:
        """Read for a while, one case at least."""
        started = now = monotonic()
        while self._more and len(self._ready) < CASES_AHEAD and now - started < READ_SECONDS:
            try:
                self._ready.append(next(self._cases))
            except StopIteration:
                self._more = False
            except Exception as error:  # noqa: BLE001 - raised later: what stands before the damage in a file is asked
                self._more, self._damage = False, error
            before, now = now, monotonic()
            self._slow = now - before >= READ_SECONDS
