"""`--adaptive`: the stated error guarantee holds, and requests are saved."""

from __future__ import annotations

import random

import pytest

from support.probing import probe_models
from toolcert.core.cases import Case, Outcome, Skip, SkipKind
from toolcert.core.records import ProbeFacts, Record
from toolcert.core.targets import ModelInfo
from toolcert.probes.base import find_probe
from toolcert.probes.run.schedule import ProbePlan
from toolcert.simulate import Vendor

pytestmark = pytest.mark.heavy  # simulates or starts many processes; `make test-fast` does without

MODELS = 300
ITERATIONS = 120
ALPHA = 0.05


def simulate(rate: float, seed: int) -> tuple[int, dict[str, Skip]]:
    """Probe many models of one true pass rate; how many cases were asked, and what was decided for whom."""
    chance = random.Random(seed)
    models = [ModelInfo(id=f"m{number}") for number in range(MODELS)]
    plan = ProbePlan({"e": models}, [find_probe("result_use")], iterations=ITERATIONS, adaptive=True)
    waiting = list(plan.sources()["e"])
    requests, decided = 0, dict[str, Skip]()
    while waiting:
        case = waiting.pop()
        if case.skip:
            decided[case.model] = case.skip
            continue
        requests += 1
        waiting.extend(plan.after(_answer(case, chance.random() < rate)))
    return requests, decided


def _answer(case: Case, passed: bool) -> Record:
    facts = ProbeFacts(probe=case.probe or "", iteration=case.iteration or 0, called=True, handled=passed)
    outcome = Outcome.PASSED if passed else Outcome.FAILED
    return Record(case=case.key, endpoint=case.endpoint, model=case.model, outcome=outcome, probe=facts)


@pytest.mark.parametrize(
    ("rate", "wrong"), [(0.89, "reaches"), (0.7, "reaches"), (0.9, "stays below"), (0.97, "stays below")]
)
def test_wrong_decisions_stay_within_the_stated_bound(rate: float, wrong: str) -> None:
    """At most 5 % of the models are decided wrongly, however often the test is looked at."""
    _, decided = simulate(rate, seed=7)
    errors = sum(wrong in skip.reason for skip in decided.values())
    print(f"rate {rate}: {errors} of {MODELS} decided wrongly, {len(decided)} decided early")
    # Three standard deviations of chance above the bound: a true error rate of 5 % would pass, 9 % would not.
    assert errors / MODELS <= ALPHA + 3 * (ALPHA * (1 - ALPHA) / MODELS) ** 0.5


@pytest.mark.parametrize(("rate", "most"), [(0.0, 0.06), (0.3, 0.1), (0.6, 0.2), (1.0, 0.45)])
def test_clear_cases_are_decided_early_and_rightly(rate: float, most: float) -> None:
    """Hopeless and perfect models cost a fraction of the planned requests."""
    requests, decided = simulate(rate, seed=11)
    share = requests / (MODELS * ITERATIONS)
    print(f"rate {rate}: {share:.0%} of {MODELS * ITERATIONS} planned cases asked")
    assert share <= most
    assert len(decided) == MODELS
    right = "reaches" if rate > 0.9 else "stays below"
    assert all(skip.kind is SkipKind.DECIDED and right in skip.reason for skip in decided.values())


async def test_an_adaptive_run_stops_by_itself_and_says_so() -> None:
    with Vendor(models=["never-reads-results"]) as vendor:
        probed = await probe_models(
            vendor.url, ["never-reads-results"], probes=["result_use"], iterations=60, adaptive=True
        )
        assert len(vendor.requests) <= 2 * 15
    cell = probed.model("never-reads-results").cells[0]
    assert cell.stopped_by is SkipKind.DECIDED
    assert "stays below the threshold" in cell.stopped
    assert cell.counts.measured + cell.counts.skipped == 60
