"""What is said of a verify run, and its exit code: evidence is never outvoted, and what is missing is never good."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from support.rows import row, write_rows
from support.scripted import Scripted, completion
from support.verifying import run
from toolcert.cli.main import cli
from toolcert.core.errors import ExitCode
from toolcert.core.verdict import Word
from toolcert.simulate import Vendor
from toolcert.verification.run.job import VerifyRun

GATES = (["--fail-on", "error"], ["--fail-under", "schema=0.5"], ["--require", "passes"])


@pytest.fixture(scope="module")
def vendor():
    models = ["faithful", "fault:stream.cut", "text-caller", "flaky:9/10:fault:args.schema.required", "no-tools"]
    with Vendor(models=models) as one:
        yield one


def rows(path: Path, number: int, **fields: Any) -> str:
    return write_rows(path / "d.jsonl", [row(n, **fields) for n in range(number)])


def mixed(path: Path, number: int) -> str:
    """Every other row is streamed."""
    return write_rows(path / "d.jsonl", [row(n, stream=n % 2 == 1) for n in range(number)])


def call(*words: str) -> Result:
    return CliRunner().invoke(cli, list(words))


def again(done: VerifyRun, *words: str) -> Result:
    """The same records under other gates; nothing is sent."""
    return call("verify", "--from", done.folder, "-q", *words)


def test_a_server_that_dies_is_undecided_grey_and_exit_3_under_any_gate(tmp_path: Path) -> None:
    dataset = rows(tmp_path, 100)
    with Vendor(models=["faithful"]) as mortal:
        mortal.outage("500", after=21)
        done = run(dataset, mortal.url, tmp_path / "run", endpoint={"retries": 0, "concurrency": 1})
    verdict = done.summary.verdict
    assert verdict.word is Word.UNDECIDED
    assert done.summary.headline.startswith("undecided: stopped at 21 of 100 rows; so far 100.0 % of 21 answers are")
    assert again(done).exit_code == ExitCode.OK
    for gate in GATES:
        result = again(done, *gate)
        assert result.exit_code == ExitCode.NOTHING_MEASURED, gate
        assert "stopped at 21 of 100 rows; a gate needs 95 %." in result.stderr
    badge = json.loads(call("report", done.folder, "--badge", "-").stdout)
    assert (badge["message"], badge["color"]) == ("undecided", "lightgrey")
    assert 'name="verdict"' in call("report", done.folder, "--junit", "-").stdout


@pytest.mark.heavy
def test_a_faithful_vendor_passes_and_is_certified_by_enough_rows(tmp_path: Path, vendor: Vendor) -> None:
    few = run(rows(tmp_path, 8), vendor.url, tmp_path / "few")
    assert few.summary.headline == (
        "passes: 100.0 % of 8 answers are sound (67.6 to 100.0); 381 sound answers in a row would certify."
    )
    many = run(rows(tmp_path, 381), vendor.url, tmp_path / "many", endpoint={"concurrency": 32})
    assert many.summary.verdict.word is Word.CERTIFIED
    assert again(few, "--require", "passes").exit_code == ExitCode.OK
    assert again(few, "--require", "certified").exit_code == ExitCode.FAILED
    assert again(few, "--require", "certified", "--threshold", "0.5").exit_code == ExitCode.OK
    assert again(many, "--require", "certified", "--fail-on", "error").exit_code == ExitCode.OK


def test_a_fault_of_streams_alone_is_partial_and_may_be_allowed(tmp_path: Path, vendor: Vendor) -> None:
    done = run(mixed(tmp_path, 20), vendor.url, tmp_path / "run", model="fault:stream.cut")
    assert done.summary.headline == "partial: works, except: streamed answers (stream.cut in 10 of 10)."
    assert [(mode.streamed, mode.sound.k, mode.sound.n) for mode in done.summary.modes] == [
        (False, 10, 10),
        (True, 0, 10),
    ]
    for gate in GATES:
        assert again(done, *gate).exit_code == ExitCode.FAILED, gate
        assert again(done, *gate, "--allow", "stream.cut").exit_code == ExitCode.OK, gate


def test_where_all_rows_are_streamed_a_fault_of_streams_fails(tmp_path: Path, vendor: Vendor) -> None:
    done = run(rows(tmp_path, 6, stream=True), vendor.url, tmp_path / "run", model="fault:stream.cut")
    assert done.summary.headline.startswith("fails: 0.0 % of 6 answers are sound (0.0 to 39.0); most often stream.cut")


def test_the_headline_counts_lost_calls(tmp_path: Path, vendor: Vendor) -> None:
    """Every structured call is valid, for there is none."""
    done = run(rows(tmp_path, 6), vendor.url, tmp_path / "run", model="text-caller")
    assert (
        done.summary.headline == "fails: 0.0 % of 6 answers are sound (0.0 to 39.0); most often call.in_text (6 rows)."
    )
    assert again(done, "--fail-under", "schema=0").exit_code == ExitCode.FAILED


def test_a_gate_on_a_share_judges_the_rate(tmp_path: Path, vendor: Vendor) -> None:
    """One invalid call in ten is no good verdict, and better than the half that this user asks for."""
    model = "flaky:9/10:fault:args.schema.required"
    done = run(rows(tmp_path, 40), vendor.url, tmp_path / "run", model=model, endpoint={"concurrency": 1})
    assert not done.summary.verdict.good
    assert "args.schema.required" in done.summary.verdict.caps
    share = done.summary.valid.value or 0.0
    assert again(done, "--fail-under", f"schema={share:.2f}").exit_code == ExitCode.OK
    assert again(done, "--fail-under", f"schema={share + 0.01:.2f}").exit_code == ExitCode.FAILED
    assert again(done, "--require", "passes").exit_code == ExitCode.FAILED


def test_words_alone_say_nothing_about_calls(tmp_path: Path) -> None:
    with Scripted(lambda _: completion("It is sunny.")) as server:
        summary = run(rows(tmp_path, 5), server.url, tmp_path / "run", model="m").summary
    assert summary.headline == "not measured: no tool was called in 5 answers, so nothing is known about calls."
    assert not summary.nothing_measured


def test_a_server_that_refuses_tools_is_unsupported(tmp_path: Path, vendor: Vendor) -> None:
    summary = run(rows(tmp_path, 3), vendor.url, tmp_path / "run", model="no-tools").summary
    assert summary.headline == "unsupported: the server refuses all 3 rows as not supported."


def test_lines_that_cannot_be_asked_are_no_gap(tmp_path: Path, vendor: Vendor) -> None:
    dataset = write_rows(tmp_path / "d.jsonl", [*("{" for _ in range(10)), *(row(n) for n in range(10))])
    verdict = run(dataset, vendor.url, tmp_path / "run").summary.verdict
    assert (verdict.word, verdict.coverage.measured, verdict.coverage.planned) == (Word.PASSES, 10, 10)


def test_rows_left_by_a_limit_are_a_gap(tmp_path: Path, vendor: Vendor) -> None:
    done = run(rows(tmp_path, 20), vendor.url, tmp_path / "run", max_requests=5)
    assert done.summary.headline.startswith("undecided: stopped at 5 of 20 rows")


def test_the_threshold_of_a_run_is_kept_and_can_be_changed(tmp_path: Path, vendor: Vendor) -> None:
    done = run(rows(tmp_path, 8), vendor.url, tmp_path / "run", threshold=0.5)
    assert done.summary.verdict.word is Word.CERTIFIED
    assert call("report", done.folder).stdout.startswith("certified: 100.0 % of 8 answers are sound")
    later = run(rows(tmp_path, 8), vendor.url, tmp_path / "run")
    assert later.summary.verdict.word is Word.PASSES


def test_expectations_that_are_not_met_are_named(tmp_path: Path, vendor: Vendor) -> None:
    wrong = {"toolcert": {"expected": {"call": False}}}
    dataset = write_rows(tmp_path / "d.jsonl", [row(n, **wrong) for n in range(10)])
    summary = run(dataset, vendor.url, tmp_path / "run").summary
    assert summary.headline == "partial: works, except: expectations: not met in 10 of 10."
