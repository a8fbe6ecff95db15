"""Exact tests and intervals against scipy and statsmodels, by definition, and by simulation."""

from __future__ import annotations

import math
import random
from fractions import Fraction

import pytest

from toolcert.comparison.stats.significance import (
    Discordance,
    MarginOutcome,
    chance_to_find,
    excess,
    judge_margin,
    plan,
    rows_to_decide,
    score,
    tango,
)
from toolcert.core.errors import UsageError
from toolcert.core.statistics.p_values import binomial_tail, holm, mcnemar, mcnemar_more
from toolcert.core.statistics.rates import Interval


@pytest.mark.heavy
@pytest.mark.parametrize("n", [1, 7, 55, 511, 20_000])
@pytest.mark.parametrize("p", [0.01, 1 / 3, 0.5, 0.97])
def test_binomial_tails_equal_scipys(n, p):
    from scipy import stats

    for k in {0, 1, n // 3, n // 2, int(n * p), int(n * p) + 1, n - 1, n, n + 1}:
        assert binomial_tail(k, n, p) == pytest.approx(stats.binom.sf(k - 1, n, p), rel=1e-8, abs=1e-300)


def test_binomial_tails_are_those_of_whole_numbers_also_far_out():
    exact = Fraction(sum(math.comb(1000, k) for k in range(900, 1001)), 2**1000)
    assert binomial_tail(900, 1000, 0.5) == pytest.approx(float(exact), rel=1e-9)
    assert binomial_tail(4, 7, 0.5) == pytest.approx(0.5)


@pytest.mark.heavy
@pytest.mark.parametrize(("first", "second"), [(39, 22), (46, 9), (0, 0), (3, 3), (0, 12), (900, 1100)])
def test_mcnemar_equals_statsmodels(first, second):
    from statsmodels.stats.contingency_tables import mcnemar as statsmodels_mcnemar

    expected = statsmodels_mcnemar([[5, first], [second, 5]], exact=True).pvalue if first + second else 1.0
    assert mcnemar(first, second) == pytest.approx(expected, rel=1e-9)


@pytest.mark.heavy
def test_one_sided_mcnemar_equals_scipys_binomial_test():
    from scipy import stats

    assert mcnemar_more(46, 9) == pytest.approx(stats.binomtest(46, 55, alternative="greater").pvalue, rel=1e-9)
    assert mcnemar_more(0, 0) == 1.0


def test_excess_with_one_further_run_is_the_exact_sign_test():
    """46 against 9 discordant rows: the public vendor against two runs of the reference."""
    assert excess(46, {1: 55}, runs=2) == pytest.approx(2.2e-7, rel=0.03)
    assert mcnemar(46, 9) == pytest.approx(4.3e-7, rel=0.03)
    assert excess(0, {}, runs=2) == 1.0


def test_excess_with_several_further_runs_sums_binomials():
    rng = random.Random(4)
    exact = excess(21, {1: 30, 2: 20}, runs=3)
    hits = 0
    for _ in range(40_000):
        drawn = sum(rng.random() < 1 / 3 for _ in range(30)) + sum(rng.random() < 2 / 3 for _ in range(20))
        hits += drawn >= 21
    assert hits / 40_000 == pytest.approx(exact, abs=0.01)


def test_excess_over_very_many_rows_is_the_normal_distribution():
    few, many = excess(7_600, {1: 9_000, 2: 6_900}, runs=3), excess(38_000, {1: 45_000, 2: 34_500}, runs=3)
    assert 0 < many < few < 1


def test_holm_by_hand():
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])


@pytest.mark.heavy
@pytest.mark.parametrize("p_values", [[0.01, 0.04, 0.03], [0.5], [], [0.2, 0.2, 0.0001, 0.9]])
def test_holm_equals_statsmodels(p_values):
    from statsmodels.stats.multitest import multipletests

    expected = multipletests(p_values, method="holm")[1] if p_values else []
    assert holm(p_values) == pytest.approx(list(expected))


def reference_score(gained: int, lost: int, n: int, difference: float) -> float:
    """The score statistic with its nuisance parameter found by maximising the likelihood numerically."""
    from scipy import optimize, stats

    def loss(rate: float) -> float:
        up, down, rest = rate + difference, rate, 1 - 2 * rate - difference
        return -stats.multinomial.logpmf([gained, lost, n - gained - lost], n, [up, down, rest])

    low, high = max(0.0, -difference) + 1e-12, (1 - difference) / 2 - 1e-12
    rate = optimize.minimize_scalar(loss, bounds=(low, high), method="bounded", options={"xatol": 1e-12}).x
    variance = n * (2 * rate + difference * (1 - difference))
    return float((gained - lost - n * difference) / variance**0.5)


@pytest.mark.heavy
@pytest.mark.parametrize(("gained", "lost", "n"), [(22, 39, 511), (9, 46, 511), (3, 1, 40), (5, 0, 30)])
@pytest.mark.parametrize("difference", [-0.12, -0.03, 0.0, 0.05])
def test_the_score_uses_the_restricted_maximum_likelihood(gained, lost, n, difference):
    rows = Discordance(gained=gained, lost=lost, n=n)
    assert score(rows, difference) == pytest.approx(reference_score(gained, lost, n, difference), abs=2e-4)


@pytest.mark.parametrize(("gained", "lost", "n"), [(22, 39, 511), (0, 0, 20), (0, 7, 30), (4, 4, 8), (10, 0, 10)])
def test_at_the_ends_of_the_interval_the_score_is_the_normal_quantile(gained, lost, n):
    rows = Discordance(gained=gained, lost=lost, n=n)
    interval = tango(rows, 0.95)
    assert interval is not None
    assert rows.difference in interval
    if interval.lower > -0.999:
        assert score(rows, interval.lower) == pytest.approx(1.959964, abs=1e-4)
    if interval.upper < 0.999:
        assert score(rows, interval.upper) == pytest.approx(-1.959964, abs=1e-4)


def test_no_differing_row_still_leaves_doubt():
    interval = tango(Discordance(gained=0, lost=0, n=20), 0.95)
    assert interval is not None
    assert interval.lower == pytest.approx(-(1.959964**2) / (20 + 1.959964**2), abs=1e-4)
    assert tango(Discordance(gained=0, lost=0, n=0), 0.95) is None


@pytest.mark.heavy
def test_the_interval_covers_the_truth_as_often_as_it_says():
    rng = random.Random(8)
    covered = 0
    for _ in range(1500):
        draws = rng.choices(("gained", "lost", "same"), weights=(0.03, 0.06, 0.91), k=200)
        interval = tango(Discordance(gained=draws.count("gained"), lost=draws.count("lost"), n=200), 0.95)
        covered += interval is not None and -0.03 in interval
    assert covered >= 1500 * 0.95 - 2.6 * (1500 * 0.95 * 0.05) ** 0.5


@pytest.mark.parametrize(
    ("lower", "upper", "outcome"),
    [
        (-0.02, 0.01, MarginOutcome.PASSED),
        (-0.08, -0.04, MarginOutcome.FAILED),
        (-0.05, -0.01, MarginOutcome.INCONCLUSIVE),
    ],
)
def test_the_three_answers_of_a_margin(lower, upper, outcome):
    assert judge_margin(Interval(lower=lower, upper=upper), 0.03) is outcome
    assert judge_margin(None, 0.03) is MarginOutcome.INCONCLUSIVE


def test_the_rows_that_would_decide_do_decide():
    rows = Discordance(gained=4, lost=6, n=100)
    assert judge_margin(tango(rows, 0.95), 0.03) is MarginOutcome.INCONCLUSIVE
    needed = rows_to_decide(rows, 0.03, 0.95)
    assert needed is not None
    scaled = Discordance(gained=round(0.04 * needed), lost=round(0.06 * needed), n=needed)
    assert judge_margin(tango(scaled, 0.95), 0.03) is MarginOutcome.PASSED
    assert rows_to_decide(Discordance(gained=0, lost=3, n=100), 0.03, 0.95) is None, "exactly on the margin"
    assert rows_to_decide(Discordance(gained=0, lost=0, n=0), 0.03, 0.95) is None


def test_a_plan_finds_what_it_promises_to_find():
    """Simulated with the very test that is used: the planned share within its 99 % binomial bound."""
    planned = plan(0.03, noise=0.05)
    rng = random.Random(21)
    found = 0
    for _ in range(300):
        outcomes = rng.choices(("vendor", "ceiling", "same"), weights=(0.055, 0.025, 0.92), k=planned.rows)
        found += excess(outcomes.count("vendor"), {1: planned.rows - outcomes.count("same")}, 2) < 0.05 / planned.tests
    assert found >= 300 * 0.8 - 2.33 * (300 * 0.8 * 0.2) ** 0.5
    assert found <= 300 * 0.8 + 3 * (300 * 0.8 * 0.2) ** 0.5, "not wastefully many rows"


@pytest.mark.heavy
def test_plans_grow_as_effects_shrink():
    assert plan(0.1).rows < plan(0.03).rows < plan(0.01).rows
    assert chance_to_find(plan(0.03).rows, 0.03, 0.05, 0.05 / 4) >= 0.8
    assert plan(0.03, power=0.9).rows > plan(0.03).rows
    assert plan(0.03, noise=0.0).rows < plan(0.03).rows


@pytest.mark.heavy
@pytest.mark.parametrize(("effect", "noise"), [(0.005, 0.05), (0.01, 0.3)])
def test_plans_of_very_many_rows_keep_their_promise_without_the_exact_search(effect, noise):
    assert chance_to_find(plan(effect, noise=noise).rows, effect, noise, 0.05 / 4) == pytest.approx(0.8, abs=0.005)


def test_a_tiny_effect_is_planned_at_once():
    assert plan(1e-7).rows > 10**13


@pytest.mark.parametrize("effect", [0.0, -0.1, 1.0])
def test_an_impossible_effect_is_refused(effect):
    with pytest.raises(UsageError):
        plan(effect)


@pytest.mark.parametrize("power", [0.0, 1.0])
def test_an_impossible_power_is_refused(power):
    with pytest.raises(UsageError, match="--power"):
        plan(0.03, power=power)
