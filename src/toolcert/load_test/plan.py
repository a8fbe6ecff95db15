"""The schedule of a load run: how many cases are released at a time, at which level, and when it is enough.

Blocks of questions are asked alone and under load in turn, the order changing from block to block, so that a vendor
that gets slower or faster in the course of the run favours neither side.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import count

from toolcert.core.cases import Case, SkipKind
from toolcert.core.records import LoadPhase, Record
from toolcert.load_test.question import NAME, case_key
from toolcert.probes.summary.load_tally import LoadTally

BLOCK = 64
"""Fewest questions that are asked alone, then under load."""
RAMP = 32
"""Requests at each level in between, for its times."""
CLOSE_ENOUGH = 1.25
"""The search ends when the level that breaks is at most this many times the highest that does not."""
SILENT = 16
"""A model that is wrong in all of its first answers alone has nothing to lose under load."""


def block_size(level: int) -> int:
    """Questions in a block: enough for the level to last."""
    return max(BLOCK, 4 * level)


def ready(level: int) -> int:
    """Cases that are released at a time: some wait to be sent the moment that an answer comes."""
    return level if level == 1 else level + max(2, level // 4)


class Step:
    """Questions that are asked at one level, until they are all asked or enough is known."""

    def __init__(self, phase: LoadPhase, level: int, numbers: Iterable[int], enough: Callable[[], bool]) -> None:
        self.phase = phase
        self.level = level
        self.numbers = iter(numbers)
        self.enough = enough


class LoadPlan:
    """Releases the cases of one model at one endpoint, step by step."""

    def __init__(
        self,
        endpoint: str,
        model: str,
        tally: LoadTally,
        *,
        pairs: int,
        bisect: bool = True,
        ramp: bool = True,
        hold: float | None = None,
        earlier: Mapping[str, Record] | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """`earlier` are the records of a run that is resumed: they count as if they had just come in."""
        self._endpoint = endpoint
        self._model = model
        self.tally = tally
        self._pairs = pairs
        self._bisect = bisect
        self._ramps = ramp
        self._hold = hold
        self._earlier = earlier or {}
        self._clock = clock
        self._in_flight = 0
        self._stopped = False
        self._steps = self._strategy()
        self._step: Step | None = None

    @property
    def total(self) -> int | None:
        """Requests, without a search and without what is asked while the load is held; None if it is held."""
        return None if self._hold is not None else self.requests_planned()

    @property
    def resumed(self) -> int:
        return len(self._earlier)

    def requests_planned(self) -> int:
        """Requests that are sent if nothing breaks, without retries and without the time that the load is held."""
        return 2 * self._pairs + RAMP * len(self._ramp())

    def sources(self) -> Mapping[str, Iterator[Case]]:
        """The cases that are asked first."""
        return {self._endpoint: iter(self._release())}

    def after(self, record: Record) -> list[Case]:
        """The cases that keep the level up, or those of the next step."""
        self._in_flight -= 1
        self.tally.add(record)
        if record.skip in (SkipKind.BUDGET, SkipKind.OUTAGE):
            self._stopped = True  # every later case would be skipped as well
        return self._release()

    def _release(self) -> list[Case]:
        """As many cases as the step has room for; an earlier answer takes no room."""
        cases: list[Case] = []
        while not self._stopped:
            if self._step is None:
                self._step = next(self._steps, None)
                if self._step is None:
                    return cases
            if self._in_flight >= ready(self._step.level):
                return cases
            case = None if self._step.enough() else self._next_case(self._step)
            if case is not None:
                self._in_flight += 1
                cases.append(case)
            elif self._in_flight:
                return cases  # a step ends before the next begins: their loads must not mix
            else:
                self._step = None
        return cases

    def _next_case(self, step: Step) -> Case | None:
        """The next question that has no answer yet."""
        for number in step.numbers:
            key = case_key(self._endpoint, self._model, step.phase, step.level, number)
            record = self._earlier.get(key)
            if record is None:
                return Case(
                    key=key,
                    endpoint=self._endpoint,
                    model=self._model,
                    probe=NAME,
                    iteration=number,
                    extra={"phase": step.phase.value, "level": step.level},
                )
            self.tally.add(record)
            if step.enough():
                return None
        return None

    def _strategy(self) -> Iterator[Step]:
        """The steps; what comes next depends on what was seen."""
        yield from self._paired()
        if self._bisect and self.tally.broken:
            yield from self._searched()
        if not self.tally.silent(SILENT):
            for level in self._ramp():
                if level not in self.tally.levels:
                    yield Step(LoadPhase.RAMP, level, range(1, RAMP + 1), _never)
            if self._hold is not None:
                yield self._held()

    def _paired(self) -> Iterator[Step]:
        level = self.tally.level
        size = block_size(level)
        for place, start in enumerate(range(1, self._pairs + 1, size)):
            block = range(start, min(start + size, self._pairs + 1))
            for one in (level, 1) if place % 2 else (1, level):
                yield Step(LoadPhase.PAIR, one, block, self._pairs_decided)
            if self._pairs_decided():
                return

    def _pairs_decided(self) -> bool:
        return self.tally.decided or self.tally.silent(SILENT)

    def _searched(self) -> Iterator[Step]:
        """Bisection between a level that works and one that breaks."""
        sound, broken = 1, self.tally.level
        while broken > CLOSE_ENOUGH * sound and broken - sound > 1:
            level = (sound + broken) // 2
            trial = self.tally.trial(level)
            yield Step(LoadPhase.SEARCH, level, range(1, trial.most + 1), trial.is_decided)
            if trial.breaks:
                broken = level
            else:
                sound = level

    def _ramp(self) -> list[int]:
        """Powers of two below the level."""
        if not self._ramps:
            return []
        return [2**power for power in range(1, self.tally.level.bit_length()) if 2**power < self.tally.level]

    def _held(self) -> Step:
        """The rest of the time; what an earlier run has held counts."""
        done = [one for one in self._earlier.values() if one.load is not None and one.load.phase is LoadPhase.HOLD]
        for record in done:
            self.tally.add(record)
        last = max((one.load.number for one in done if one.load is not None), default=0)
        deadline = self._clock() + (self._hold or 0.0) - self.tally.held
        return Step(LoadPhase.HOLD, self.tally.level, count(last + 1), lambda: self._clock() >= deadline)


def _never() -> bool:
    return False
