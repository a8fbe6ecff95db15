"""Progress where there is no terminal: a line now and then."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import IO, Self

from toolcert.core.events import CaseFinished, Event, RunFinished
from toolcert.core.outcomes import Outcome
from toolcert.reports.pace import Pace
from toolcert.reports.text import count, visible

PLAIN_SECONDS = 5.0
"""Between plain lines: enough to see life in a CI log, not enough to flood it."""


class PlainProgress:
    """A line every few seconds, and one at the end; without a file, none at all."""

    def __init__(self, title: str, file: IO[str] | None, extra: Callable[[], str] | None = None) -> None:
        self._file = file
        self._extra = extra
        self._pace = Pace()
        self._said = time.monotonic()
        self._print(title)

    def __call__(self, event: Event) -> None:
        self._pace(event)
        due = time.monotonic() - self._said >= PLAIN_SECONDS
        if isinstance(event, RunFinished) or (isinstance(event, CaseFinished) and due):
            self._said = time.monotonic()
            self._print(self._line())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        return None

    def _line(self) -> str:
        parts = [share(self._pace), figures(self._pace)]
        if self._extra is not None:
            parts.append(self._extra())
        return "   ".join(parts)

    def _print(self, line: str) -> None:
        if self._file is not None:
            self._file.write(f"{visible(line)}\n")
            self._file.flush()


def share(pace: Pace) -> str:
    """How much is done."""
    done = pace.done + pace.resumed
    if not pace.total:
        return f"{count(done)} done"
    return f"{count(done)}/{count(pace.total)}  {100 * done // pace.total} %"


def figures(pace: Pace) -> str:
    """How it is going."""
    missing = pace.outcomes[Outcome.NOT_MEASURED]
    parts = [f"{pace.in_flight} in flight", f"{pace.rate:.1f}/s", f"{count(pace.retried)} retried"]
    if pace.throttled:
        parts.append(f"{count(pace.throttled)} times 429")
    parts.append(f"{count(missing)} not measured")
    return "   ".join(parts)
