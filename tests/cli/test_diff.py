"""`toolcert diff`, `toolcert runs` and the names of runs, as people type them."""

from __future__ import annotations

import json
from pathlib import Path
from shutil import copytree
from typing import Any
from xml.etree import ElementTree as ET

import msgspec
import pytest
from click.testing import CliRunner, Result

from support.rows import row, write_rows
from toolcert import Endpoint, ProbeOptions, probe
from toolcert.api.verify import verify
from toolcert.cli.main import cli
from toolcert.reports.json import DiffReport
from toolcert.runs.reader import read_manifest
from toolcert.runs.writer import RECORDS, hold, write_manifest
from toolcert.simulate import Vendor
from toolcert.verification.verify_options import VerifyOptions

MODELS = ["faithful", "text-caller", "flaky:7/10:text-caller"]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Probe and verify runs of a good vendor, and of one that leaves calls in the text."""
    home = tmp_path_factory.mktemp("runs")
    dataset = write_rows(home / "d.jsonl", [row(n) for n in range(30)])
    with Vendor(models=MODELS) as vendor:
        for name, model in (("good", "faithful"), ("bad", "text-caller"), ("flaky", "flaky:7/10:text-caller")):
            endpoint = Endpoint(vendor.url, name="mine")
            probing = ProbeOptions(suite="quick", iterations=5, model=(model,), output=str(home / f"probe-{name}"))
            probe(endpoint, options=probing)
            verify(dataset, endpoint, VerifyOptions(model=model, output=str(home / f"verify-{name}")))
    return home


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")


def call(*words: object) -> Result:
    return CliRunner().invoke(cli, [str(word) for word in words])


def report(result: Result) -> dict[str, Any]:
    """The JSON report, as a program reads it."""
    msgspec.json.decode(result.stdout, type=DiffReport)
    return json.loads(result.stdout)["differences"][0]


@pytest.mark.parametrize("job", ["probe", "verify"])
def test_a_vendor_that_broke_is_worse_and_closes_the_gate(made: Path, job: str) -> None:
    result = call("diff", made / f"{job}-good", made / f"{job}-bad", "--fail-on", "worse")
    assert result.exit_code == 1, result.output
    assert result.stdout.startswith("Worse: text-caller in ")
    assert "Keep the earlier version until the cause is known." in result.stdout
    assert "call.in_text" in result.stdout
    assert "--fail-on worse: text-caller: " in result.stderr


@pytest.mark.parametrize("job", ["probe", "verify"])
def test_a_vendor_that_was_mended_is_improved_and_closes_only_the_gate_on_any_change(made: Path, job: str) -> None:
    runs = (made / f"{job}-bad", made / f"{job}-good")
    assert call("diff", *runs, "--fail-on", "worse,new").exit_code == 0
    result = call("diff", *runs, "--fail-on", "changed")
    assert result.exit_code == 1
    assert result.stdout.startswith("Improved: ")
    assert "gone" in result.stdout


@pytest.mark.parametrize("job", ["probe", "verify"])
def test_a_run_does_not_differ_from_itself(made: Path, job: str) -> None:
    found = report(call("diff", made / f"{job}-flaky", made / f"{job}-flaky", "--json", "-"))
    assert found["change"] == "no_evidence"
    assert {one["change"] for model in found["models"] for one in model["abilities"]} <= {"no_evidence"}
    assert {one["change"] for model in found["models"] for one in model["findings"]} <= {"same"}
    assert found["settings"] == []


def test_rows_are_paired_by_what_was_asked_and_not_by_their_line(made: Path, tmp_path: Path) -> None:
    lines = (made / "verify-good" / RECORDS).read_bytes().splitlines(keepends=True)
    turned = copytree(made / "verify-good", tmp_path / "turned")
    (turned / RECORDS).write_bytes(b"".join(reversed(lines[5:])))
    found = report(call("diff", made / "verify-good", turned, "--json", "-"))["models"][0]
    assert found["pairs"] == 25
    assert (found["lost"], found["gained"], found["other_calls"]) == (0, 0, 0)


def test_a_finding_is_new_with_a_case_that_shows_it_and_both_answers(made: Path) -> None:
    found = report(call("diff", made / "verify-good", made / "verify-bad", "--json", "-"))["models"][0]
    (new,) = [one for one in found["findings"] if one["change"] == "new"]
    assert (new["code"], new["before"]["k"], new["after"]["k"]) == ("call.in_text", 0, 30)
    assert call("show", made / "verify-bad", new["example"]).exit_code == 0
    pair = found["cases"][0]
    assert "-call get_weather" in pair["answer"]
    assert any(line.startswith("+") and "tool_call" in line for line in pair["answer"])
    assert (found["before_verdict"]["word"], found["after_verdict"]["word"]) == ("passes", "fails")


def test_all_lines_fit_80_columns(made: Path) -> None:
    result = call("diff", made / "verify-good", made / "verify-bad")
    long = [line for line in result.stdout.splitlines() if len(line) > 80 and str(made) not in line]
    assert long == []


def test_every_format_is_written_and_harmless(made: Path) -> None:
    result = call(
        "diff", made / "probe-good", made / "probe-bad", "--html", "d.html", "--markdown", "d.md", "--junit", "d.xml"
    )
    assert result.exit_code == 0, result.output
    assert "Content-Security-Policy" in Path("d.html").read_text(encoding="utf-8")
    assert Path("d.md").read_text(encoding="utf-8").startswith("## ❌ Worse: ")
    suites = ET.parse("d.xml").getroot()
    assert int(suites.get("failures", "0")) >= 2


def test_several_later_runs_share_the_chance_of_a_false_alarm(made: Path) -> None:
    result = call("diff", made / "verify-good", made / "verify-bad", made / "verify-flaky", "--json", "-")
    assert [one["alpha"] for one in json.loads(result.stdout)["differences"]] == [0.025, 0.025]


def test_what_differs_is_said_in_words_and_under_the_name_of_its_model(tmp_path: Path) -> None:
    with Vendor(models=MODELS) as vendor:
        for name in ("alpha", "beta"):
            # One request at a time: then the cycle of the flaky model does not begin at the same place again.
            endpoint = Endpoint(vendor.url, name=name, concurrency=1)
            probe(endpoint, options=ProbeOptions(iterations=4, output=str(tmp_path / name)))
    result = call("diff", "alpha", "beta", "--markdown", "d.md")
    assert "the verdict on beta: text-caller is: fails." in " ".join(result.stdout.split())
    written = Path("d.md").read_text(encoding="utf-8").replace("\\", "")
    assert "asked differently: endpoint alpha http" in written
    assert "### beta: flaky:7/10:text-caller" in written.splitlines()


def test_a_command_to_copy_runs_nothing_of_a_name(made: Path, tmp_path: Path) -> None:
    bad = copytree(made / "verify-bad", tmp_path / "a; $(touch x)")
    assert f"`toolcert show '{bad}' " in report(call("diff", made / "verify-good", bad, "--json", "-"))["advice"]


def test_times_without_any_are_left_out_of_the_page(made: Path) -> None:
    call("diff", made / "verify-good", made / "verify-bad", "--html", "d.html")
    page = Path("d.html").read_text(encoding="utf-8")
    assert "whole answer" in page
    assert "first token" not in page


HOSTILE = "\x1b]0;owned\x07\u202e<script>alert(1)</script>```[x](http://evil)|@all"


def test_hostile_names_and_answers_are_shown_and_obeyed_nowhere(made: Path, tmp_path: Path) -> None:
    bad = copytree(made / "verify-bad", tmp_path / "hostile")
    text = json.dumps(HOSTILE, ensure_ascii=True)[1:-1]
    log = (bad / RECORDS).read_text(encoding="utf-8")
    (bad / RECORDS).write_text(log.replace("Paris", json.dumps(text)[1:-1]), encoding="utf-8")
    manifest = read_manifest(bad)
    renamed = manifest.parameters | {"model": HOSTILE, "temperature": HOSTILE}
    write_manifest(bad, msgspec.structs.replace(manifest, parameters=renamed))
    files = ("--html", "d.html", "--markdown", "d.md", "--junit", "d.xml", "--json", "d.json")
    result = call("diff", made / "verify-good", bad, "--fail-on", "worse", *files)
    assert result.exit_code == 1, result.output
    written = [Path(name).read_text(encoding="utf-8") for name in files[1::2]]
    for shown in (result.stdout, result.stderr, *written):
        assert not {"\x1b", "\x07", "\u202e"} & set(shown)
    assert "<script>alert" not in written[0]
    fences = [line for line in written[1].splitlines() if line.startswith("```")]
    assert set(fences) == {"```diff", "```"}
    ET.parse("d.xml")


def test_evidence_that_is_damaged_costs_only_the_answer(made: Path, tmp_path: Path) -> None:
    bad = copytree(made / "verify-bad", tmp_path / "damaged")
    lines = (bad / RECORDS).read_bytes()
    (bad / RECORDS).write_bytes(lines.replace(b'"exchanges":[', b'"exchanges":["x",'))
    (bad / "manifest.json").touch()
    result = call("diff", made / "verify-good", bad, "--json", "d.json")
    assert result.exit_code in (0, 2), result.output
    assert "Traceback" not in result.output


@pytest.mark.parametrize("alpha", ["0", "1"])
def test_an_alpha_at_its_ends_is_no_error(made: Path, alpha: str) -> None:
    assert call("diff", made / "verify-good", made / "verify-bad", "--alpha", alpha).exit_code == 0
    assert call("diff", made / "probe-good", made / "probe-bad", "--alpha", alpha).exit_code == 0


def test_a_run_without_evidence_is_compared_without_answers(made: Path, tmp_path: Path) -> None:
    from toolcert.runs.encoding import Keep, decode_record, encode_record

    bare = copytree(made / "verify-bad", tmp_path / "bare")
    kept = [encode_record(decode_record(line), Keep.VERDICTS) for line in (bare / RECORDS).open("rb")]
    (bare / RECORDS).write_bytes(b"".join(kept))
    found = report(call("diff", made / "verify-good", bare, "--json", "-"))
    assert found["change"] == "worse"
    assert {len(pair["answer"]) for pair in found["models"][0]["cases"]} == {0}


def test_a_model_at_another_address_is_the_same_model(made: Path, tmp_path: Path) -> None:
    moved = copytree(made / "probe-bad", tmp_path / "moved")
    for name in ("manifest.json", RECORDS):
        path = moved / name
        text = path.read_text(encoding="utf-8").replace('"mine"', '"elsewhere"').replace("mine/", "elsewhere/")
        path.write_text(text, encoding="utf-8")
    found = report(call("diff", made / "probe-bad", moved, "--json", "-"))
    (model,) = found["models"]
    assert (model["before_name"], model["name"]) == ("mine: text-caller", "elsewhere: text-caller")
    assert model["change"] == "no_evidence"
    assert model["pairs"] == 5


def test_runs_of_different_jobs_are_refused(made: Path) -> None:
    result = call("diff", made / "probe-good", made / "verify-good")
    assert result.exit_code == 2
    assert "Name two runs of the same job" in result.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("nowhere", "nothing"), "is not a run of toolcert"),
        (("latest", "latest"), "there is no run latest: toolcert-runs holds none"),
        (("GOOD", "GOOD", "--fail-on", "worst"), "no such finding"),
        (("GOOD", "GOOD", "--known", "none.jsonl"), "none.jsonl"),
        (("GOOD/records.jsonl", "RESULTS"), "is a file of results, not a run"),
    ],
)
def test_wrong_input_ends_with_a_sentence_and_a_remedy(made: Path, words: tuple[str, ...], said: str) -> None:
    Path("results.jsonl").write_text("{}\n")
    named = [word.replace("GOOD", str(made / "verify-good")).replace("RESULTS", "results.jsonl") for word in words]
    result = call("diff", *named)
    assert result.exit_code == 2
    assert said in result.stderr
    assert "Traceback" not in result.output


def test_runs_without_a_common_case_end_with_three(made: Path, tmp_path: Path) -> None:
    empty = copytree(made / "verify-good", tmp_path / "empty")
    (empty / RECORDS).write_bytes(b"")
    result = call("diff", made / "verify-good", empty, "--fail-on", "worse")
    assert result.exit_code == 3, result.output
    assert result.stdout.startswith("Nothing can be compared")


def test_a_gate_is_not_judged_where_too_little_was_measured(made: Path, tmp_path: Path) -> None:
    half = copytree(made / "verify-good", tmp_path / "half")
    lines = (half / RECORDS).read_bytes().splitlines(keepends=True)
    (half / RECORDS).write_bytes(b"".join(lines[:15]))
    write_manifest(half, msgspec.structs.replace(read_manifest(half), finished_at=None, planned=30))
    result = call("diff", made / "verify-good", half, "--fail-on", "worse")
    assert result.exit_code == 3
    assert "The gates cannot be judged: the later run measured 15 of 30 cases" in result.stderr
    assert call("diff", made / "verify-good", half).exit_code == 0


def test_runs_are_listed_newest_first_with_verdict_counts_and_state(made: Path) -> None:
    names = ("probe-good", "verify-bad", "verify-good")
    for place, name in enumerate(names):
        run = copytree(made / name, Path("toolcert-runs", name))
        changed = msgspec.structs.replace(read_manifest(run), started_at=1000.0 + place)
        write_manifest(run, msgspec.structs.replace(changed, finished_at=None) if place == 1 else changed)
    with hold(Path("toolcert-runs/verify-bad")):
        lines = json.loads(call("runs", "--json").stdout)
    assert [(Path(one["folder"]).name, one["state"]) for one in lines] == [
        ("verify-good", "finished"),
        ("verify-bad", "running"),
        ("probe-good", "finished"),
    ]
    assert [(one["verdict"], one["passed"], one["measured"]) for one in lines[:1]] == [("passes", 30, 30)]
    table = call("runs").stdout
    assert lines[0]["run"] in table
    assert "interrupted" in table
    assert call("diff", lines[1]["run"], "latest").exit_code == 0
    assert call("report", "latest").stdout == call("report", "toolcert-runs/verify-good").stdout


@pytest.mark.parametrize(
    ("words", "left"),
    [
        (("--model", "text*"), ["verify-bad"]),
        (("--endpoint", "mine"), ["verify-bad", "verify-good"]),
        (("--endpoint", "other"), []),
        (("--verdict", "fails"), ["verify-bad"]),
        (("--since", "2999-01-01"), []),
        (("--limit", "1"), ["verify-bad"]),
    ],
)
def test_runs_are_chosen(made: Path, words: tuple[str, ...], left: list[str]) -> None:
    for place, name in enumerate(("verify-good", "verify-bad")):
        run = copytree(made / name, Path("shelf", name))
        write_manifest(run, msgspec.structs.replace(read_manifest(run), started_at=10.0 + place))
    lines = json.loads(call("runs", "shelf", "--json", *words).stdout)
    assert sorted(Path(one["folder"]).name for one in lines) == left


def test_a_run_whose_log_is_damaged_is_listed_without_figures(made: Path) -> None:
    run = copytree(made / "verify-good", Path("toolcert-runs", "one"))
    with (run / RECORDS).open("ab") as file:
        file.write(b"nonsense\n")
    result = call("runs", "--json")
    assert [one["verdict"] for one in json.loads(result.stdout)] == [None]
    assert "not a record" in result.stderr


def test_no_run_is_said_and_is_no_error() -> None:
    result = call("runs")
    assert (result.exit_code, result.stdout) == (0, "")
    assert "There is no run in toolcert-runs." in result.stderr
