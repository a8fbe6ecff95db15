"""Reliability figures: against statsmodels, against the vectors, and by simulation."""

from __future__ import annotations

import itertools
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolcert.core.statistics.quantiles import Quantiles
from toolcert.core.statistics.rates import (
    Certainty,
    Rate,
    certainty,
    normal_quantile,
    pass_all,
    pass_any,
    reaches,
    runs_needed,
    wilson,
)
from toolcert.core.statistics.sequential import SequentialTest


@pytest.mark.parametrize(("k", "n", "lower", "upper"), [(10, 10, 0.7225, 1.0), (83, 84, 0.936, 0.998)])
def test_wilson_gives_the_known_vectors(k, n, lower, upper):
    interval = wilson(k, n)
    assert interval is not None
    assert interval.lower == pytest.approx(lower, abs=5e-4)
    assert interval.upper == pytest.approx(upper, abs=5e-4)


@pytest.mark.heavy
@pytest.mark.parametrize("confidence", [0.9, 0.95, 0.99])
def test_wilson_agrees_with_statsmodels(confidence):
    from statsmodels.stats.proportion import proportion_confint

    for n in (1, 2, 5, 10, 84, 1827):
        for k in {0, 1, n // 3, n // 2, n - 1, n}:
            interval = wilson(k, n, confidence)
            assert interval is not None
            expected = proportion_confint(k, n, alpha=1 - confidence, method="wilson")
            assert (interval.lower, interval.upper) == pytest.approx(expected, abs=1e-12)


def test_without_trials_there_is_no_rate_and_no_interval():
    assert wilson(0, 0) is None
    assert Rate().value is None
    assert Rate().interval is None
    assert Rate(k=1, n=2) + Rate(k=1, n=1) == Rate(k=2, n=3)


@pytest.mark.parametrize(("k", "n"), [(-1, 5), (6, 5), (1, 0)])
def test_impossible_counts_are_refused(k, n):
    with pytest.raises(ValueError, match="not a proportion"):
        wilson(k, n)


@pytest.mark.parametrize(("threshold", "runs"), [(0.9, 35), (0.95, 73), (0.7225, 11), (0.0, 1)])
def test_clean_runs_needed_to_prove_a_threshold(threshold, runs):
    assert runs_needed(threshold) == runs
    assert certainty(runs, runs, threshold) is Certainty.PROVEN
    assert runs == 1 or certainty(runs - 1, runs - 1, threshold) is not Certainty.PROVEN


@pytest.mark.parametrize(
    ("k", "n", "word"),
    [
        (35, 35, Certainty.PROVEN),
        (34, 34, Certainty.LIKELY),
        (10, 10, Certainty.LIKELY),
        (9, 9, Certainty.INCONCLUSIVE),
        (9, 10, Certainty.LIKELY),
        (8, 10, Certainty.INCONCLUSIVE),
        (29, 50, Certainty.UNRELIABLE),
        (0, 5, Certainty.UNRELIABLE),
        (0, 0, Certainty.INCONCLUSIVE),
    ],
)
def test_the_four_words_of_reliability(k, n, word):
    assert certainty(k, n, 0.9) is word


def test_the_threshold_is_inclusive_at_every_size():
    assert all(reaches(9 * n, 10 * n, 0.9) for n in range(1, 500))
    assert not reaches(0, 0, 0.0)


@pytest.mark.parametrize(("passed", "n", "k"), [(3, 6, 2), (6, 6, 3), (0, 6, 2), (5, 6, 6), (4, 7, 1)])
def test_repeated_success_is_the_share_of_all_choices_of_runs(passed, n, k):
    runs = [True] * passed + [False] * (n - passed)
    choices = list(itertools.combinations(runs, k))
    assert pass_all(passed, n, k) == pytest.approx(sum(map(all, choices)) / len(choices))
    assert pass_any(passed, n, k) == pytest.approx(sum(map(any, choices)) / len(choices))


def test_repeated_success_needs_as_many_runs():
    assert pass_all(3, 3, 4) is None
    assert pass_any(3, 3, 4) is None


def decide(rate: float, threshold: float, rng: random.Random, runs: int) -> Certainty | None:
    test = SequentialTest(threshold, alpha=0.05)
    for _ in range(runs):
        decision = test.update(rng.random() < rate)
        if decision is not None:
            return decision.certainty
    return None


@pytest.mark.heavy
@pytest.mark.parametrize(
    ("threshold", "wrong"), [(0.9, Certainty.PROVEN), (0.9, Certainty.UNRELIABLE), (0.6, Certainty.PROVEN)]
)
def test_the_sequential_test_errs_at_most_as_often_as_promised(threshold, wrong):
    """At the threshold itself, the hardest truth, 400 trials looked at after every one of 300 runs."""
    rng = random.Random(11)
    errors = sum(decide(threshold, threshold, rng, 300) is wrong for _ in range(400))
    assert errors <= 32, "99 % binomial bound of 5 % in 400"


def test_the_sequential_test_decides_clear_cases_early():
    always, never, half = (SequentialTest(0.9) for _ in range(3))
    assert next(n for n in itertools.count(1) if always.update(True)) <= 40
    assert next(n for n in itertools.count(1) if never.update(False)) == 2
    rng = random.Random(3)
    assert next(n for n in itertools.count(1) if half.update(rng.random() < 0.5)) <= 20
    assert always.decision is not None
    assert always.decision.certainty is Certainty.PROVEN
    assert half.decision is not None
    assert half.decision.certainty is Certainty.UNRELIABLE


def test_a_sequential_decision_is_kept():
    test = SequentialTest(0.9)
    first = [test.update(False) for _ in range(3)][-1]
    assert first is not None
    assert test.update(True) is first


@pytest.mark.parametrize(("threshold", "alpha"), [(0.0, 0.05), (1.0, 0.05), (0.9, 0.0)])
def test_the_sequential_test_refuses_thresholds_it_cannot_decide(threshold, alpha):
    with pytest.raises(ValueError, match="between 0 and 1"):
        SequentialTest(threshold, alpha)


def test_percentiles_are_within_one_percent():
    rng = random.Random(5)
    values = [rng.lognormvariate(0, 2) for _ in range(20_000)]
    sketch = Quantiles(values)
    values.sort()
    for q in (0.0, 0.01, 0.5, 0.9, 0.95, 0.99, 1.0):
        exact = values[max(1, -(-int(q * 100_000) * len(values) // 100_000)) - 1]
        assert sketch.quantile(q) == pytest.approx(exact, rel=0.01)
    assert sketch.mean == pytest.approx(sum(values) / len(values))


@given(st.lists(st.floats(0, 1e6), max_size=30), st.lists(st.floats(0, 1e6), max_size=30))
def test_merged_percentiles_are_those_of_all_values(left, right):
    merged = Quantiles(left)
    merged.merge(Quantiles(right))
    whole = Quantiles(left + right)
    assert len(merged) == len(left) + len(right)
    for q in (0, 0.25, 0.5, 0.95, 1):
        assert merged.quantile(q) == whole.quantile(q)


def test_percentiles_need_bounded_memory_and_measurements():
    sketch = Quantiles(10 ** (step / 50) for step in range(-1000, 1000))
    assert len(sketch._buckets) < 3100
    assert Quantiles().quantile(0.5) is None
    assert Quantiles([0.0]).quantile(0.5) == 0.0
    for nonsense in (-1.0, float("nan"), float("inf")):
        with pytest.raises(ValueError, match="not a measurement"):
            sketch.add(nonsense)


def test_no_science_library_is_loaded_for_reliability():
    import subprocess
    import sys

    names = ("statistics.rates", "statistics.sequential", "statistics.quantiles", "schema.judge")
    modules = ", ".join(f"toolcert.core.{name}" for name in names)
    heavy = ("scipy", "numpy", "jsonschema_rs")
    code = f"import sys, {modules}; sys.exit(any(name in sys.modules for name in {heavy}))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize("p", [0.5, 0.8, 0.95, 0.975, 0.995])
def test_quantiles_of_the_normal_distribution_are_exact(p: float) -> None:
    from statistics import NormalDist

    assert normal_quantile(p) == NormalDist().inv_cdf(p)
