"""Faults at random: bad luck is nobody's fault, and a real refusal is found among it."""

from __future__ import annotations

import pytest

from support.probing import Probed, probe_models
from toolcert.core.cases import Outcome
from toolcert.core.exchanges import Exchange, Fault, FaultKind
from toolcert.core.requests import Request
from toolcert.probes.base import Turn
from toolcert.probes.refusal_pairs import Background, ModelRefusals
from toolcert.simulate import Vendor

KINDS = ("400", "429", "500", "reset")
SHARES = (0.1, 0.3)
REFUSED = ("choice.rejected", "schema.valid_rejected", "history.null_content", "history.tool_role_rejected")


async def probed_with_bad_luck(seed: int, persona: str, kinds: tuple[str, ...] = KINDS) -> Probed:
    """Every probe, put to one model for each kind and share of random faults; in one order, so that a seed repeats."""
    unlucky = {f"{kind} at {share}": (kind, share) for kind in kinds for share in SHARES}
    with Vendor(models=dict.fromkeys(unlucky, persona)) as vendor:
        for model, (kind, share) in unlucky.items():
            vendor.outage(kind, share=share, model=model, seed=seed, retry_after=0)
        return await probe_models(vendor.url, list(unlucky), suite="full", concurrency=1)


async def convicted(seed: int) -> list[tuple[str, str, tuple[str, ...]]]:
    """Cases of a faithful model that are told as anything but a fault of the transport."""
    probed = await probed_with_bad_luck(seed, "faithful")
    return [
        (record.case, record.reason, record.codes)
        for record in probed.records
        if record.outcome in (Outcome.FAILED, Outcome.UNSUPPORTED)
        or any(not code.startswith("transport.") for code in record.codes)
    ]


@pytest.mark.heavy
@pytest.mark.parametrize("seed", [1, 2])
async def test_faults_at_random_are_told_as_transport_only(seed: int) -> None:
    assert await convicted(seed) == []


@pytest.mark.heavy
async def test_faults_at_random_are_told_as_transport_only_with_many_seeds() -> None:
    assert [case for seed in range(3, 21) for case in await convicted(seed)] == []


@pytest.mark.heavy
async def test_a_refusal_at_random_does_not_cost_the_measurement() -> None:
    """The repeated request is answered, and its answer is judged."""
    probed = await probed_with_bad_luck(1, "faithful", ("400",))
    missing = [record.case for record in probed.records if record.outcome is Outcome.NOT_MEASURED]
    assert len(missing) <= 3, missing


@pytest.mark.heavy
@pytest.mark.parametrize("code", REFUSED)
async def test_a_real_refusal_among_them_is_found_and_nothing_else(code: str) -> None:
    probed = await probed_with_bad_luck(1, f"fault:{code}", ("400", "500"))
    for model in {record.model for record in probed.records}:
        codes = {code for record in probed.records if record.model == model for code in record.codes}
        assert {code for code in codes if not code.startswith("transport.")} == {code}, model


async def test_after_a_refusal_was_proven_later_iterations_ask_for_one_control_only() -> None:
    with Vendor(models=["fault:choice.rejected"]) as vendor:
        probed = await probe_models(
            vendor.url, ["fault:choice.rejected"], probes=["choice_required"], iterations=5, concurrency=5
        )
    sizes = sorted(len(record.detail.exchanges) for record in probed.records)
    assert sizes[:4] == [2, 2, 2, 2]
    assert sizes[4] >= 11
    assert {record.codes for record in probed.records} == {("choice.rejected",)}


async def test_a_healthy_vendor_is_asked_nothing_more() -> None:
    with Vendor(models=["faithful"]) as vendor:
        await probe_models(vendor.url, ["faithful"], probes=["basic", "choice_required", "null_content"])
        assert vendor.requests.count() == 3


@pytest.mark.parametrize("share", [0.1, 0.3])
def test_the_more_requests_fail_by_themselves_the_more_failures_it_takes(share: float) -> None:
    background = Background()
    background.count(None, 200)
    assert background.chance(500, 5) < 1e-9
    background.count(500, round(200 * share / (1 - share)))
    needed = next(times for times in range(1, 30) if background.chance(500, times) < 0.001 / 40)
    assert background.chance(400, 5) < 1e-9  # another status is no excuse
    assert needed == {0.1: 5, 0.3: 10}[share]


def test_one_models_bad_luck_is_not_hidden_by_its_healthy_neighbours() -> None:
    endpoint = Background()
    healthy, unlucky = ModelRefusals(endpoint), ModelRefusals(endpoint)
    fault = Fault(kind=FaultKind.SERVER_ERROR, message="oops", status=500)
    request = Request(body={})
    healthy.saw(Turn(exchange=Exchange(request=request), reply=None), 2000)
    for number in range(100):
        unlucky.saw(Turn(exchange=Exchange(request=request, fault=None if number % 3 else fault), reply=None))
    assert healthy.is_beyond_chance(500, 5)
    assert not unlucky.is_beyond_chance(500, 5)
