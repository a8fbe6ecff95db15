"""`python -m vendor_verifier.compare`: the text's metrics over results of the older tools and of ours."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from click.testing import CliRunner

from support.rows import row, write_rows
from toolcert import CompareOptions, compare
from toolcert.api.verify import judge_again
from toolcert.diagnose.judgement import Rules
from toolcert.simulate import Vendor
from vendor_verifier import compare_results
from vendor_verifier.cli import cli

COUNT = {"type": "integer", "minimum": 0}
RATE = {"type": "number", "minimum": 0, "maximum": 1}
COUNTS = ("total_baseline", "total_vendor", "common_indices", "matched_success", "skipped_failures")
SCHEMA = {
    "type": "object",
    "required": [*COUNTS, "tool_call_trigger_similarity", "tool_call_schema_accuracy"],
    "properties": {
        **dict.fromkeys(COUNTS, COUNT),
        "tool_call_trigger_similarity": {
            "type": "object",
            "required": ["TP", "FP", "FN", "TN", "precision", "recall", "f1"],
            "properties": {**dict.fromkeys(("TP", "FP", "FN", "TN"), COUNT), "f1": RATE},
        },
        "tool_call_schema_accuracy": {
            "type": "object",
            "required": ["count_finish_reason_tool_calls", "count_successful_tool_call", "schema_accuracy"],
            "properties": {"schema_accuracy": {"type": "string", "pattern": r"^\d{1,3}\.\d\d%$"}},
        },
    },
}


def by_hand(baseline: Path, vendor: Path) -> dict[str, int]:
    """The text's definition, written down naively."""
    ours, theirs = ({one["data_index"]: one for one in map(json.loads, path.open("rb"))} for path in (baseline, vendor))
    counts = dict.fromkeys(("TP", "FP", "FN", "TN", "matched", "called", "valid"), 0)
    for index in ours.keys() & theirs.keys():
        left, right = ours[index], theirs[index]
        if left["status"] == right["status"] == "success":
            first, second = (one["finish_reason"] == "tool_calls" for one in (left, right))
            counts["TP" if first and second else "FP" if second else "FN" if first else "TN"] += 1
            counts["matched"] += 1
            counts["called"] += second
            counts["valid"] += second and right["tool_calls_valid"] is True
    return counts


@pytest.mark.parametrize(("vendor", "cells"), [("official-run2", (440, 11, 13, 47)), ("vendor-a", (416, 18, 37, 40))])
def test_results_of_the_older_tool_give_the_texts_figures(recorded: Path, vendor: str, cells: tuple[int, ...]) -> None:
    folder = recorded / "vendor-results"
    found = compare_results(str(folder / "official-run1.jsonl"), str(folder / f"{vendor}.jsonl"))
    jsonschema.validate(found, SCHEMA)
    wanted = by_hand(folder / "official-run1.jsonl", folder / f"{vendor}.jsonl")
    similarity, accuracy = found["tool_call_trigger_similarity"], found["tool_call_schema_accuracy"]
    assert {name: similarity[name] for name in ("TP", "FP", "FN", "TN")} == {
        name: wanted[name] for name in ("TP", "FP", "FN", "TN")
    }
    assert tuple(similarity[name] for name in ("TP", "FP", "FN", "TN")) == cells
    assert similarity["precision"] == round(wanted["TP"] / (wanted["TP"] + wanted["FP"]), 4)
    assert similarity["recall"] == round(wanted["TP"] / (wanted["TP"] + wanted["FN"]), 4)
    assert similarity["f1"] == round(2 * wanted["TP"] / (2 * wanted["TP"] + wanted["FP"] + wanted["FN"]), 4)
    assert found["matched_success"] == wanted["matched"]
    assert found["skipped_failures"] == found["common_indices"] - wanted["matched"]
    assert accuracy["count_finish_reason_tool_calls"] == wanted["called"]
    assert accuracy["count_successful_tool_call"] == wanted["valid"]


def result(
    index: int, finish: str = "tool_calls", status: str = "success", valid: bool | None = True
) -> dict[str, Any]:
    calls = [{"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}]
    message = {"role": "assistant", "content": None, "tool_calls": calls if finish == "tool_calls" else None}
    tools = [{"type": "function", "function": {"name": "f", "parameters": {"type": "object", "required": ["x"]}}}]
    return {
        "data_index": index,
        "request": {"model": "m", "messages": [{"role": "user", "content": str(index)}], "tools": tools},
        "response": {"choices": [{"index": 0, "message": message, "finish_reason": finish}]},
        "status": status,
        "finish_reason": finish,
        "tool_calls_valid": valid,
        "duration_ms": 1,
        "hash": f"hash-{index}",
    }


def write(path: Path, *found: dict[str, Any]) -> str:
    path.write_text("".join(json.dumps(one) + "\n" for one in found))
    return str(path)


def test_only_common_indices_and_pairs_of_successes_count(folder: Path) -> None:
    baseline = write(folder / "a", result(1), result(2), result(3, "stop"), result(4), result(9))
    vendor = write(folder / "b", result(4, status="failed"), result(3), result(2, "stop"), result(1), result(7))
    found = compare_results(baseline, vendor)
    assert (found["total_baseline"], found["total_vendor"], found["common_indices"]) == (5, 5, 4)
    assert (found["matched_success"], found["skipped_failures"]) == (3, 1)
    assert found["tool_call_trigger_similarity"] == {
        "TP": 1,
        "FP": 1,
        "FN": 1,
        "TN": 0,
        "precision": 0.5,
        "recall": 0.5,
        "f1": 0.5,
    }


def test_zero_denominators_are_zero(folder: Path) -> None:
    baseline = write(folder / "a", result(1, "stop", valid=None))
    found = compare_results(baseline, write(folder / "b", result(1, "stop", valid=None)))
    similarity = found["tool_call_trigger_similarity"]
    assert [similarity[name] for name in ("precision", "recall", "f1")] == [0.0, 0.0, 0.0]
    assert found["tool_call_schema_accuracy"]["schema_accuracy"] == "0.00%"


def test_the_schema_accuracy_is_a_percentage_of_two_decimals(folder: Path) -> None:
    baseline = write(folder / "a", *(result(index) for index in (1, 2, 3)))
    vendor = write(folder / "b", result(1), result(2), result(3, valid=False))
    accuracy = compare_results(baseline, vendor)["tool_call_schema_accuracy"]
    assert accuracy == {
        "count_finish_reason_tool_calls": 3,
        "count_successful_tool_call": 2,
        "count_not_validated": 0,
        "schema_accuracy": "66.67%",
    }


def test_calls_that_were_not_validated_are_outside_the_schema_accuracy(folder: Path) -> None:
    """They still count as calls, and how many they are stands beside."""
    baseline = write(folder / "a", *(result(index) for index in (1, 2, 3, 4)))
    vendor = write(folder / "b", result(1), result(2, valid=False), result(3, valid=None), result(4, valid=None))
    accuracy = compare_results(baseline, vendor)["tool_call_schema_accuracy"]
    assert accuracy == {
        "count_finish_reason_tool_calls": 4,
        "count_successful_tool_call": 1,
        "count_not_validated": 2,
        "schema_accuracy": "50.00%",
    }


def test_files_without_common_rows_are_refused_with_a_sentence(folder: Path) -> None:
    files = ["--baseline", write(folder / "a", result(1)), "--vendor", write(folder / "b", result(2), result(3))]
    program = [sys.executable, "-m", "vendor_verifier.compare", *files]
    done = subprocess.run(program, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert "(1 row) and" in done.stderr
    assert "(2 rows) have no row in common.\nRemedy: Give two results of the same dataset." in done.stderr


def test_of_a_row_that_was_asked_again_the_last_line_counts(folder: Path) -> None:
    """As a killed run leaves those that it asked again, for both comparisons and for the judgement of a file."""
    baseline = write(folder / "a.jsonl", result(1), result(2), result(3))
    lines = [result(1, status="failed"), result(2), result(3, status="failed"), result(1), result(3)]
    vendor = write(folder / "b.jsonl", *lines)
    found = compare_results(baseline, vendor)
    assert (found["total_vendor"], found["matched_success"]) == (3, 3)
    assert found["tool_call_trigger_similarity"]["TP"] == 3
    compared = compare(baseline, [vendor], CompareOptions(trigger="finish-reason", match="index"))
    (one,) = compared.vendors
    assert (one.cells.tp, one.cells.fn) == (3, 0)
    assert judge_again(vendor, Rules.OLDER).summary.rows.lines == 3


def test_our_own_results_are_compared(folder: Path) -> None:
    write_rows(folder / "rows.jsonl", [row(number) for number in range(6)])
    models = {"faithful": "a.jsonl", "text-caller": "b.jsonl"}
    with Vendor(models=list(models)) as vendor:
        for model, output in models.items():
            words = ["rows.jsonl", "--model", model, "--base-url", vendor.url, "--output", output]
            assert CliRunner().invoke(cli, words, catch_exceptions=False).exit_code == 0
    found = compare_results("a.jsonl", "b.jsonl")
    assert found["tool_call_trigger_similarity"]["FN"] == 6
    assert compare_results("a.jsonl", "a.jsonl")["tool_call_trigger_similarity"]["f1"] == 1.0


@pytest.mark.heavy
def test_the_program_prints_or_writes_the_comparison(folder: Path) -> None:
    files = ["--baseline", write(folder / "a", result(1)), "--vendor", write(folder / "b", result(1))]
    program = [sys.executable, "-W", "error", "-m", "vendor_verifier.compare"]
    printed = subprocess.run([*program, *files], capture_output=True, text=True, check=True).stdout
    jsonschema.validate(json.loads(printed), SCHEMA)
    written = subprocess.run([*program, *files, "--output", "c.json"], capture_output=True, text=True, check=True)
    assert written.stdout == ""
    assert json.loads((folder / "c.json").read_text()) == json.loads(printed)
    wrong = subprocess.run([*program, "--baseline", "nowhere", "--vendor", "b"], capture_output=True, check=False)
    assert wrong.returncode == 2
