"""Marks on the command line: what is known closes no gate and is never hidden."""

from __future__ import annotations

import json
from pathlib import Path
from shutil import copytree
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from click.testing import CliRunner, Result

from support.rows import row, write_rows
from toolcert import Endpoint, ProbeOptions, load_run, probe
from toolcert.api.verify import verify
from toolcert.cli.main import cli
from toolcert.runs.reader import RunReader
from toolcert.simulate import Vendor
from toolcert.verification.verify_options import VerifyOptions

CUT = "fault:stream.cut"
FLAKY = "flaky:7/10:text-caller"


@pytest.fixture(scope="module")
def vendor():
    with Vendor(models=["faithful", "text-caller", CUT, FLAKY]) as one:
        yield one


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory, vendor: Vendor) -> Path:
    home = tmp_path_factory.mktemp("runs")
    endpoint = Endpoint(vendor.url, name="mine")
    dataset = write_rows(home / "d.jsonl", [row(n) for n in range(20)])
    verify(dataset, endpoint, VerifyOptions(model=FLAKY, output=str(home / "rows")))
    probe(endpoint, options=ProbeOptions(suite="agent", iterations=3, model=(CUT,), output=str(home / "probes")))
    return home


@pytest.fixture
def rows(made: Path, tmp_path: Path) -> Path:
    return copytree(made / "rows", tmp_path / "rows")


@pytest.fixture
def probes(made: Path, tmp_path: Path) -> Path:
    return copytree(made / "probes", tmp_path / "probes")


def call(*words: object) -> Result:
    return CliRunner().invoke(cli, [str(word) for word in words])


def failing(run: Path) -> list[int]:
    return sorted(head.row.index for head in RunReader(run).heads() if head.row and head.outcome == "failed")


def summary(run: Path, *words: object) -> dict[str, Any]:
    return json.loads(call("report", run, "--json", "-", *words).stdout)["summary"]


def test_a_known_row_closes_no_gate_and_an_unknown_one_still_does(rows: Path) -> None:
    bad = failing(rows)
    assert len(bad) >= 2
    gate = ("verify", "--from", rows, "--fail-on", "call.in_text", "--known", rows / "marks.jsonl")
    for number in bad[:-1]:
        assert call("mark", rows, number, "--known", "--finding", "call.in_text").exit_code == 0
    assert call(*gate).exit_code == 1
    call("mark", rows, bad[-1], "--known", "--note", "ticket 4711")
    result = call(*gate)
    assert result.exit_code == 0, result.output
    assert f"{len(bad)} known cases left out" in result.stdout
    assert f"known: row {bad[-1]}, 1 case left out of the verdict: ticket 4711" in result.stdout


def test_marks_change_nothing_by_themselves_and_are_shown(rows: Path) -> None:
    before = summary(rows)
    number = failing(rows)[0]
    call("mark", rows, number, "--known", "--note", "ticket 4711")
    after = summary(rows)
    assert after["verdict"] == before["verdict"]
    assert [(mark["row"], mark["respected"], mark["note"]) for mark in after["marks"]] == [
        (number, False, "ticket 4711")
    ]
    assert "counted all the same" in call("report", rows).stdout


def test_what_is_known_is_counted_everywhere(rows: Path) -> None:
    for number in failing(rows):
        call("mark", rows, number, "--wrong", "--note", "our <b>dataset</b>")
    known = ("--known", rows / "marks.jsonl")
    found = summary(rows, *known)
    bad = len(failing(rows))
    assert (found["verdict"]["word"], found["verdict"]["known"]) == ("passes", bad)
    (line,) = [line for line in found["vendor"] if line["code"] == "call.in_text"]
    assert (line["rows"], line["known"]) == (bad, bad)
    assert found["rows"]["failed"] == bad, "the counts of the run stay"
    page = call("report", rows, "--html", "-", *known).stdout
    assert "our &lt;b&gt;dataset&lt;/b&gt;" in page
    assert "<b>dataset" not in page
    assert "left out of the verdict" in call("report", rows, "--markdown", "-", *known).stdout
    suite = ET.fromstring(call("report", rows, "--junit", "-", *known).stdout.encode())
    assert (suite.get("failures"), suite.get("skipped")) == ("0", str(bad))
    assert "wrong (our" in suite.find(".//skipped").get("message", "")


def test_a_mark_about_a_row_is_respected_in_a_later_run_of_the_dataset(made: Path, tmp_path: Path) -> None:
    with Vendor(models=["text-caller", FLAKY]) as elsewhere:
        ask = ("verify", made / "d.jsonl", "--base-url", elsewhere.url, "-q", "--yes", "-m")
        assert call(*ask, "text-caller", "-o", tmp_path / "one").exit_code == 0
        for number in range(1, 21):
            call("mark", tmp_path / "one", number, "--known", "--finding", "call")
        with_gate = (*ask, FLAKY, "--fail-on", "error", "--require", "passes")
        assert call(*with_gate, "-o", tmp_path / "two").exit_code == 1
        known = ("--known", tmp_path / "one" / "marks.jsonl")
        result = call(*with_gate, "-o", tmp_path / "three", *known)
        assert result.exit_code == 0, result.output


def test_a_known_finding_of_a_probe_does_not_cap(probes: Path) -> None:
    before = load_run(probes).summary.models[0].verdict
    assert (before.word, before.caps) == ("partial", ("stream.cut",))
    for probe_name in {record.probe.probe for record in RunReader(probes).heads() if "stream.cut" in record.codes}:
        result = call(
            "mark", probes, f"mine/{CUT}/{probe_name}", "--known", "--finding", "stream.cut", "--note", "proxy"
        )
        assert result.exit_code == 0, result.output
    marks = probes / "marks.jsonl"
    verdict = load_run(probes, known=marks).summary.models[0].verdict
    assert (verdict.word, verdict.caps) == ("passes", ())
    assert verdict.known >= 3
    assert verdict.reason.endswith("known cases left out")
    assert "known: stream.cut of mine/" in call("report", probes, "--known", marks).stdout
    cells = summary(probes, "--known", marks)["models"][0]["cells"]
    assert {cell["known"] for cell in cells if cell["probe"] == "streaming"} == {3}
    suite = ET.fromstring(call("report", probes, "--junit", "-", "--known", marks).stdout.encode())
    assert suite.get("failures") == "0"


def test_probe_respects_marks_of_an_earlier_run(probes: Path, vendor: Vendor, tmp_path: Path) -> None:
    call("mark", probes, f"mine/{CUT}", "--known", "--note", "the proxy cuts streams")
    Path(tmp_path / "toolcert.toml").write_text(f'[endpoints.mine]\nbase_url = "{vendor.url}"\n')
    ask = ("probe", "mine", "--config", tmp_path / "toolcert.toml", "-m", CUT, "-n", 2, "-q", "--require", "passes")
    assert call(*ask, "-o", tmp_path / "a").exit_code == 1
    result = call(*ask, "-o", tmp_path / "b", "--known", probes / "marks.jsonl")
    assert result.exit_code == 0, result.output


def test_a_diff_leaves_out_what_is_known(rows: Path, made: Path, vendor: Vendor, tmp_path: Path) -> None:
    good = tmp_path / "good"
    verify(str(made / "d.jsonl"), Endpoint(vendor.url), VerifyOptions(model="faithful", output=str(good)))
    assert call("diff", good, rows, "--fail-on", "worse,new").exit_code == 1
    for number in failing(rows):
        call("mark", rows, number, "--known", "--note", "ticket 4711")
    result = call("diff", good, rows, "--fail-on", "worse,new", "--known", rows / "marks.jsonl")
    assert result.exit_code == 0, result.output
    assert "known left out" in result.stdout
    assert "Known: ticket 4711" in result.stdout


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("RUN", "1"), "Give --known or --wrong"),
        (("RUN", "1", "--known", "--wrong"), "Give --known or --wrong"),
        (("RUN", "999", "--known"), "has no row 999"),
        (("RUN", "1", "--known", "--finding", "stream.cut"), "has no finding stream.cut"),
        (("nowhere", "1", "--known"), "is not a run of toolcert"),
        (("s3://bucket/run", "1", "--known"), "Copy the run into a folder"),
    ],
)
def test_a_mark_that_says_nothing_is_refused(rows: Path, words: tuple[str, ...], said: str) -> None:
    result = call("mark", *(word.replace("RUN", str(rows)) for word in words))
    assert result.exit_code == 2
    assert said in result.stderr
    assert not (rows / "marks.jsonl").exists()


def test_a_damaged_file_of_marks_is_told_and_hides_no_report(rows: Path) -> None:
    (rows / "marks.jsonl").write_text("nonsense\nmore\n")
    with pytest.warns(UserWarning, match="marks of .* are left out"):
        assert load_run(rows).summary.marks == ()
    result = call("report", rows, "--known", rows / "marks.jsonl")
    assert result.exit_code == 2
    assert "line 1: not a mark" in result.stderr


def test_a_report_does_not_overwrite_marks(rows: Path) -> None:
    call("mark", rows, failing(rows)[0], "--known")
    result = call("report", rows, "--json", rows / "marks.jsonl")
    assert result.exit_code == 2
    assert "holds a run" in result.stderr


def test_a_mark_is_confirmed_by_the_name_that_was_typed(rows: Path) -> None:
    number = failing(rows)[0]
    assert call("mark", rows, number, "--wrong").stdout.startswith(f"{number} is marked as wrong in ")


def test_an_error_that_is_known_is_not_said_to_be_rare(made: Path, vendor: Vendor, probes: Path) -> None:
    endpoint = Endpoint(vendor.url, name="mine")
    good = probes.with_name("good")
    probe(endpoint, options=ProbeOptions(suite="agent", iterations=3, model=("faithful",), output=str(good)))
    call("mark", probes, f"mine/{CUT}/streaming", "--known", "--finding", "stream.cut", "--note", "ticket 12")
    more = call("mark", probes, f"mine/{CUT}/streaming", "--known")
    known = ("--known", probes / "marks.jsonl")
    assert more.exit_code == 0
    told = call("report", probes, *known).stdout
    assert "seen once" not in told
    differs = json.loads(call("diff", good, probes, *known, "--json", "-").stdout)["differences"][0]
    found = {one["code"]: one["change"] for model in differs["models"] for one in model["findings"]}
    assert found["stream.cut"] == "known"


def test_a_note_that_is_too_long_is_refused_and_not_cut(rows: Path) -> None:
    result = call("mark", rows, failing(rows)[0], "--known", "--note", "x" * 4001)
    assert result.exit_code == 2
    assert "the note has 4001 characters" in result.stderr
    assert not (rows / "marks.jsonl").exists()
