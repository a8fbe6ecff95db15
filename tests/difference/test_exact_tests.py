"""The tests of a difference: exact where counts are small, and honest where there are many of them."""

import random

import pytest

from toolcert.core.statistics.p_values import rank_sum
from toolcert.core.statistics.rates import Rate
from toolcert.difference.exact_tests import (
    OneSided,
    adjusted,
    both_sides,
    failures_shown,
    paired_loss_test,
)
from toolcert.difference.model_evidence import AbilityEvidence, ModelEvidence, judged
from toolcert.difference.run_difference import Change


def rate(k: int, n: int) -> Rate:
    return Rate(k=k, n=n)


def test_a_loss_of_four_in_four_has_one_chance_in_seventy() -> None:
    assert both_sides([(rate(4, 4), rate(0, 4))])[0].p == pytest.approx(1 / 70)


@pytest.mark.heavy
@pytest.mark.parametrize("counts", [(5, 5, 1, 5), (20, 20, 14, 20), (70, 100, 55, 100), (3, 7, 6, 9), (0, 4, 0, 4)])
def test_a_loss_is_tested_as_fisher_does(counts: tuple[int, int, int, int]) -> None:
    stats = pytest.importorskip("scipy.stats")
    k1, n1, k2, n2 = counts
    wanted = stats.fisher_exact([[k1, n1 - k1], [k2, n2 - k2]], alternative="greater").pvalue
    loss, gain = both_sides([(rate(k1, n1), rate(k2, n2))])
    assert loss.p == pytest.approx(wanted)
    assert gain.p == pytest.approx(stats.fisher_exact([[k1, n1 - k1], [k2, n2 - k2]], alternative="less").pvalue)


@pytest.mark.heavy
def test_large_counts_are_tested_by_the_normal_distribution_and_agree() -> None:
    stats = pytest.importorskip("scipy.stats")
    wanted = stats.fisher_exact([[4900, 100], [4860, 140]], alternative="greater").pvalue
    assert both_sides([(rate(4900, 5000), rate(4860, 5000))])[0].p == pytest.approx(wanted, rel=0.05)


@pytest.mark.heavy
def test_ranks_are_tested_as_mann_and_whitney_do() -> None:
    stats = pytest.importorskip("scipy.stats")
    before, after = [1.0, 2.0, 2.0, 3.5, 4.0], [2.0, 3.0, 5.0, 5.0, 6.0, 7.0]
    wanted = stats.mannwhitneyu(after, before, alternative="greater", method="asymptotic").pvalue
    assert rank_sum(before, after) == pytest.approx(wanted)


def test_the_smallest_p_value_depends_on_the_margins_alone() -> None:
    same_margins = [((5, 5), (1, 5)), ((3, 5), (3, 5)), ((1, 5), (5, 5))]
    losses = [both_sides([(rate(*old), rate(*new))])[0] for old, new in same_margins]
    assert {test.least for test in losses} == {losses[0].p}
    assert both_sides([(rate(1, 5), rate(5, 5))])[1] == pytest.approx(losses[0])


def test_tests_that_cannot_reject_cost_the_others_nothing() -> None:
    """A hundred probes that always pass must not hide the one that broke."""
    steady = both_sides([(rate(5, 5), rate(5, 5))])[0]
    broken = both_sides([(rate(5, 5), rate(0, 5))])[0]
    assert adjusted([steady] * 100 + [broken], 0.05)[-1] == broken.p < 0.005
    assert adjusted([steady], 0.05) == [None]


def test_tests_that_can_reject_share_alpha() -> None:
    able = OneSided(0.01, 1e-9)
    assert adjusted([able] * 3, 0.05) == pytest.approx([0.03, 0.03, 0.03])


def test_pairs_that_did_not_change_have_no_say() -> None:
    assert paired_loss_test(5, 0).p == pytest.approx(1 / 32)
    assert paired_loss_test(0, 0).p == 1.0
    assert paired_loss_test(3, 3).p > 0.5


@pytest.mark.parametrize(("n", "bad"), [(3, 3), (2, None), (5, 4), (10, 4), (35, 5), (5000, 5)])
def test_it_is_known_how_large_a_loss_would_show(n: int, bad: int | None) -> None:
    assert failures_shown(n, 0.05) == bad


def model(dice: random.Random, probes: int, n: int, before: float, after: float) -> ModelEvidence:
    def ability(place: int) -> AbilityEvidence:
        old, new = (rate(sum(dice.random() < p for _ in range(n)), n) for p in (before, after))
        loss, gain = both_sides([(old, new)])
        return AbilityEvidence(name=str(place), before=old, after=new, loss=loss, gain=gain)

    return ModelEvidence(name="m", abilities=tuple(map(ability, range(probes))), pooled=True, pairs=n)


def share(change: Change, trials: int, *, models: int, probes: int, n: int, before: float, after: float) -> float:
    dice = random.Random(f"{models}/{probes}/{n}/{before}/{after}")
    seen = 0
    for _ in range(trials):
        found, _ = judged([model(dice, probes, n, before, after) for _ in range(models)], 0.05)
        seen += any(one.change is change for one in found)
    return seen / trials


@pytest.mark.heavy
@pytest.mark.parametrize(
    ("n", "models", "probes"),
    [(5, 1, 1), (10, 1, 1), (100, 1, 1), (5, 1, 5), (20, 1, 5), (50, 1, 5), (100, 1, 3), (5, 3, 8), (10, 3, 8)],
)
def test_two_runs_of_the_same_vendor_are_seldom_called_worse(n: int, models: int, probes: int) -> None:
    """A model that works in 70 % of its tries: at most 5 % of all reports say worse, however many probes there are."""
    assert share(Change.WORSE, 300, models=models, probes=probes, n=n, before=0.7, after=0.7) <= 0.05 + 0.025


@pytest.mark.heavy
def test_two_runs_of_the_same_vendor_are_seldom_called_improved() -> None:
    assert share(Change.IMPROVED, 300, models=2, probes=5, n=20, before=0.7, after=0.7) <= 0.05 + 0.025


@pytest.mark.heavy
@pytest.mark.parametrize(
    ("n", "before", "after", "power"),
    [(5, 1.0, 0.0, 1.0), (20, 1.0, 0.6, 0.9), (35, 0.97, 0.7, 0.9), (80, 0.7, 0.5, 0.9)],
)
def test_a_real_loss_is_found(n: int, before: float, after: float, power: float) -> None:
    found = share(Change.WORSE, 60, models=1, probes=5, n=n, before=before, after=after)
    assert found >= power - 0.05


def test_many_small_losses_show_together_what_none_shows_alone() -> None:
    loss, gain = both_sides([(rate(10, 10), rate(8, 10))])
    one = AbilityEvidence(name="probe", before=rate(10, 10), after=rate(8, 10), loss=loss, gain=gain)
    (found,), tests = judged([ModelEvidence(name="m", abilities=(one,) * 6, pooled=True, pairs=60)], 0.05)
    assert found.change is Change.WORSE
    assert {ability.change for ability in found.abilities} == {Change.NO_EVIDENCE}
    assert tests == 7
