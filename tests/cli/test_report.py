"""`toolcert report`: any finished run, in any format, at any time."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from shutil import copytree
from xml.etree import ElementTree as ET

import pytest
from click.testing import CliRunner, Result

from reports.verify_samples import write_verify_run
from toolcert import Endpoint, ProbeOptions, probe
from toolcert.api.report import report
from toolcert.cli.main import cli
from toolcert.core.errors import UsageError
from toolcert.simulate import Vendor

FORMATS = ("html", "json", "junit", "markdown", "csv", "badge")


@pytest.fixture(scope="module")
def probe_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("probe") / "run"
    with Vendor(models=["faithful", "text-caller"]) as vendor:
        probe(Endpoint(vendor.url), options=ProbeOptions(suite="quick", iterations=2, output=str(folder)))
    return folder


@pytest.fixture(scope="module")
def verify_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_verify_run(tmp_path_factory.mktemp("verify") / "run", rows=30)


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def toolcert(*words: object) -> Result:
    return CliRunner().invoke(cli, [str(word) for word in words])


@pytest.mark.parametrize("job", ["probe", "verify"])
def test_every_format_from_one_call(job: str, request: pytest.FixtureRequest) -> None:
    run = request.getfixturevalue(f"{job}_run")
    options = [word for name in FORMATS for word in (f"--{name}", f"out/{name}")]
    done = toolcert("report", run, *options)
    assert done.exit_code == 0, done.output
    made = {name: Path("out", name).read_text("utf-8") for name in FORMATS}
    assert made["html"].startswith("<!doctype html>")
    assert json.loads(made["json"])["format"] == f"toolcert.{job}/2"
    assert ET.fromstring(made["junit"]).tag == "testsuites"
    assert made["markdown"].startswith("### ")
    assert len(list(csv.reader(io.StringIO(made["csv"])))) > 2
    assert json.loads(made["badge"])["schemaVersion"] == 1


@pytest.mark.parametrize("job", ["probe", "verify"])
def test_without_a_format_the_result_is_printed_again(job: str, request: pytest.FixtureRequest) -> None:
    done = toolcert("report", request.getfixturevalue(f"{job}_run"))
    assert done.exit_code == 0
    assert "models" in done.output if job == "probe" else "rows" in done.output


def test_a_report_can_be_made_again_and_is_the_same(probe_run: Path) -> None:
    for name in ("one.html", "two.html"):
        assert toolcert("report", probe_run, "--html", name).exit_code == 0
    assert Path("one.html").read_bytes() == Path("two.html").read_bytes()


def test_stdout_carries_the_report_alone(probe_run: Path) -> None:
    done = toolcert("report", probe_run, "--json", "-")
    assert json.loads(done.output)["summary"]["models"]


def test_two_reports_in_one_place_are_refused(probe_run: Path) -> None:
    done = toolcert("report", probe_run, "--json", "-", "--csv", "-")
    assert done.exit_code == 2
    assert "--json and --csv both go to standard output" in done.output


def test_two_names_of_one_file_are_one_place(probe_run: Path) -> None:
    Path("a.json").write_text("mine")
    Path("link").symlink_to("a.json")
    for other in ("./a.json", "link", Path("a.json").resolve()):
        done = toolcert("report", probe_run, "--json", "a.json", "--html", other)
        assert done.exit_code == 2
        assert f"--json and --html both go to {other}" in done.output
        assert Path("a.json").read_text() == "mine"


@pytest.mark.parametrize("name", ["records.jsonl", "manifest.json", "superseded.jsonl"])
def test_no_report_takes_the_place_of_what_was_measured(probe_run: Path, verify_run: Path, name: str) -> None:
    """In whichever run, and by whichever way."""
    copytree(verify_run, "other")
    Path("way").symlink_to("other")
    before = {path: path.read_bytes() for path in Path("other").iterdir() if path.is_file()}
    for run, destination in (("other", f"other/{name}"), (probe_run, f"other/../way/{name}")):
        done = toolcert("report", run, "--csv", destination)
        assert done.exit_code == 2
        assert f"--csv would replace {destination}, which holds a run" in done.output
    with pytest.raises(UsageError, match="which holds a run"):
        report("other", csv=f"other/{name}")
    assert before == {path: path.read_bytes() for path in Path("other").iterdir() if path.is_file()}


def test_a_run_may_hold_its_reports(verify_run: Path) -> None:
    copytree(verify_run, "own")
    assert toolcert("report", "own", "--csv", "own/rows.csv").exit_code == 0


def test_an_older_results_file_is_not_replaced_by_its_report(tmp_path: Path) -> None:
    from support.comparison_runs import same_rows, write_results

    results = write_results(tmp_path / "results.jsonl", same_rows(20))
    before = results.read_bytes()
    for words in (
        ["report", "results.jsonl"],
        ["verify", "--from", "results.jsonl"],
        ["compare", "--baseline", "results.jsonl", "--vendor", "results.jsonl"],
    ):
        done = toolcert(*words, "--json", results)
        assert done.exit_code == 2
        assert "--json would replace results.jsonl, which is read" in done.output
    assert results.read_bytes() == before


def test_not_measured_can_count_as_skipped(verify_run: Path) -> None:
    toolcert("report", verify_run, "--junit", "error.xml")
    toolcert("report", verify_run, "--junit", "skipped.xml", "--junit-not-measured", "skipped")
    assert int(ET.parse("error.xml").getroot().get("errors", "0")) > 0
    assert ET.parse("skipped.xml").getroot().get("errors") == "0"


def test_a_folder_that_is_no_run_is_said(tmp_path: Path) -> None:
    done = toolcert("report", tmp_path, "--html", "x.html")
    assert done.exit_code == 2
    assert "not a run of toolcert" in done.output
    assert not Path("x.html").exists()


def test_an_older_results_file_is_judged_and_reported(tmp_path: Path) -> None:
    from support.comparison_runs import same_rows, write_results

    results = write_results(tmp_path / "results.jsonl", same_rows(20))
    done = toolcert("report", results, "--csv", "rows.csv", "--html", "page.html")
    assert done.exit_code == 0, done.output
    assert len(Path("rows.csv").read_text().splitlines()) == 21
    assert "From rows to valid calls" in Path("page.html").read_text()


def test_the_library_writes_the_same(probe_run: Path) -> None:
    loaded = report(probe_run, json="library.json")
    toolcert("report", probe_run, "--json", "command.json")
    assert Path("library.json").read_bytes() == Path("command.json").read_bytes()
    assert loaded.job == "probe"


def test_standard_output_by_another_name_carries_the_report_alone(probe_run: Path) -> None:
    expected = toolcert("report", probe_run, "--json", "-").stdout
    assert toolcert("report", probe_run, "--json", "/proc/self/fd/1").stdout == expected
    both = toolcert("report", probe_run, "--json", "-", "--csv", "/proc/self/fd/1")
    assert both.exit_code == 2
    assert "--json and --csv both go to standard output" in both.stderr


def test_a_report_that_cannot_be_written_keeps_no_other_from_it_and_the_way_back_is_told(probe_run: Path) -> None:
    Path("taken").mkdir()
    done = toolcert("report", probe_run, "--html", "taken", "--json", "report.json")
    assert done.exit_code == 2
    assert "cannot write taken: Is a directory" in done.stderr
    assert f"`toolcert report {probe_run} --html FILE` writes it again from the run" in done.stderr
    assert "space" not in done.stderr
    assert json.loads(Path("report.json").read_text())["format"] == "toolcert.probe/2"


@pytest.mark.parametrize("command", [["report"], ["verify", "--from"], ["compare", "--vendor", "{}", "--baseline"]])
def test_records_that_cannot_be_read_are_no_bug(command: list[str], verify_run: Path, tmp_path: Path) -> None:
    """A folder in their place stands for a file that belongs to somebody else: it refuses root as well."""
    copy = tmp_path / "copy"
    copytree(verify_run, copy)
    (copy / "records.jsonl").unlink()
    (copy / "records.jsonl").mkdir()
    done = toolcert(*(word.format(verify_run) for word in command), copy)
    assert done.exit_code == 2
    assert "records.jsonl" in done.stderr
    assert "is no file" in done.stderr
    assert "Traceback" not in done.stderr
