"""The records of one model and one probe, counted: rates, times and findings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

import msgspec

from toolcert.core.cases import Outcome, SkipKind
from toolcert.core.findings import Finding, Severity
from toolcert.core.records import ProbeFacts, Record
from toolcert.core.statistics.quantiles import Quantiles
from toolcert.core.statistics.rates import Rate, certainty, pass_all, pass_any, reaches
from toolcert.core.values import JsonObject, Value
from toolcert.diagnose import kind_of
from toolcert.probes.suites import Suite
from toolcert.probes.summary.scorecard import Cell, CellState, Counts, Example, FindingCount, Latency, PassPower, Score
from toolcert.runs.marks import NO_EXCUSE, Excuse

MOST_SAMPLES = 256
"""More points cannot be distinguished in a strip plot."""


class Times:
    """Seconds of one kind of turn."""

    def __init__(self) -> None:
        self.quantiles = Quantiles()
        self._samples: list[float] = []
        self._stride = 1

    def add(self, seconds: float) -> None:
        """Count one measurement; the sample keeps every n-th, evenly over the run."""
        if self.quantiles.count % self._stride == 0:
            if len(self._samples) == MOST_SAMPLES:
                self._samples = self._samples[::2]
                self._stride *= 2
            self._samples.append(round(seconds, 4))
        self.quantiles.add(seconds)

    def latency(self, label: str, *, samples: bool = True) -> Latency | None:
        """What was measured; None without a measurement."""
        if not self.quantiles.count:
            return None
        return Latency(
            label=label,
            count=self.quantiles.count,
            p50=self.quantiles.quantile(0.5),
            p95=self.quantiles.quantile(0.95),
            longest=self.quantiles.largest,
            samples=tuple(self._samples) if samples else (),
        )


class FindingTally:
    """Cases by finding; memory grows with the number of codes, not of records."""

    def __init__(self, *, bodies: bool = False) -> None:
        self._bodies = bodies
        self._counts: dict[str, int] = {}
        self._severities: dict[str, Severity] = {}
        self._examples: dict[str, Example] = {}
        self._follows: dict[str, set[str]] = {}
        self._known: Counter[str] = Counter()

    def add(self, record: Record, excuse: Excuse = NO_EXCUSE) -> None:
        """Count a record once for each of its codes."""
        self._known.update(excuse.codes)
        for code in record.codes:
            self._counts[code] = self._counts.get(code, 0) + 1
            found = next((one for one in record.detail.findings if one.code == code and one.because_of is None), None)
            severity = kind_of(code).severity if found is None else found.severity
            # The worst case counts for all: otherwise a harmless one that came first would keep a gate open.
            if code not in self._examples or severity.rank < self._severities[code].rank:
                self._severities[code] = severity
                self._examples[code] = self._example(record, found)
        for one in record.detail.findings:
            if one.because_of is not None:
                self._follows.setdefault(one.because_of, set()).add(one.code)

    def __iter__(self) -> Iterator[FindingCount]:
        """Worst first, then most frequent."""
        for code in sorted(self._counts, key=lambda code: (self._severities[code].rank, -self._counts[code], code)):
            yield FindingCount(
                code=code,
                severity=self._severities[code],
                count=self._counts[code],
                example=self._examples[code],
                follows=tuple(sorted(self._follows.get(code, ()))),
                known=self._known[code],
            )

    def _example(self, record: Record, found: Finding | None) -> Example:
        probe = "" if record.probe is None else record.probe.probe
        if found is None:
            return Example(case=record.case, probe=probe)
        exchanges = record.detail.exchanges
        exchange = exchanges[found.turn] if self._bodies and found.turn < len(exchanges) else None
        return Example(
            case=record.case,
            probe=probe,
            evidence=found.evidence,
            turn=found.turn,
            call=found.call,
            url="" if exchange is None else exchange.url,
            body=None if exchange is None else exchange.sent or exchange.request.body,
        )


POWERS = (2, 4, 8, 16)
_CUT_OFF = "the run was not finished"
_MOST_DETAILS = 8
_MOST_FINGERPRINTS = 4
_STOPS = (SkipKind.NO_CALL, SkipKind.REFUSED, SkipKind.DECIDED)
"""Enough was known without the case."""
_UNASKED = (SkipKind.NO_CHAT, SkipKind.BUDGET, SkipKind.OUTAGE, None)
"""The case says nothing about how the model uses tools, and could still be asked."""


class CellTally:
    """Counts records of one probe; add in any order, ask at any time."""

    def __init__(self, planned: int = 0) -> None:
        self._planned = planned
        self.outcomes: Counter[Outcome] = Counter()
        self.called: Counter[bool | None] = Counter()
        self.handled: Counter[bool | None] = Counter()
        self._calls = 0
        self.skips: Counter[SkipKind | None] = Counter()
        self._skip_reasons: Counter[str] = Counter()
        self._stop: Record | None = None
        """The first record of an early stop."""
        self._unasked_because: Counter[str] = Counter()
        self._reasons: Counter[str] = Counter()
        self._first_try: Counter[Outcome] = Counter()
        self._known: Counter[Outcome] = Counter()
        self._findings = FindingTally()
        self._turns: list[Times] = []
        self._details: dict[bytes, JsonObject] = {}
        self._fingerprints: dict[str, None] = {}

    def add(self, record: Record, excuse: Excuse = NO_EXCUSE) -> None:
        """Count one record."""
        self.outcomes[record.outcome] += 1
        self._known[record.outcome] += excuse.explained
        self._findings.add(record, excuse)
        if record.outcome is Outcome.SKIPPED:
            self.skips[record.skip] += 1
            self._skip_reasons[record.reason] += 1
            if record.skip in _STOPS:
                self._stop = self._stop or record
            elif record.skip in _UNASKED:
                self._unasked_because[record.cause or record.reason] += 1
        elif record.outcome is not Outcome.PASSED:
            self._reasons[record.reason] += 1
        if record.probe is not None and record.outcome is not Outcome.SKIPPED:
            self._add_facts(record.outcome, record.probe)
        figures = record.detail.figures
        if figures and len(self._details) < _MOST_DETAILS:
            self._details.setdefault(msgspec.json.encode(figures), figures)

    def _add_facts(self, outcome: Outcome, facts: ProbeFacts) -> None:
        self.called[facts.called] += 1
        self._calls += facts.calls
        if facts.called is not False:
            self.handled[facts.handled] += 1
        self._fingerprints |= dict.fromkeys(facts.fingerprints[: _MOST_FINGERPRINTS - len(self._fingerprints)])
        if not facts.retried:
            self._first_try[outcome] += 1
        for number, seconds in enumerate(facts.seconds):
            if number == len(self._turns):
                self._turns.append(Times())
            self._turns[number].add(seconds)

    @property
    def counts(self) -> Counts:
        return Counts(**{outcome.value: self.outcomes[outcome] for outcome in Outcome})

    @property
    def unasked(self) -> int:
        """Cases that could still be asked: beyond a limit on requests, or cut off with the run."""
        return sum(self.skips[kind] for kind in _UNASKED) + max(0, self._planned - self.outcomes.total())

    @property
    def called_rate(self) -> Rate:
        return Rate(k=self.called[True], n=self.called[True] + self.called[False])

    @property
    def handled_rate(self) -> Rate:
        return Rate(k=self.handled[True], n=self.handled[True] + self.handled[False])

    def cell(self, probe: str, group: str, threshold: float) -> Cell:
        """What the counts say."""
        counts = self.counts
        return Cell(
            probe=probe,
            group=group,
            state=_state(counts),
            counts=counts,
            rate=Rate(k=counts.passed, n=counts.measured),
            first_try=_rate(self._first_try),
            called=self.called_rate,
            handled=self.handled_rate,
            calls=self._calls,
            certainty=certainty(counts.passed, counts.measured, threshold),
            reliable=self.reliable(threshold),
            reason=self._reason(counts),
            known=self._known[Outcome.FAILED],
            known_refused=self._known[Outcome.UNSUPPORTED],
            stopped="" if self._stop is None else self._stop.reason,
            stopped_by=None if self._stop is None else self._stop.skip,
            unasked=self.unasked,
            unasked_because=self._why_unasked(),
            cut_off=self._cut_off,
            pass_power=_powers(counts.passed, counts.measured),
            findings=tuple(self._findings),
            latency=self._latency(),
            details=tuple(self._details.values()),
            fingerprints=tuple(self._fingerprints),
        )

    def reliable(self, threshold: float) -> bool | None:
        """Whether calling and handling both reach the threshold, or passing if the two are one."""
        called, handled = self.called_rate, self.handled_rate
        if called.n and handled.n:
            return reaches(called.k, called.n, threshold) and reaches(handled.k, handled.n, threshold)
        measured = self.counts.measured
        return reaches(self.counts.passed, measured, threshold) if measured else None

    def _reason(self, counts: Counts) -> str:
        if self._reasons:
            return _commonest(self._reasons)
        if counts.passed or not self._skip_reasons:
            return "" if counts.total else _CUT_OFF
        return _commonest(self._skip_reasons)

    def _why_unasked(self) -> str:
        if self._unasked_because:
            return _commonest(self._unasked_because)
        return _CUT_OFF if self._cut_off else ""

    @property
    def _cut_off(self) -> bool:
        """Whether cases are missing for no other reason than that the run has not come to them."""
        return bool(self.unasked) and not self._unasked_because

    def _latency(self) -> tuple[Latency, ...]:
        lines = (times.latency(f"turn {number}", samples=False) for number, times in enumerate(self._turns, start=1))
        return tuple(line for line in lines if line is not None)


def _commonest(reasons: Counter[str]) -> str:
    """The most frequent reason; of equally frequent ones the first in the alphabet, so that reports are repeatable."""
    return min(reasons, key=lambda reason: (-reasons[reason], reason))


def _rate(outcomes: Counter[Outcome]) -> Rate:
    passed = outcomes[Outcome.PASSED]
    return Rate(k=passed, n=passed + outcomes[Outcome.FAILED])


def _state(counts: Counts) -> CellState:
    decisive = counts.measured + counts.unsupported
    if counts.measured:
        if counts.passed == decisive:
            return CellState.PASSED
        return CellState.FLAKY if counts.passed else CellState.FAILED
    if counts.unsupported:
        return CellState.UNSUPPORTED
    return CellState.SKIPPED if counts.skipped and not counts.not_measured else CellState.NOT_MEASURED


def _powers(passed: int, n: int) -> tuple[PassPower, ...]:
    powers = []
    for k in POWERS:
        every, one = pass_all(passed, n, k), pass_any(passed, n, k)
        if every is not None and one is not None:
            powers.append(PassPower(k=k, all=every, any=one))
    return tuple(powers)


class Earned(Value):
    """The part of a probe's points that is certain (`low`), and the part that is still possible (`high`)."""

    low: float = 0.0
    high: float = 1.0


UNKNOWN = Earned()
LOST = Earned(low=0.0, high=0.0)


def earned_by(tally: CellTally, *, by_rates: bool = False) -> Earned | None:
    """What a probe earned; None if it did not apply to the model and is left out of the score."""
    counts = tally.counts
    known = counts.measured + counts.unsupported
    unknown = counts.not_measured + tally.unasked
    if not known + unknown:
        return _earned_by_skips(tally)
    return _by_rates(tally) if by_rates else _span(counts.passed, known, unknown)


def _earned_by_skips(tally: CellTally) -> Earned | None:
    if tally.skips[SkipKind.NOT_APPLICABLE]:
        return None
    return LOST if tally.skips[SkipKind.NEED_FAILED] else UNKNOWN


def _by_rates(tally: CellTally) -> Earned:
    """The lower of the rates of calling and of handling: it reaches the threshold when both do."""
    called, handled = tally.called_rate, tally.handled_rate
    refused = tally.outcomes[Outcome.UNSUPPORTED]
    unknown = tally.called[None] - refused + tally.unasked
    calling = _span(called.k, called.n + refused, unknown)
    handling = _span(handled.k, handled.n, called.k - handled.n + unknown)
    return Earned(low=min(calling.low, handling.low), high=min(calling.high, handling.high))


def _span(k: int, known: int, unknown: int) -> Earned:
    total = known + unknown
    return Earned(low=k / total, high=(k + unknown) / total) if total else UNKNOWN


def score_of(tallies: Mapping[str, CellTally], weights: Mapping[str, float], suite: Suite) -> Score:
    """The weighted points; what did not apply gives its weight to the rest."""
    parts = {name: earned_by(tallies[name], by_rates=suite.by_rates) for name in weights if weights[name]}
    kept = {name: part for name, part in parts.items() if part is not None}
    total = sum(weights[name] for name in kept)
    points = {name: 100 * weights[name] / total for name in kept}
    low = sum(points[name] * part.low for name, part in kept.items())
    high = sum(points[name] * part.high for name, part in kept.items()) if kept else 100.0
    return Score(
        low=round(low, 4),
        high=round(high, 4),
        weights={name: round(point, 4) for name, point in points.items()},
    )
