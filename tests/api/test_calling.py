"""The library as its users call it: from plain code, from async code, and wrongly. Only public names are used."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from toolcert import (
    AttemptMade,
    By,
    CaseFinished,
    CaseStarted,
    CompareOptions,
    CompareVerdict,
    Comparison,
    Endpoint,
    Event,
    ExitCode,
    Finding,
    Handler,
    Keep,
    LoadedRun,
    Match,
    ModelInfo,
    NothingMeasuredError,
    Outcome,
    ProbeJob,
    ProbeOptions,
    ProbeRun,
    ProbeSummary,
    RunFinished,
    RunStarted,
    RunStopping,
    Severity,
    ToolcertError,
    Trigger,
    UsageError,
    VerifyJob,
    VerifyOptions,
    VerifyRun,
    VerifySummary,
    Word,
    compare,
    compare_async,
    load_run,
    models,
    models_async,
    probe,
    probe_async,
    report,
    verify,
    verify_async,
)
from toolcert.simulate import Vendor

TOOL = {"type": "function", "function": {"name": "get_weather", "parameters": {"type": "object", "properties": {}}}}


@pytest.fixture
def dataset(tmp_path: Path) -> Path:
    """Six questions with one tool."""
    asked = [{"role": "user", "content": f"What is the weather in town {number}?"} for number in range(6)]
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(f"{json.dumps({'messages': [words], 'tools': [TOOL]})}\n" for words in asked))
    return path


def test_plain_code_waits_for_a_probe(tmp_path: Path) -> None:
    with Vendor(models=["faithful"]) as vendor:
        assert [info.id for info in models(vendor.url)] == ["faithful"]
        run = probe(vendor.url, options=ProbeOptions(suite="quick", iterations=1, output=str(tmp_path / "run")))
    assert isinstance(run, ProbeRun)
    assert run.summary.headline == "faithful passes: 1 of 1; 35 passing runs of each would certify."
    assert Path(run.folder) == tmp_path / "run"
    assert [model.verdict.word for model in run.summary.models] == [Word.PASSES]


async def test_async_code_awaits_the_twin(tmp_path: Path) -> None:
    with Vendor(models=["faithful"], api_key="sk-0123456789") as vendor:
        endpoint = Endpoint(vendor.url, api_key="sk-0123456789")
        listed: list[ModelInfo] = await models_async(endpoint)
        assert [info.id for info in listed] == ["faithful"]
        options = ProbeOptions(suite="quick", iterations=1, output=tmp_path / "run")  # type: ignore[arg-type] # see below
        run = await probe_async(endpoint, options=options)
    assert run.summary.totals.passes == 1, "a path will do where the text of one is meant"


def test_an_endpoint_lists_the_models_it_chooses() -> None:
    with Vendor(models=["faithful", "text-caller", "no-tools"]) as vendor:
        chosen = models(Endpoint(vendor.url, model="*-*", exclude="no-*"))
    assert [info.id for info in chosen] == ["text-caller"]


def test_one_pattern_as_text_is_one_pattern(tmp_path: Path) -> None:
    """Read letter by letter, it would be eight patterns that match nothing."""
    options = ProbeOptions(model="faithful", suite="quick", iterations=1, output=str(tmp_path / "run"))  # type: ignore[arg-type] # is taken
    with Vendor(models=["faithful", "text-caller"]) as vendor:
        run = probe(vendor.url, options=options)
    assert [model.model for model in run.summary.models] == ["faithful"]


def test_a_verified_dataset_is_judged_row_by_row(dataset: Path, tmp_path: Path) -> None:
    events: list[Event] = []
    handler: Handler = events.append
    planned: list[VerifyJob] = []
    with Vendor(models=["faithful"]) as vendor:
        options = VerifyOptions(model="faithful", limit=4, keep=Keep.ASSEMBLED, output=str(tmp_path / "run"))
        run = verify(dataset, Endpoint(vendor.url), options, [handler], planned.append)
    assert isinstance(run, VerifyRun)
    assert (run.summary.rows.sent, run.summary.rows.passed) == (4, 4)
    assert planned[0].spec.base_url == vendor.url
    kinds = [type(event) for event in events]
    assert (kinds[0], kinds[-1]) == (RunStarted, RunFinished)
    assert {kinds.count(kind) for kind in (CaseStarted, AttemptMade, CaseFinished)} == {4}
    assert RunStopping not in kinds, "nobody interrupted"
    assert {event.record.outcome for event in events if isinstance(event, CaseFinished)} == {Outcome.PASSED}


async def test_verified_runs_are_compared(dataset: Path, tmp_path: Path) -> None:
    """Twice a faithful vendor and once one that writes its calls into the text, from async code."""
    folders = {}
    with Vendor(models=["faithful", "text-caller"]) as vendor:
        for name, model in (("one", "faithful"), ("two", "faithful"), ("bad", "text-caller")):
            options = VerifyOptions(model=model, output=str(tmp_path / name), stream=False)
            folders[name] = (await verify_async(dataset, vendor.url, options)).folder
    rules = CompareOptions(match=Match.INDEX, trigger=Trigger.PAYLOAD, by=By.N_TOOLS)
    found = await compare_async([folders["one"], folders["two"]], folders["bad"], rules)
    assert isinstance(found, Comparison)
    assert found.vendors[0].verdict in set(CompareVerdict)
    assert found.vendors[0].cells.fn == 6, "the vendor calls nowhere in the payload"


def test_one_run_is_compared_with_one_run(dataset: Path, tmp_path: Path) -> None:
    """A name alone, or a path, needs no list around it."""
    with Vendor(models=["faithful"]) as vendor:
        for name in ("one", "two"):
            verify(dataset, vendor.url, VerifyOptions(model="faithful", output=str(tmp_path / name)))
    found = compare(tmp_path / "one", str(tmp_path / "two"))
    assert found.vendors[0].matching.matched == 6


def test_a_finished_run_is_read_and_reported(tmp_path: Path) -> None:
    findings: list[Finding] = []

    def collect(event: Event) -> None:
        if isinstance(event, CaseFinished):
            findings.extend(event.record.detail.findings)

    options = ProbeOptions(suite="quick", iterations=1, output=str(tmp_path / "run"))
    with Vendor(models=["text-caller"]) as vendor:
        probe(vendor.url, options=options, handlers=[collect])
    loaded: LoadedRun = report(tmp_path / "run", html=tmp_path / "page.html")
    assert (tmp_path / "page.html").read_text().startswith("<!doctype html>")
    summary = load_run(loaded.folder).summary
    assert not isinstance(summary, VerifySummary)
    assert isinstance(summary, ProbeSummary)
    assert (findings[0].code, findings[0].severity) == ("call.in_text", Severity.ERROR)
    assert summary.causes[0].code == "call.in_text"
    with pytest.raises(UsageError, match=r"no report pdf.*html"):
        report(tmp_path / "run", pdf="page.pdf")


def test_a_hook_sees_the_plan_and_stops_the_run(tmp_path: Path) -> None:
    def too_many(job: ProbeJob) -> None:
        raise RuntimeError(f"{job.plan.requests_planned()} requests")

    with Vendor(models=["faithful"]) as vendor, pytest.raises(RuntimeError, match=r"^3 requests$"):
        probe(vendor.url, options=ProbeOptions(suite="quick", iterations=3), confirm=too_many)
    assert not any(entry.path.endswith("/chat/completions") for entry in vendor.requests)


@pytest.mark.filterwarnings("error")
async def test_waiting_inside_a_running_loop_names_the_twin() -> None:
    """In a notebook a loop is always running."""
    with pytest.raises(UsageError, match="await probe_async"):
        probe("http://localhost:1")


def test_errors_are_of_one_kind_with_a_remedy_and_an_exit_code() -> None:
    with pytest.raises(ToolcertError) as caught:
        probe("http://127.0.0.1:1", options=ProbeOptions(suite="quick"))
    assert isinstance(caught.value, NothingMeasuredError)
    assert caught.value.exit_code is ExitCode.NOTHING_MEASURED
    assert caught.value.remedy
