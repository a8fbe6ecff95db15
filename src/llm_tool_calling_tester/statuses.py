"""Convert records of toolcert to test results and back."""

from __future__ import annotations

import time

import msgspec

from llm_tool_calling_tester.models import TestResult, TestStatus
from toolcert.core.cases import Case, Outcome, SkipKind
from toolcert.core.exchanges import Exchange, FaultKind
from toolcert.core.records import Detail, ProbeFacts, Record

_OUTCOMES = {
    Outcome.PASSED: TestStatus.PASSED,
    Outcome.FAILED: TestStatus.FAILED,
    Outcome.UNSUPPORTED: TestStatus.SKIPPED,
    Outcome.SKIPPED: TestStatus.SKIPPED,
    Outcome.NOT_MEASURED: TestStatus.ERROR,
}
_BACK = {
    TestStatus.PASSED: Outcome.PASSED,
    TestStatus.FAILED: Outcome.FAILED,
    TestStatus.SKIPPED: Outcome.SKIPPED,
    TestStatus.ERROR: Outcome.NOT_MEASURED,
}


def result_of(record: Record, test: str) -> TestResult:
    """Convert a record to a test result."""
    exchanges = record.detail.exchanges
    kind = exchanges[-1].fault.kind if exchanges and exchanges[-1].fault is not None else None
    status = _OUTCOMES[record.outcome]
    reason: str | None = record.reason or None
    if record.outcome is Outcome.NOT_MEASURED and kind is FaultKind.RATE_LIMITED:
        status, reason = TestStatus.FAILED, f"rate limited: {record.reason}"
    elif record.outcome is Outcome.NOT_MEASURED and kind is FaultKind.UNKNOWN_MODEL:
        status, reason = TestStatus.SKIPPED, f"model not supported: {record.reason}"
    return TestResult(
        test_name=test,
        status=status,
        latency_ms=round(sum(_milliseconds(exchange) for exchange in exchanges), 1),
        error=None if status is TestStatus.PASSED else reason,
        details={"findings": list(record.codes), "measured": record.outcome.measured, **record.detail.figures},
    )


def record_of(result: TestResult, case: Case, evidence: Detail) -> Record:
    """Convert a test result to a record; the record carries the result in its figures."""
    settled = result.details.get("measured", True) or result.status is TestStatus.SKIPPED
    outcome = _BACK[result.status] if settled else Outcome.NOT_MEASURED
    return Record(
        case=case.key,
        endpoint=case.endpoint,
        model=case.model,
        outcome=outcome,
        reason=result.error or "",
        skip=SkipKind.NOT_APPLICABLE if outcome is Outcome.SKIPPED else None,
        at=time.time(),
        probe=ProbeFacts(probe=case.probe or "", iteration=1),
        detail=msgspec.structs.replace(evidence, figures={"result": msgspec.to_builtins(result)}),
    )


def result_in(record: Record) -> TestResult:
    """The test result in a record; a case that was never asked has only a reason."""
    carried = record.detail.figures.get("result")
    if carried is not None:
        return msgspec.convert(carried, TestResult)
    return result_of(record, record.probe.probe if record.probe else "")


def _milliseconds(exchange: Exchange) -> float:
    return 1000 * (exchange.seconds or 0.0)
