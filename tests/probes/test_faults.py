"""Each fault that takes a probe to be seen is seen by the probe named for it, and named rightly."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from support.probing import probe_models
from toolcert.core.cases import Outcome
from toolcert.probes.base import find_probe
from toolcert.probes.summary.scorecard import CellState
from toolcert.simulate import Vendor
from toolcert.simulate.faults import all_faults

FAULTS = [fault for fault in all_faults() if fault.probe is not None]
CAPABILITIES = {"choice.rejected", "schema.name_rejected", "schema.size_limit", "schema.valid_rejected"}
"""Said openly by the server: unsupported, not failed."""
NOTED = {"history.wrong_id_accepted", "identity.fingerprint_changed", "reasoning.not_kept"}
"""Worth knowing, and no failure."""


@pytest.fixture(scope="module")
def vendor() -> Iterator[Vendor]:
    with Vendor(models=["faithful", *(fault.model for fault in FAULTS)]) as running:
        yield running


@pytest.mark.sampled(every=8)
@pytest.mark.parametrize("fault", FAULTS, ids=[fault.code for fault in FAULTS])
async def test_the_probe_of_a_fault_names_it(vendor: Vendor, fault: object) -> None:
    model, probe, code = fault.model, fault.probe, fault.code  # type: ignore[attr-defined]  # a simulate.Fault
    probed = await probe_models(vendor.url, [model], probes=[probe])
    record = probed.record(model, probe)
    assert code in record.codes, record.reason
    expected = Outcome.UNSUPPORTED if code in CAPABILITIES else Outcome.PASSED if code in NOTED else Outcome.FAILED
    assert record.outcome is expected
    assert bool(record.reason) is (code not in NOTED)
    found = next(found for found in record.detail.findings if found.code == code)
    assert found.evidence
    assert found.turn < len(record.detail.exchanges)


@pytest.mark.sampled(every=8)
@pytest.mark.parametrize(
    ("model", "probe", "state"),
    [
        ("fault:choice.named_ignored", "choice_named", CellState.FAILED),
        ("fault:choice.none_ignored", "choice_none", CellState.FAILED),
        ("fault:choice.required_ignored", "choice_required", CellState.FAILED),
        ("fault:parallel.flag_ignored", "parallel_off", CellState.FAILED),
        ("fault:parallel.merged", "parallel", CellState.FAILED),
        ("fault:finish.truncation_hidden", "max_tokens_cut", CellState.FAILED),
        ("fault:json.fenced", "json_object", CellState.FAILED),
        ("fault:json.other_values", "json_object", CellState.FAILED),
        ("fault:json.ignored", "json_schema", CellState.FAILED),
        ("fault:stream.cut", "streaming", CellState.FAILED),
        ("fault:args.escaped", "unicode_args", CellState.PASSED),
        ("fault:args.schema.pattern", "schema_ladder", CellState.FAILED),
        ("fault:usage.arithmetic", "usage", CellState.FAILED),
        ("fault:trigger.over", "irrelevance", CellState.FAILED),
        ("fault:trigger.over", "missing_info", CellState.FAILED),
        ("fault:call.mangled_name", "basic", CellState.FAILED),
        ("fault:call.twice", "basic", CellState.PASSED),
        ("fault:call.id_missing", "result_use", CellState.PASSED),
        ("fault:stream.name_repeated", "streaming", CellState.PASSED),
    ],
)
async def test_faults_that_the_exchange_shows_fail_the_probe_they_break(
    model: str, probe: str, state: CellState
) -> None:
    """A fault that a careful client survives is a finding and not a failure."""
    with Vendor(models=[model]) as own:
        probed = await probe_models(own.url, [model], probes=[probe])
    cell = next(cell for cell in probed.model(model).cells if cell.probe == probe)
    assert cell.state is state, cell.reason


@pytest.mark.parametrize("model", ["fault:args.altered", "fault:args.altered:dropped", "fault:args.altered:emoji"])
async def test_an_argument_that_was_asked_for_letter_by_letter_shows_what_was_altered(model: str) -> None:
    """One answer does not show a dropped emoji; the probe knows the text that was to come back."""
    with Vendor(models=[model]) as own:
        probed = await probe_models(own.url, [model], probes=["unicode_args"])
    record = probed.record(model, "unicode_args")
    assert (record.outcome, set(record.codes)) == (Outcome.FAILED, {"args.altered"}), record.reason


async def test_the_ladder_names_the_first_rung_that_fails(vendor: Vendor) -> None:
    model = "fault:schema.valid_rejected"
    probed = await probe_models(vendor.url, [model], probes=["schema_ladder"])
    assert probed.record(model, "schema_ladder").detail.figures == {
        "climbed": ["enum", "nested", "array"],
        "fails_at": "$ref",
    }


async def test_the_twin_names_what_differs(vendor: Vendor) -> None:
    probed = await probe_models(vendor.url, ["fault:stream.differs"], probes=["stream_twin"])
    assert probed.record("fault:stream.differs", "stream_twin").detail.figures["differs"] == ["arguments"]


async def test_a_vendor_that_wants_reasoning_back_still_shows_what_its_model_can_do(vendor: Vendor) -> None:
    """The second turn is asked again with the reasoning, and the finding says so."""
    model = "fault:reasoning.required_back"
    probed = await probe_models(vendor.url, [model], probes=["result_use", "tool_error", "multi_step"])
    assert {record.outcome for record in probed.records} == {Outcome.PASSED}
    second_turns = [record for record in probed.records if record.probe and record.probe.probe != "basic"]
    assert all("reasoning.required_back" in record.codes for record in second_turns)


def test_every_fault_names_a_probe_that_exists() -> None:
    for fault in FAULTS:
        assert find_probe(str(fault.probe)).name == fault.probe


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("code", "others"),
    [
        ("history.null_content", set()),
        ("history.foreign_ids_rejected", set()),
        ("history.tool_role_rejected", {"transport.rejected"}),  # a result with a wrong id cannot be tried at all
        ("result.misassigned", {"history.wrong_id_accepted"}),  # whoever looks at no id takes any
        ("result.invented", set()),
        ("result.injected", set()),
        ("result.ignored", set()),
        ("result.repeat_call", set()),
        ("reasoning.not_kept", set()),
    ],
)
async def test_a_fault_of_later_turns_has_one_name_in_every_probe(code: str, others: set[str]) -> None:
    model = f"fault:{code}"
    with Vendor(models=[model]) as own:
        probed = await probe_models(own.url, [model], suite="full")
    assert {found for record in probed.records for found in record.codes} == {code} | others
