"""What version 0.1 wrote is read by the version at hand, and its unfinished runs are gone on with.

Only facts are compared that no later rule changes: what was asked, answered and counted; not verdicts, scores or words.
Everything goes through the command and the names of the package, so that no later order of modules matters here.
"""

from __future__ import annotations

import csv
import http.client
import json
import os
import shutil
import subprocess
import sys
import tarfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from xml.etree import ElementTree

import pytest

from support.scripted import Answer, Received, Scripted
from support.terminal import run_here
from toolcert import compare, report
from toolcert.simulate import Vendor

ARCHIVE = Path(__file__).parents[1] / "data/v0.1/written.tar.xz"
VENDOR = "http://vendor.example/v1"
DATASET = {"dataset.not_json": 1, "dataset.duplicate": 1}


@pytest.fixture(scope="module")
def frozen(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All files of version 0.1; tests that change them take a copy."""
    folder = tmp_path_factory.mktemp("v0.1")
    with tarfile.open(ARCHIVE) as archive:
        archive.extractall(folder, filter="data")
    return folder


@pytest.fixture
def copy(frozen: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(frozen, tmp_path / "copy"))


@pytest.fixture(scope="module")
def simulated() -> Iterator[str]:
    """Host and port of a fresh vendor with the models of the unfinished runs."""
    with Vendor(models=["slow:0.3:faithful", "text-caller", "faithful"]) as vendor:
        yield urlsplit(vendor.url).netloc


@pytest.fixture
def vendor(simulated: str) -> Iterator[Scripted]:
    """The way to that vendor, as a proxy that keeps what was sent."""

    def forward(request: Received) -> Answer:
        connection = http.client.HTTPConnection(simulated, timeout=20)
        kept = {name: value for name, value in request.headers.items() if name in ("content-type", "accept")}
        connection.request(request.method, urlsplit(request.path).path, request.body, kept)
        answer = connection.getresponse()
        return Answer(answer.read(), answer.status, {"Content-Type": answer.headers["Content-Type"]})

    with Scripted(forward) as proxy:
        yield proxy


def run(*words: str | Path, cwd: Path, proxy: Scripted | None = None, program: str = "toolcert") -> str:
    """What a command prints; one that fails fails the test."""
    if program == "toolcert" and proxy is None:
        here = run_here(*map(str, words), cwd=cwd)
        assert here.returncode == 0, here.stderr + here.stdout
        return here.stdout
    environment = {**os.environ, "PYTHONIOENCODING": "utf-8", **({"HTTP_PROXY": proxy.root} if proxy else {})}
    command = [sys.executable, "-m", program, *map(str, words)]
    done = subprocess.run(command, cwd=cwd, env=environment, capture_output=True, encoding="utf-8", check=False)
    assert done.returncode == 0, done.stderr + done.stdout
    return done.stdout


def summary(folder: Path, tmp_path: Path) -> dict[str, Any]:
    """The JSON report of a run."""
    report(folder, json=str(tmp_path / "report.json"))
    told: dict[str, Any] = json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))["summary"]
    return told


def positive(counts: dict[str, int]) -> dict[str, int]:
    return {name: count for name, count in counts.items() if count}


def share(rate: dict[str, Any]) -> tuple[int, int]:
    return rate["k"], rate["n"]


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def sent(proxy: Scripted) -> list[dict[str, Any]]:
    """The bodies of all questions."""
    return [request.json for request in proxy.received if request.method == "POST"]


def passed_of(told: dict[str, Any]) -> dict[str, dict[str, tuple[int, int]]]:
    """Of each model and probe how many cases passed, of those measured."""
    return {
        model["model"]: {cell["probe"]: share(cell["rate"]) for cell in model["cells"] if cell["rate"]["n"]}
        for model in told["models"]
    }


AGENT = ("basic", "result_use", "multi_tool", "streaming", "json_mode")


def agent(n: int, **others: int) -> dict[str, tuple[int, int]]:
    """All of `n` passed in the five tests for agents, but for the others."""
    return {probe: (others.get(probe, n), n) for probe in AGENT}


KEPT = (
    {"passed": 18, "failed": 2},
    {"stream.cut": 2},
    24,
    {"faithful": agent(2), "stream-cutter": agent(2, streaming=0)},
)
PROBED: dict[str, tuple[dict[str, int], dict[str, int], int, dict[str, dict[str, tuple[int, int]]]]] = {
    "agent": (
        {"passed": 57, "failed": 21, "unsupported": 27, "not_measured": 15},
        {"call.in_text": 12, "json.fenced": 3, "result.ignored": 3, "stream.cut": 3, "transport.rate_limited": 15},
        159,
        {
            "faithful": agent(3),
            "stream-cutter": agent(3, streaming=0),
            "json-fencer": agent(3, json_mode=0),
            "never-reads-results": agent(3, result_use=0),
            "text-caller": agent(3, basic=0, result_use=0, multi_tool=0, streaming=0),
            "no-tools": {"json_mode": (3, 3)},
            "text-embedding-small": {},
            "fault:transport.rate_limited": {},
        },
    ),
    "keep-raw": KEPT,
    "keep-assembled": KEPT,
    "keep-verdicts": KEPT,
    "adaptive": (
        {"passed": 8, "failed": 9, "skipped": 7},
        {"call.in_text": 9},
        25,
        {"seven-of-ten": {"hello_world": (8, 12)}, "text-caller": {"hello_world": (0, 5)}},
    ),
    "scenario": (
        {"passed": 3, "failed": 3},
        {},
        12,
        {"faithful": {"refund": (3, 3)}, "never-reads-results": {"refund": (0, 3)}},
    ),
    "interrupted": (
        {"passed": 8, "failed": 8},
        {"call.in_text": 8},
        20,
        {
            "slow:0.3:faithful": {"basic": (4, 4), "result_use": (4, 4)},
            "text-caller": {"basic": (0, 4), "result_use": (0, 4)},
        },
    ),
    "killed": (
        {"passed": 6, "failed": 8},
        {"call.in_text": 8},
        16,
        {
            "slow:0.3:faithful": {"basic": (4, 4), "result_use": (2, 2)},
            "text-caller": {"basic": (0, 4), "result_use": (0, 4)},
        },
    ),
}
"""Of each probe run: its outcomes, its findings, the requests it took, and what passed."""


@pytest.mark.parametrize("name", PROBED)
def test_a_probe_run_tells_what_it_measured(name: str, frozen: Path, tmp_path: Path) -> None:
    outcomes, findings, requests, passed = PROBED[name]
    told = summary(frozen / "probe" / name, tmp_path)
    assert positive(told["totals"]["counts"]) == outcomes
    assert {cause["code"]: cause["count"] for cause in told["causes"]} == findings
    assert told["totals"]["usage"]["requests"] == requests
    assert passed_of(told) == passed
    assert told["interrupted"] is (name == "interrupted")
    assert (told["finished_at"] is None) is (name == "killed")


def test_a_run_of_every_probe_tells_what_it_measured(frozen: Path, tmp_path: Path) -> None:
    told = summary(frozen / "probe/full", tmp_path)
    assert positive(told["totals"]["counts"]) == {"passed": 68, "failed": 13, "skipped": 27}
    findings = {cause["code"]: cause["count"] for cause in told["causes"]}
    assert (findings["args.schema.required"], findings["call.in_text"]) == (10, 4)
    assert {model: sum(k for k, _ in cells.values()) for model, cells in passed_of(told).items()} == {
        "faithful": 35,
        "seven-of-ten": 19,
        "fault:args.schema.required": 14,
    }
    assert len(told["probes"]) == 36


REQUIRED = {"passed": 4, "failed": 10, "skipped": 1}, {"args.schema.required": 10}, (13, 14), (3, 13), (4, 11)
FAITHFUL: dict[str, int] = {"passed": 14, "skipped": 1}
VERIFIED: dict[str, tuple[dict[str, int], dict[str, int], tuple[int, int], tuple[int, int], tuple[int, int]]] = {
    "verify/plain-faithful": (FAITHFUL, {}, (13, 14), (13, 13), (11, 11)),
    "verify/plain-faithful-again": (FAITHFUL, {}, (13, 14), (13, 13), (11, 11)),
    "verify/plain-text-caller": (
        {"passed": 1, "failed": 13, "skipped": 1},
        {"call.in_text": 13},
        (0, 14),
        (0, 0),
        (1, 11),
    ),
    "verify/plain-args.schema.required": REQUIRED,
    "verify/plain-trigger.under": ({"passed": 10, "failed": 4, "skipped": 1}, {}, (7, 14), (7, 7), (7, 11)),
    "verify/streamed-faithful": (FAITHFUL, {}, (13, 14), (13, 13), (11, 11)),
    "verify/streamed-stream-cutter": ({"failed": 14, "skipped": 1}, {"stream.cut": 14}, (13, 14), (0, 13), (4, 11)),
    "verify/keep-raw": REQUIRED,
    "verify/keep-assembled": REQUIRED,
    "verify/keep-verdicts": REQUIRED,
    "verify/interrupted": ({"passed": 9}, {}, (9, 9), (9, 9), (9, 9)),
    "verify/killed": ({"passed": 8}, {}, (8, 8), (8, 8), (8, 8)),
    "verify/superseded": ({"passed": 6}, {}, (6, 6), (6, 6), (6, 6)),
    "verify/refused": ({"not_measured": 14, "skipped": 1}, {}, (0, 0), (0, 0), (0, 0)),
    "verify/server-died": ({"passed": 6, "not_measured": 8, "skipped": 1}, {}, (6, 6), (6, 6), (6, 6)),
    "vendor-verifier/official.jsonl.run": (FAITHFUL, {}, (13, 14), (13, 13), (11, 11)),
    "vendor-verifier/results.jsonl.run": REQUIRED,
}
"""Of each verify run: its outcomes, the vendor's findings, and k of n that called, were valid and as expected."""
OUTCOMES = ("passed", "failed", "unsupported", "not_measured", "skipped")


@pytest.mark.parametrize("name", VERIFIED)
def test_a_verify_run_tells_what_it_measured(name: str, frozen: Path, tmp_path: Path) -> None:
    outcomes, findings, called, valid, correct = VERIFIED[name]
    told = summary(frozen / name, tmp_path)
    assert positive({outcome: told["rows"][outcome] for outcome in OUTCOMES}) == outcomes
    assert told["rows"]["lines"] == sum(outcomes.values())
    assert {finding["code"]: finding["rows"] for finding in told["vendor"]} == findings
    assert {finding["code"]: finding["rows"] for finding in told["of_dataset"]} == (
        DATASET if sum(outcomes.values()) == 15 else {}
    )
    assert (share(told["called"]), share(told["valid"]), share(told["correct"])) == (called, valid, correct)
    assert told["incomplete"] is (name in ("verify/interrupted", "verify/killed"))


def test_why_rows_could_not_be_measured_is_told_by_cause(frozen: Path, tmp_path: Path) -> None:
    assert summary(frozen / "verify/refused", tmp_path)["not_measured_by"] == {"rate_limited": 14}
    assert summary(frozen / "verify/server-died", tmp_path)["not_measured_by"] == {"connect": 5, "reset": 3}


@pytest.mark.heavy
@pytest.mark.parametrize("name", ["plain-faithful", "plain-args.schema.required", "streamed-faithful", "keep-raw"])
def test_raw_answers_are_judged_again(name: str, frozen: Path, tmp_path: Path) -> None:
    run("verify", "--from", frozen / "verify" / name, "--json", tmp_path / "again.json", cwd=tmp_path)
    again = json.loads((tmp_path / "again.json").read_text(encoding="utf-8"))["summary"]
    assert (again["rows"]["lines"], again["rows"]["answered"]) == (15, 14)
    assert share(again["called"]) == VERIFIED[f"verify/{name}"][2]
    assert again["finish"] == {"tool_calls": 13, "stop": 1}


def test_one_row_is_shown_by_its_id_with_request_answer_and_finding(frozen: Path) -> None:
    shown = json.loads(run("show", "verify/plain-text-caller", "w-1", "--json", cwd=frozen))
    assert (shown["row"]["index"], shown["outcome"], shown["codes"]) == (1, "failed", ["call.in_text"])
    (exchange,) = shown["detail"]["exchanges"]
    assert exchange["request"]["body"]["messages"][-1]["content"] == "What is the weather in Paris?"
    assert "<tool_call>" in json.dumps(exchange)


def test_one_case_of_a_probe_run_is_shown_by_its_key(frozen: Path) -> None:
    shown = json.loads(run("show", "probe/agent", "vendor.example/stream-cutter/streaming/2", "--json", cwd=frozen))
    assert (shown["outcome"], shown["codes"]) == ("failed", ["stream.cut"])
    assert (shown["probe"]["iteration"], shown["probe"]["requests"]) == (2, 1)


@pytest.mark.sampled
@pytest.mark.parametrize(("name", "answered"), [("interrupted", 9), ("killed", 8)])
def test_an_unfinished_verify_run_is_gone_on_with(name: str, answered: int, copy: Path, vendor: Scripted) -> None:
    folder = copy / "verify" / name
    before = {record["row"]["index"]: record for record in lines(folder / "records.jsonl")}
    assert len(before) == answered
    words = ("verify", "requests.jsonl", "--base-url", VENDOR, "-m", "slow:0.3:faithful", "-o", f"verify/{name}", "-q")
    run(*words, cwd=copy, proxy=vendor)
    after = {record["row"]["index"]: record for record in lines(folder / "records.jsonl")}
    assert {index: after[index] for index in before} == before
    left = [messages for number, messages in questions(copy / "requests.jsonl") if number not in before]
    assert sorted(str(body["messages"]) for body in sent(vendor)) == sorted(map(str, left))
    told = summary(folder, copy)
    assert (told["rows"]["lines"], told["rows"]["answered"], told["incomplete"]) == (15, 14, False)


def questions(dataset: Path) -> Iterator[tuple[int, Any]]:
    """The messages of every line that can be asked, with its number."""
    for number, line in enumerate(dataset.read_text(encoding="utf-8").splitlines(), 1):
        if line != "{not json":
            yield number, json.loads(line)["messages"]


@pytest.mark.heavy
@pytest.mark.parametrize("name", ["interrupted", "killed"])
def test_an_unfinished_probe_run_is_gone_on_with(name: str, copy: Path, vendor: Scripted) -> None:
    folder = copy / "probe" / name
    before = {record["case"]: record for record in lines(folder / "records.jsonl")}
    words = ("-m", "slow:0.3:faithful", "-m", "text-caller", "-s", "agent", "-n", "4", "-o", f"probe/{name}", "-q")
    run("probe", VENDOR, *words, cwd=copy, proxy=vendor)
    after = {record["case"]: record for record in lines(folder / "records.jsonl")}
    assert {case: after[case] for case in before} == before
    added = [record for case, record in after.items() if case not in before]
    assert len(sent(vendor)) == sum(record["probe"].get("requests", 0) for record in added)
    told = summary(folder, copy)
    assert passed_of(told) == {
        "slow:0.3:faithful": agent(4),
        "text-caller": agent(4, basic=0, result_use=0, multi_tool=0, streaming=0),
    }
    assert (told["interrupted"], told["finished_at"] is None) == (False, False)


@pytest.mark.heavy
def test_rows_that_were_set_aside_are_taken_up_again(copy: Path, vendor: Scripted) -> None:
    """The dataset in full again: 8 rows lie in superseded.jsonl, 6 in the log, and none is asked."""
    aside = Counter(record["model"] for record in lines(copy / "verify/superseded/superseded.jsonl"))
    assert aside == {"text-caller": 14, "faithful": 8}
    words = ("--base-url", VENDOR, "-m", "faithful", "-o", "verify/superseded", "-q")
    run("verify", "requests.jsonl", *words, cwd=copy, proxy=vendor)
    assert sent(vendor) == []
    told = summary(copy / "verify/superseded", copy)
    assert (told["model"], told["rows"]["answered"], told["rows"]["passed"]) == ("faithful", 14, 14)


def test_runs_are_compared(frozen: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    words = ("--vendor", "verify/plain-args.schema.required", "verify/plain-trigger.under")
    out = tmp_path / "compare.json"
    run(
        "compare",
        "--baseline",
        "verify/plain-faithful",
        "verify/plain-faithful-again",
        *words,
        "--json",
        out,
        cwd=frozen,
    )
    told = _compared(out)
    assert told == _compared(frozen / "reports/compare.json")
    assert told == {
        "plain-args.schema.required": ({"tp": 13, "fp": 0, "fn": 0, "tn": 1}, 14, 13, 3),
        "plain-trigger.under": ({"tp": 7, "fp": 0, "fn": 6, "tn": 1}, 14, 7, 7),
    }
    monkeypatch.chdir(frozen)
    found = compare(["verify/plain-faithful"], ["verify/keep-verdicts"])
    assert found.vendors[0].compared == 14


def _compared(path: Path) -> dict[str, tuple[dict[str, int], int, int, int]]:
    """Of each vendor: its decisions against the baseline's, rows compared, calls, and valid ones."""
    vendors = json.loads(path.read_text(encoding="utf-8"))["comparison"]["vendors"]
    return {
        vendor["side"]["label"]: (
            vendor["cells"],
            vendor["compared"],
            vendor["schema"]["calls"],
            vendor["schema"]["calls_valid"],
        )
        for vendor in vendors
    }


def test_a_blessed_baseline_is_found_and_its_digest_still_fits(copy: Path) -> None:
    blessed = copy / "toolcert-baselines/official.json"
    entry = json.loads(blessed.read_text(encoding="utf-8"))
    blessed.write_text(json.dumps({**entry, "path": str(copy / "verify/plain-faithful")}), encoding="utf-8")
    words = ("--baseline", "official", "--vendor", "verify/plain-faithful-again", "--json", "compare.json")
    run("compare", *words, cwd=copy)
    baseline = json.loads((copy / "compare.json").read_text(encoding="utf-8"))["comparison"]["baseline"]
    assert (baseline["blessed_as"], baseline["rows"]) == ("official", 15)


def test_results_of_the_door_of_vendor_verifier_are_read(frozen: Path, tmp_path: Path) -> None:
    for name, valid in (("official.jsonl", 13), ("results.jsonl", 3)):
        told = summary(frozen / "vendor-verifier" / name, tmp_path)
        assert (told["rows"]["lines"], told["rows"]["answered"]) == (15, 14)
        assert (share(told["called"]), share(told["valid"])) == ((13, 14), (valid, 13))
    words = ("--baseline", "vendor-verifier/official.jsonl", "--vendor", "vendor-verifier/results.jsonl")
    again = json.loads(run(*words, cwd=frozen, program="vendor_verifier.compare"))
    assert again["tool_call_schema_accuracy"].pop("count_not_validated") == 0  # came with 0.2
    assert again == json.loads((frozen / "vendor-verifier/comparison.json").read_text(encoding="utf-8"))


@pytest.mark.heavy
def test_the_door_of_vendor_verifier_goes_on_with_its_results(copy: Path, vendor: Scripted) -> None:
    """Of the model's 14 answers none is asked again; the line that is not JSON was a failure in 0.1."""
    words = ("requests.jsonl", "--model", "faithful", "--base-url", VENDOR, "--incremental")
    files = ("--output", "vendor-verifier/official.jsonl", "--summary", "vendor-verifier/official-summary.json")
    run(*words, *files, cwd=copy, proxy=vendor, program="vendor_verifier")
    assert sent(vendor) == []
    told = json.loads((copy / "vendor-verifier/official-summary.json").read_text(encoding="utf-8"))
    assert (told["success_count"], told["failure_count"], told["invalid_line_count"]) == (14, 0, 1)
    assert (told["finish_tool_calls"], told["successful_tool_call_count"]) == (13, 13)


@pytest.mark.heavy
def test_the_run_of_the_door_of_llm_tool_calling_tester_is_read(frozen: Path) -> None:
    (folder,) = (frozen / "llm-tool-calling-tester/runs").iterdir()
    outcomes = Counter(record["outcome"] for record in lines(folder / "records.jsonl"))
    assert outcomes == {"passed": 11, "failed": 4}
    shown = json.loads(run("show", folder, "api/text-caller/basic_tool_calling", "--json", cwd=frozen))
    assert (shown["model"], shown["outcome"]) == ("text-caller", "failed")
    (written,) = (frozen / "llm-tool-calling-tester").glob("*.json")
    assert len(json.loads(written.read_text(encoding="utf-8"))["results"]) == 3


@pytest.mark.heavy
def test_csv_files_of_the_door_of_watsonx_tool_tester_are_imported(frozen: Path, tmp_path: Path) -> None:
    run("history", "import", frozen / "watsonx-tool-tester/history", "--history", "h.sqlite", cwd=tmp_path)
    run("history", "export", "again", "--history", "h.sqlite", cwd=tmp_path)
    called = {
        row["model_id"]: (row["tool_call_support"], row["handles_response"])
        for row in rows(tmp_path / "again/test_results.csv")
    }
    before = rows(frozen / "watsonx-tool-tester/history/test_results.csv")
    assert called == {row["model_id"]: (row["tool_call_support"], row["handles_response"]) for row in before}
    assert Counter(support for support, _ in called.values()) == {"True": 5, "False": 3}


@pytest.mark.heavy
def test_a_history_keeps_every_observation(copy: Path) -> None:
    """Five days, two runs a day with three models and six probes between them."""
    run("history", "export", "again.jsonl", "--history", "history/history.sqlite", "--export-format", "jsonl", cwd=copy)
    again, before = lines(copy / "again.jsonl"), lines(copy / "history/history.jsonl")
    assert len(again) == len(before) == 90
    stored = [name for name in before[0] if name not in ("low", "high", "reason")]
    assert [[row[name] for name in stored] for row in again] == [[row[name] for name in stored] for row in before]
    cut = [row for row in again if (row["model"], row["probe"]) == ("stream-cutter", "streaming")]
    assert [(row["day"][-2:], row["passed"], row["failed"]) for row in cut] == [
        (f"0{day}", 0, 3) for day in range(1, 6)
    ]
    assert {finding["code"] for row in cut for finding in row["findings"]} == {"stream.cut"}
    run("history", "export", "csv", "--history", "history/history.sqlite", cwd=copy)
    counts = ("date", "model_id", "tool_call_support", "handles_response", "iterations", "tool_success_rate")
    table, old = rows(copy / "csv/test_results.csv"), rows(copy / "history/csv/test_results.csv")
    assert _columns(table, counts) == _columns(old, counts)
    assert len(table) == 15


@pytest.mark.heavy
def test_a_history_tells_each_day(copy: Path) -> None:
    run("history", "show", "--history", "history/history.sqlite", "--json", "again.json", cwd=copy)
    assert _days(copy / "again.json") == _days(copy / "history/show.json")
    assert {model: len(days) for model, days in _days(copy / "again.json").items()} == {
        "faithful": 5,
        "stream-cutter": 5,
        "flaky:1/2:text-caller": 3,
        "never-reads-results": 2,
    }
    run("history", "show", "--history", "history/imported.sqlite", "--json", "imported.json", cwd=copy)
    assert len(_days(copy / "imported.json")) == 8


def _days(path: Path) -> dict[str, dict[str, tuple[tuple[int, int], tuple[int, int]]]]:
    """Of each model's days on which it was asked: calls, and results used."""
    models = json.loads(path.read_text(encoding="utf-8"))["history"]["models"]
    return {
        model["model"]: {
            day["day"]: (share(day["calling"]), share(day["handling"])) for day in model["days"] if day["calling"]["n"]
        }
        for model in models
    }


@pytest.mark.heavy
def test_a_run_is_added_to_a_history_of_before(copy: Path) -> None:
    run("history", "add", "probe/agent", "--date", "2026-06-06", "--history", "history/history.sqlite", cwd=copy)
    run("history", "export", "again.jsonl", "--history", "history/history.sqlite", "--export-format", "jsonl", cwd=copy)
    days = Counter(row["day"] for row in lines(copy / "again.jsonl"))
    assert (days["2026-06-05"], days["2026-06-06"]) == (18, 40)


@pytest.mark.heavy
@pytest.mark.parametrize(("job", "name"), [("probe", "probe/agent"), ("verify", "verify/plain-args.schema.required")])
def test_reports_say_what_those_of_before_said(job: str, name: str, frozen: Path, tmp_path: Path) -> None:
    """The columns of before are in the CSV with the same counts, the same cases in JUnit, the same fields in JSON."""
    files = {"json": "json", "junit": "xml", "csv": "csv", "markdown": "md", "html": "html", "badge": "badge"}
    report(frozen / name, **{kind: str(tmp_path / f"{job}.{ending}") for kind, ending in files.items()})
    assert all((tmp_path / f"{job}.{ending}").stat().st_size for ending in files.values())
    counts = {
        "probe": ("model", "probe", "passed", "measured", "findings"),
        "verify": ("row", "called", "valid", "findings"),
    }
    before, now = rows(frozen / f"reports/{job}.csv"), rows(tmp_path / f"{job}.csv")
    assert set(before[0]) <= set(now[0])
    assert _columns(now, counts[job]) == _columns(before, counts[job])
    assert _cases(tmp_path / f"{job}.xml") == _cases(frozen / f"reports/{job}.xml")
    old, new = (
        json.loads(path.read_text(encoding="utf-8"))
        for path in (frozen / f"reports/{job}.json", tmp_path / f"{job}.json")
    )
    assert set(old["summary"]) <= set(new["summary"])


def _columns(table: list[dict[str, str]], names: tuple[str, ...]) -> list[tuple[str, ...]]:
    return sorted(tuple(row[name] for name in names) for row in table)


def _cases(path: Path) -> list[str]:
    """The names of all test cases but those of verdicts, which reports of 0.1 did not have."""
    names = (str(case.get("name")) for case in ElementTree.parse(path).iter("testcase"))
    return sorted(name for name in names if name != "verdict")
