"""The command load as a user calls it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from jsonschema import Draft202012Validator

from support.patience import until
from toolcert.cli.main import cli
from toolcert.core.errors import ExitCode
from toolcert.reports.json import schema
from toolcert.simulate import Vendor

BROKEN = "fault:load.crosstalk:2/1"


@pytest.fixture(scope="module")
def vendor() -> Iterator[Vendor]:
    with Vendor(models=["faithful", BROKEN, "no-tools"], latency=0.05) as one:
        yield one


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def load(vendor: Vendor, *words: str, model: str = "faithful") -> Result:
    given = ["load", vendor.url, "-m", model, "--at-load", "4", "--pairs", "8", "--seed", "1", "--quiet", *words]
    return CliRunner().invoke(cli, given)


@pytest.mark.heavy
def test_a_sound_vendor_passes_and_the_result_names_every_level(vendor: Vendor) -> None:
    result = load(vendor, "-o", "run")
    assert result.exit_code == ExitCode.OK, result.output
    assert "faithful at 4 at a time: passes: 8 of 8" in result.stdout
    assert [line.split()[0] for line in result.stdout.splitlines() if "/" in line and "8/8" in line] == ["1", "4"]
    again = CliRunner().invoke(cli, ["report", "run"])
    assert again.stdout == result.stdout


@pytest.mark.heavy
def test_crosstalk_closes_the_gates_unless_it_is_allowed(vendor: Vendor) -> None:
    ungated = load(vendor, "-o", "run", model=BROKEN)
    assert ungated.exit_code == ExitCode.OK
    assert "not under load (load.crosstalk in " in ungated.stdout
    assert load(vendor, "-o", "run", "--require", "passes", model=BROKEN).exit_code == ExitCode.FAILED
    assert load(vendor, "-o", "run", "--fail-on", "error", model=BROKEN).exit_code == ExitCode.FAILED
    allowed = load(vendor, "-o", "run", "--require", "passes", "--allow", "load.crosstalk", model=BROKEN)
    assert allowed.exit_code == ExitCode.OK, allowed.output


@pytest.mark.heavy
def test_every_format_is_written_and_the_json_keeps_to_its_schema(vendor: Vendor) -> None:
    names = ("html", "json", "junit", "markdown", "csv", "badge")
    words = [word for name in names for word in (f"--{name}", f"out.{name}")]
    assert load(vendor, "-o", "run", *words, model=BROKEN).exit_code == ExitCode.OK
    texts = {name: Path(f"out.{name}").read_text("utf-8") for name in names}
    report = json.loads(texts["json"])
    Draft202012Validator(schema("load")).validate(report)
    assert report["format"] == "toolcert.load/1"
    assert report["summary"]["error_budget"]["load.corruption"] == 0.02
    for name in ("html", "json", "junit", "markdown"):
        assert "load.crosstalk" in texts[name], name
    assert json.loads(texts["badge"])["message"] == "partial at 4 at a time"
    assert texts["csv"].splitlines()[0].startswith("at_a_time,right,answered")


def test_a_dry_run_sends_nothing(vendor: Vendor) -> None:
    before = vendor.requests.count()
    result = load(vendor, "--dry-run")
    assert "8 questions, each alone and 4 at a time" in result.stdout
    assert "up to 48 requests" in result.stdout
    assert vendor.requests.count() == before


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["--at-load", "1"], "--at-load: expected a whole number at least 2"),
        (["--for", "soon"], "--for: expected a time such as 90s, 10m or 1h"),
        (["--for=-5m"], "--for: expected a time"),
        (["--pairs", "0"], "--pairs: expected a whole number at least 1"),
        (["--fail-on", "load.nothing"], "no such finding"),
    ],
)
def test_a_wrong_option_is_told_before_anything_is_sent(vendor: Vendor, words: list[str], complaint: str) -> None:
    before = vendor.requests.count()
    result = CliRunner().invoke(cli, ["load", vendor.url, "-m", "faithful", "--quiet", *words])
    assert result.exit_code == ExitCode.USAGE
    assert complaint in result.output
    assert vendor.requests.count() == before


def test_a_model_that_is_not_served_and_a_dead_endpoint_are_nothing_measured(vendor: Vendor) -> None:
    assert load(vendor, model="nobody").exit_code == ExitCode.NOTHING_MEASURED
    result = CliRunner().invoke(cli, ["load", "http://127.0.0.1:9/v1", "-m", "any", "--quiet", "--retries", "0"])
    assert result.exit_code == ExitCode.NOTHING_MEASURED


def test_many_requests_to_another_machine_need_a_yes(vendor: Vendor, monkeypatch: pytest.MonkeyPatch) -> None:
    """The simulated vendor is reached by another name of this machine, which may be anybody's."""
    elsewhere = vendor.url.replace("127.0.0.1", "0.0.0.0")
    result = CliRunner().invoke(cli, ["load", elsewhere, "-m", "faithful", "--quiet"])
    assert result.exit_code == ExitCode.USAGE
    assert "This sends up to 1 596 requests" in result.output.replace("\u202f", " ")
    assert "--yes" in result.output


@pytest.mark.heavy
def test_a_vendor_that_refuses_everything_is_nothing_measured(vendor: Vendor) -> None:
    with Vendor(models=["faithful"]) as dead:
        dead.outage("401")
        dead_listing = load(dead)
    assert dead_listing.exit_code == ExitCode.NOTHING_MEASURED
    assert load(vendor, model="no-tools").stdout.count("unsupported") == 1


@pytest.mark.heavy
def test_a_killed_run_loses_nothing_that_was_answered(tmp_path: Path) -> None:
    """SIGKILL in the middle, then the same command: each case has one answer, and the pairs are complete."""
    with Vendor(models=["faithful"], latency=0.05) as vendor:
        command = [sys.executable, "-m", "toolcert", "load", vendor.url, "--at-load", "4", "--pairs", "60", "-o", "run"]
        process = subprocess.Popen(command, env=os.environ, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        log = Path("run/records.jsonl")
        until(lambda: log.exists() and log.read_bytes().count(b"\n") >= 35)
        process.send_signal(signal.SIGKILL)
        process.wait()
        assert vendor.requests.count() < 120 + 32
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "60 of 60 pairs are right alone and under load" in done.stdout
    cases = [json.loads(line)["case"] for line in Path("run/records.jsonl").read_text().splitlines()]
    assert len(cases) == len(set(cases)) == 120 + 32
