"""What the history stores per run, model and probe, and how it is taken from the summary of a run."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Annotated, TypeAlias

import msgspec

from toolcert.core.errors import UsageError
from toolcert.core.findings import Severity
from toolcert.core.statistics.rates import PROBE_THRESHOLD, Rate
from toolcert.core.values import JsonObject, Value
from toolcert.core.verdict import REPRODUCED, Ability, CappingFinding, Coverage, Verdict, Word, can_cap, decide
from toolcert.diagnose import kind_of
from toolcert.probes.suites import core_of
from toolcert.probes.summary.scorecard import Cell, FindingCount, ModelSummary, ProbeSummary

HELLO = "hello_world"
"""The probe of the older tool, whose history is imported under this name."""


class SeenFinding(Value, gc=False):
    """How often a finding was seen, with one excerpt."""

    code: str
    severity: Severity
    count: int
    evidence: str = ""


Count: TypeAlias = Annotated[int, msgspec.Meta(ge=0)]


class Observation(Value, gc=False):
    """One model and one probe in one run.

    There are many, and none can be part of a cycle, so the garbage collector skips them (`gc=False`), as with `Day`.
    """

    run: str
    endpoint: str
    model: str
    probe: str
    day: str
    """ISO date of the run (UTC)."""
    at: float
    passed: Count = 0
    failed: Count = 0
    unsupported: Count = 0
    not_measured: Count = 0
    skipped: Count = 0
    called: Count = 0
    callable: Count = 0
    """Iterations in which a call could be judged."""
    handled: Count = 0
    handleable: Count = 0
    """Calls whose result could be used."""
    low: float | None = None
    high: float | None = None
    call_p50: float | None = None
    call_p95: float | None = None
    answer_p50: float | None = None
    answer_p95: float | None = None
    first_token_p50: float | None = None
    reason: str = ""
    fingerprint: str | None = None
    original: JsonObject | None = None
    """The row of an imported CSV file, so that an export can write it unchanged."""
    findings: tuple[SeenFinding, ...] = ()

    @property
    def measured(self) -> int:
        return self.passed + self.failed

    @property
    def answered(self) -> bool:
        """Whether it is known if the model calls: a refusal of tools shows that, an error inside a 200 does not."""
        return bool(self.callable or self.unsupported)

    @property
    def calling(self) -> Rate:
        return Rate(k=self.called, n=self.callable)

    @property
    def handling(self) -> Rate:
        return Rate(k=self.handled, n=self.handleable)


class Shortcomings:
    """What was seen of a model on one day, as the rule for verdicts takes it."""

    def __init__(self) -> None:
        self._rates: dict[str, tuple[int, int, int]] = {}
        """Passed, measured and refused of each probe."""
        self._missing: dict[str, int] = {}
        self._errors: dict[str, dict[str, int]] = {}
        """Of each code the cases that show it, by probe."""

    def add_rate(self, probe: str, passed: int, failed: int, refused: int, missing: int) -> None:
        """Count the cases of a probe."""
        self._rates[probe] = (passed, passed + failed, refused)
        self._missing[probe] = missing

    def add_error(self, probe: str, code: str, count: int) -> None:
        """Count the cases of a probe that show an error."""
        if can_cap(code, Severity.ERROR):
            self._errors.setdefault(code, {})[probe] = count

    def verdict(self, threshold: float) -> Verdict:
        """What the rule says of the day."""
        core = core_of(list(self._rates))
        abilities = [
            Ability(
                name=probe,
                k=passed,
                n=measured,
                refused=refused,
                missing=self._missing[probe],
                core=probe in core,
                codes=tuple(code for code, seen in self._errors.items() if probe in seen),
            )
            for probe, (passed, measured, refused) in self._rates.items()
        ]
        measured = sum(measured + refused for _, measured, refused in self._rates.values())
        coverage = Coverage(measured=measured, planned=measured + sum(self._missing.values()))
        return decide(abilities, list(self._faults()), coverage=coverage, threshold=threshold)

    def _faults(self) -> Iterator[CappingFinding]:
        for code, seen in self._errors.items():
            if sum(seen.values()) >= REPRODUCED:
                n = sum(max(count, self._rates.get(probe, (0, 0, 0))[1]) for probe, count in seen.items())
                yield CappingFinding(code=code, title=kind_of(code).said, k=sum(seen.values()), n=n)


class StoredRun(Value):
    """A run in the history."""

    run: str
    day: str
    started_at: float
    source: str
    """`probe`, or `csv` for imported history."""
    finished_at: float | None = None
    interrupted: bool = False
    toolcert: str = ""
    suite: str | None = None
    iterations: int | None = None
    threshold: float = PROBE_THRESHOLD
    versions: dict[str, str] = {}
    partial: bool = False
    """Only some of the listed models were asked, so a model without a result may still be listed."""


class Span(Value):
    """When a model was first and last seen."""

    first_seen: str
    last_seen: str
    first_called: str | None = None


LONGEST_EVIDENCE = 500
LONGEST_FINGERPRINT = 200


def stored_run(summary: ProbeSummary, day: str | None = None) -> StoredRun:
    """The run of a summary; `day` overrides the date on which it started."""
    return StoredRun(
        run=summary.run,
        day=day or day_of(summary.started_at),
        started_at=summary.started_at,
        finished_at=summary.finished_at,
        interrupted=summary.interrupted,
        source="probe",
        toolcert=summary.toolcert,
        suite=summary.suite,
        iterations=summary.iterations,
        threshold=summary.threshold,
        versions=summary.versions,
        partial=summary.partial,
    )


def observations(summary: ProbeSummary, day: str | None = None) -> Iterator[Observation]:
    """One observation per model and probe, including models that could not be asked."""
    for model in summary.models:
        for cell in model.cells:
            yield _observation(summary, model, cell, day or day_of(summary.started_at))


def day_of(at: float) -> str:
    """The UTC date of a moment."""
    return datetime.fromtimestamp(at, UTC).date().isoformat()


def today() -> str:
    """The UTC date."""
    return day_of(time.time())


def past_day(day: str | None) -> str:
    """`day`, or today. A future day is refused: retention would delete everything before it."""
    if day and day > today():
        raise UsageError(
            f"--date {day} is in the future: today is {today()} (UTC).",
            remedy="Give today's date, an earlier one, or none.",
        )
    return day or today()


def _observation(summary: ProbeSummary, model: ModelSummary, cell: Cell, day: str) -> Observation:
    turns = {latency.label: latency for latency in cell.latency}
    first, second = turns.get("turn 1"), turns.get("turn 2")
    refused, skipped = _refused(model, cell)
    return Observation(
        run=summary.run,
        endpoint=model.endpoint,
        model=model.model,
        probe=cell.probe,
        day=day,
        at=summary.started_at,
        passed=cell.counts.passed,
        failed=cell.counts.failed,
        unsupported=refused,
        not_measured=cell.counts.not_measured,
        skipped=skipped,
        called=cell.called.k,
        callable=cell.called.n,
        handled=cell.handled.k,
        handleable=cell.handled.n,
        low=cell.rate.low,
        high=cell.rate.high,
        call_p50=first.p50 if first else None,
        call_p95=first.p95 if first else None,
        answer_p50=second.p50 if second else None,
        answer_p95=second.p95 if second else None,
        first_token_p50=model.seconds("first token"),
        reason=cell.reason,
        fingerprint=", ".join(cell.fingerprints)[:LONGEST_FINGERPRINT] or None,
        findings=tuple(_seen(found) for found in cell.findings),
    )


def _refused(model: ModelSummary, cell: Cell) -> tuple[int, int]:
    """Refusals and skips. A model skipped because it cannot chat counts as refusing, not as an outage."""
    counts = cell.counts
    if model.verdict.word is Word.UNSUPPORTED and counts.total == counts.skipped:
        return counts.skipped, 0
    return counts.unsupported, counts.skipped


def _seen(found: FindingCount) -> SeenFinding:
    return SeenFinding(
        code=found.code,
        severity=found.severity,
        count=found.count,
        evidence=found.example.evidence[:LONGEST_EVIDENCE],
    )
