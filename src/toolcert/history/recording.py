"""From the summary of a finished probe run to what the store keeps of it."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import UTC, datetime

from toolcert.core.errors import UsageError
from toolcert.history.observation import Observation, SeenFinding, StoredRun
from toolcert.probes.scorecard import Category, Cell, FindingCount, ModelSummary, ProbeSummary

LONGEST_EVIDENCE = 500
LONGEST_FINGERPRINT = 200


def stored_run(summary: ProbeSummary, day: str | None = None) -> StoredRun:
    """The run itself; `day` overrides the date it was started on."""
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
    )


def observations(summary: ProbeSummary, day: str | None = None) -> Iterator[Observation]:
    """One observation per model and probe; models that could not be asked included."""
    for model in summary.models:
        for cell in model.cells:
            yield _observation(summary, model, cell, day or day_of(summary.started_at))


def day_of(at: float) -> str:
    """The UTC date of a moment."""
    return datetime.fromtimestamp(at, UTC).date().isoformat()


def today() -> str:
    """The UTC date."""
    return day_of(time.time())


def day_that_came(day: str | None) -> str:
    """`day`, or today; one that is yet to come is a slip, and everything up to it would count as old."""
    if day and day > today():
        raise UsageError(
            f"--date {day} is yet to come: today is {today()} (UTC).", remedy="Name a day that has begun, or none."
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
    """Refusals and skips: that a model is not asked because it cannot chat is known, and no outage."""
    counts = cell.counts
    if model.category is Category.UNSUPPORTED and counts.total == counts.skipped:
        return counts.skipped, 0
    return counts.unsupported, counts.skipped


def _seen(found: FindingCount) -> SeenFinding:
    return SeenFinding(
        code=found.code,
        severity=found.severity,
        count=found.count,
        evidence=found.example.evidence[:LONGEST_EVIDENCE],
    )
