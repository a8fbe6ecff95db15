"""The commands verify, dataset, show and replay as a user calls them."""

from __future__ import annotations

import gzip
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from support.patience import PATIENCE, hurry, until
from support.rows import TIME, WEATHER, row, write_rows
from support.scripted import Answer, Scripted
from toolcert.cli.main import cli
from toolcert.core.errors import ExitCode
from toolcert.simulate import Vendor


@pytest.fixture(scope="module")
def vendor():
    models = ["faithful", "fault:args.schema.required", "text-caller"]
    with Vendor(models=models) as one:
        yield one


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def call(*words: str, stdin: bytes | None = None) -> Result:
    return CliRunner().invoke(cli, [str(word) for word in words], input=stdin)


def verify(vendor: Vendor, dataset: str, *words: str, model: str = "faithful", stdin: bytes | None = None) -> Result:
    return call("verify", dataset, "--base-url", vendor.url, "-m", model, *words, stdin=stdin)


def test_a_run_is_reported_on_stdout_and_its_progress_on_stderr(tmp_path: Path, vendor: Vendor) -> None:
    result = verify(vendor, write_rows(tmp_path / "d.jsonl", [row(n) for n in range(8)]), "-o", "run")
    assert result.exit_code == ExitCode.OK, result.output
    assert result.stdout.startswith("passes: 100.0 % of 8 answers are sound (67.6 to 100.0); 381 sound answers in a")
    assert "sent          8 █" in result.stdout
    assert "in flight" not in result.stdout
    assert "8/8  100 %" in result.stderr
    assert (tmp_path / "run/records.jsonl").exists()


def test_the_result_fits_80_columns(tmp_path: Path, vendor: Vendor) -> None:
    rows = [row(n) for n in range(8)] + ["{", row(1)]
    result = verify(vendor, write_rows(tmp_path / "d.jsonl", rows), "-q", model="fault:args.schema.required")
    lines = result.stdout.splitlines()
    funnel = lines[next(n for n, line in enumerate(lines) if line.startswith("sent")) :][:4]
    assert [line.split()[0] for line in funnel] == ["sent", "answered", "called", "valid"]
    assert all(len(line) <= 80 for line in funnel)
    assert any(line.startswith("vendor    error   args.schema.required") for line in lines)
    assert "dataset   1 not JSON, 1 repeated (not charged)" in lines


@pytest.mark.parametrize(
    ("gate", "code"),
    [
        ("schema=0.5", ExitCode.FAILED),
        ("schema=0", ExitCode.OK),
        ("schema = 0 %", ExitCode.OK),
        ("trigger=0.5", ExitCode.USAGE),
        ("50", ExitCode.USAGE),
    ],
)
def test_gates_decide_the_exit_code(tmp_path: Path, vendor: Vendor, gate: str, code: int) -> None:
    dataset = write_rows(tmp_path / "d.jsonl", [row(1)])
    result = verify(vendor, dataset, "-q", "--fail-under", gate, model="fault:args.schema.required")
    assert result.exit_code == code, result.output
    if code == ExitCode.FAILED:
        assert "schema is 0.00 % (0/1), below 50 %." in result.stderr


def test_a_call_in_the_text_is_counted_as_lost_for_its_tool(tmp_path: Path, vendor: Vendor) -> None:
    rows = [row(n) | {"tools": [WEATHER, TIME]} for n in range(4)]
    result = verify(vendor, write_rows(tmp_path / "d.jsonl", rows), "-q", "--json", "-", model="text-caller")
    tools = {tool["name"]: tool for tool in json.loads(result.stdout)["summary"]["tools"]}
    assert [tools[name]["lost"] for name in ("get_weather", "get_time")] == [4, 0]
    assert tools["get_weather"]["called"] == 0


@pytest.mark.parametrize(
    ("gate", "code", "said"),
    [
        ("p95<30s,tps_p50>0.001", 0, ""),
        ("schema=0.5,p95=30", 0, ""),
        ("p95<1ms", 1, "answers), not below 0.001 s."),
        ("ttft_p95<30s", 1, "ttft_p95 could not be judged: nothing was measured for it."),
        ("p95<", 2, "Write it as p95<2s or p95<800ms."),
        ("p59<2s", 2, "Use p50, p95, p99"),
    ],
)
def test_limits_on_times_decide_the_exit_code(tmp_path: Path, vendor: Vendor, gate: str, code: int, said: str) -> None:
    dataset = write_rows(tmp_path / "d.jsonl", [row(n) for n in range(3)])
    result = verify(vendor, dataset, "-q", "--fail-under", gate, "-o", "run")
    assert result.exit_code == code, result.output
    assert said in result.stderr
    assert code != ExitCode.USAGE or not (tmp_path / "run").exists(), "nothing is sent for a gate that cannot be read"


def test_without_a_gate_findings_do_not_change_the_exit_code(tmp_path: Path, vendor: Vendor) -> None:
    dataset = write_rows(tmp_path / "d.jsonl", [row(1)])
    assert verify(vendor, dataset, "-q", model="fault:args.schema.required").exit_code == ExitCode.OK


def test_nothing_measured_is_exit_3(tmp_path: Path) -> None:
    dataset = write_rows(tmp_path / "d.jsonl", [row(1)])
    result = call("verify", dataset, "--base-url", "http://127.0.0.1:9/v1", "-m", "m", "--retries", "0", "-q")
    assert result.exit_code == ExitCode.NOTHING_MEASURED
    assert "Nothing could be measured: 1 connect." in result.stderr


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["absent.jsonl", "-m", "m", "--base-url", "http://127.0.0.1:9"],
        ["d.jsonl", "--base-url", "http://127.0.0.1:9"],
        ["d.jsonl", "-m", "m", "-m", "n", "--base-url", "http://127.0.0.1:9"],
        ["d.jsonl", "-m", "m"],
        ["d.jsonl", "-m", "m", "--base-url", "http://127.0.0.1:9", "-c", "0"],
        ["d.jsonl", "-m", "m", "--base-url", "http://127.0.0.1:9", "--extra-body", "{"],
        ["d.jsonl", "-m", "m", "--base-url", "http://127.0.0.1:9", "--where", "colour=red"],
        ["d.jsonl", "-m", "m", "--base-url", "http://127.0.0.1:9", "--model-type", "absent"],
        ["d.jsonl", "-m", "m", "--base-url", "http://127.0.0.1:9", "--resume", "--fresh"],
        ["d.jsonl", "-m", "m", "--base-url", "http://127.0.0.1:9", "--only-failed", "--dry-run"],
        ["d.jsonl", "-m", "m", "--base-url", "http://127.0.0.1:9", "--resume"],
        ["d.jsonl", "-m", "m", "--base-url", "http://127.0.0.1:9", "--rules", "older"],
        ["d.jsonl", "-m", "m", "--base-url", "http://127.0.0.1:9", "--fail-under", "schema"],
        ["d.jsonl", "--from", "run"],
    ],
    ids=" ".join,
)
def test_a_wrong_command_line_is_exit_2_and_one_line_that_helps(tmp_path: Path, words: list[str]) -> None:
    write_rows(tmp_path / "d.jsonl", [row(1)])
    result = call("verify", *words)
    assert result.exit_code == ExitCode.USAGE, result.output
    assert "Traceback" not in result.output
    assert "Error:" in result.stderr


def test_the_dataset_may_come_compressed_from_stdin(vendor: Vendor) -> None:
    text = "".join(json.dumps(row(n)) + "\n" for n in range(5)).encode()
    result = verify(vendor, "-", "-q", "--limit", "3", stdin=gzip.compress(text))
    assert "(3/3," in result.stdout


def test_a_dry_run_sends_nothing_and_says_what_it_would(tmp_path: Path, vendor: Vendor) -> None:
    rows = [row(n) for n in range(6)] + ["{", row(9, messages=[{"role": "user", "content": "word " * 4000}])]
    dataset = write_rows(tmp_path / "d.jsonl", rows)
    verify(vendor, dataset, "-q", "-o", "run", "--limit", "2")
    before = len(list(vendor.requests))
    result = verify(vendor, dataset, "-o", "run", "--dry-run")
    assert result.exit_code == ExitCode.OK
    assert len(list(vendor.requests)) == before
    assert "5 requests to faithful at" in result.stdout
    assert "2 rows measured" in result.stdout
    assert "line 8: about 5 0" in result.stdout.replace("\u202f", " ")
    assert "dataset.not_json" in result.stdout


def test_a_dry_run_counts_as_the_run_would(tmp_path: Path, vendor: Vendor) -> None:
    failing = [row(n, toolcert={"expected": {"call": False}}) for n in (1, 2)]
    dataset = write_rows(tmp_path / "d.jsonl", [*failing, row(3), row(4)])
    verify(vendor, dataset, "-q", "-o", "run", "--limit", "3")
    assert verify(vendor, dataset, "-o", "run", "--dry-run").stdout.startswith("1 request to")
    assert verify(vendor, dataset, "-o", "run", "--dry-run", "--fresh").stdout.startswith("4 requests to")
    again = verify(vendor, dataset, "-o", "run", "--dry-run", "--only-failed").stdout
    assert again.startswith("2 requests to")
    assert "1 row measured" in again
    assert verify(vendor, dataset, "-o", "other", "--dry-run", "--only-failed").exit_code == ExitCode.USAGE


def test_a_dry_run_counts_the_tokens_of_the_requests_it_counts(tmp_path: Path, vendor: Vendor) -> None:
    dataset = write_rows(tmp_path / "d.jsonl", [row(n) for n in range(10)])
    whole, capped = (
        verify(vendor, dataset, "--dry-run", *words).stdout.splitlines()[:2] for words in ([], ["--max-requests", "1"])
    )
    assert [whole[0].split()[0], capped[0].split()[0]] == ["10", "1"]
    assert int(whole[1].split()[1]) == 10 * int(capped[1].split()[1])


def test_the_model_may_stand_with_the_endpoint(tmp_path: Path, vendor: Vendor) -> None:
    dataset = write_rows(tmp_path / "d.jsonl", [row(1)])
    (tmp_path / "toolcert.toml").write_text(f'[endpoints.here]\nbase_url = "{vendor.url}"\nmodel = ["text-caller"]\n')
    assert "1 request to text-caller" in call("verify", dataset, "-e", "here", "--dry-run").stdout
    assert "1 request to other" in call("verify", dataset, "-e", "here", "-m", "other", "--dry-run").stdout


def test_slices_are_shown_on_request(tmp_path: Path, vendor: Vendor) -> None:
    rows = [row(1, toolcert={"tags": ["alpha"]}), row(2, toolcert={"tags": ["beta"]}, tools=[WEATHER, TIME])]
    result = verify(vendor, write_rows(tmp_path / "d.jsonl", rows), "-q", "--slice", "tag", "--slice", "n_tools")
    assert "alpha" in result.stdout
    assert any(line.startswith("n_tools") for line in result.stdout.splitlines())


def test_json_goes_to_stdout_alone(tmp_path: Path, vendor: Vendor) -> None:
    result = verify(vendor, write_rows(tmp_path / "d.jsonl", [row(1)]), "-q", "--json", "-")
    report = json.loads(result.stdout)
    assert report["format"] == "toolcert.verify/2"
    assert report["summary"]["rows"]["valid"] == 1


@pytest.mark.parametrize("taken", ["./d.jsonl", "link", "toolcert.toml", "run/records.jsonl"])
def test_a_report_replaces_nothing_that_the_run_needs(tmp_path: Path, vendor: Vendor, taken: str) -> None:
    dataset = write_rows(tmp_path / "d.jsonl", [row(0)])
    (tmp_path / "link").symlink_to("d.jsonl")
    (tmp_path / "toolcert.toml").write_text("")
    before = Path(dataset).read_bytes()
    result = verify(vendor, dataset, "-o", "run", "--json", taken)
    assert result.exit_code == ExitCode.USAGE
    assert "--json would replace" in result.stderr
    assert Path(dataset).read_bytes() == before
    assert not (tmp_path / "run").exists()


def test_a_gate_on_expectations_that_no_row_of_a_run_has_is_exit_2(tmp_path: Path, vendor: Vendor) -> None:
    verify(vendor, write_rows(tmp_path / "d.jsonl", [row(1)]), "-q", "-o", "run")
    result = call("verify", "--from", "run", "--fail-under", "trigger=0.5")
    assert result.exit_code == ExitCode.USAGE
    assert "run has none" in result.stderr


@pytest.mark.parametrize("words", [["--where", "tool=get_*"], ["--only-failed"], ["-o", "other"]], ids=" ".join)
def test_options_that_choose_what_to_ask_have_no_place_in_judging_again(
    tmp_path: Path, vendor: Vendor, words: list[str]
) -> None:
    verify(vendor, write_rows(tmp_path / "d.jsonl", [row(1)]), "-q", "-o", "run")
    result = call("verify", "--from", "run", *words)
    assert result.exit_code == ExitCode.USAGE
    assert "--from judges all of a finished run" in result.stderr


@pytest.mark.heavy
def test_judging_a_results_file_again_lists_the_difference(recorded: Path) -> None:
    path = str(recorded / "vendor-results/official-run1.jsonl")
    ours, older = call("verify", "--from", path), call("verify", "--from", path, "--rules", "older")
    assert "(452/453" in ours.stdout
    for number in (13, 44, 365):
        assert f"row {number:<6} invalid -> valid  args.empty" in ours.stdout
    assert "(449/453" in older.stdout
    assert "No verdict changed." in older.stdout


def test_show_prints_request_answer_findings_and_curl(tmp_path: Path, vendor: Vendor) -> None:
    dataset = write_rows(tmp_path / "d.jsonl", [row(1), row(2, stream=True)])
    verify(vendor, dataset, "-q", "-o", "run", model="fault:args.schema.required")
    for number in ("1", "2"):
        result = call("show", "run", number)
        assert result.exit_code == ExitCode.OK, result.output
        assert f"row {number}  fault:args.schema.required" in result.stdout
        assert "What is the weather in Paris?" in result.stdout
        assert "error    args.schema.required" in result.stdout
        assert "curl -sS" in result.stdout
    as_json = json.loads(call("show", "run", "1", "--json").stdout)
    assert as_json["row"]["index"] == 1
    assert call("show", "run", "99").exit_code == ExitCode.USAGE


def test_the_row_of_the_guide_can_be_copied_into_a_dataset(tmp_path: Path, vendor: Vendor) -> None:
    guide = (Path(__file__).parents[2] / "docs/guides/verify.md").read_text("utf-8")
    [rows] = re.findall(r"```json\n(.*?)```", guide, re.DOTALL)
    (tmp_path / "d.jsonl").write_text(rows)
    assert call("dataset", "check", "d.jsonl", "--strict").exit_code == ExitCode.OK
    assert verify(vendor, "d.jsonl", "-q", "-o", "run", "--fail-under", "correct=1").exit_code == ExitCode.OK
    assert call("show", "run", "w-17").exit_code == ExitCode.OK


def test_a_row_is_found_by_the_name_its_dataset_gives_it(tmp_path: Path, vendor: Vendor) -> None:
    named = [row(n, toolcert={"id": name}) for n, name in enumerate(["w-1", "3", "w-3"])]
    verify(vendor, write_rows(tmp_path / "d.jsonl", [*named, "{"]), "-q", "-o", "run")
    assert call("show", "run", "w-3").stdout.startswith("row 3 (w-3)  faithful at")
    assert call("show", "run", "3").stdout.startswith("row 3 (w-3)  faithful at")
    assert call("show", "run", "2").stdout.startswith("row 2 (3)  faithful at")
    assert "Both make the same calls." in call("replay", "run", "w-1", "--base-url", vendor.url).stdout
    assert call("show", "run", "w-9").exit_code == ExitCode.USAGE


@pytest.mark.parametrize("damage", [b"{\n", b'{"case": "\xff"}\n', b"[]\n"])
def test_a_damaged_line_of_a_run_is_named_by_every_command(tmp_path: Path, vendor: Vendor, damage: bytes) -> None:
    dataset = write_rows(tmp_path / "d.jsonl", [row(1)])
    verify(vendor, dataset, "-q", "-o", "run")
    with (tmp_path / "run/records.jsonl").open("ab") as log:
        log.write(damage)
    for words in (
        ["show", "run", "7"],
        ["replay", "run", "7", "--base-url", vendor.url],
        ["report", "run"],
        ["verify", "--from", "run"],
    ):
        result = call(*words)
        assert result.exit_code == ExitCode.USAGE, result.output
        assert "records.jsonl, line 2: not a record" in result.stderr


def test_an_answer_nested_without_end_is_shown_and_sent_again(tmp_path: Path) -> None:
    dataset = write_rows(tmp_path / "d.jsonl", [row(1)])
    with Scripted(lambda _: Answer(b'{"choices":' + b"[" * 5000 + b"]" * 5000 + b"}")) as server:
        words = ["verify", dataset, "--base-url", server.url, "-m", "m", "-q", "-o", "run", "--html", "r.html"]
        result = call(*words)
        assert result.stdout.startswith(
            "fails: 0.0 % of 1 answer is sound (0.0 to 79.3); most often envelope.not_openai"
        )
        for again in (
            ["show", "run", "1"],
            ["replay", "run", "1", "--base-url", server.url],
            ["verify", "--from", "run"],
        ):
            assert call(*again).exit_code == ExitCode.OK, again


def test_replay_shows_both_answers(tmp_path: Path, vendor: Vendor) -> None:
    dataset = write_rows(tmp_path / "d.jsonl", [row(1)])
    verify(vendor, dataset, "-q", "-o", "run", "--extra-body", '{"top_k": 4}')
    before = list(vendor.requests)[-1].body
    result = call("replay", "run", "1", "--base-url", vendor.url)
    assert result.exit_code == ExitCode.OK, result.output
    assert "Both make the same calls." in result.stdout
    assert list(vendor.requests)[-1].body == before


def test_replay_shows_an_answer_that_was_kept_as_read(tmp_path: Path, vendor: Vendor) -> None:
    verify(vendor, write_rows(tmp_path / "d.jsonl", [row(1)]), "-q", "-o", "run", "--keep", "assembled")
    then = call("replay", "run", "1", "--base-url", vendor.url).stdout.partition("\nnow\n")[0]
    assert '"name": "get_weather"' in then


def test_replay_asks_another_model_on_request(tmp_path: Path, vendor: Vendor) -> None:
    verify(vendor, write_rows(tmp_path / "d.jsonl", [row(1)]), "-q", "-o", "run")
    result = call("replay", "run", "1", "--base-url", vendor.url, "--model", "text-caller")
    assert "text-caller at" in result.stdout
    assert "Then: get_weather. Now: text." in result.stdout
    assert call("replay", "run", "1", "--model", "a", "--model", "b").exit_code == ExitCode.USAGE


def test_a_run_kept_as_verdicts_still_names_its_findings(tmp_path: Path, vendor: Vendor) -> None:
    dataset = write_rows(tmp_path / "d.jsonl", [row(1)])
    verify(vendor, dataset, "-q", "-o", "run", "--keep", "verdicts", model="fault:args.schema.required")
    assert "error    args.schema.required" in call("show", "run", "1").stdout


def test_rows_that_were_not_asked_are_told_and_the_way_to_ask_them(tmp_path: Path, vendor: Vendor) -> None:
    dataset = write_rows(tmp_path / "d.jsonl", [row(n) for n in range(5)])
    result = verify(vendor, dataset, "-q", "-o", "run", "--max-requests", "2")
    assert result.exit_code == ExitCode.OK
    assert "3 rows were not asked: the limit of 2 requests was reached." in result.stdout
    assert "3 rows left; the same command with --output run asks them." in result.stderr


@pytest.mark.parametrize("rows", [4, 40], ids=["to the end", "given up"])
def test_a_mistyped_endpoint_costs_no_measurement(tmp_path: Path, vendor: Vendor, rows: int) -> None:
    dataset = write_rows(tmp_path / "d.jsonl", [row(n) for n in range(rows)])
    verify(vendor, dataset, "-q", "-o", "run")
    before = call("report", "run").stdout
    nowhere = ["--base-url", "http://127.0.0.1:9/v1", "-m", "faithful", "--retries", "0"]
    refused = call("verify", dataset, *nowhere, "-q", "-o", "run")
    assert refused.exit_code == ExitCode.USAGE
    assert "run holds another run: endpoint was" in refused.stderr
    result = call("verify", dataset, *nowhere, "-q", "-o", "run", "--junit", "j.xml", "--fresh")
    assert result.exit_code == ExitCode.NOTHING_MEASURED, result.output
    assert (
        f"The {rows} rows measured earlier in run stay as they were; this run, which measured nothing, is in"
        in result.stderr
    )
    assert call("report", "run").stdout == before
    if rows == 4:
        assert 'tests="5" failures="0" errors="5"' in (tmp_path / "j.xml").read_text()
    asked = len(list(vendor.requests))
    assert verify(vendor, dataset, "-q", "-o", "run").exit_code == ExitCode.OK
    assert len(list(vendor.requests)) == asked


def test_a_run_of_another_model_is_refused_and_the_way_out_is_told(tmp_path: Path, vendor: Vendor) -> None:
    dataset = write_rows(tmp_path / "d.jsonl", [row(n) for n in range(3)])
    verify(vendor, dataset, "-q", "-o", "run")
    asked = len(list(vendor.requests))
    for words in ([], ["--dry-run"]):
        refused = verify(vendor, dataset, "-q", "-o", "run", *words, model="text-caller")
        assert refused.exit_code == ExitCode.USAGE
        assert "run holds another run: model was faithful, now text-caller." in refused.stderr
        assert "Choose another --output, or --fresh to forget that run." in refused.stderr
    assert len(list(vendor.requests)) == asked


def test_failed_rows_asked_again_without_an_answer_are_exit_3_and_stand(tmp_path: Path) -> None:
    dataset = write_rows(tmp_path / "d.jsonl", [row(1, toolcert={"expected": {"call": False}}), row(2)])
    with Vendor(models=["faithful"]) as vendor:
        verify(vendor, dataset, "-q", "-o", "run")
        before = call("report", "run").stdout
        vendor.outage("500", after=0)
        again = verify(vendor, dataset, "-q", "-o", "run", "--only-failed", "--retries", "0")
    assert again.exit_code == ExitCode.NOTHING_MEASURED
    assert "1 failed row got no other answer and stands as it was." in again.stderr
    assert call("report", "run").stdout == before


def test_rows_that_the_server_says_it_cannot_answer_are_told_apart(tmp_path: Path) -> None:
    dataset = write_rows(tmp_path / "d.jsonl", [row(1), row(2)])
    with Vendor(models=["no-tools"]) as vendor:
        result = verify(vendor, dataset, "-q", model="no-tools")
        gated = verify(vendor, dataset, "-q", "--require", "passes", model="no-tools")
    assert (result.exit_code, gated.exit_code) == (ExitCode.OK, ExitCode.FAILED)
    lines = result.stdout.splitlines()
    assert lines[0] == "unsupported: the server refuses all 2 rows as not supported."
    assert "most often (2): The model `no-tools` does not support tools." in " ".join(lines)
    assert any("0 not measured, 2 unsupported" in line for line in lines)


def test_a_model_that_is_not_served_is_exit_3_for_verify_and_probe_alike(tmp_path: Path, vendor: Vendor) -> None:
    dataset = write_rows(tmp_path / "d.jsonl", [row(n) for n in range(2)])
    assert verify(vendor, dataset, "-q", model="nosuch").exit_code == ExitCode.NOTHING_MEASURED
    result = call("probe", vendor.url, "-m", "nosuch", "-q")
    assert result.exit_code == ExitCode.NOTHING_MEASURED
    assert "no model is left to ask" in result.stderr


def test_a_choice_that_leaves_no_row_is_exit_2(tmp_path: Path, vendor: Vendor) -> None:
    result = verify(vendor, write_rows(tmp_path / "d.jsonl", [row(1)]), "-q", "--where", "tool=absent")
    assert result.exit_code == ExitCode.USAGE
    assert result.stdout.startswith("not measured: there was no row to ask.")
    assert "d.jsonl: no row was chosen." in result.stderr


def test_a_dataset_without_a_usable_line_is_exit_2_and_pushes_nothing_out(tmp_path: Path, vendor: Vendor) -> None:
    dataset = write_rows(tmp_path / "d.jsonl", [row(1), row(2)])
    verify(vendor, dataset, "-q", "-o", "run")
    for rows in ([], ["{", "{"]):
        write_rows(tmp_path / "d.jsonl", rows)
        assert verify(vendor, dataset, "-q", "-o", "new").exit_code == ExitCode.USAGE
        verify(vendor, dataset, "-q", "-o", "run")
        assert "(2/2," in call("report", "run").stdout
    shown = verify(vendor, dataset, "-q", "-o", "new")
    assert shown.stdout.splitlines()[:2] == [
        "not measured: none of 2 lines can be asked.",
        "The dataset itself has 2 problems, not charged to the vendor.",
    ]
    assert "no line can be asked." in shown.stderr
    assert "repeated" not in shown.stdout


def test_an_empty_dataset_fails_its_check(tmp_path: Path) -> None:
    result = call("dataset", "check", write_rows(tmp_path / "d.jsonl", []))
    assert result.exit_code == ExitCode.USAGE
    assert "d.jsonl is empty: there is no request in it." in result.stderr


ROWS = [row(1), row(2)]
OTHER_FORMS = {
    "pretty array": (json.dumps(ROWS, indent=2).encode(), "is one JSON array, not JSONL", "jq -c '.[]' "),
    "array on a line": (json.dumps(ROWS).encode(), "is one JSON array, not JSONL", "jq -c '.[]' "),
    "large array": (json.dumps(ROWS * 500).encode(), "is one JSON array, not JSONL", "jq -c '.[]' "),
    "pretty objects": ("\n".join(json.dumps(one, indent=1) for one in ROWS).encode(), "several lines", "jq -c . "),
    "large object": (json.dumps(ROWS[0] | {"x": "y" * 99999}, indent=2).encode(), "several lines", "jq -c . "),
    "over three lines": (json.dumps(ROWS[0]).replace(', "tools"', ',\n "tools"').encode(), "several lines", "jq -c . "),
    "UTF-16": (json.dumps(ROWS[0]).encode("utf-16"), "is UTF-16, not UTF-8", "iconv -f UTF-16 -t UTF-8 "),
    "UTF-16 unmarked": (json.dumps(ROWS[0]).encode("utf-16-le"), "is UTF-16, not UTF-8", "iconv -f UTF-16"),
}


@pytest.mark.parametrize("form", OTHER_FORMS)
def test_a_dataset_that_is_no_jsonl_is_refused_with_one_remedy(tmp_path: Path, vendor: Vendor, form: str) -> None:
    text, said, remedy = OTHER_FORMS[form]
    (tmp_path / "my d.json").write_bytes(text)
    (tmp_path / "d.gz").write_bytes(gzip.compress(text))
    before = len(list(vendor.requests))
    for result in (
        call("dataset", "check", "my d.json"),
        call("dataset", "stats", "my d.json"),
        verify(vendor, "my d.json"),
        verify(vendor, "d.gz"),
        verify(vendor, "-", stdin=text),
    ):
        assert result.exit_code == ExitCode.USAGE
        assert result.stdout == ""
        assert len(result.stderr.splitlines()) == 2
        assert said in result.stderr
        assert remedy.strip() in result.stderr
    assert len(list(vendor.requests)) == before
    assert "'my d.json' > 'my d.json.jsonl'" in call("dataset", "check", "my d.json").stderr


@pytest.mark.heavy
@pytest.mark.skipif(os.name == "nt", reason="pipes break otherwise there")
def test_reports_are_written_though_nobody_reads_the_result(tmp_path: Path, vendor: Vendor) -> None:
    write_rows(tmp_path / "d.jsonl", [row(1)])
    words = ["verify", "d.jsonl", "--base-url", vendor.url, "-m", "faithful", "-q", "--json", "r"]
    process = subprocess.Popen([sys.executable, "-m", "toolcert", *words], cwd=tmp_path, stdout=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.close()
    assert process.wait(timeout=PATIENCE) == 141
    assert json.loads((tmp_path / "r").read_text())["summary"]["rows"]["passed"] == 1


@pytest.mark.sampled
@pytest.mark.skipif(os.name == "nt", reason="there is no SIGINT to send there")
@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_is_answered_and_the_run_goes_on_later(sent: signal.Signals, tmp_path: Path) -> None:
    dataset = write_rows(tmp_path / "d.jsonl", [row(n) for n in range(500)])
    with Vendor(models=["faithful"], latency=0.1) as slow:
        words = ["verify", dataset, "--base-url", slow.url, "-m", "faithful", "-o", "run"]
        process = subprocess.Popen(
            [sys.executable, "-m", "toolcert", *words], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        until(lambda: len(list(slow.requests)) > 10)
        process.send_signal(sent)
        shown, told = process.communicate(timeout=PATIENCE)
    assert process.returncode == ExitCode.INTERRUPTED
    assert b"Stopping; answers under way have 5 s to arrive." in told
    assert b"Interrupted; what was measured is in run." in told
    assert re.match(rb"undecided: stopped at \d+ of 500 rows; so far 100.0 % of \d+ answers are sound", shown)


@pytest.mark.heavy
@pytest.mark.skipif(os.name == "nt", reason="there is no SIGINT to send there")
def test_ctrl_c_before_the_first_answer_pushes_nothing_out(tmp_path: Path) -> None:
    dataset = write_rows(tmp_path / "d.jsonl", [row(n) for n in range(4)])
    with Vendor(models={"faithful": "faithful", "other": "faithful"}) as silent:
        verify(silent, dataset, "-q", "-o", "run")
        silent.outage("timeout")
        words = ["verify", dataset, "--base-url", silent.url, "-m", "other", "-o", "run", "-q", "--fresh"]
        process = subprocess.Popen(
            [sys.executable, "-m", "toolcert", *words], cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
        )
        until(lambda: len(list(silent.requests)) > 4)
        process.send_signal(signal.SIGINT)
        time.sleep(0.3)  # two at once may be taken for one
        process.send_signal(signal.SIGINT)
        _, told = process.communicate(timeout=PATIENCE)
    assert process.returncode == ExitCode.INTERRUPTED
    assert b"Interrupted; nothing was measured." in told
    assert "(4/4," in call("report", "run").stdout


@pytest.mark.heavy
def test_every_report_says_that_a_killed_run_is_incomplete(tmp_path: Path) -> None:
    """Nothing in it says that it ended; the same is so while it goes on."""
    dataset = write_rows(tmp_path / "d.jsonl", [row(n) for n in range(40)])
    log = tmp_path / "run/records.jsonl"
    with Vendor(models=["faithful"], latency=0.5) as slow:
        words = ["verify", dataset, "--base-url", slow.url, "-m", "faithful", "-o", "run", "-q", "-c", "2"]
        process = subprocess.Popen([sys.executable, "-m", "toolcert", *words], cwd=tmp_path)
        until(lambda: log.exists() and log.read_bytes().count(b"\n") >= 4)
        while_running = call("report", "run").stdout
        process.kill()
        process.wait()
        hurry(slow)
        formats = {"--json": "r.json", "--html": "r.html", "--markdown": "r.md", "--junit": "r.xml", "--badge": "b"}
        shown = call("report", "run", *(word for pair in formats.items() for word in pair))
        finished = call(*words)
    said = re.compile(r"undecided: stopped at \d+ of 40 rows; so far")
    assert said.match(while_running)
    assert shown.exit_code == ExitCode.OK
    for file in ("r.html", "r.md", "r.xml"):
        assert said.search((tmp_path / file).read_text()), file
    summary = json.loads((tmp_path / "r.json").read_text())["summary"]
    assert said.match(summary["headline"])
    assert (summary["incomplete"], summary["planned"]) == (True, 40)
    assert 'errors="1"' in (tmp_path / "r.xml").read_text()
    assert "passes</span>" not in (tmp_path / "r.html").read_text()
    assert json.loads((tmp_path / "b").read_text())["color"] == "lightgrey"
    assert finished.stdout.startswith("passes: 100.0 % of 40 answers are sound")


def test_the_badge_agrees_with_the_verdict(tmp_path: Path) -> None:
    """Every call is valid, and three answers of ten are written as text."""
    with Vendor(models={"m": "faithful"}) as good, Vendor(models={"m": "text-caller"}) as bad:
        dataset = write_rows(tmp_path / "d.jsonl", [row(n) for n in range(10)])
        verify(good, dataset, "-q", "-o", "good", "--limit", "7", model="m")
        verify(bad, dataset, "-q", "-o", "bad", "--where", "index=8-10", model="m")
    with (tmp_path / "good/records.jsonl").open("ab") as log:
        log.write((tmp_path / "bad/records.jsonl").read_bytes())
    shown = call("report", "good").stdout
    assert shown.startswith("fails: 70.0 % of 10 answers are sound (39.7 to 89.2); most often call.in_text")
    made = json.loads(call("report", "good", "--badge", "-").stdout)
    assert (made["message"], made["color"]) == ("fails, 70.0 % sound", "red")


def test_no_gate_is_met_by_a_part_of_a_run(tmp_path: Path, vendor: Vendor) -> None:
    verify(vendor, write_rows(tmp_path / "d.jsonl", [row(n) for n in range(3)]), "-q", "-o", "run")
    manifest = json.loads((tmp_path / "run/manifest.json").read_text())
    (tmp_path / "run/manifest.json").write_text(json.dumps(manifest | {"finished_at": None, "planned": 9}))
    assert call("verify", "--from", "run").exit_code == ExitCode.OK
    gated = call("verify", "--from", "run", "--fail-under", "schema=0.5")
    assert gated.exit_code == ExitCode.NOTHING_MEASURED
    assert "The gates cannot be judged: stopped at 3 of 9 rows; a gate needs 95 %." in gated.stderr


def test_replay_elsewhere_shows_the_difference(tmp_path: Path, vendor: Vendor) -> None:
    verify(vendor, write_rows(tmp_path / "d.jsonl", [row(1)]), "-q", "-o", "run")
    with Vendor(models={"faithful": "text-caller"}) as other:
        result = call("replay", "run", "1", "--base-url", other.url)
    assert "Then: get_weather. Now: text." in result.stdout


def test_dataset_check_lists_every_problem_with_its_line(tmp_path: Path) -> None:
    dataset = write_rows(tmp_path / "d.jsonl", [row(1), "{", row(1), row(3, stream="yes")])
    result = call("dataset", "check", dataset)
    assert result.exit_code == ExitCode.FAILED
    assert [line.split(": ")[:2] for line in result.stdout.splitlines()] == [
        ["line 2", "error dataset.not_json"],
        ["line 3", "note dataset.duplicate"],
        ["line 4", "warning dataset.wrong_type"],
    ]
    found = [json.loads(line) for line in call("dataset", "check", dataset, "--json").stdout.splitlines()]
    assert [one["line"] for one in found] == [2, 3, 4]


def test_dataset_check_fails_on_warnings_only_when_strict(tmp_path: Path) -> None:
    dataset = write_rows(tmp_path / "d.jsonl", [row(1, stream="yes")])
    assert call("dataset", "check", dataset).exit_code == ExitCode.OK
    assert call("dataset", "check", dataset, "--strict").exit_code == ExitCode.FAILED
    assert call("dataset", "check", write_rows(tmp_path / "c.jsonl", [row(1)])).exit_code == ExitCode.OK


def test_a_line_that_cannot_be_asked_fails_the_check_whatever_the_reason(tmp_path: Path) -> None:
    dataset = write_rows(tmp_path / "d.jsonl", [row(1, messages="hello"), row(2)])
    assert call("dataset", "check", dataset).exit_code == ExitCode.FAILED


def test_a_line_with_two_faults_is_named_once_in_the_sum(tmp_path: Path) -> None:
    dataset = write_rows(tmp_path / "d.jsonl", [row(1), row(2, temperature="hot", stream="yes")])
    assert call("dataset", "check", dataset).stderr.splitlines() == [
        "warning  dataset.wrong_type            1   line 2",
    ]


def test_dataset_stats_describes(tmp_path: Path) -> None:
    rich = {
        "type": "function",
        "function": {
            "name": "rich",
            "parameters": {"type": "object", "properties": {"a": {"anyOf": [{"type": "string"}]}}},
        },
    }
    rows = [
        row(1),
        row(2, tools=[WEATHER, rich], stream=True),
        row(1),
        row(3, toolcert={"tags": ["x"], "expected": {"call": True}}),
    ]
    dataset = write_rows(tmp_path / "d.jsonl", rows)
    text = call("dataset", "stats", dataset).stdout
    assert "4 lines, 4 rows to ask" in text
    assert "2 distinct tools in 2 distinct lists" in text
    assert "1 duplicate, 1 streamed" in text
    assert "get_weather: 4, rich: 1" in text
    report = json.loads(call("dataset", "stats", dataset, "--json").stdout)
    assert report["schema_features"] == {"enum": 1, "anyOf": 1}
    assert report["tags"] == {"x": 1}
    assert report["expecting"] == 1


def test_dataset_check_of_the_public_requests(recorded: Path) -> None:
    result = call("dataset", "check", str(recorded / "vendor-results/requests.jsonl"))
    assert result.exit_code == ExitCode.OK
    lines = [line for line in result.stdout.splitlines() if "dataset.duplicate:" not in line]
    assert [line.split(":")[0] for line in lines] == [f"line {n}" for n in (72, 168, 328, 344, 380)]
    assert len(result.stdout.splitlines()) - len(lines) == 13


def test_verify_loads_nothing_that_a_plain_run_does_without(tmp_path: Path, vendor: Vendor) -> None:
    """scipy, numpy and pandas would cost more memory than the whole run; the others, time at every start."""
    import subprocess
    import sys

    dataset = write_rows(tmp_path / "d.jsonl", [row(1)])
    unneeded = ["scipy", "numpy", "pandas", "sqlalchemy", "shutil", "statistics", "tomllib"]
    unneeded += ["toolcert.engine.ray_engine", "toolcert.verification.older_results"]
    program = (
        "import sys; from toolcert.cli.main import cli\n"
        f"cli(['verify', {dataset!r}, '--base-url', {vendor.url!r}, '-m', 'faithful', '-q'], standalone_mode=False)\n"
        f"print([name for name in {unneeded} if name in sys.modules])"
    )
    ended = subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, text=True, timeout=PATIENCE
    )
    assert ended.stdout.splitlines()[-1] == "[]"
