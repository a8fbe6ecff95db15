"""`toolcert probe --at-load`: what load breaks caps the verdict of a probe run, in every report and gate."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import toolcert
from toolcert import ProbeOptions, ProbeRun, Word
from toolcert.cli.main import cli
from toolcert.core.errors import ExitCode, InputError
from toolcert.core.events import Event, RunFinished, RunStarted
from toolcert.probes.summary.scorecard import ModelSummary
from toolcert.simulate import Vendor

BROKEN = "fault:load.crosstalk:2/1"
ASKED = {"suite": "quick", "iterations": 1, "at_load": 4, "pairs": 8, "seed": 1}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> ProbeRun:
    folder = tmp_path_factory.mktemp("runs") / "run"
    with Vendor(models=["faithful", BROKEN, "text-caller"], latency=0.05) as vendor:
        options = ProbeOptions(output=str(folder), **ASKED)  # type: ignore[arg-type]
        return toolcert.probe(vendor.url, options=options)


def model(run: ProbeRun, name: str) -> ModelSummary:
    return next(one for one in run.summary.models if one.model == name)


def test_a_model_that_works_alone_and_mixes_up_requests_under_load_is_partial(run: ProbeRun) -> None:
    broken = model(run, BROKEN)
    assert broken.verdict.word is Word.PARTIAL
    assert "not under load (load.crosstalk in " in broken.verdict.reason
    assert broken.verdict.caps == ("load.crosstalk",)
    assert [cause.code for cause in run.summary.causes if cause.code.startswith("load.")] == ["load.crosstalk"]
    assert "belongs to request" in broken.findings[0].example.evidence


def test_a_sound_model_keeps_its_verdict_and_says_how_many_pairs_show_it(run: ProbeRun) -> None:
    sound = model(run, "faithful")
    assert sound.verdict.word is Word.PASSES
    assert sound.under_load is not None
    assert (sound.under_load.pairs, sound.under_load.both_right) == (8, 8)
    assert "faithful at 4 at a time: 8 of 8 pairs are right alone and under load." in run.summary.lines


@pytest.mark.heavy
def test_a_level_that_the_vendor_does_not_allow_is_not_told_as_reached(tmp_path: Path) -> None:
    with Vendor(models=["overloaded"], latency=0.05) as vendor:
        options = ProbeOptions(output=str(tmp_path / "run"), **(ASKED | {"at_load": 8, "pairs": 24}))  # type: ignore[arg-type]
        summary = toolcert.probe(vendor.url, options=options).summary
    assert [line for line in summary.lines if "overloaded at 8 at a time (the vendor let only " in line]


def test_a_model_that_does_not_call_is_not_loaded(run: ProbeRun) -> None:
    assert model(run, "text-caller").under_load is None


def test_the_run_can_be_reported_again_and_counts_all_requests(run: ProbeRun) -> None:
    assert toolcert.load_run(run.folder).summary == run.summary
    lines = Path(run.folder, "records.jsonl").read_text().splitlines()
    assert run.summary.totals.usage.requests == sum(json.loads(line)["probe"].get("requests", 0) for line in lines)


@pytest.mark.heavy
def test_a_gate_closes_on_what_load_breaks_unless_it_is_allowed(tmp_path: Path) -> None:
    with Vendor(models=[BROKEN], latency=0.05) as vendor:

        def call(*words: str) -> Result:
            given = [
                "probe",
                vendor.url,
                "-s",
                "quick",
                "-n",
                "1",
                "--at-load",
                "4",
                "--pairs",
                "8",
                "--seed",
                "1",
                "-q",
            ]
            return CliRunner().invoke(cli, [*given, "-o", str(tmp_path / "run"), *words])

        assert call("--require", "passes").exit_code == ExitCode.FAILED
        assert call("--fail-under", "50").exit_code == ExitCode.FAILED
        assert call("--fail-on", "load.crosstalk").exit_code == ExitCode.FAILED
        allowed = call("--require", "passes", "--allow", "load.crosstalk")
        assert allowed.exit_code == ExitCode.OK, allowed.output


def test_handlers_see_one_run(tmp_path: Path) -> None:
    seen: list[Event] = []
    with Vendor(models=["faithful"]) as vendor:
        options = ProbeOptions(output=str(tmp_path / "run"), **ASKED)  # type: ignore[arg-type]
        toolcert.probe(vendor.url, options=options, handlers=[seen.append])
        assert [type(one) for one in seen if isinstance(one, RunStarted | RunFinished)] == [RunStarted, RunFinished]
        before = vendor.requests.count()
        toolcert.probe(vendor.url, options=options)
        assert vendor.requests.count() == before  # everything was answered, alone and under load
        other = ProbeOptions(output=str(tmp_path / "run"), **ASKED | {"at_load": 8})  # type: ignore[arg-type]
        with pytest.raises(InputError, match="at load was 4, now 8"):
            toolcert.probe(vendor.url, options=other)


def test_the_limit_on_requests_holds_for_both_parts(tmp_path: Path) -> None:
    with Vendor(models=["faithful"]) as vendor:
        options = ProbeOptions(output=str(tmp_path / "run"), max_requests=5, **ASKED)  # type: ignore[arg-type]
        toolcert.probe(vendor.url, options=options)
        assert vendor.requests.count() <= 5
