"""Counts of requests alone and under load as they come in: pairs, levels, the search and the time of the load.

The plan of a load run uses them while it lasts, and the summary reads them from the log; both see the same.
"""

from __future__ import annotations

import math
from array import array
from collections import Counter
from collections.abc import Iterator

from toolcert.core.cases import Outcome, SkipKind
from toolcert.core.findings import INTERNAL
from toolcert.core.records import LoadFacts, LoadPhase, Record
from toolcert.core.statistics.quantiles import LARGEST, Percentiles, Quantiles, Timings, add_speed
from toolcert.core.statistics.rates import Rate
from toolcert.core.statistics.sequential import PairedTest
from toolcert.core.verdict import CappingFinding
from toolcert.diagnose import kind_of
from toolcert.probes.summary.scorecard import Example, FindingCount, UnderLoad

CORRUPTION_ALPHA = 0.02
"""Highest probability that a vendor without the fault is said to have it, at whatever moment the run stops."""
CROSSTALK = "load.crosstalk"
CORRUPTION = "load.corruption"
UNDER_LOAD = "under load"
PROVEN_CROSSTALK = 3
"""Sightings after which no more pairs are asked. One proves it; three show that it was not a single accident."""
_TRIAL_ERROR = 0.02
"""Highest probability that a step of the search takes the wrong half."""
_FEWEST = 200
_LONGEST_GAP = 60.0
"""Seconds between two answers; more is the pause between two runs in one folder."""
KEPT_PAIRS = 5
"""Pairs that are shown with both answers."""


def capping(code: str, number: int, of: int) -> CappingFinding:
    """A finding of load as what keeps a verdict from being better."""
    return CappingFinding(
        code=code, title=kind_of(code).title.rstrip("."), k=number, n=max(of, number), when=UNDER_LOAD
    )


def _seconds(record: Record) -> float | None:
    """How long the answer took; None if the log names a time that no answer can take."""
    seconds = sum(record.probe.seconds) if record.probe is not None else 0.0
    return seconds if 0 < seconds < LARGEST else None


class Answer:
    """What a pair needs to know of one answer; a small object, because there are thousands."""

    __slots__ = ("case", "crosstalk", "outcome", "seconds")

    def __init__(self, record: Record) -> None:
        self.case = record.case
        self.outcome = record.outcome
        self.crosstalk = CROSSTALK in record.codes
        self.seconds = _seconds(record)


class LevelTally:
    """All requests at one level."""

    def __init__(self, level: int) -> None:
        self.level = level
        self.right = 0
        self.wrong = 0
        self.crosstalk = 0
        self.refused = 0
        self.unanswered: Counter[str] = Counter()
        """Why there was no answer: codes such as `transport.rate_limited`."""
        self.requests = 0
        self.retried = 0
        self._first_token, self._call, self._speed = Quantiles(), Quantiles(), Quantiles()
        self._moments = array("d")
        """When each answer's request was sent, as a positive time, and when the answer came, as a negative one."""

    def add(self, record: Record) -> None:
        """Count one request."""
        self.crosstalk += CROSSTALK in record.codes
        self.right += record.outcome is Outcome.PASSED
        self.wrong += record.outcome is Outcome.FAILED
        self.refused += record.outcome is Outcome.UNSUPPORTED
        if record.outcome is Outcome.NOT_MEASURED:
            self.unanswered[next(iter(record.codes), "not measured")] += 1
        if record.probe is not None:
            self.requests += record.probe.requests
            self.retried += record.probe.retried
            seconds = _seconds(record)
            if (first := record.probe.first_token) is not None and 0 <= first < LARGEST:
                self._first_token.add(first)
            if seconds is not None:
                self._call.add(seconds)
                add_speed(self._speed, record.probe.tokens_out, seconds)
                self._moments.extend((record.at - seconds, -record.at))

    @property
    def answered(self) -> Rate:
        return Rate(k=self.right, n=self.right + self.wrong)

    @property
    def busy(self) -> float | None:
        """Requests in flight, averaged over the time that each of them took: pauses between them do not count."""
        whole = company = before = 0.0
        in_flight = 0
        for moment in sorted(self._moments, key=abs):
            since = in_flight * (abs(moment) - before)
            whole, company, before = whole + since, company + in_flight * since, abs(moment)
            in_flight += 1 if moment > 0 else -1
        return min(float(self.level), company / whole) if 0 < whole < math.inf else None

    @property
    def held_back(self) -> bool:
        """Whether the vendor refused so much that less than half of the level was in flight."""
        return self.busy is not None and self.busy < self.level / 2 and bool(self.retried or self.unanswered)

    @property
    def timings(self) -> Timings:
        return Timings(
            first_token=Percentiles.of(self._first_token),
            call=Percentiles.of(self._call),
            tokens_per_second=Percentiles.of(self._speed, speed=True),
        )


class Trial:
    """Whether answers at a level are as bad as under the full load, or as good as alone: Wald's sequential test."""

    def __init__(self, level: int, sound: float, broken: float) -> None:
        self.level = level
        self.wrong = Rate()
        self._on_wrong = math.log(broken / sound)
        self._on_right = math.log((1 - broken) / (1 - sound))
        self._bound = math.log((1 - _TRIAL_ERROR) / _TRIAL_ERROR)
        self._score = 0.0
        self.most = max(_FEWEST, math.ceil(6 / broken))
        """Requests after which the likelier of the two is taken."""

    def add(self, *, wrong: bool) -> None:
        """Count one answer."""
        if not self.is_decided():
            self.wrong += Rate(k=int(wrong), n=1)
            self._score += self._on_wrong if wrong else self._on_right

    def is_decided(self) -> bool:
        return abs(self._score) >= self._bound

    @property
    def breaks(self) -> bool:
        return self._score > 0


class LoadTally:
    """Everything that is counted of one load run."""

    def __init__(self, level: int) -> None:
        self.level = level
        self.test = PairedTest(CORRUPTION_ALPHA)
        self.levels: dict[int, LevelTally] = {}
        self.trials: dict[int, Trial] = {}
        self.both_right = self.both_wrong = self.crosstalk_pairs = self.unmeasured_pairs = 0
        self.worse: list[tuple[Answer, Answer]] = []
        """The first pairs that are right alone and wrong under load."""
        self.foreign: list[str] = []
        """The first cases that show crosstalk."""
        self.times: list[tuple[float, float]] = []
        """Seconds of each pair, alone and under load."""
        self.hold: list[tuple[float, bool, float | None]] = []
        """While the load was held: when an answer came, whether it was right, and its seconds."""
        self.held = 0.0
        """Seconds for which the load was held."""
        self.bugs = 0
        self.stopped_by: SkipKind | None = None
        self._foreign_evidence = ""
        self._held_until: float | None = None
        self._alone: dict[int, Answer] = {}
        self._loaded: dict[int, Answer] = {}
        self._next = 1

    def add(self, record: Record) -> None:
        """Count one record."""
        self.bugs += INTERNAL in record.codes
        if record.skip in (SkipKind.BUDGET, SkipKind.OUTAGE):
            self.stopped_by = record.skip
        facts = record.load
        if facts is None:  # not asked, or not judged because of a bug
            return
        self.levels.setdefault(facts.level, LevelTally(facts.level)).add(record)
        if CROSSTALK in record.codes and len(self.foreign) < KEPT_PAIRS:
            self.foreign.append(record.case)
            told = (one.evidence for one in record.detail.findings if one.code == CROSSTALK)
            self._foreign_evidence = self._foreign_evidence or next(told, "")
        if facts.phase is LoadPhase.PAIR:
            (self._alone if facts.level == 1 else self._loaded)[facts.number] = Answer(record)
            self._settle_pairs()
        elif facts.phase is LoadPhase.SEARCH and record.outcome.measured:
            self.trial(facts.level).add(wrong=record.outcome is Outcome.FAILED or CROSSTALK in record.codes)
        elif facts.phase is LoadPhase.HOLD:
            self._add_held(record, facts)

    def _settle_pairs(self) -> None:
        """Judge pairs in the order of their numbers: whatever the order of the answers, a log says the same."""
        while self._next in self._alone and self._next in self._loaded:
            self._settle(self._alone.pop(self._next), self._loaded.pop(self._next))
            self._next += 1

    def close(self) -> None:
        """Judge the pairs behind one that was not asked to its end."""
        for number in sorted(self._alone.keys() & self._loaded.keys()):
            self._settle(self._alone.pop(number), self._loaded.pop(number))

    def _settle(self, alone: Answer, loaded: Answer) -> None:
        if not (alone.outcome.measured and loaded.outcome.measured):
            self.unmeasured_pairs += 1
            return
        if alone.seconds is not None and loaded.seconds is not None:
            self.times.append((alone.seconds, loaded.seconds))
        if loaded.crosstalk or alone.crosstalk:
            self.crosstalk_pairs += 1  # explained already: it must not count as corruption as well
        elif alone.outcome is loaded.outcome:
            self.both_right += alone.outcome is Outcome.PASSED
            self.both_wrong += alone.outcome is Outcome.FAILED
        else:
            worse = loaded.outcome is Outcome.FAILED
            self.test.update(worse=worse)
            if worse and len(self.worse) < KEPT_PAIRS:
                self.worse.append((alone, loaded))

    def _add_held(self, record: Record, facts: LoadFacts) -> None:
        before = facts.began if self._held_until is None else self._held_until
        self._held_until = max(before, record.at)
        self.held += min(self._held_until - before, _LONGEST_GAP)
        if record.outcome.measured:
            self.hold.append((record.at, record.outcome is Outcome.PASSED, _seconds(record)))

    @property
    def measured_pairs(self) -> int:
        return self.both_right + self.both_wrong + self.crosstalk_pairs + self.test.worse + self.test.better

    @property
    def crosstalk(self) -> int:
        return sum(level.crosstalk for level in self.levels.values())

    @property
    def decided(self) -> bool:
        """Whether more pairs would change nothing."""
        return self.test.decided or self.crosstalk >= PROVEN_CROSSTALK

    @property
    def broken(self) -> bool:
        """Whether anything was found that breaks calls."""
        return self.test.decided or self.crosstalk > 0

    def silent(self, first: int) -> bool:
        """Whether the model is wrong in all of its first answers alone."""
        alone = self.levels.get(1)
        return alone is not None and not alone.right and alone.wrong + alone.refused >= first

    def trial(self, level: int) -> Trial:
        """The test of a level in between."""
        if level not in self.trials:
            alone, full = (self._bad(one) for one in (1, self.level))
            sound = (alone.k + 0.5) / (alone.n + 1)
            broken = min(0.95, max((full.k + 0.5) / (full.n + 1), 3 * sound))
            self.trials[level] = Trial(level, min(sound, broken / 3), broken)
        return self.trials[level]

    def _bad(self, level: int) -> Rate:
        """Wrong answers at a level; one with another's values is wrong whatever else it is."""
        found = self.levels.get(level)
        return Rate() if found is None else Rate(k=min(found.answered.n, found.wrong), n=found.answered.n)

    @property
    def crosstalk_of(self) -> int:
        """The answers among which crosstalk was seen, or looked for."""
        return sum(one.answered.n for one in self.levels.values() if one.crosstalk or one.level == self.level)

    def under_load(self) -> UnderLoad:
        """The figures of the pairs, and what caps the verdict: a foreign nonce is proof, and corruption is tested."""
        full = self.levels.get(self.level)
        return UnderLoad(
            level=self.level,
            busy=full.busy if full is not None and full.held_back else None,
            pairs=self.measured_pairs,
            both_right=self.both_right,
            worse=self.test.worse,
            better=self.test.better,
            crosstalk=self.crosstalk,
            not_measured=self.unmeasured_pairs,
            p=self.test.p,
            breaks=tuple(self._breaks()),
        )

    def _breaks(self) -> Iterator[CappingFinding]:
        if self.crosstalk:
            yield capping(CROSSTALK, self.crosstalk, self.crosstalk_of)
        if self.test.decided:
            yield capping(CORRUPTION, self.test.worse, self.measured_pairs)

    def findings(self) -> Iterator[FindingCount]:
        """What breaks calls, with the case that shows it."""
        for found in self._breaks():
            foreign = found.code == CROSSTALK
            text = self._foreign_evidence if foreign else f"{self.test.worse} pairs right alone, wrong under load"
            case = self.foreign[0] if foreign else self.worse[0][1].case
            example = Example(case=case, probe="load", evidence=text)
            severity = kind_of(found.code).severity
            yield FindingCount(code=found.code, severity=severity, count=found.k, example=example)

    def thirds(self) -> tuple[list[tuple[float, bool, float | None]], list[tuple[float, bool, float | None]]]:
        """The first and the last third of the answers while the load was held."""
        third = len(self.hold) // 3
        ordered = sorted(self.hold, key=lambda one: one[0])
        return ordered[:third], ordered[len(ordered) - third :]

    def at_each_level(self) -> Iterator[LevelTally]:
        """From the lowest to the highest."""
        return (self.levels[level] for level in sorted(self.levels))
