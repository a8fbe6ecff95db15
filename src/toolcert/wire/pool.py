"""Connections kept alive between requests."""

from __future__ import annotations

from collections import deque
from time import monotonic

from toolcert.wire.address import Origin
from toolcert.wire.connection import Connection, Habits

IDLE_SECONDS = 4.0
"""Many servers close idle connections after 5 s (uvicorn, node); a request sent in that very moment is lost,
and a lost request is an attempt on record. Opening anew after a pause costs less than explaining that."""


class Pool:
    """Idle connections by origin, the most recently used first: that one is the least likely to be closed."""

    def __init__(self, most_idle: int) -> None:
        self._most_idle = most_idle
        self._idle: dict[Origin, deque[Connection]] = {}
        self._busy: set[Connection] = set()
        self._habits: dict[Origin, Habits] = {}
        self._closed = False

    def take(self, origin: Origin) -> Connection | None:
        """An idle connection that is certainly still good, or None."""
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
        self._busy.add(connection)
        if self._closed:
            connection.abort()

    def give_back(self, origin: Origin, connection: Connection) -> None:
        """Keep a connection for the next request, if it can bear one."""
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
        """Close everything, under way or idle."""
        self._closed = True
        for connection in [*self._busy, *(each for idle in self._idle.values() for each in idle)]:
            connection.abort()
        self._busy.clear()
        self._idle.clear()
