"""One fault of a vendor is one finding of its run; what is nobody's fault is told apart."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from support.probing import probe_models
from support.rows import row, write_rows
from support.verifying import records, run
from toolcert.core.cases import Outcome
from toolcert.core.findings import Severity
from toolcert.reports.formats import render
from toolcert.simulate import Vendor


@pytest.mark.parametrize(
    ("model", "probes", "code", "follows"),
    [
        ("fault:args.lost", ["stream_twin"], "args.lost", {"args.empty", "stream.differs"}),
        ("fault:stream.cut", ["stream_twin"], "stream.cut", {"args.empty", "stream.differs"}),
        ("fault:stream.args_truncated", ["stream_twin"], "stream.args_truncated", {"stream.differs"}),
        (
            "fault:schema.strict_unenforced",
            ["strict"],
            "schema.strict_unenforced",
            {"args.schema.additionalProperties"},
        ),
        ("fault:call.in_text", ["choice_required", "choice_named"], "call.in_text", set()),
    ],
)
async def test_a_run_lists_the_fault_and_what_follows_from_it_below(
    model: str, probes: list[str], code: str, follows: set[str]
) -> None:
    with Vendor(models=[model]) as vendor:
        probed = await probe_models(vendor.url, [model], probes=probes)
    (cause,) = [one for one in probed.summary.causes if one.severity is not Severity.NOTE]
    assert (cause.code, set(cause.follows)) == (code, follows)
    assert {found.code for found in probed.model(model).findings if found.severity is not Severity.NOTE} == {code}
    shown = str(render("probe", "markdown", probed.summary))
    assert all(one in shown for one in follows)


async def test_what_follows_from_a_fault_caps_nothing_of_its_own() -> None:
    """`args.empty` is an error, and is not said beside `args.lost`."""
    with Vendor(models=["fault:args.lost"]) as vendor:
        probed = await probe_models(vendor.url, ["fault:args.lost"], probes=["stream_twin"], iterations=3)
    verdict = probed.model("fault:args.lost").verdict
    assert [cap for cap in verdict.caps if cap != "args.lost"] == []
    assert "args.lost" in verdict.caps


async def test_strict_says_nothing_where_the_arguments_are_valid() -> None:
    """A mangled name is one fault; that its arguments keep to the schema is seen all the same."""
    for model in ("fault:call.mangled_name", "fault:args.not_string"):
        with Vendor(models=[model]) as vendor:
            record = (await probe_models(vendor.url, [model], probes=["strict"])).record(model, "strict")
        assert record.codes == (model.removeprefix("fault:"),)


def test_a_filtered_answer_is_not_measured(tmp_path: Path) -> None:
    model = "fault:finish.filtered"
    with Vendor(models=[model]) as vendor:
        record = asyncio.run(probe_models(vendor.url, [model], probes=["basic"])).record(model, "basic")
        summary = run(write_rows(tmp_path / "d.jsonl", [row(1)]), vendor.url, tmp_path / "run", model=model).summary
    assert (record.outcome, record.reason) == (Outcome.NOT_MEASURED, "a content filter ended the answer")
    assert record.codes == ("finish.filtered",)
    (judged,) = records(tmp_path / "run")
    assert (judged.outcome, judged.codes) == (Outcome.NOT_MEASURED, ("finish.filtered",))
    assert (summary.rows.failed, summary.not_measured_by) == (0, {"finish.filtered": 1})


@pytest.mark.parametrize(
    ("model", "probe"),
    [("fault:finish.length_false", "basic"), ("fault:json.whitespace", "json_object")],
)
async def test_an_end_that_no_limit_explains_is_a_failure(model: str, probe: str) -> None:
    """It is not taken for a cut at the probe's own limit, which measures nothing."""
    with Vendor(models=[model]) as vendor:
        record = (await probe_models(vendor.url, [model], probes=[probe])).record(model, probe)
    assert (record.outcome, record.codes) == (Outcome.FAILED, (model.removeprefix("fault:"),))


async def test_a_call_where_no_tool_fits_is_named_in_a_probe_too() -> None:
    with Vendor(models=["fault:trigger.over"]) as vendor:
        probed = await probe_models(vendor.url, ["fault:trigger.over"], probes=["irrelevance"])
    record = probed.record("fault:trigger.over", "irrelevance")
    assert (record.outcome, record.codes) == (Outcome.FAILED, ("trigger.over",))


async def test_tools_that_are_only_not_counted_are_a_warning() -> None:
    severities = {}
    for model in ("fault:prompt.tools_dropped", "fault:prompt.tools_dropped:uncounted"):
        with Vendor(models=[model]) as vendor:
            record = (await probe_models(vendor.url, [model], probes=["tools_in_prompt"])).record(
                model, "tools_in_prompt"
            )
        (found,) = record.detail.findings
        severities[model] = (found.code, found.severity)
    assert [*severities.values()] == [
        ("prompt.tools_dropped", Severity.ERROR),
        ("prompt.tools_dropped", Severity.WARNING),
    ]
