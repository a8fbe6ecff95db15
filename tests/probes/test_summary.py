"""The summary: everything a report needs, from the run log alone."""

from __future__ import annotations

import msgspec
import pytest

from support.probing import probe_models
from toolcert.core.cases import Outcome
from toolcert.core.findings import Finding, Severity
from toolcert.core.gates import Gates
from toolcert.core.records import Detail, Manifest, ProbeFacts, Record
from toolcert.core.statistics.rates import Rate
from toolcert.core.targets import EndpointSpec, ModelInfo
from toolcert.core.verdict import Word
from toolcert.diagnose import finding
from toolcert.probes.summary.cell_tally import MOST_SAMPLES, Times
from toolcert.probes.summary.scorecard import ProbeSummary
from toolcert.probes.summary.sentences import failed_gates, further_lines
from toolcert.probes.summary.summariser import Summariser, summarise
from toolcert.reports.probe.phrases import verdict_of
from toolcert.runs.encoding import decode_head, decode_record, encode_record
from toolcert.simulate import Vendor
from toolcert.simulate.persona import DEMO


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


@pytest.mark.heavy
async def test_a_summary_survives_json_and_the_run_log() -> None:
    models = [model for model in DEMO if model != "slow"]  # faithful, and nothing but a wait here
    with Vendor(models=models) as vendor:
        probed = await probe_models(vendor.url, models, suite="agent", iterations=2, concurrency=16)
    again = msgspec.json.decode(msgspec.json.encode(probed.summary), type=ProbeSummary)
    assert again == probed.summary
    lines = [encode_record(record) for record in probed.records]
    assert summarise(probed.manifest, map(decode_record, lines)) == probed.summary
    heads = summarise(probed.manifest, map(decode_head, lines))
    assert heads.headline == probed.summary.headline
    assert [cause.code for cause in heads.causes] == [cause.code for cause in probed.summary.causes]


@pytest.mark.heavy
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
    assert failed_gates(summary, Gates(fail_on=("error",)))


def test_models_without_a_single_record_are_there() -> None:
    summary = summarise(manifest_of("a", "b"), [record_of("a", Outcome.PASSED)])
    assert [(model.model, model.verdict.word) for model in summary.models] == [
        ("a", Word.UNDECIDED),
        ("b", Word.NOT_MEASURED),
    ]
    assert summary.models[1].reason == "Not asked: the run was not finished"
    so_far = "0 of 2 models pass; 1 is undecided, 1 could not be measured."
    assert summary.headline == f"Incomplete: 9 cases were not asked yet. So far: {so_far}"
    assert summary.lines == ()


def test_a_model_that_is_not_for_chatting_does_not_make_a_run_incomplete() -> None:
    silent = ModelInfo(id="b", can_chat=False)
    manifest = msgspec.structs.replace(manifest_of(iterations=2), models={"e": (ModelInfo(id="a"), silent)})
    records = [record_of("a", Outcome.PASSED, iteration=n) for n in (1, 2)]
    summary = summarise(manifest, [*records, record_of("b", Outcome.SKIPPED)])
    assert not summary.headline.startswith("Incomplete")


def test_what_an_interrupted_run_did_not_ask_leaves_the_score_open() -> None:
    records = [record_of("a", Outcome.PASSED, iteration=n) for n in (1, 2, 3)]
    [model] = summarise(manifest_of("a", suite="agent", iterations=10), records).models
    assert (model.score.low, model.score.high) == (30.0, 100.0)
    assert model.verdict.word is Word.UNDECIDED


async def test_other_words_for_the_same_records_change_no_figure() -> None:
    """Scores, verdicts and counts come from values; whoever rewords a reason changes the words only."""
    models = ["faithful", "text-caller", "no-tools"]
    with Vendor(models=models) as vendor:
        probed = await probe_models(vendor.url, models, suite="agent", iterations=8, max_requests=90, concurrency=1)
    assert len({record.skip for record in probed.records if record.outcome is Outcome.SKIPPED}) >= 3
    reworded = [
        msgspec.structs.replace(record, reason=record.reason and "other words", cause="") for record in probed.records
    ]
    other = summarise(probed.manifest, reworded)
    assert other.totals == probed.summary.totals
    for one, two in zip(probed.summary.models, other.models, strict=True):
        assert (one.model, one.verdict.word, one.score, one.counts) == (
            two.model,
            two.verdict.word,
            two.score,
            two.counts,
        )
        for cell, same in zip(one.cells, two.cells, strict=True):
            assert (cell.state, cell.stopped_by, cell.unasked) == (same.state, same.stopped_by, same.unasked)


async def test_a_limit_on_requests_leaves_models_undecided_and_says_what_was_not_asked() -> None:
    models = ["faithful", "text-caller"]
    with Vendor(models=models) as vendor:
        probed = await probe_models(vendor.url, models, suite="agent", iterations=3, max_requests=7, concurrency=1)
    summary = probed.summary
    assert summary.headline == "0 of 2 models pass; 1 is undecided, 1 fails."
    assert "24 cases were not asked: the limit of 7 requests was reached." in summary.lines
    assert probed.model("faithful").reason == "Only 3 of 15 were measured"
    assert "Everything measured works; 12 not asked" in probed.model("faithful").reasons
    totals = summary.totals
    assert (totals.undecided, totals.fails, totals.not_measured) == (1, 1, 0)


async def test_a_model_that_the_limit_left_out_is_not_said_to_work() -> None:
    models = ["faithful", "slow:0.01:faithful"]
    with Vendor(models=models) as vendor:
        probed = await probe_models(vendor.url, models, suite="quick", iterations=3, max_requests=3, concurrency=1)
    told = {model.reason: model.verdict.word for model in probed.summary.models}
    assert told["Not asked: the limit of 3 requests was reached"] is Word.NOT_MEASURED


async def test_an_adaptive_run_states_what_it_saved_and_how_often_it_errs() -> None:
    with Vendor(models=["faithful", "text-caller"]) as vendor:
        probed = await probe_models(vendor.url, ["text-caller"], suite="quick", iterations=30, adaptive=True)
    saved = sum(record.outcome is Outcome.SKIPPED for record in probed.records)
    assert saved >= 20
    said = next(line for line in probed.summary.lines if line.startswith("Decided early"))
    assert f"{saved} cases were not asked" in said
    assert "at most 5 %" in said


def test_records_of_probes_that_this_run_does_not_ask_are_of_another_run() -> None:
    finding = Finding(code="call.in_text", severity=Severity.ERROR)
    other = msgspec.structs.replace(
        record_of("a", Outcome.FAILED), codes=("call.in_text",), detail=Detail(findings=(finding,))
    )
    other = msgspec.structs.replace(other, probe=ProbeFacts(probe="hello_world", iteration=1))
    summary = summarise(manifest_of("a"), [record_of("a", Outcome.PASSED), other])
    assert summary.causes == ()


@pytest.mark.parametrize(
    ("declares", "outcome", "said"),
    [
        (True, Outcome.FAILED, "Declared to call tools, and does not: a."),
        (True, Outcome.UNSUPPORTED, "Declared to call tools, and does not: a."),
        (False, Outcome.PASSED, "Declared not to call tools, and does: a."),
        (True, Outcome.PASSED, None),
        (False, Outcome.FAILED, None),
        (None, Outcome.FAILED, None),
        (True, Outcome.NOT_MEASURED, None),
    ],
)
def test_what_the_listing_declares_stands_beside_what_was_measured(
    declares: bool | None, outcome: Outcome, said: str | None
) -> None:
    infos = {"e": (ModelInfo(id="a", declares_tools=declares),)}
    manifest = msgspec.structs.replace(manifest_of("a"), models=infos)
    summary = summarise(manifest, [record_of("a", outcome)])
    assert [line for line in summary.lines if line.startswith("Declared")] == ([said] if said else [])
    assert summary.models[0].declares_tools is declares


def test_the_best_choice_of_several_endpoints_is_named_with_its_endpoint() -> None:
    record = record_of("a", Outcome.PASSED)
    models = {"e": (ModelInfo(id="a"),), "f": (ModelInfo(id="a"),)}
    manifest = msgspec.structs.replace(manifest_of("a", iterations=1), models=models)
    summary = summarise(manifest, [record, msgspec.structs.replace(record, endpoint="f", outcome=Outcome.FAILED)])
    assert summary.lines[0].startswith("Best choice: e: a, ")


@pytest.mark.parametrize(("called", "silent"), [(False, True), (True, False), (None, False)])
def test_only_a_model_that_was_never_seen_calling_is_said_not_to_call(called: bool | None, silent: bool) -> None:
    records = [record_of("a", Outcome.FAILED, called=called)]
    [model] = summarise(manifest_of("a", suite=None), records).models
    assert verdict_of(model) == ("bad", "fails")
    assert ("does not call tools" in model.verdict.reason) is silent


def test_ranking_is_by_verdict_then_score_then_time_to_a_call() -> None:
    records = [
        record_of("slow", Outcome.PASSED, seconds=(2.0,)),
        record_of("quick", Outcome.PASSED, seconds=(0.2,)),
        record_of("bad", Outcome.FAILED),
        record_of("half", Outcome.PASSED),
        record_of("half", Outcome.FAILED, iteration=2),
    ]
    summary = summarise(manifest_of("bad", "half", "slow", "quick", iterations=1), records)
    assert [model.model for model in summary.models] == ["quick", "slow", "half", "bad"]
    assert [model.rank for model in summary.models] == [1, 2, 3, 4]
    assert "Best choice: quick" in summary.lines[0]


def test_a_model_with_a_fault_that_breaks_agents_is_named_only_where_there_is_no_other() -> None:
    """What was seen once does not cap the verdict, and what was seen twice does: then nobody is told to choose it."""
    fault = finding("stream.cut", "the end is missing")
    cut = record_of("cut", Outcome.PASSED, seconds=(0.1,))
    cut = msgspec.structs.replace(cut, codes=(fault.code,), detail=Detail(findings=(fault,)))
    sound = [record_of(name, Outcome.PASSED, seconds=(time,)) for name, time in (("slow", 2.0), ("sound", 1.0))]
    lines = summarise(manifest_of("cut", "slow", "sound", iterations=1), [cut, *sound]).lines
    assert [line for line in lines if "choice" in line or "Fastest" in line] == [
        "Best choice: sound, 1 of 1 run, 1.00 s to a call."
    ]
    alone = summarise(manifest_of("cut", iterations=1), [cut])
    assert "Best choice: cut, 1 of 1 run, 0.10 s to a call." in alone.lines
    again = msgspec.structs.replace(cut, case="e/cut/basic/2")
    twice = summarise(manifest_of("cut", iterations=2), [cut, again])
    assert twice.headline == "cut is partial: works, except: stream.cut in 2 of 2."
    assert not any("choice" in line for line in twice.lines)


def test_a_model_that_had_to_be_asked_again_is_not_named_as_the_fastest() -> None:
    """Its calls are quick once it answers; an agent waits for the refused requests all the same."""
    records = [record_of("sound", Outcome.PASSED, seconds=(1.0,)), record_of("quick", Outcome.PASSED, seconds=(0.5,))]
    quick, sound = summarise(manifest_of("sound", "quick", iterations=1), records).models
    again = msgspec.structs.replace(quick.cells[0], first_try=Rate())
    retried = msgspec.structs.replace(quick, cells=(again,))
    unheard = msgspec.structs.replace(quick, counts=msgspec.structs.replace(quick.counts, not_measured=1))
    assert "Fastest of those: quick, 0.50 s to a call." in further_lines([sound, quick], [])
    for troubled in (retried, unheard):
        assert not any("quick" in line for line in further_lines([sound, troubled], []))


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
