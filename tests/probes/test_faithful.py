"""A faithful vendor passes every probe, and nothing is found wrong with it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from support.probing import Probed, probe_models
from toolcert.core.cases import Outcome
from toolcert.core.verdict import Word
from toolcert.probes.base import all_probes, find_probe
from toolcert.probes.summary.scorecard import CellState
from toolcert.simulate import Vendor

FAITHFUL = ["faithful", "reasoner", "kimi-faithful", "refuses-max-tokens", "refuses-temperature"]
"""Different, but right: none of these may be blamed for anything."""


@pytest.fixture(scope="module")
def vendor() -> Iterator[Vendor]:
    with Vendor(models=FAITHFUL) as running:
        yield running


async def full(vendor: Vendor, model: str) -> Probed:
    return await probe_models(vendor.url, [model], suite="full", iterations=2)


@pytest.mark.sampled
@pytest.mark.parametrize("model", FAITHFUL)
async def test_every_probe_passes_without_a_finding(vendor: Vendor, model: str) -> None:
    probed = await full(vendor, model)
    states = {cell.probe: cell.state for cell in probed.model(model).cells}
    expected = dict.fromkeys(states, CellState.PASSED)
    if model != "reasoner":
        expected["reasoning_back"] = expected["streamed_reasoning_back"] = CellState.SKIPPED
    assert states == expected
    assert [record.codes for record in probed.records if record.codes] == []


async def test_the_summary_of_a_faithful_model_says_so(vendor: Vendor) -> None:
    probed = await full(vendor, "faithful")
    model = probed.model("faithful")
    assert (model.score.low, model.score.high) == (100.0, 100.0)
    assert model.verdict.word is Word.PASSES
    assert (model.verdict.exemptions, model.verdict.caps) == ((), ())
    assert model.reason == "2 of 2; 35 passing runs of each would certify"
    assert probed.summary.headline == "faithful passes: 2 of 2; 35 passing runs of each would certify."
    assert not probed.summary.causes
    assert not probed.summary.nothing_measured


@pytest.mark.heavy
async def test_no_probe_sends_more_requests_than_it_says(vendor: Vendor) -> None:
    probed = await full(vendor, "reasoner")
    over = {
        record.probe.probe: record.probe.requests
        for record in probed.records
        if record.probe and record.probe.requests > find_probe(record.probe.probe).requests
    }
    assert over == {}


async def test_a_repeated_case_asks_exactly_the_same(vendor: Vendor) -> None:
    asked = []
    for _ in range(2):
        probed = await probe_models(vendor.url, ["faithful"], probes=["multi_tool"])
        asked.append(probed.record("faithful", "multi_tool").detail.exchanges[0].request.body)
    assert asked[0] == asked[1]


async def test_every_iteration_has_its_own_nonces(vendor: Vendor) -> None:
    probed = await probe_models(vendor.url, ["faithful"], probes=["basic"], iterations=5)
    prompts = {record.detail.exchanges[0].request.body["messages"][0]["content"] for record in probed.records}
    assert len(prompts) == 5


async def test_first_token_time_is_taken_from_the_stream(vendor: Vendor) -> None:
    probed = await probe_models(vendor.url, ["faithful"], probes=["streaming"])
    facts = probed.record("faithful", "streaming").probe
    assert facts is not None
    assert facts.first_token is not None
    assert 0 < facts.first_token <= facts.seconds[0]


async def test_json_mode_of_the_agent_suite_passes_too(vendor: Vendor) -> None:
    probed = await probe_models(vendor.url, ["faithful"], suite="agent")
    assert {record.outcome for record in probed.records} == {Outcome.PASSED}
    assert probed.model("faithful").score.low == 100


async def test_quick_is_one_request_for_each_model(vendor: Vendor) -> None:
    with Vendor(models=["faithful"]) as own:
        await probe_models(own.url, ["faithful"], suite="quick")
        assert len(own.requests) == 1


def test_every_group_has_probes() -> None:
    groups = {"calling", "control", "format", "streamed", "conversation", "server"}
    assert {probe.group for probe in all_probes()} == groups
    assert len(all_probes()) >= 36
