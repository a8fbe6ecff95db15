"""Events: everything an engine reports; each output is a handler of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from toolcert.core.cases import Case
from toolcert.core.exchanges import Attempt
from toolcert.core.records import Manifest, Record
from toolcert.core.values import Value


class RunStarted(Value):
    """The plan is known and the first case is about to be asked."""

    manifest: Manifest
    total: int | None
    """Cases planned, where known."""
    resumed: int = 0
    """Cases that the run log already holds; they are not asked again."""


class CaseStarted(Value):
    """A worker took a case; one that it asked before may still wait to be judged."""

    case: Case


class AttemptMade(Value):
    """One try at one request ended, well or not."""

    case: Case
    attempt: Attempt


class CaseFinished(Value):
    """A case ended; its record is on disk already."""

    record: Record


class RunStopping(Value):
    """The user interrupted: no new case is started; answers under way may still arrive."""

    grace: float
    """Seconds that answers under way have left."""


class RunFinished(Value):
    """The run has ended; this is the last event."""

    interrupted: bool = False
    seconds: float = 0.0


Event: TypeAlias = RunStarted | CaseStarted | AttemptMade | CaseFinished | RunStopping | RunFinished
Handler: TypeAlias = Callable[[Event], None]
FinishAll: TypeAlias = Callable[[Sequence[CaseFinished]], None]
"""A handler with a method `finish_all` is given many finished cases by it, where that takes less time than one by one.
Where our own code fails on one of them, it must have done nothing."""
