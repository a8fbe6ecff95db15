"""What the server lost is told as the server's: not as the dataset's, and not as words of the model."""

from __future__ import annotations

import json
import time
from pathlib import Path

from click.testing import CliRunner

from support.rows import TIME, WEATHER, row, write_rows
from support.verifying import run
from toolcert.cli.main import cli
from toolcert.core.cases import Outcome
from toolcert.reports.formats import render
from toolcert.runs.reader import RunReader
from toolcert.simulate import Vendor
from toolcert.verification.rejudgement import rejudge

OPTIONAL = {
    "type": "function",
    "function": {**WEATHER["function"], "parameters": {**WEATHER["function"]["parameters"], "required": []}},  # type: ignore[dict-item]
}


def test_arguments_that_a_stream_lost_are_no_fault_of_the_dataset(tmp_path: Path) -> None:
    """Of a tool that requires nothing one answer cannot prove the loss: the vendor is warned, the dataset is not."""
    dataset = write_rows(tmp_path / "d.jsonl", [row(n, tools=[OPTIONAL], stream=True) for n in range(6)])
    with Vendor(models=["fault:args.lost"]) as vendor:
        summary = run(dataset, vendor.url, tmp_path / "run", model="fault:args.lost").summary
    assert summary.of_dataset == ()
    (line,) = [line for line in summary.vendor if line.code == "args.empty"]
    assert (line.severity, line.rows, summary.rows.passed) == ("warning", 6, 6)


def test_lost_calls_are_counted_shown_in_red_and_stand_in_the_slice_of_their_tool(tmp_path: Path) -> None:
    dataset = write_rows(tmp_path / "d.jsonl", [row(n, tools=[WEATHER, TIME]) for n in range(8)])
    with Vendor(models=["text-caller"]) as vendor:
        done = run(dataset, vendor.url, tmp_path / "run", model="text-caller")
    rows = done.summary.rows
    assert (rows.answered, rows.called, rows.in_text, rows.lost) == (8, 0, 8, 8)
    tools = {line.value: line for line in done.summary.slices if line.slice == "tool"}
    assert tools.keys() == {"get_weather", "get_time"}
    assert (tools["get_weather"].answered, tools["get_weather"].passed.k) == (8, 0)
    page = render("verify", "html", done.summary)
    assert '<b class="t-bad">8 calls lost in text</b>' in page
    assert '"lost bad"' in page
    assert "8 calls left in the text" in str(render("verify", "markdown", done.summary))


def test_a_results_file_says_nothing_about_the_framing_of_streams(tmp_path: Path) -> None:
    """The program that wrote it put the stream together: no plain body came instead of a stream."""
    message = {"role": "assistant", "content": "Sunny."}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    answer = {"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}
    asked = row(1, stream=True, model="m")
    path = tmp_path / "results.jsonl"
    path.write_text(json.dumps({"data_index": 1, "request": asked, "response": answer}) + "\n")
    summary = rejudge(path).summary
    assert [line.code for line in summary.vendor] == []
    assert [line.value for line in summary.slices if line.slice == "stream"] == ["streamed"]


def test_a_server_that_asks_for_an_hour_is_believed_at_once(tmp_path: Path) -> None:
    dataset = write_rows(tmp_path / "d.jsonl", [row(n) for n in range(40)])
    with Vendor(models=["faithful"]) as vendor:
        vendor.outage("429", after=10, retry_after=3600)
        began = time.monotonic()
        arguments = ["--base-url", vendor.url, "-m", "faithful", "-o", str(tmp_path / "run"), "--concurrency", "2"]
        said = CliRunner().invoke(cli, ["verify", dataset, *arguments])
        assert time.monotonic() - began < 20
        assert len(list(vendor.requests)) <= 10 + 3
    assert "is not to be asked now" in said.stderr
    assert "the server asks for a wait of 3\u202f600 s" in said.stderr
    outcomes = [record.outcome for record in RunReader(tmp_path / "run").heads()]
    assert outcomes.count(Outcome.PASSED) == 10
    assert outcomes.count(Outcome.SKIPPED) >= 27
