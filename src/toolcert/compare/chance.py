"""What chance would do: how often vendor and baseline differ, row by row, and the tests of that."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from toolcert.compare.cells import Decisions
from toolcert.compare.paired import Discordance
from toolcert.compare.pairing import Answer, Pairing
from toolcert.compare.significance import excess, mcnemar, mcnemar_more
from toolcert.core.values import Value


class RawTest(Value):
    """A test before the correction for having asked many questions."""

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
    """Rows on which only one of baseline and vendor has a fact, among those where it can be told of both."""
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
    """The questions put to chance; those that need a noise ceiling only where there is one."""
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
