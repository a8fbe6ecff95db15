"""The summary: everything a report needs, from the run log alone."""

from __future__ import annotations

import msgspec
import pytest

from support.probing import probe_models
from toolcert.core.findings import Finding, Severity
from toolcert.core.manifest import Manifest
from toolcert.core.outcomes import Outcome
from toolcert.core.records import Detail, ProbeFacts, Record
from toolcert.core.targets import EndpointSpec, ModelInfo
from toolcert.probes.gates import failed_gates
from toolcert.probes.latency import MOST_SAMPLES, Times
from toolcert.probes.scorecard import Category, ProbeSummary
from toolcert.probes.summary import Summariser, summarise
from toolcert.runs.encoding import decode_head, decode_record, encode_record
from toolcert.simulate import Vendor
from toolcert.simulate.personas import DEMO


def manifest_of(*models: str, probes: tuple[str, ...] = ("basic",), **more: object) -> Manifest:
    settings: dict[str, object] = {"suite": "quick", "iterations": 5, **more}
    return Manifest(
        run="r",
        job="probe",
        started_at=100.0,
        toolcert="0",
        endpoints=(EndpointSpec(name="e"),),
        models={"e": tuple(ModelInfo(id=model) for model in models)},
        probes=probes,
        **settings,  # type: ignore[arg-type]  # fields of the manifest
    )


def record_of(model: str, outcome: Outcome, *, iteration: int = 1, **facts: object) -> Record:
    values: dict[str, object] = {"called": outcome is Outcome.PASSED, "requests": 1, **facts}
    return Record(
        case=f"e/{model}/basic/{iteration}",
        endpoint="e",
        model=model,
        outcome=outcome,
        probe=ProbeFacts(probe="basic", iteration=iteration, **values),  # type: ignore[arg-type]  # same
    )


async def test_a_summary_survives_json_and_the_run_log() -> None:
    with Vendor(models=list(DEMO)) as vendor:
        probed = await probe_models(vendor.url, DEMO, suite="agent", iterations=2, concurrency=16)
    again = msgspec.json.decode(msgspec.json.encode(probed.summary), type=ProbeSummary)
    assert again == probed.summary
    lines = [encode_record(record) for record in probed.records]
    assert summarise(probed.manifest, map(decode_record, lines)) == probed.summary
    heads = summarise(probed.manifest, map(decode_head, lines))
    assert heads.headline == probed.summary.headline
    assert [cause.code for cause in heads.causes] == [cause.code for cause in probed.summary.causes]


async def test_causes_are_grouped_over_models_with_one_request_that_shows_them() -> None:
    models = ["text-caller", "seven-of-ten", "faithful", "json-fencer"]
    with Vendor(models=models) as vendor:
        probed = await probe_models(vendor.url, models, suite="agent", iterations=10)
    first = probed.summary.causes[0]
    assert first.code == "call.in_text"
    assert first.models == ("seven-of-ten", "text-caller")
    assert "basic" in first.probes
    assert first.example.body is not None
    assert first.example.body["model"] in first.models
    assert first.example.url == f"{vendor.url}/chat/completions"
    assert first.example.evidence
    assert first.count == sum("call.in_text" in record.codes for record in probed.records)
    severities = [cause.severity for cause in probed.summary.causes]
    assert severities == sorted(severities, key=["error", "warning", "note"].index)


@pytest.mark.parametrize("severities", [("warning", "error"), ("error", "warning")])
def test_a_finding_is_as_grave_as_its_worst_case_in_whatever_order_they_come(severities: tuple[str, str]) -> None:
    """`--fail-on error` must not depend on which case ended first."""
    records = []
    for number, severity in enumerate(severities, start=1):
        found = Finding(code="args.empty", severity=Severity(severity), evidence=severity)
        record = record_of("a", Outcome.FAILED, iteration=number)
        records.append(msgspec.structs.replace(record, codes=("args.empty",), detail=Detail(findings=(found,))))
    summary = summarise(manifest_of("a"), records)
    [cause] = summary.causes
    assert (cause.severity, cause.count, cause.example.evidence) == (Severity.ERROR, 2, "error")
    assert failed_gates(summary, None, ["error"])


def test_models_without_a_single_record_are_there() -> None:
    summary = summarise(manifest_of("a", "b"), [record_of("a", Outcome.PASSED)])
    assert [(model.model, model.category) for model in summary.models] == [
        ("a", Category.FULL),
        ("b", Category.NOT_MEASURED),
    ]
    assert summary.models[1].reason == "Not measured: the run ended before it was asked"
    assert summary.headline == "1 of 2 models calls tools; 1 could not be measured."


def test_ranking_is_by_verdict_then_score_then_time_to_a_call() -> None:
    records = [
        record_of("slow", Outcome.PASSED, seconds=(2.0,)),
        record_of("quick", Outcome.PASSED, seconds=(0.2,)),
        record_of("bad", Outcome.FAILED),
        record_of("half", Outcome.PASSED),
        record_of("half", Outcome.FAILED, iteration=2),
    ]
    summary = summarise(manifest_of("bad", "half", "slow", "quick"), records)
    assert [model.model for model in summary.models] == ["quick", "slow", "half", "bad"]
    assert [model.rank for model in summary.models] == [1, 2, 3, 4]
    assert "Best choice: quick" in summary.lines[0]


def test_tokens_are_counted_and_priced() -> None:
    records = [record_of("a", Outcome.PASSED, tokens_in=1000, tokens_out=100, iteration=n) for n in range(3)]
    summary = summarise(manifest_of("a", "b"), records, prices={"a*": (2.0, 10.0)})
    usage = summary.models[0].usage
    assert (usage.tokens_in, usage.tokens_out) == (3000, 300)
    assert usage.cost == pytest.approx(0.009)
    assert summary.models[1].usage.cost is None
    assert summary.totals.usage.cost == pytest.approx(0.009)
    assert summary.totals.usage.requests == 3


def test_the_summary_can_be_had_while_records_still_come() -> None:
    summariser = Summariser(manifest_of("a"))
    assert summariser.summary().nothing_measured
    summariser.add(record_of("a", Outcome.PASSED))
    assert not summariser.summary().nothing_measured
    assert summariser.summary(finished_at=103.0).totals.seconds == 3.0


def test_records_of_models_that_are_not_in_the_run_are_left_out() -> None:
    summary = summarise(manifest_of("a"), [record_of("other", Outcome.PASSED)])
    assert [model.model for model in summary.models] == ["a"]
    assert summary.nothing_measured


def test_scenarios_are_columns_though_nobody_registered_them() -> None:
    manifest = manifest_of("a", probes=("my_own", "basic"), suite=None)
    summary = summarise(manifest, [])
    assert [(column.name, column.group) for column in summary.probes] == [("basic", "calling"), ("my_own", "scenario")]


def test_several_endpoints_name_the_model_with_its_endpoint() -> None:
    manifest = msgspec.structs.replace(
        manifest_of("m"), models={"one": (ModelInfo(id="m"),), "two": (ModelInfo(id="m"),)}
    )
    summary = summarise(manifest, [])
    assert {(model.endpoint, model.model) for model in summary.models} == {("one", "m"), ("two", "m")}


def test_a_long_run_keeps_a_bounded_sample_spread_over_it() -> None:
    times = Times()
    for number in range(10_000):
        times.add(number / 1000)
    latency = times.latency("call")
    assert latency is not None
    assert latency.count == 10_000
    assert MOST_SAMPLES // 2 <= len(latency.samples) <= MOST_SAMPLES
    assert max(latency.samples) > 9
    assert latency.p50 == pytest.approx(5.0, rel=0.02)
    assert latency.p95 == pytest.approx(9.5, rel=0.02)
