"""Non-inferiority: is each rate of the vendor at most the margin worse, and if unknown, how many rows would tell?"""

from __future__ import annotations

from toolcert.compare.cells import Decisions
from toolcert.compare.chance import call_rate, correctness, decision_excess, payload_excess, validity
from toolcert.compare.comparison import MarginTest
from toolcert.compare.paired import Discordance, MarginOutcome, judge_margin, rows_to_decide, tango
from toolcert.compare.pairing import Pairing
from toolcert.core.values import Value

QUALITY = frozenset({"call_rate", "validity", "correctness"})
"""Worse in one of these is worse; the others only say how different a vendor is."""
AGREEMENT = frozenset({"agreement", "payload"})


class Limits(Value):
    """How much worse is still the same, and how sure we want to be."""

    margin: float
    confidence: float


def margin_tests(pairing: Pairing, decisions: Decisions, limits: Limits) -> list[MarginTest]:
    """Every rate that must not be worse, and agreement that must not be lower than the ceiling."""
    tests = [
        _test("call_rate", "calls as often", call_rate(pairing, decisions), limits),
        _test("validity", "makes valid calls as often", validity(pairing), limits),
    ]
    right = correctness(pairing)
    if right.n:
        tests.append(_test("correctness", "meets the dataset's expectations as often", right, limits))
    if len(pairing.others) > 1:
        decided = decision_excess(pairing, decisions).discordance
        tests.append(
            _test("agreement", "agrees with the baseline as often as the baseline with itself", decided, limits)
        )
        called = payload_excess(pairing).discordance
        tests.append(_test("payload", "calls the same as often as the baseline with itself", called, limits))
    else:
        tests.append(_without_ceiling(pairing, decisions, limits))
    return tests


def _without_ceiling(pairing: Pairing, decisions: Decisions, limits: Limits) -> MarginTest:
    """With one baseline run all disagreement may be excess: enough to pass, never enough to fail."""
    rate = call_rate(pairing, decisions)
    differing = Discordance(gained=0, lost=rate.gained + rate.lost, n=rate.n)
    test = _test("agreement", "agrees with the one baseline run there is", differing, limits)
    if test.outcome is not MarginOutcome.FAILED:
        return test
    return MarginTest(
        name=test.name,
        question=test.question,
        outcome=MarginOutcome.INCONCLUSIVE,
        rows=test.rows,
        interval=test.interval,
    )


def _test(name: str, question: str, rows: Discordance, limits: Limits) -> MarginTest:
    interval = tango(rows, limits.confidence)
    outcome = judge_margin(interval, limits.margin)
    open_question = outcome is MarginOutcome.INCONCLUSIVE
    return MarginTest(
        name=name,
        question=question,
        outcome=outcome,
        rows=rows,
        interval=interval,
        rows_needed=rows_to_decide(rows, limits.margin, limits.confidence) if open_question else None,
    )
