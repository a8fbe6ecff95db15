"""The tests of one vendor: whether chance explains a difference, and whether each rate is at most the margin worse."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator

import msgspec

from toolcert.comparison.match.pairs import Answer, Decisions, Pairing
from toolcert.comparison.result import MarginTest
from toolcert.comparison.stats.significance import (
    Discordance,
    MarginOutcome,
    excess,
    judge_margin,
    rows_to_decide,
    tango,
)
from toolcert.core.statistics.p_values import mcnemar, mcnemar_more
from toolcert.core.values import Value


class RawTest(Value):
    """A test before the correction for multiple tests."""

    name: str
    question: str
    p: float
    more: int
    less: int


class Excess(Value):
    """How often the vendor and the further baseline runs differ from the baseline, row by row."""

    vendor_only: int = 0
    """Rows on which the vendor differs and no further run does; with one further run, as in a sign test."""
    further_only: int = 0
    """Rows on which a further run differs and the vendor does not."""
    discordance: Discordance = Discordance(gained=0, lost=0, n=0)
    """Agreement of the vendor against that of the first further run."""
    vendor_differs: int = 0
    """Rows on which the vendor differs, among those that say anything."""
    informative: dict[int, int] = {}
    """Rows by how many of all answers differ."""
    runs: int = 1

    @property
    def p(self) -> float:
        return excess(self.vendor_differs, self.informative, self.runs)


def count_excess(
    pairing: Pairing, applies: Callable[[Answer], bool], differs: Callable[[Answer, Answer], bool]
) -> Excess:
    """Count differences from the baseline on rows that every run answered and to which the question applies."""
    informative: Counter[int] = Counter()
    rows = vendor_only = further_only = gained = lost = vendor_differs = 0
    for pattern, count in pairing.items():
        answers = (pattern.vendor, *pattern.further)
        if not all(applies(answer) for answer in (pattern.baseline, *answers)):
            continue
        rows += count
        vendor, *further = [differs(pattern.baseline, answer) for answer in answers]
        differing = vendor + sum(further)
        if 0 < differing < len(answers):
            informative[differing] += count
            vendor_differs += count * vendor
        vendor_only += count * (vendor and not any(further))
        further_only += count * (any(further) and not vendor)
        lost += count * (vendor and not further[0])
        gained += count * (further[0] and not vendor)
    return Excess(
        vendor_only=vendor_only,
        further_only=further_only,
        discordance=Discordance(gained=gained, lost=lost, n=rows),
        vendor_differs=vendor_differs,
        informative=dict(informative),
        runs=len(pairing.others),
    )


def decision_excess(pairing: Pairing, decisions: Decisions) -> Excess:
    """Differences in the decision to call."""
    return count_excess(
        pairing,
        lambda answer: answer.measured,
        lambda own, other: decisions.called(own) != decisions.called(other),
    )


def payload_excess(pairing: Pairing) -> Excess:
    """Differences in what is called, on rows where every run calls."""
    return count_excess(pairing, lambda answer: answer.called, lambda _, other: not other.same_payload)


def count_discordance(pairing: Pairing, fact: Callable[[Answer], bool | None]) -> Discordance:
    """Rows on which the fact holds for only one of baseline and vendor, among those where both are known."""
    gained = lost = n = 0
    for pattern, count in pairing.items():
        own, theirs = fact(pattern.baseline), fact(pattern.vendor)
        if pattern.measured and own is not None and theirs is not None:
            n += count
            gained += count * (theirs and not own)
            lost += count * (own and not theirs)
    return Discordance(gained=gained, lost=lost, n=n)


def call_rate(pairing: Pairing, decisions: Decisions) -> Discordance:
    """Who calls more often."""
    return count_discordance(pairing, decisions.called)


def validity(pairing: Pairing) -> Discordance:
    """Whose calls satisfy their schemas, on rows where both call."""
    return count_discordance(pairing, lambda answer: answer.valid)


def correctness(pairing: Pairing) -> Discordance:
    """Who meets the expectations that the dataset itself states."""
    return count_discordance(pairing, lambda answer: answer.correct)


def raw_tests(pairing: Pairing, decisions: Decisions) -> list[RawTest]:
    """The tests of chance; those that need a noise ceiling only where there is one."""
    tests = []
    if len(pairing.others) > 1:
        tests.append(
            _of_excess(
                "decision",
                "differs in the decision to call more than the baseline from itself",
                decision_excess(pairing, decisions),
            )
        )
        tests.append(
            _of_excess(
                "payload", "differs in what it calls more than the baseline from itself", payload_excess(pairing)
            )
        )
    rate = call_rate(pairing, decisions)
    tests.append(
        RawTest(
            name="call_rate",
            question="calls more or less often",
            p=mcnemar(rate.lost, rate.gained),
            more=rate.lost,
            less=rate.gained,
        )
    )
    tests.append(_worse("validity", "makes more invalid calls", validity(pairing)))
    right = correctness(pairing)
    if right.n:
        tests.append(_worse("correctness", "meets the dataset's expectations less often", right))
    return tests


def _of_excess(name: str, question: str, found: Excess) -> RawTest:
    return RawTest(name=name, question=question, p=found.p, more=found.vendor_only, less=found.further_only)


def _worse(name: str, question: str, rows: Discordance) -> RawTest:
    return RawTest(
        name=name, question=question, p=mcnemar_more(rows.lost, rows.gained), more=rows.lost, less=rows.gained
    )


QUALITY = frozenset({"call_rate", "validity", "correctness"})
"""A loss in one of these makes a vendor worse; the other tests only show how different it is."""


class Limits(Value):
    """The loss that still counts as equal, and the confidence of the intervals."""

    margin: float
    confidence: float


def margin_tests(pairing: Pairing, decisions: Decisions, limits: Limits) -> list[MarginTest]:
    """Every rate that must not be worse, and agreement that must not be lower than the ceiling.

    Validity is tested only if there are calls, correctness only if the dataset states expectations.
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
    """With one baseline run, all disagreement may be excess: the test can pass, but never fail.

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
    """How many rows of the dataset give `needed` rows on which a fact is known, if the share stays as it is."""
    return None if needed is None else math.ceil(needed * compared / rows.n)
