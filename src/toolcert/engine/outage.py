"""Noticing that an endpoint is gone: asking on would only take time, and somebody else's patience."""

from __future__ import annotations

import time
from collections.abc import Callable

from toolcert.core.exchanges import Fault, FaultKind
from toolcert.core.outcomes import Outcome
from toolcert.core.records import Record

CASES = 20
"""Cases in a row that meet a lasting fault; a few may be bad luck."""
SECONDS = 30.0
"""Without any answer; servers are restarted, and balancers take a moment to notice."""
LASTING = frozenset({FaultKind.AUTH, FaultKind.CONNECT, FaultKind.TLS})
"""Faults that no later case can be expected to be free of."""


class OutageWatch:
    """Counts, for each endpoint, the cases since it last answered."""

    def __init__(
        self, *, cases: int = CASES, seconds: float = SECONDS, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._cases = cases
        self._seconds = seconds
        self._clock = clock
        self._silent: dict[str, tuple[int, float]] = {}
        """Endpoint to cases without an answer, and since when."""
        self._gone: dict[str, str] = {}

    def saw(self, record: Record) -> None:
        """Take note of a finished case."""
        fault = fault_of(record, LASTING)
        if fault is None:
            if record.outcome is not Outcome.SKIPPED:
                self._silent.pop(record.endpoint, None)
            return
        cases, since = self._silent.get(record.endpoint, (0, self._clock()))
        self._silent[record.endpoint] = (cases + 1, since)
        if cases + 1 >= self._cases and self._clock() - since >= self._seconds:
            self._gone[record.endpoint] = f"{record.endpoint} does not answer any more ({fault.message})"

    def gone(self, endpoint: str) -> str:
        """Why an endpoint is not asked any more; empty while it is."""
        return self._gone.get(endpoint, "")


def fault_of(record: Record, kinds: frozenset[FaultKind]) -> Fault | None:
    """Why a case could not be measured, if for one of these reasons."""
    if record.outcome is not Outcome.NOT_MEASURED or not record.detail.exchanges:
        return None
    fault = record.detail.exchanges[-1].fault
    return fault if fault is not None and fault.kind in kinds else None
