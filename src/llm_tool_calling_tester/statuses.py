"""Convert records of toolcert to test results and back."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence

import msgspec

from llm_tool_calling_tester.models import TestResult, TestStatus
from toolcert.core.cases import Case, Outcome, SkipKind
from toolcert.core.errors import NothingMeasuredError
from toolcert.core.exchanges import Exchange, Fault, FaultKind, Unreadable
from toolcert.core.records import Detail, ProbeFacts, Record
from toolcert.protocol.reply import read_reply

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
OTHER_VALUES = "json.other_values"


class RequestFailedError(NothingMeasuredError):
    """A request of `chat_completion` got no answer; `fault` says why if the server said it by a status."""

    def __init__(self, message: str, fault: Fault | None = None) -> None:
        super().__init__(message)
        self.fault = fault


def result_of(record: Record, test: str) -> TestResult:
    """Convert a record to a test result."""
    exchanges = record.detail.exchanges
    fault = exchanges[-1].fault if exchanges else None
    status, reason = _OUTCOMES[record.outcome], record.reason
    measured = record.outcome.measured
    if record.outcome is Outcome.NOT_MEASURED:
        status, reason = _status_of_fault(fault, reason)
    elif record.outcome is Outcome.FAILED and exchanges and (trouble := trouble_in(exchanges[-1])):
        status, reason, measured = TestStatus.ERROR, trouble, False
    elif OTHER_VALUES in record.codes and test == "json_mode":
        status = TestStatus.PASSED  # the text asks for the fields; the finding beside it says the rest
    return TestResult(
        test_name=test,
        status=status,
        latency_ms=round(sum(_milliseconds(exchange, record.at) for exchange in exchanges), 1),
        error=None if status is TestStatus.PASSED else reason or None,
        details={"findings": list(record.codes), "measured": measured, **record.detail.figures},
    )


def result_of_error(test: str, error: Exception, seconds: float = 0.0) -> TestResult:
    """The result of a user's test that raised an exception after this many seconds."""
    status, reason = TestStatus.ERROR, f"{type(error).__name__}: {error}"
    if isinstance(error, NothingMeasuredError):
        status, reason = _status_of_fault(getattr(error, "fault", None), error.message)
    latency = round(1000 * seconds, 1)
    return TestResult(test_name=test, status=status, latency_ms=latency, error=reason, details={"measured": False})


def _status_of_fault(fault: Fault | None, reason: str) -> tuple[TestStatus, str]:
    if fault is not None and fault.kind is FaultKind.RATE_LIMITED:
        return TestStatus.FAILED, f"rate limited: {reason}"
    if fault is not None and fault.kind in (FaultKind.UNKNOWN_MODEL, FaultKind.UNSUPPORTED):
        return TestStatus.SKIPPED, f"model not supported: {reason}"
    return TestStatus.ERROR, reason


def trouble_in(exchange: Exchange) -> str:
    """The error that a server hides in an answer with status 200: an error object, a web page, the end of a stream."""
    if exchange.fault is not None:
        return ""
    reply = read_reply(exchange)
    for one in reply.irregularities:
        if one.code == "stream.error_inside":
            return f"the stream ends in an error: {one.evidence}"
    # JSON of another shape is an answer, and a failure of the model's server.
    if reply.readable or not reply.irregularities or reply.unreadable is Unreadable.SHAPE:
        return ""
    return reply.irregularities[-1].evidence


def record_of(results: Mapping[str, TestResult], case: Case, evidence: Detail) -> Record:
    """Convert the results of a case to a record, which carries them in its figures."""
    outcome, reason = Outcome.PASSED, ""
    for result in results.values():
        settled = result.details.get("measured", True) or result.status is TestStatus.SKIPPED
        one = _BACK[result.status] if settled else Outcome.NOT_MEASURED
        # An unmeasured test is asked again when the run resumes, so it decides the outcome of the whole case.
        if outcome is Outcome.PASSED or one is Outcome.NOT_MEASURED:
            outcome, reason = one, result.error or ""
    return Record(
        case=case.key,
        endpoint=case.endpoint,
        model=case.model,
        outcome=outcome,
        reason=reason,
        skip=SkipKind.NOT_APPLICABLE if outcome is Outcome.SKIPPED else None,
        at=time.time(),
        probe=ProbeFacts(probe=case.probe or "", iteration=1),
        detail=msgspec.structs.replace(evidence, figures={"results": msgspec.to_builtins(dict(results))}),
    )


def results_in(record: Record, tests: Sequence[str]) -> dict[str, TestResult]:
    """The test results in a record; a case that was never asked has only a reason, for each of its `tests`."""
    figures = record.detail.figures
    if "results" in figures:
        return msgspec.convert(figures["results"], dict[str, TestResult])
    if "result" in figures:  # version 0.1
        one = msgspec.convert(figures["result"], TestResult)
        return {one.test_name: one}
    probe = record.probe.probe if record.probe else ""
    return {test: result_of(record, test) for test in ([probe] if probe in tests else tests)}


def _milliseconds(exchange: Exchange, end: float) -> float:
    """The time of the last attempt; one that was given up lasted until the test ended."""
    seconds = exchange.seconds
    if seconds is None and exchange.attempts:
        seconds = max(0.0, end - exchange.last.started_at)
    return 1000 * (seconds or 0.0)
