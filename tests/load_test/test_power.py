"""How often a load run finds a planted fault, and how often it accuses a vendor without one: simulated, no network."""

from __future__ import annotations

import pytest

from support.loads import Asked, vendor
from toolcert.core.statistics.p_values import binomial_tail, fisher_tail, rank_sum
from toolcert.core.statistics.sequential import PairedTest
from toolcert.load_test.summary import detectable
from toolcert.probes.summary.load_tally import CORRUPTION_ALPHA

SEEDS = range(50)


@pytest.mark.heavy
@pytest.mark.parametrize(("fault", "within"), [("crosstalk", 500), ("corrupts", 1500)])
def test_two_percent_from_16_at_a_time_on_is_found_in_nine_of_ten_runs(fault: str, within: int) -> None:
    found = [Asked(vendor(seed, **{fault: 0.02})).found for seed in SEEDS]
    assert sum(place is not None and place <= within for place in found) >= 45, found


@pytest.mark.heavy
@pytest.mark.parametrize("shares", [{}, {"busy": 0.05}, {"errs": 0.02, "busy": 0.05}, {"errs": 0.2}], ids=str)
def test_a_vendor_without_the_fault_is_accused_in_at_most_five_of_fifty_runs(shares: dict[str, float]) -> None:
    accused = sum(Asked(vendor(seed, **shares)).tally.broken for seed in SEEDS)
    assert accused <= 5


@pytest.mark.heavy
@pytest.mark.parametrize("first", [3, 9, 14])
def test_the_search_finds_where_calls_begin_to_break(first: int) -> None:
    """Twenty seeds: nearly always the level lies between the two that the search names."""
    hits = 0
    for seed in range(20):
        tally = Asked(vendor(seed, level=first, corrupts=0.05), bisect=True).tally
        sound = max((one.level for one in tally.trials.values() if not one.breaks), default=1)
        broken = min((one.level for one in tally.trials.values() if one.breaks), default=16)
        hits += bool(tally.trials) and sound < first <= broken
    assert hits >= 17


def test_seven_broken_pairs_and_none_mended_decide() -> None:
    test = PairedTest(CORRUPTION_ALPHA)
    assert test.needed() == 7
    for _ in range(6):
        test.update(worse=True)
    assert not test.decided
    test.update(worse=True)
    assert test.decided
    assert test.exact == pytest.approx(2**-7)
    assert test.p > test.exact  # the price of looking after every pair


def test_pairs_that_differ_both_ways_decide_nothing() -> None:
    test = PairedTest(CORRUPTION_ALPHA)
    for number in range(400):
        test.update(worse=bool(number % 2))
    assert (test.decided, test.worse, test.better) == (False, 200, 200)


def test_a_decision_is_not_taken_back() -> None:
    test = PairedTest(CORRUPTION_ALPHA)
    for worse in [True] * 8 + [False] * 8:
        test.update(worse=worse)
    assert test.decided


def test_tails_by_hand() -> None:
    assert binomial_tail(7, 7, 0.5) == pytest.approx(1 / 128)
    assert fisher_tail(4, 4, 0, 4) == pytest.approx(1 / 70)


@pytest.mark.heavy
def test_the_tails_are_those_of_scipy() -> None:
    from scipy import stats

    for k, n, rate in [(0, 9, 0.5), (7, 7, 0.5), (3, 20, 0.5), (15, 750, 0.02), (750, 750, 0.3)]:
        assert binomial_tail(k, n, rate) == pytest.approx(stats.binom.sf(k - 1, n, rate), rel=1e-9, abs=1e-300)
    for k, n, k_before, n_before in [(5, 30, 0, 30), (0, 30, 4, 30), (12, 40, 3, 55), (0, 0, 0, 0)]:
        table = [[k, n - k], [k_before, n_before - k_before]]
        wanted = stats.fisher_exact(table, alternative="greater").pvalue
        assert fisher_tail(k, n, k_before, n_before) == pytest.approx(wanted, rel=1e-9)


def test_equal_times_are_no_news() -> None:
    assert rank_sum([1.0] * 5, [1.0] * 5) == 1.0
    assert rank_sum([1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0]) < 0.02


@pytest.mark.heavy
def test_the_rank_sum_is_that_of_scipy() -> None:
    from scipy import stats

    before, after = [0.5, 0.6, 0.6, 0.7, 1.0, 0.4], [0.6, 0.9, 1.1, 0.8, 0.7, 1.3, 1.0]
    wanted = stats.mannwhitneyu(after, before, alternative="greater", method="asymptotic").pvalue
    assert rank_sum(before, after) == pytest.approx(wanted, rel=1e-9)
    assert rank_sum([], after) == rank_sum([1.0] * 5, [1.0] * 5) == 1.0


def test_what_is_detectable_shrinks_with_the_pairs_and_grows_with_the_models_own_errors() -> None:
    assert detectable(6, 7) is None
    few, many = detectable(100, 7), detectable(750, 7)
    assert few is not None
    assert many is not None
    assert few > 0.05
    assert many < 0.02
    noisy = detectable(750, 7, wrong_alone=75)
    assert noisy is not None
    assert noisy > 2 * many
