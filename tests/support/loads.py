"""A load run without a network: a vendor as a function, asked by the real plan."""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Callable

from toolcert.core.cases import Case, Outcome, SkipKind
from toolcert.core.records import LoadFacts, LoadPhase, ProbeFacts, Record
from toolcert.load_test.plan import LoadPlan
from toolcert.probes.summary.load_tally import LoadTally

Judge = Callable[[int], tuple[Outcome, tuple[str, ...]]]
"""From the level of a request to its outcome and the codes of its findings."""


def answer(
    case: Case,
    outcome: Outcome = Outcome.PASSED,
    codes: tuple[str, ...] = (),
    *,
    seconds: float = 0.5,
    at: float = 0.0,
    skip: SkipKind | None = None,
) -> Record:
    """The record of one request."""
    measured = outcome.measured
    return Record(
        case=case.key,
        endpoint=case.endpoint,
        model=case.model,
        outcome=outcome,
        codes=codes,
        at=at,
        skip=skip,
        probe=ProbeFacts(
            probe="load",
            iteration=case.iteration or 0,
            seconds=(seconds,) if measured else (),
            requests=1,
            tokens_out=60,
        ),
        load=None
        if skip
        else LoadFacts(
            phase=LoadPhase(case.extra["phase"]),
            level=case.extra["level"],
            number=case.iteration or 0,
            began=at - seconds,
        ),
    )


def vendor(seed: int, *, level: int = 16, **shares: float) -> Judge:
    """A vendor that errs by itself (`errs`), refuses (`busy`), and corrupts or mixes up calls from a level on."""
    dice = random.Random(seed)

    def judge(at: int) -> tuple[Outcome, tuple[str, ...]]:
        if dice.random() < shares.get("busy", 0.0):
            return Outcome.NOT_MEASURED, ("transport.rate_limited",)
        if at >= level and dice.random() < shares.get("crosstalk", 0.0):
            return Outcome.FAILED, ("load.crosstalk",)
        wrong = dice.random() < shares.get("errs", 0.0)
        wrong |= at >= level and dice.random() < shares.get("corrupts", 0.0)
        return (Outcome.FAILED if wrong else Outcome.PASSED), ()

    return judge


class Asked:
    """The plan, asked to its end."""

    def __init__(self, judge: Judge, *, at: int = 16, pairs: int = 750, bisect: bool = False) -> None:
        self.tally = LoadTally(at)
        self.plan = LoadPlan("here", "model", self.tally, pairs=pairs, bisect=bisect)
        self.records: list[Record] = []
        self.found: int | None = None
        """Requests until something was found."""
        self.most: dict[int, int] = {}
        """The most requests that were in flight at each level."""
        waiting = deque(self.plan.sources()["here"])
        while waiting:
            level = waiting[0].extra["level"]
            self.most[level] = max(self.most.get(level, 0), len(waiting))
            case = waiting.popleft()
            record = answer(case, *judge(level), at=float(len(self.records)))
            self.records.append(record)
            waiting.extend(self.plan.after(record))
            if self.found is None and self.tally.broken:
                self.found = len(self.records)
