"""The newest run against the last good one."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from support.histories import GOOD, made
from toolcert.core.statistics.p_values import mcnemar_more
from toolcert.core.statistics.rates import Rate
from toolcert.history.last_good import Standing, loss_p


def rate(k: int, n: int) -> Rate:
    return Rate(k=k, n=n)


def test_one_probe_is_fishers_exact_test() -> None:
    """5 of 5 then 0 of 5: one of the 252 ways to choose five of ten."""
    assert loss_p([(rate(5, 5), rate(0, 5))]) == pytest.approx(1 / 252)


def test_one_try_a_probe_is_mcnemars_exact_test() -> None:
    """Ten probes that only passed before, two that only pass now, five alike."""
    tables = [(rate(1, 1), rate(0, 1))] * 10 + [(rate(0, 1), rate(1, 1))] * 2 + [(rate(1, 1), rate(1, 1))] * 5
    assert loss_p(tables) == pytest.approx(mcnemar_more(10, 2))


def test_alike_runs_raise_no_more_alarms_than_stated() -> None:
    """With nothing changed, p is at most 0.05 in at most 5 % of 2,000 pairs of runs (and some slack for chance)."""
    chance = random.Random(7)

    def run() -> list[int]:
        return [sum(chance.random() < rate for _ in range(5)) for rate in (1.0, 0.9, 0.7, 0.5, 0.95)]

    alarms = sum(
        loss_p([(rate(old, 5), rate(new, 5)) for old, new in zip(run(), run(), strict=True)]) <= 0.05
        for _ in range(2_000)
    )
    assert alarms / 2_000 <= 0.06


def test_a_loss_is_told_a_transport_outage_is_not(tmp_path: Path) -> None:
    """A model that stopped calling is worse; one that could not be asked is not measured; one alike shows no loss."""
    found = made(tmp_path, {"broke": [GOOD, GOOD, (0, 0)], "out": [GOOD, GOOD, None], "same": [GOOD, GOOD, (49, 49)]})
    standings = {one.model: one.standing for one in found.against_last_good}
    assert standings == {"broke": Standing.WORSE, "out": Standing.NOT_MEASURED, "same": Standing.NOT_SHOWN}


def test_the_last_good_run_may_lie_further_back(tmp_path: Path) -> None:
    found = made(tmp_path, {"m": [GOOD, (0, 0), None, (0, 0)]})
    (one,) = found.against_last_good
    assert (one.good_day, one.day, str(one.standing)) == ("2026-04-01", "2026-04-04", "worse")


def test_a_model_that_never_worked_has_nothing_to_lose(tmp_path: Path) -> None:
    assert made(tmp_path, {"m": [(50, 0), (0, 0)]}).against_last_good == ()
