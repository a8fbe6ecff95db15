"""The counts of who called, and every figure that follows from them."""

from __future__ import annotations

import math
import random
import statistics
import time
from collections import Counter

import pytest

from toolcert.comparison.stats.confusion import (
    METRICS,
    Confusion,
    always_calling,
    best_at_these_rates,
    calling_at_random,
    cell,
)
from toolcert.comparison.stats.vendor_figures import binomial, bootstrap

VENDOR_A = Confusion(tp=412, fp=22, fn=39, tn=38)


def test_the_published_example_comes_out():
    cells = Confusion(tp=510, fp=475, fn=173, tn=842)
    assert cells.precision == pytest.approx(0.5178, abs=5e-5)
    assert cells.recall == pytest.approx(0.7467, abs=5e-5)
    assert cells.f1 == pytest.approx(0.6115, abs=5e-5)


def test_kappa_by_hand():
    assert Confusion(tp=20, fp=10, fn=5, tn=15).kappa == pytest.approx(0.4)


@pytest.mark.heavy
@pytest.mark.parametrize("cells", [VENDOR_A, Confusion(tp=440, fp=11, fn=13, tn=47), Confusion(tp=1, fp=5, fn=2, tn=0)])
def test_kappa_and_mcc_equal_statsmodels_and_scipy(cells):
    from scipy import stats
    from statsmodels.stats.inter_rater import cohens_kappa

    table = [[cells.tp, cells.fn], [cells.fp, cells.tn]]
    assert cells.kappa == pytest.approx(cohens_kappa(table).kappa)
    baseline = [1] * int(cells.tp + cells.fn) + [0] * int(cells.fp + cells.tn)
    vendor = [1] * int(cells.tp) + [0] * int(cells.fn) + [1] * int(cells.fp) + [0] * int(cells.tn)
    assert cells.mcc == pytest.approx(stats.pearsonr(baseline, vendor).statistic)


def test_always_calling_would_beat_the_public_vendor():
    """F1 .9311 alone says nothing: always calling scores .9376."""
    assert VENDOR_A.f1 == pytest.approx(0.9311, abs=5e-5)
    assert always_calling(VENDOR_A).f1 == pytest.approx(0.9376, abs=5e-5)
    assert always_calling(VENDOR_A).kappa == 0


def test_calling_at_random_has_no_kappa_and_the_same_rate():
    blind = calling_at_random(VENDOR_A)
    assert blind.kappa == pytest.approx(0)
    assert blind.mcc == pytest.approx(0, abs=1e-12)
    assert blind.vendor_rate == pytest.approx(VENDOR_A.vendor_rate)
    assert blind.f1 == pytest.approx(2 * (451 / 511) * (434 / 511) / (451 / 511 + 434 / 511))


def test_the_best_at_the_same_rates_misses_only_what_the_rates_force():
    best = best_at_these_rates(VENDOR_A)
    assert (best.tp, best.fp, best.fn, best.tn) == (434, 0, 17, 60)
    assert best.vendor_rate == VENDOR_A.vendor_rate
    assert best.baseline_rate == VENDOR_A.baseline_rate


def test_nothing_is_computed_from_nothing():
    assert [metric(Confusion()) for metric in METRICS.values()] == [None] * 6
    only_negative = Confusion(tn=5)
    assert only_negative.agreement == 1
    assert (only_negative.precision, only_negative.recall, only_negative.f1) == (None, None, None)
    assert (only_negative.kappa, only_negative.mcc) == (None, None)
    assert calling_at_random(Confusion()) == Confusion()


def test_cells_add_up():
    cells = Confusion()
    for baseline in (True, False):
        for vendor in (True, False):
            cells = cells.plus(cell(baseline, vendor))
    assert cells == Confusion(tp=1, fp=1, fn=1, tn=1)


@pytest.mark.parametrize(("n", "p"), [(511, 0.08), (20, 0.5), (100_000, 0.3), (3, 0.99), (1000, 0.0005)])
def test_binomial_draws_have_the_right_distribution(n, p):
    rng = random.Random(1)
    draws = [binomial(n, p, rng) for _ in range(4000)]
    spread = math.sqrt(n * p * (1 - p))
    assert sum(draws) / len(draws) == pytest.approx(n * p, abs=4 * spread / 4000**0.5 + 1e-9)
    assert statistics.stdev(draws) == pytest.approx(spread, rel=0.08)
    assert all(0 <= draw <= n for draw in draws)


@pytest.mark.parametrize(
    ("n", "p"), [(12, 0.3), (12, 0.7), (500, 0.01), (1, 0.5), (2, 0.5), (0, 0.4), (5, 0.0), (5, 1.0)]
)
def test_small_binomial_draws_are_exact(n, p):
    """Every number as often as its probability says, the ends included."""
    rng, times = random.Random(2), 20_000
    drawn = Counter(binomial(n, p, rng) for _ in range(times))
    for k in range(n + 1):
        chance = math.comb(n, k) * p**k * (1 - p) ** (n - k)
        assert drawn.pop(k, 0) == pytest.approx(times * chance, abs=5 * math.sqrt(times * chance * (1 - chance)) + 1)
    assert not drawn


def test_the_rarest_draw_of_many_trials_takes_no_longer_than_others():
    """Their probabilities, rounded, may sum to less than what was drawn."""

    class Rare(random.Random):
        def random(self):
            return 1 - 2**-53

    begun = time.process_time()
    assert 0 <= binomial(100_000_000, 1e-6, Rare()) <= 1000
    assert time.process_time() - begun < 1


def kappa_of(sums):
    return Confusion(tp=sums[0], fp=sums[1], fn=sums[2], tn=sums[3]).kappa


def all_of(*figures):
    return lambda sums: [figure(sums) for figure in figures]


def rate_of(sums):
    return sums[0] / sum(sums)


@pytest.mark.heavy
def test_the_bootstrap_agrees_with_scipys_on_single_prompts():
    from scipy import stats

    outcomes = [1] * 412 + [0] * 99
    expected = stats.bootstrap((outcomes,), lambda x, axis: x.mean(axis=axis), method="percentile", random_state=3)
    [interval] = bootstrap([((1, 0), 412), ((0, 1), 99)], all_of(rate_of), confidence=0.95, seed=3)
    assert interval is not None
    assert interval.lower == pytest.approx(expected.confidence_interval.low, abs=0.004)
    assert interval.upper == pytest.approx(expected.confidence_interval.high, abs=0.004)


def test_repeats_of_a_prompt_widen_the_interval():
    """Fifty prompts asked ten times with the same answer each carry the information of fifty rows."""
    alone = bootstrap([((1, 0), 400), ((0, 1), 100)], all_of(rate_of), confidence=0.95, seed=1)[0]
    together = bootstrap([((10, 0), 40), ((0, 10), 10)], all_of(rate_of), confidence=0.95, seed=1)[0]
    assert alone is not None
    assert together is not None
    assert together.upper - together.lower == pytest.approx((alone.upper - alone.lower) * 10**0.5, rel=0.15)


@pytest.mark.heavy
def test_the_bootstrap_is_seeded_and_knows_nothing():
    clusters = [((1, 0, 0, 0), 412), ((0, 1, 0, 0), 22), ((0, 0, 1, 0), 39), ((0, 0, 0, 1), 38)]
    first, second = (bootstrap(clusters, all_of(kappa_of), confidence=0.95, seed=7) for _ in range(2))
    assert first == second
    assert first != bootstrap(clusters, all_of(kappa_of), confidence=0.95, seed=8)
    assert bootstrap([], all_of(kappa_of), confidence=0.95, seed=7) == [None]
