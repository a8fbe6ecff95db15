"""Reliability: integer counts, intervals, the 0.9 rule, and words that the counts allow."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolcert.core.cases import Outcome
from toolcert.core.records import ProbeFacts, Record
from toolcert.core.statistics.rates import Certainty
from toolcert.probes.summary.cell_tally import CellTally
from toolcert.probes.summary.scorecard import Cell, CellState


def record_of(
    outcome: Outcome,
    *,
    called: bool | None = None,
    handled: bool | None = None,
    reason: str = "",
    retried: bool = False,
    requests: int = 1,
    seconds: tuple[float, ...] = (),
) -> Record:
    facts = ProbeFacts(
        probe="p",
        iteration=1,
        called=called,
        handled=handled,
        retried=retried,
        requests=requests,
        seconds=seconds,
    )
    return Record(case="e/m/p/1", endpoint="e", model="m", outcome=outcome, reason=reason, probe=facts)


def tally_of(*records: Record) -> CellTally:
    tally = CellTally()
    for record in records:
        tally.add(record)
    return tally


def hello(called: int, n: int, handled: int) -> Cell:
    """A two-turn probe over n iterations: so many calls, so many results used."""
    records = [record_of(Outcome.PASSED, called=True, handled=True)] * handled
    records += [record_of(Outcome.FAILED, called=True, handled=False)] * (called - handled)
    records += [record_of(Outcome.FAILED, called=False)] * (n - called)
    return tally_of(*records).cell("p", "calling", 0.9)


@pytest.mark.parametrize(
    ("called", "n", "handled", "reliable"),
    [(45, 50, 45, True), (44, 50, 44, False), (45, 50, 40, False), (29, 50, 29, False), (46, 50, 42, True)],
)
def test_reliable_means_both_rates_reach_09(called: int, n: int, handled: int, reliable: bool) -> None:
    cell = hello(called, n, handled)
    assert cell.reliable is reliable
    assert (str(cell.called), str(cell.handled)) == (f"{called}/{n}", f"{handled}/{called}")


@pytest.mark.parametrize(
    ("passed", "n", "word"),
    [
        (35, 35, Certainty.PROVEN),
        (10, 10, Certainty.LIKELY),
        (9, 10, Certainty.LIKELY),
        (9, 9, Certainty.INCONCLUSIVE),
        (29, 50, Certainty.UNRELIABLE),
        (44, 50, Certainty.INCONCLUSIVE),
    ],
)
def test_the_word_is_what_the_interval_allows(passed: int, n: int, word: Certainty) -> None:
    assert hello(passed, n, passed).certainty is word


def test_ten_of_ten_shows_only_72_percent() -> None:
    rate = hello(10, 10, 10).rate
    assert rate.low == pytest.approx(0.7225, abs=1e-4)
    assert rate.high == 1.0


def test_what_is_not_measured_stays_outside_every_rate() -> None:
    cell = tally_of(
        record_of(Outcome.PASSED, called=True, handled=True),
        record_of(Outcome.NOT_MEASURED),
        record_of(Outcome.NOT_MEASURED, called=True),
    ).cell("p", "calling", 0.9)
    assert str(cell.rate) == "1/1"
    assert str(cell.called) == "2/2"
    assert str(cell.handled) == "1/1"
    assert cell.counts.not_measured == 2


def test_first_tries_and_retries_are_kept_apart() -> None:
    cell = tally_of(record_of(Outcome.PASSED), record_of(Outcome.PASSED, retried=True), record_of(Outcome.FAILED)).cell(
        "p", "format", 0.9
    )
    assert str(cell.rate) == "2/3"
    assert str(cell.first_try) == "1/2"


def test_pass_power_is_the_chance_that_all_of_k_pass() -> None:
    powers = {power.k: power for power in hello(9, 10, 9).pass_power}
    assert powers[2].all == pytest.approx(36 / 45)
    assert powers[2].any == 1.0
    assert 16 not in powers


@pytest.mark.parametrize(
    ("outcomes", "state"),
    [
        ([Outcome.PASSED, Outcome.PASSED], CellState.PASSED),
        ([Outcome.PASSED, Outcome.FAILED], CellState.FLAKY),
        ([Outcome.FAILED], CellState.FAILED),
        ([Outcome.FAILED, Outcome.NOT_MEASURED], CellState.FAILED),
        ([Outcome.UNSUPPORTED], CellState.UNSUPPORTED),
        ([Outcome.UNSUPPORTED, Outcome.PASSED], CellState.FLAKY),
        ([Outcome.NOT_MEASURED, Outcome.SKIPPED], CellState.NOT_MEASURED),
        ([Outcome.SKIPPED], CellState.SKIPPED),
        ([], CellState.NOT_MEASURED),
    ],
)
def test_the_state_of_a_cell(outcomes: list[Outcome], state: CellState) -> None:
    assert tally_of(*(record_of(outcome) for outcome in outcomes)).cell("p", "calling", 0.9).state is state


def test_the_commonest_reason_is_given() -> None:
    reasons = ["a", "b", "b"]
    cell = tally_of(*(record_of(Outcome.FAILED, reason=reason) for reason in reasons)).cell("p", "calling", 0.9)
    assert cell.reason == "b"


def test_latency_is_counted_by_turn() -> None:
    cell = tally_of(*(record_of(Outcome.PASSED, seconds=(0.1 * n, 0.5)) for n in range(1, 11))).cell("p", "x", 0.9)
    first, second = cell.latency
    assert (first.label, first.count) == ("turn 1", 10)
    assert first.p50 == pytest.approx(0.5, rel=0.02)
    assert second.p95 == pytest.approx(0.5, rel=0.02)


@given(st.lists(st.sampled_from(list(Outcome)), max_size=40), st.randoms())
def test_the_order_of_records_changes_nothing(outcomes: list[Outcome], chance: object) -> None:
    records = [record_of(outcome, called=outcome is Outcome.PASSED) for outcome in outcomes]
    shuffled = list(records)
    chance.shuffle(shuffled)  # type: ignore[attr-defined]  # hypothesis' own random
    assert tally_of(*records).cell("p", "calling", 0.9) == tally_of(*shuffled).cell("p", "calling", 0.9)
