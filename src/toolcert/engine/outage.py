"""Detects that an endpoint no longer answers, so that a run stops instead of waiting for it."""

from __future__ import annotations

import time
from collections.abc import Callable

from toolcert.core.cases import Outcome, Skip, SkipKind
from toolcert.core.exchanges import Fault, FaultKind
from toolcert.core.records import Record

CASES = 5
"""Cases in a row that must end with such a fault, each after its retries; fewer may be coincidence."""
LASTING = frozenset({FaultKind.AUTH, FaultKind.PAYMENT, FaultKind.CONNECT, FaultKind.TLS})
"""Faults that every later case is expected to have too."""
_TRANSIENT = frozenset({FaultKind.TIMEOUT, FaultKind.RESET, FaultKind.SERVER_ERROR, FaultKind.RATE_LIMITED})
"""Faults of an overloaded server, or of a gateway whose servers are down: these often recover."""
SECONDS = 10.0
"""Without any answer. A restart may take longer; the rest is then asked when the run is continued."""
_TRANSIENT_FACTOR = 10
"""Transient faults are tolerated this many times longer."""
_REFUSED = frozenset({FaultKind.CONFIGURATION})
"""The server answers, and says that our own settings are wrong, such as the project: waiting changes nothing."""


class _Silence:
    """Counts, for each endpoint, the cases in a row that met one of some faults."""

    def __init__(self, kinds: frozenset[FaultKind], cases: int, seconds: float) -> None:
        self._kinds = kinds
        self._cases = cases
        self._seconds = seconds
        self._counted: dict[str, tuple[int, float]] = {}
        """Endpoint to cases without an answer, and since when."""

    def lasts(self, record: Record, now: float) -> Fault | None:
        """The fault of this case, if only such faults occurred for long enough."""
        fault = fault_of(record, self._kinds)
        if fault is None:
            self._counted.pop(record.endpoint, None)
            return None
        cases, since = self._counted.get(record.endpoint, (0, now))
        self._counted[record.endpoint] = (cases + 1, since)
        return fault if cases + 1 >= self._cases and now - since >= self._seconds else None


class OutageWatch:
    """Notices endpoints that have stopped answering."""

    def __init__(
        self, *, cases: int = CASES, seconds: float = SECONDS, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._clock = clock
        self._silences = (
            _Silence(LASTING, cases, seconds),
            _Silence(LASTING | _TRANSIENT, cases, seconds * _TRANSIENT_FACTOR),
            _Silence(_REFUSED, cases, 0.0),
        )
        self._gone: dict[str, Skip] = {}
        self._closed: dict[tuple[str, str], tuple[float, Skip]] = {}
        """Endpoint and model to when the server takes requests again, and why none is sent before."""

    def saw(self, record: Record) -> None:
        """Take note of a finished case."""
        if record.outcome is Outcome.SKIPPED:
            return
        now = self._clock()
        self._note_long_wait(record, now)
        for silence in self._silences:
            fault = silence.lasts(record, now)
            if fault is not None:
                what = "refuses every request" if fault.kind in _REFUSED else "does not answer any more"
                reason = f"{record.endpoint} {what} ({fault.message})"
                self._gone[record.endpoint] = Skip(kind=SkipKind.OUTAGE, reason=reason)

    def gone(self, endpoint: str, model: str = "") -> Skip | None:
        """Why an endpoint, or this model of it, is not asked now; None while it is."""
        until, skip = self._closed.get((endpoint, model), (0.0, None))
        return self._gone.get(endpoint) or (skip if self._clock() < until else None)

    def _note_long_wait(self, record: Record, now: float) -> None:
        """Leave a model alone for as long as its server asks; other models have limits of their own."""
        fault = fault_of(record, _TRANSIENT)
        if fault is not None and fault.wait is not None:
            reason = f"{record.model} at {record.endpoint} is not to be asked now ({fault.message})"
            self._closed[record.endpoint, record.model] = now + fault.wait, Skip(kind=SkipKind.OUTAGE, reason=reason)


def fault_of(record: Record, kinds: frozenset[FaultKind]) -> Fault | None:
    """Why a case could not be measured, if for one of these reasons."""
    if record.outcome is not Outcome.NOT_MEASURED or not record.detail.exchanges:
        return None
    fault = record.detail.exchanges[-1].fault
    return fault if fault is not None and fault.kind in kinds else None
