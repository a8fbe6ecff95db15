"""The cases waiting at one endpoint: those released by results first, then the plan's own, pulled lazily."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Iterable, Iterator, Mapping

from toolcert.core.cases import Case


class CaseQueue:
    """Hands cases to workers; a worker that finds none waits until one is released or all is done."""

    def __init__(self, sources: Mapping[str, Iterator[Case]]) -> None:
        self._sources = dict(sources)
        self._released: dict[str, deque[Case]] = {name: deque() for name in sources}
        self._waiting: dict[str, deque[asyncio.Future[None]]] = {name: deque() for name in sources}
        self._taken = 0
        """Cases given out and not yet done: each may still release others."""
        self.closed = False

    async def take(self, endpoint: str) -> Case | None:
        """The next case for a worker of `endpoint`; None when there will be no more."""
        while not self.closed:
            case = self._next(endpoint)
            if case is not None:
                self._taken += 1
                return case
            if self._taken == 0 and not self._anything_left():
                self.close()
                return None
            await self._released_or_closed(endpoint)
        return None

    def done(self, released: Iterable[Case]) -> None:
        """A case taken earlier is done and released these."""
        for case in released:
            self._released[case.endpoint].append(case)
            self._wake(case.endpoint)
        self._taken -= 1
        if self._taken == 0 and not self._anything_left():
            self.close()

    def close(self) -> None:
        """Give out nothing more and let waiting workers go home."""
        self.closed = True
        for name in self._waiting:
            while self._waiting[name]:
                self._wake(name)

    def _next(self, endpoint: str) -> Case | None:
        released = self._released[endpoint]
        if released:
            return released.popleft()
        source = self._sources.get(endpoint)
        if source is None:
            return None
        case = next(source, None)
        if case is None:
            del self._sources[endpoint]
        return case

    def _anything_left(self) -> bool:
        return bool(self._sources) or any(self._released.values())

    async def _released_or_closed(self, endpoint: str) -> None:
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting[endpoint].append(future)
        await future

    def _wake(self, endpoint: str) -> None:
        waiting = self._waiting[endpoint]
        while waiting:
            future = waiting.popleft()
            if not future.done():
                future.set_result(None)
                return
