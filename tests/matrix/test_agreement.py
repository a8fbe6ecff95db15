"""Probe and verify agree: a fault that one answer can show is on the same side, good or not good, through both."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from support.probing import probe_models
from support.verifying import run
from toolcert.core.errors import NothingMeasuredError
from toolcert.core.findings import Severity
from toolcert.core.verdict import Verdict
from toolcert.diagnose import kind_of
from toolcert.simulate import Vendor
from toolcert.simulate.faults import Fault, SeenBy, all_faults
from toolcert.simulate.situations import A_CALL, Situation

ONE_ANSWER = [fault for fault in all_faults() if fault.seen_by is SeenBy.EXCHANGE]
JUDGED_BY_BOTH = [fault for fault in ONE_ANSWER if not fault.probe_alone]
PROBES = {
    "args.altered": ["unicode_args"],
    "args.schema": ["schema_ladder"],
    "choice": ["choice_required", "choice_named", "choice_none"],
    "stream": ["stream_twin"],
}
"""What must be asked for faults that the suite agent does not come across."""


def rows(situation: Situation, number: int) -> Iterator[dict[str, Any]]:
    for place in range(number):
        for stream in (False, True):
            body = situation.request("", stream=stream)
            del body["model"]
            yield {**body, "user": f"u{place}"}


def verified(vendor: Vendor, model: str, situation: Situation, folder: Path) -> Verdict | None:
    """The verdict of a dataset of such questions, with and without streams; None where no answer came at all."""
    # A call beside it: words alone say nothing about calling tools.
    asked = [*rows(situation, 2), *(rows(A_CALL, 1) if situation is not A_CALL else ())]
    dataset = folder / "d.jsonl"
    dataset.write_text("".join(json.dumps(one) + "\n" for one in asked), encoding="utf-8")
    endpoint = {"retries": 0, "timeout": 0.5 if "timeout" in model else 20.0}
    try:
        return run(str(dataset), vendor.url, folder / "run", model=model, endpoint=endpoint).summary.verdict
    except NothingMeasuredError:
        return None


async def probed(vendor: Vendor, model: str, code: str) -> Verdict:
    more = [probe for family, probes in PROBES.items() if code.startswith(family) for probe in probes]
    patience = 0.3 if "timeout" in model else 10.0
    found = await probe_models(vendor.url, [model], suite="agent", iterations=2, patience=patience)
    if found.model(model).verdict.good and more:
        found = await probe_models(vendor.url, [model], probes=["basic", *more], iterations=2)
    return found.model(model).verdict


@pytest.mark.sampled(every=8)
@pytest.mark.parametrize(
    "fault",
    [
        pytest.param(fault, marks=[pytest.mark.heavy] if fault.code == "transport.oversized" else [], id=fault.code)
        for fault in JUDGED_BY_BOTH
    ],
)
async def test_both_are_on_the_same_side(fault: Fault, tmp_path: Path) -> None:
    model = fault.model
    with Vendor(models=[model], seed=1) as vendor:
        asked = await probed(vendor, model, fault.code)
        replayed = await in_thread(vendor, model, fault, tmp_path)
    good = replayed is not None and replayed.good
    assert asked.good is good, (asked.sentence, replayed and replayed.sentence)
    if kind_of(fault.code).severity is Severity.ERROR:
        assert not good
    elif not fault.code.startswith(("transport.", "finish.filtered")):
        assert good


async def in_thread(vendor: Vendor, model: str, fault: Fault, folder: Path) -> Verdict | None:
    """Verify waits for itself, which it cannot do inside a running loop."""
    return await asyncio.to_thread(verified, vendor, model, fault.situation, folder)


async def test_a_faithful_vendor_is_good_through_both(tmp_path: Path) -> None:
    model = "faithful"
    with Vendor(models=[model]) as vendor:
        assert (await probed(vendor, model, "")).good
        replayed = await asyncio.to_thread(verified, vendor, model, A_CALL, tmp_path)
    assert replayed is not None
    assert replayed.good


@pytest.mark.parametrize("code", [fault.code for fault in ONE_ANSWER if fault.probe_alone])
def test_what_a_probe_alone_judges_is_no_error_in_one_answer(code: str) -> None:
    """Verify warns of it; whether the answer is of use, only a question with a known answer can tell."""
    assert kind_of(code).severity is not Severity.ERROR
