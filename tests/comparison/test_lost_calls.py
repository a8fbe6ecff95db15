"""A vendor whose server loses calls is not said to call less: the cause comes first, with what to do about it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from support.rows import row, write_rows
from support.verifying import run
from toolcert.cli.main import cli
from toolcert.comparison.pipeline import compare
from toolcert.comparison.result import CompareVerdict, Comparison
from toolcert.reports.formats import render
from toolcert.simulate import Vendor

ROWS = 120
SENTENCE = (
    f"The model makes the calls, and the server leaves them in the text (call.in_text in {ROWS} rows), where no agent "
    "sees them. Switch on or update the server's tool parser for this model, or use another vendor."
)


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs")
    dataset = write_rows(folder / "d.jsonl", [row(number) for number in range(ROWS)])
    with Vendor(models={"m": "faithful"}) as good, Vendor(models={"m": "text-caller"}) as bad:
        for name, vendor in (("one", good), ("two", good), ("lossy", bad)):
            run(dataset, vendor.url, folder / name, model="m")
    return folder


@pytest.fixture(scope="module")
def found(runs: Path) -> Comparison:
    return compare([str(runs / "one"), str(runs / "two")], [str(runs / "lossy")])


def test_the_cause_of_missed_calls_is_named(found: Comparison) -> None:
    vendor = found.vendors[0]
    assert vendor.verdict is CompareVerdict.DEGRADED
    assert (vendor.missed.rows, vendor.missed.causes) == (ROWS, {"call.in_text": ROWS})
    assert f"call.in_text in {ROWS} rows" in vendor.headline
    assert vendor.meaning == SENTENCE
    codes = [finding.code for finding in vendor.findings]
    assert "call.in_text" in codes
    assert "trigger.under" not in codes
    assert not any("Calls less often" in reason for reason in vendor.reasons)


def test_plain_words_come_before_tests(runs: Path, found: Comparison) -> None:
    words = ["compare", "--baseline", str(runs / "one"), str(runs / "two"), "--vendor", str(runs / "lossy")]
    shown = " ".join(CliRunner().invoke(cli, words).stdout.split())
    for text in (shown, str(render("compare", "markdown", found)), str(render("compare", "html", found))):
        assert text.index("Switch on or update the server") < text.index("after Holm")


def test_results_files_without_findings_are_read_for_the_cause(tmp_path: Path, runs: Path) -> None:
    """The older verifiers noted no findings; their answers still show the call in the text."""
    call = {"id": "call_1", "type": "function", "function": {"name": "get_weather", "arguments": '{"city": "Paris"}'}}
    text = '<tool_call>{"name": "get_weather", "arguments": {"city": "Paris"}}</tool_call>'
    messages = {
        "good": {"role": "assistant", "content": None, "tool_calls": [call]},
        "lossy": {"role": "assistant", "content": text},
    }
    for name, message in messages.items():
        reason = "tool_calls" if message.get("tool_calls") else "stop"
        choice = {"index": 0, "message": message, "finish_reason": reason}
        answer = {"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}
        lines = [
            {"data_index": n, "request": row(n, model="m"), "response": answer, "status": "success"}
            for n in range(1, ROWS + 1)
        ]
        for line in lines:
            line["finish_reason"] = reason
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    vendor = compare([str(tmp_path / "good.jsonl")], [str(tmp_path / "lossy.jsonl")]).vendors[0]
    assert vendor.missed.causes == {"call.in_text": ROWS}
    assert vendor.meaning == SENTENCE


def test_a_model_that_answers_in_words_is_said_to_call_less(tmp_path: Path, runs: Path) -> None:
    """Nothing in its answers explains it: then it is the model, or what reaches it."""
    dataset = str(runs / "d.jsonl")
    with Vendor(models={"m": "fault:trigger.under"}) as vendor:
        run(dataset, vendor.url, tmp_path / "lazy", model="m")
    compared = compare([str(runs / "one"), str(runs / "two")], [str(tmp_path / "lazy")]).vendors[0]
    assert compared.missed.causes == {}
    assert compared.meaning.startswith("It calls tools less often, so agents answer where they should act.")
    assert "trigger.under" in [finding.code for finding in compared.findings]
