"""Fingerprints: kept with each case, compared over the whole run, and remembered."""

from __future__ import annotations

from support.probing import probe_models
from support.scripted import Scripted, completion, in_turn
from toolcert.core.findings import Severity
from toolcert.history.observation import observations, stored_run
from toolcert.simulate import Vendor

CHANGED = "identity.fingerprint_changed"


def told_in_turn(*fingerprints: str | None) -> Scripted:
    """A server whose answers carry these fingerprints one after the other, the last one for ever."""
    return Scripted(in_turn(*(completion("Hello.", system_fingerprint=told) for told in fingerprints)))


async def test_a_change_between_two_cases_is_noted() -> None:
    """No single case shows it: each has one answer."""
    with told_in_turn("fp_a", "fp_a", "fp_b") as server:
        probed = await probe_models(server.url, ["m"], probes=["basic"], iterations=4, concurrency=1)
    assert not any(CHANGED in record.codes for record in probed.records)
    (cause,) = [cause for cause in probed.summary.causes if cause.code == CHANGED]
    assert (cause.severity, cause.count, cause.example.evidence) == (Severity.NOTE, 2, "first fp_a, then fp_b")
    assert probed.model("m").cells[0].fingerprints == ("fp_a", "fp_b")


async def test_a_change_inside_a_case_is_counted_once() -> None:
    model = f"fault:{CHANGED}"
    with Vendor(models=[model]) as vendor:
        probed = await probe_models(vendor.url, [model], probes=["repeatability"])
    assert probed.record(model, "repeatability").codes == (CHANGED,)
    assert [(found.code, found.count) for found in probed.model(model).findings] == [(CHANGED, 1)]


async def test_a_server_that_leaves_it_out_now_and_then_has_not_changed() -> None:
    with told_in_turn("fp_a", None, "fp_a", None) as server:
        probed = await probe_models(server.url, ["m"], probes=["basic"], iterations=4, concurrency=1)
    assert CHANGED not in {cause.code for cause in probed.summary.causes}


async def test_the_history_remembers_them_with_the_versions() -> None:
    with told_in_turn("fp_a", "fp_b") as server:
        probed = await probe_models(server.url, ["m"], probes=["basic"], iterations=2, concurrency=1)
    assert [one.fingerprint for one in observations(probed.summary)] == ["fp_a, fp_b"]
    assert stored_run(probed.summary).versions == {"toolcert": "test"}
