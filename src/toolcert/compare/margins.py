"""Non-inferiority: is each rate of the vendor at most the margin worse, and if unknown, how many rows would tell?"""

from __future__ import annotations

import math
from collections.abc import Iterator

import msgspec

from toolcert.compare.cells import Decisions
from toolcert.compare.chance import call_rate, correctness, decision_excess, payload_excess, validity
from toolcert.compare.comparison import MarginTest
from toolcert.compare.paired import Discordance, MarginOutcome, judge_margin, rows_to_decide, tango
from toolcert.compare.pairing import Pairing
from toolcert.core.values import Value

QUALITY = frozenset({"call_rate", "validity", "correctness"})
"""Worse in one of these is worse; the others only say how different a vendor is."""


class Limits(Value):
    """How much worse is still the same, and how sure we want to be."""

    margin: float
    confidence: float


def margin_tests(pairing: Pairing, decisions: Decisions, limits: Limits) -> list[MarginTest]:
    """Every rate that must not be worse, and agreement that must not be lower than the ceiling.

    Where nobody calls there is no validity to lose, and where nothing is expected no correctness.
    """
    rate = call_rate(pairing, decisions)
    tests = [_test("call_rate", "calls as often", rate, limits, rate.n)]
    further = [
        ("validity", "makes valid calls as often", validity(pairing)),
        ("correctness", "meets the dataset's expectations as often", correctness(pairing)),
    ]
    tests += [_test(name, question, rows, limits, rate.n) for name, question, rows in further if rows.n]
    if len(pairing.others) == 1:
        return [*tests, _without_ceiling(rate, limits)]
    return [*tests, *_against_ceiling(pairing, decisions, limits, rate.n)]


def _against_ceiling(pairing: Pairing, decisions: Decisions, limits: Limits, compared: int) -> Iterator[MarginTest]:
    decided = decision_excess(pairing, decisions).discordance
    yield _test("agreement", "agrees with the baseline as often as the baseline with itself", decided, limits, compared)
    called = payload_excess(pairing).discordance
    if called.n:
        yield _test("payload", "calls the same as often as the baseline with itself", called, limits, compared)


def _without_ceiling(rate: Discordance, limits: Limits) -> MarginTest:
    """With one baseline run all disagreement may be excess: enough to pass, never enough to fail.

    More rows help only where the disagreement is within the margin; beyond it, only a second run does.
    """
    differing = Discordance(gained=0, lost=rate.gained + rate.lost, n=rate.n)
    test = _test("agreement", "agrees with the one baseline run there is", differing, limits, rate.n)
    if (differing.difference or 0.0) > -limits.margin:
        return test
    return msgspec.structs.replace(test, outcome=MarginOutcome.INCONCLUSIVE, rows_needed=None)


def _test(name: str, question: str, rows: Discordance, limits: Limits, compared: int) -> MarginTest:
    interval = tango(rows, limits.confidence)
    outcome = judge_margin(interval, limits.margin)
    needed = None
    if outcome is MarginOutcome.INCONCLUSIVE:
        needed = rows_to_ask(rows_to_decide(rows, limits.margin, limits.confidence), rows, compared)
    return MarginTest(name=name, question=question, outcome=outcome, rows=rows, interval=interval, rows_needed=needed)


def rows_to_ask(needed: int | None, rows: Discordance, compared: int) -> int | None:
    """How many rows of the dataset give `needed` rows on which a fact can be told, if the share stays as it is."""
    return None if needed is None else math.ceil(needed * compared / rows.n)
