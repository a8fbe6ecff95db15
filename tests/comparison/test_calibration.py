"""False alarms and power of whole verdicts, by simulation with fixed seeds."""

from __future__ import annotations

import math
import random
from array import array

import pytest

from support.comparison_runs import Deployment
from toolcert.comparison.compare_options import CompareOptions
from toolcert.comparison.judge.measurement import basis_of
from toolcert.comparison.match.pairs import Pairing
from toolcert.comparison.pipeline import decide_together
from toolcert.comparison.read.packed_run import PackedRun
from toolcert.comparison.result import CompareVerdict
from toolcert.comparison.stats.significance import plan

pytestmark = pytest.mark.heavy  # simulates or starts many processes; `make test-fast` does without

OPTIONS = CompareOptions()
ALARMS = (CompareVerdict.DIFFERENT, CompareVerdict.DEGRADED)


def pair(baseline: PackedRun, *others: PackedRun) -> Pairing:
    straight = array("i", range(len(baseline.columns)))
    return Pairing(baseline, [(run, straight) for run in others])


def verdict(baseline: PackedRun, *others: PackedRun) -> CompareVerdict:
    return decide_together([basis_of(pair(baseline, *others), OPTIONS)], OPTIONS)[0].verdict


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_two_runs_of_one_vendor_are_rarely_called_different(seed):
    """At most 37 of 500 at alpha 0.05: the 99 % binomial bound. With a noise ceiling, as one should compare."""
    deployment, rng = Deployment(300, seed=seed), random.Random(seed)
    alarms = sum(verdict(deployment.run(rng), deployment.run(rng), deployment.run(rng)) in ALARMS for _ in range(500))
    assert alarms <= 37


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_without_a_second_baseline_run_false_alarms_are_as_rare(seed):
    deployment, rng = Deployment(300, seed=seed), random.Random(seed)
    alarms = sum(verdict(deployment.run(rng), deployment.run(rng)) in ALARMS for _ in range(500))
    assert alarms <= 37


def test_several_vendors_share_the_error_budget():
    """Five innocent vendors: the chance that any of them is accused stays below alpha."""
    deployment, rng = Deployment(200, seed=4), random.Random(4)
    accused = 0
    for _ in range(150):
        baseline, ceiling = deployment.run(rng), deployment.run(rng)
        bases = [basis_of(pair(baseline, deployment.run(rng), ceiling), OPTIONS) for _ in range(5)]
        accused += any(decided.verdict in ALARMS for decided in decide_together(bases, OPTIONS))
    assert accused <= 150 * 0.05 + 2.33 * math.sqrt(150 * 0.05 * 0.95)


def test_a_vendor_that_drops_five_percent_of_its_calls_is_found_as_planned():
    """Found in at least the planned share of trials, within the 99 % binomial bound."""
    pilot = Deployment(2000, seed=9)
    effect = 0.05 * pilot.call_rate
    planned = plan(effect, noise=pilot.noise)
    deployment, rng = Deployment(planned.rows, seed=9), random.Random(9)
    trials = 60
    found = sum(
        verdict(deployment.run(rng), deployment.run(rng, dropped=0.05), deployment.run(rng)) in ALARMS
        for _ in range(trials)
    )
    assert found >= trials * 0.8 - 2.33 * math.sqrt(trials * 0.8 * 0.2)


def test_a_vendor_exactly_the_margin_worse_is_hardly_ever_cleared_or_condemned():
    """Each happens by chance with half of alpha at most, within the 99 % binomial bound."""
    deployment, rng = Deployment(1500, seed=11), random.Random(11)
    share, trials = OPTIONS.margin / deployment.call_rate, 150
    words = [
        verdict(deployment.run(rng), deployment.run(rng, dropped=share), deployment.run(rng)) for _ in range(trials)
    ]
    bound = trials * 0.025 + 2.33 * math.sqrt(trials * 0.025 * 0.975)
    assert words.count(CompareVerdict.EQUIVALENT) <= bound
    assert words.count(CompareVerdict.DEGRADED) <= bound


def test_a_vendor_that_loses_a_fifth_of_its_calls_is_degraded():
    deployment, rng = Deployment(600, seed=5), random.Random(5)
    words = {verdict(deployment.run(rng), deployment.run(rng, dropped=0.2), deployment.run(rng)) for _ in range(10)}
    assert words == {CompareVerdict.DEGRADED}


def test_enough_rows_of_the_same_vendor_are_called_equivalent():
    deployment, rng = Deployment(3000, undecided=0.05, seed=6), random.Random(6)
    words = [verdict(deployment.run(rng), deployment.run(rng), deployment.run(rng)) for _ in range(10)]
    assert words.count(CompareVerdict.EQUIVALENT) >= 8


def test_a_handful_of_rows_is_inconclusive():
    deployment, rng = Deployment(20, seed=7), random.Random(7)
    runs = (deployment.run(rng), deployment.run(rng), deployment.run(rng))
    decided = decide_together([basis_of(pair(*runs), OPTIONS)], OPTIONS)[0]
    assert decided.verdict is CompareVerdict.INCONCLUSIVE
    assert "would" in decided.headline
