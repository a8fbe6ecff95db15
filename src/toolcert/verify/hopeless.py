"""Stopping a run that cannot succeed: nobody wants a hundred thousand refusals of the same key.

An endpoint that has answered and then is gone is another matter, which the engine's watch takes time to decide.
"""

from __future__ import annotations

from toolcert.core.errors import NothingMeasuredError, UnauthorisedError, UnreachableError
from toolcert.core.events import CaseFinished, Event
from toolcert.core.exchanges import Fault, FaultKind
from toolcert.core.outcomes import Outcome
from toolcert.engine.outage import LASTING, fault_of

ENOUGH = 20
"""Rows in a row, from the first on, that fail for a reason no later row can be free of."""
_LASTING = LASTING | {FaultKind.UNKNOWN_MODEL, FaultKind.CONFIGURATION}


class GiveUpEarly:
    """A handler that ends the run when the first rows all meet a lasting fault; one answer disarms it."""

    def __init__(self) -> None:
        self._refusals = 0
        self._armed = True

    def __call__(self, event: Event) -> None:
        if not self._armed or not isinstance(event, CaseFinished) or event.record.outcome is Outcome.SKIPPED:
            return
        fault = fault_of(event.record, _LASTING)
        if fault is None:
            self._armed = False
            return
        self._refusals += 1
        if self._refusals >= ENOUGH:
            raise _reason(fault)


def _reason(fault: Fault) -> NothingMeasuredError:
    message = f"the first {ENOUGH} rows all failed: {fault.message.rstrip('.')}."
    if fault.kind is FaultKind.AUTH:
        return UnauthorisedError(message, remedy="Check the key; `toolcert doctor` says which one is used.")
    if fault.kind in (FaultKind.CONNECT, FaultKind.TLS):
        return UnreachableError(message, remedy="Check the address; `toolcert doctor` tries it.")
    if fault.kind is FaultKind.UNKNOWN_MODEL:
        return NothingMeasuredError(message, remedy="Check the model's name; `toolcert models` lists them.")
    return NothingMeasuredError(message)
