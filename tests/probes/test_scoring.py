"""Scores: weights that sum to 100, and ranges for what is open."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolcert.core.cases import Outcome, SkipKind
from toolcert.core.records import ProbeFacts, Record
from toolcert.probes.base import all_probes
from toolcert.probes.suites import SUITES, Suite, choose_probes, weights_of
from toolcert.probes.summary.cell_tally import CellTally, score_of
from toolcert.probes.summary.scorecard import Score

AGENT = SUITES["agent"]
NAMES = tuple(AGENT.weights)


def tally(passed: int = 0, failed: int = 0, *, open_cases: int = 0, unsupported: int = 0) -> CellTally:
    built = CellTally()
    outcomes = {Outcome.PASSED: passed, Outcome.FAILED: failed, Outcome.UNSUPPORTED: unsupported}
    for outcome, count in (outcomes | {Outcome.NOT_MEASURED: open_cases}).items():
        facts = ProbeFacts(probe="p", iteration=1, requests=1)
        for _ in range(count):
            built.add(Record(case="k", endpoint="e", model="m", outcome=outcome, probe=facts))
    return built


def skipped(kind: SkipKind) -> CellTally:
    built = CellTally()
    facts = ProbeFacts(probe="p", iteration=1)
    built.add(Record(case="k", endpoint="e", model="m", outcome=Outcome.SKIPPED, skip=kind, probe=facts))
    return built


def score(suite: Suite = AGENT, **given_tallies: CellTally) -> Score:
    tallies = {name: given_tallies.get(name, tally(passed=1)) for name in NAMES}
    return score_of(tallies, AGENT.weights, suite)


def test_the_agent_suite_has_its_weights_exactly() -> None:
    assert AGENT.weights == {"basic": 25, "result_use": 35, "multi_tool": 25, "json_mode": 10, "streaming": 5}


@pytest.mark.parametrize(
    ("failing", "points"),
    [
        ((), 100),
        (("json_mode",), 90),
        (("result_use",), 65),
        (("result_use", "json_mode", "streaming"), 50),
        (("basic", "result_use", "json_mode"), 30),
        (NAMES, 0),
    ],
)
def test_what_fails_costs_its_points(failing: tuple[str, ...], points: float) -> None:
    found = score(**{name: tally(failed=1) for name in failing})
    assert (found.low, found.high) == (points, points)


def test_rates_count_in_part() -> None:
    assert score(result_use=tally(passed=4, failed=1)).low == 93


def test_what_is_not_measured_leaves_a_range() -> None:
    found = score(result_use=tally(open_cases=1))
    assert (found.low, found.high) == (65, 100)
    assert str(found) == "65 to 100"


def test_a_single_open_iteration_counts_as_one() -> None:
    found = score(basic=tally(passed=4, open_cases=1))
    assert (found.low, found.high) == (95, 100)


def test_unsupported_earns_nothing() -> None:
    assert score(json_mode=tally(unsupported=1)).low == 90


def test_an_unmet_need_earns_nothing_and_an_unmeasured_one_leaves_it_open() -> None:
    lost = score(basic=skipped(SkipKind.NEED_FAILED))
    open_still = score(basic=skipped(SkipKind.NEED_NOT_MEASURED))
    assert (lost.low, lost.high) == (75, 75)
    assert (open_still.low, open_still.high) == (75, 100)


@pytest.mark.parametrize("kind", [SkipKind.BUDGET, SkipKind.OUTAGE])
def test_what_has_nothing_to_do_with_the_model_leaves_it_open(kind: SkipKind) -> None:
    found = score(basic=skipped(kind))
    assert (found.low, found.high) == (75, 100)


def test_what_does_not_apply_gives_its_weight_to_the_rest() -> None:
    found = score(basic=skipped(SkipKind.NOT_APPLICABLE), result_use=tally(failed=1))
    assert found.low == pytest.approx(100 * 40 / 75, abs=1e-3)
    assert "basic" not in found.weights
    assert sum(found.weights.values()) == pytest.approx(100, abs=1e-2)


@given(st.lists(st.tuples(*[st.integers(0, 5)] * 4), min_size=5, max_size=5))
def test_the_range_is_a_range_and_closed_where_all_is_measured(counts: list[tuple[int, ...]]) -> None:
    tallies = {
        name: tally(passed=a, failed=b, open_cases=c, unsupported=d)
        for name, (a, b, c, d) in zip(NAMES, counts, strict=True)
    }
    found = score_of(tallies, AGENT.weights, AGENT)
    assert 0 <= found.low <= found.high <= 100
    if not any(count[2] for count in counts) and all(sum(count) for count in counts):
        assert found.low == found.high


@pytest.mark.parametrize("name", list(SUITES))
def test_the_weights_of_every_suite_sum_to_100(name: str) -> None:
    probes = [(probe.name, probe.group) for probe in choose_probes(name)]
    assert sum(weights_of(SUITES[name], probes).values()) == pytest.approx(100)


def test_the_full_suite_weighs_groups_6_3_3_3_1() -> None:
    probes = [(probe.name, probe.group) for probe in choose_probes("full")]
    weights = weights_of(SUITES["full"], probes)
    by_group = [(name, "format" if group == "streamed" else group) for name, group in probes]  # twins share its points
    groups = {group: sum(weights[name] for name, own in by_group if own == group) for _, group in by_group}
    assert {group: round(points * 16 / 100, 6) for group, points in groups.items()} == {
        "calling": 6,
        "control": 3,
        "format": 3,
        "conversation": 3,
        "server": 1,
    }


def test_full_has_every_probe_but_the_one_json_object_replaces() -> None:
    left_out = {probe.name for probe in all_probes()} - {probe.name for probe in choose_probes("full")}
    assert left_out == {"json_mode"}
