"""One model and one probe: which iterations may be asked now, and when there is no point in more."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from toolcert.core.cases import Case
from toolcert.core.outcomes import Outcome
from toolcert.core.records import ProbeFacts, Record
from toolcert.core.statistics import Certainty
from toolcert.core.statistics_sequential import SequentialTest

FIRST = 5
"""A model that does not call in so many iterations is not asked for more."""
NO_CALL = f"no call in the first {FIRST} iterations"
REFUSED = f"refused in the first {FIRST} iterations"
DECIDED = "decided early"
NEEDS = "needs "
NOT_MEASURED = "not measured"
"""Beginnings (and one end) of the reasons for skipping: what is recorded is told apart by them."""

MakeCase = Callable[[int, str], Case]
"""From an iteration and the reason to skip it (or none) to its case."""


class Track:
    """Hands out the iterations of one probe; the same records lead to the same cases in any order."""

    def __init__(self, make: MakeCase, iterations: int, test: SequentialTest | None = None) -> None:
        self._make = make
        self._iterations = iterations
        self._test = test
        staged = test is not None or iterations > FIRST
        self._first = min(FIRST, iterations) if staged else iterations
        self._given = self._first
        self._waiting = set(range(1, self._first + 1))
        self._done: set[int] = set()
        self._silent: dict[int, str] = {}
        """Iterations without a call, with the reason to give when none comes at all."""
        self._opened = not staged
        self._because = ""
        self.passed = False
        self.measured = False
        self.unsupported = False

    def opening(self) -> list[Case]:
        """The cases that can be asked from the start."""
        return [self._make(iteration, "") for iteration in range(1, self._first + 1)]

    def skipped(self, reason: str) -> list[Case]:
        """All cases, none of which is asked."""
        self._because = reason
        self._waiting.clear()
        self._given = self._iterations
        return [self._make(iteration, reason) for iteration in range(1, self._iterations + 1)]

    @property
    def settled(self) -> bool:
        """Whether nothing more will come."""
        return not self._waiting and self._given == self._iterations

    def unmet(self, name: str) -> str:
        """Why what needs this probe is skipped."""
        if self._because:
            return f"{NEEDS}{name}, which {self._because}"
        if self.measured:
            return f"{NEEDS}{name}, which never passed"
        return f"{NEEDS}{name}, which is {'unsupported' if self.unsupported else NOT_MEASURED}"

    def after(self, record: Record) -> list[Case]:
        """The cases that a finished one releases."""
        if record.probe is None:
            return []
        self._note(record, record.probe)
        self._done.add(record.probe.iteration)
        self._waiting.discard(record.probe.iteration)
        if self._given == self._iterations:
            return []
        if reason := self._stop():
            return self._give(range(self._given + 1, self._iterations + 1), reason)
        return self._give(range(self._given + 1, self._given + 1 + self._wanted()), "")

    def _note(self, record: Record, facts: ProbeFacts) -> None:
        self.passed |= record.outcome is Outcome.PASSED
        self.measured |= record.outcome.measured
        self.unsupported |= record.outcome is Outcome.UNSUPPORTED
        if record.outcome is Outcome.UNSUPPORTED:
            self._silent[facts.iteration] = REFUSED
        elif facts.called is False:
            self._silent[facts.iteration] = NO_CALL
        elif record.outcome.measured or facts.called:
            self._opened = True
        if self._test is not None and record.outcome.measured:
            self._test.update(record.outcome is Outcome.PASSED)

    def _stop(self) -> str:
        """Why the rest is not asked, if so."""
        if not self._opened and len(self._silent) >= FIRST and not self._waiting:
            return NO_CALL if NO_CALL in self._silent.values() else REFUSED
        if self._test is not None and self._test.decision is not None:
            return _decided(self._test)
        return ""

    def _wanted(self) -> int:
        """How many more iterations to ask now."""
        left = self._iterations - self._given
        if self._opened and self._test is None:
            return left
        enough = FIRST if self._opened else FIRST - len(self._silent)
        return max(0, min(left, enough - len(self._waiting)))

    def _give(self, iterations: Iterable[int], reason: str) -> list[Case]:
        cases = [self._make(iteration, reason) for iteration in iterations]
        if cases:
            self._given = cases[-1].iteration or self._given
        if not reason:
            # A resumed run may have measured some of these already.
            self._waiting.update({case.iteration or 0 for case in cases} - self._done)
        return cases


def _decided(test: SequentialTest) -> str:
    decision = test.decision
    assert decision is not None
    word = "reaches" if decision.certainty is Certainty.PROVEN else "stays below"
    return f"{DECIDED}: {decision.k} of {decision.n} shows that the rate {word} the threshold"
