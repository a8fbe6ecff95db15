"""Judging finished runs again, offline."""

from __future__ import annotations

import itertools
import json
import shutil
from pathlib import Path

import pytest

from support.recorded import RUNS
from support.rows import row, write_rows
from support.verifying import run, timeless
from toolcert.comparison.read.older_file import Reading, read_results
from toolcert.comparison.read.packed_run import read_answer
from toolcert.core.errors import InputError
from toolcert.runs.encoding import Keep
from toolcert.simulate import Vendor
from toolcert.verification.rejudgement import Difference, Rejudgement, Rules, rejudge


def changes(found: Rejudgement) -> list[tuple[int, bool | None, bool | None]]:
    return [(change.row, change.before, change.after) for change in found.differences]


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("name", "older", "ours"),
    [("official-run1", (449, 4), (452, 1)), ("official-run2", (447, 4), (450, 1)), ("vendor-a", (434, 1), (434, 0))],
)
def test_published_figures(recorded: Path, name: str, older: tuple[int, int], ours: tuple[int, int]) -> None:
    """By the older rules as published, by ours without what is not the vendor's fault."""
    path = recorded / f"vendor-results/{name}.jsonl"
    by_older, by_ours = rejudge(path, Rules.OLDER), rejudge(path)
    assert (by_older.summary.rows.valid, by_older.summary.rows.invalid) == older
    assert (by_ours.summary.rows.valid, by_ours.summary.rows.invalid) == ours
    assert by_older.differences == ()


@pytest.mark.needs("material")
@pytest.mark.heavy
def test_the_texts_are_judged_as_their_facts(material: Path, recorded: Path) -> None:
    for name, rules in itertools.product(RUNS, Rules):
        texts = rejudge(material / f"data/vendor-results/{name}.jsonl", rules)
        facts = rejudge(recorded / f"vendor-results/{name}.jsonl", rules)
        assert texts.summary.rows == facts.summary.rows
        assert changes(texts) == changes(facts)


def test_the_difference_is_listed_row_by_row(recorded: Path) -> None:
    official = rejudge(recorded / "vendor-results/official-run1.jsonl")
    assert changes(official) == [(13, False, True), (44, False, True), (365, False, True)]
    assert all(change.reason.startswith("args.empty") for change in official.differences)
    assert official.summary.rows.not_measured == 1
    assert official.summary.vendor[0].code == "args.schema.required"
    assert [example.row for example in official.summary.vendor[0].examples] == [176]
    (change,) = rejudge(recorded / "vendor-results/vendor-a.jsonl").differences
    assert (change.row, change.before, change.after) == (344, False, None)
    assert change.reason.startswith("dataset.bad_schema")


def test_the_second_official_run_answered_as_another_model(recorded: Path) -> None:
    summary = rejudge(recorded / "vendor-results/official-run2.jsonl").summary
    found = {line.code: line.rows for line in summary.vendor}
    assert found["identity.model_differs"] == 511


@pytest.mark.heavy
def test_the_512_public_rows_pass_through_verify_and_judging_again(recorded: Path, tmp_path: Path) -> None:
    with Vendor(models=["faithful"]) as vendor:
        dataset = str(recorded / "vendor-results/requests.jsonl")
        first = run(dataset, vendor.url, tmp_path / "run", endpoint={"concurrency": 32}).summary
    assert first.rows.lines == first.rows.sent == 512
    assert first.rows.answered == 512
    assert {line.code: line.rows for line in first.of_dataset}["dataset.duplicate_tool"] == 4
    again = rejudge(tmp_path / "run")
    assert again.differences == ()
    assert timeless(again.summary) == timeless(first)


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("finished")
    rows = [row(n, stream=n % 2 == 0, toolcert={"tags": ["a"], "expected": {"call": True}}) for n in range(6)]
    dataset = write_rows(folder / "d.jsonl", [*rows, "{", row(0)])
    with Vendor(models=["fault:args.schema.required"]) as vendor:
        run(dataset, vendor.url, folder / "run", model="fault:args.schema.required")
        run(dataset, vendor.url, folder / "small", model="fault:args.schema.required", keep=Keep.ASSEMBLED)
    return folder


def test_judging_again_by_unchanged_rules_changes_nothing(finished: Path) -> None:
    """Findings, expectations, tags and the dataset's own faults come out as they were."""
    from toolcert.verification.summary.tally import summarise

    again = rejudge(finished / "run")
    assert again.differences == ()
    assert timeless(again.summary) == timeless(summarise(finished / "run"))


def test_a_run_without_raw_answers_cannot_be_judged_again(finished: Path) -> None:
    with pytest.raises(InputError, match="assembled"):
        rejudge(finished / "small")


def test_rows_taken_over_without_their_raw_answers_cannot_be_judged_again(tmp_path: Path) -> None:
    """What was kept is a fact of each row, not of the run: a run may be taken up with another --keep."""
    dataset = write_rows(tmp_path / "d.jsonl", [row(1), row(2)])
    with Vendor(models=["faithful"]) as vendor:
        for keep in (Keep.ASSEMBLED, Keep.VERDICTS):
            run(dataset, vendor.url, tmp_path / keep, keep=keep, limit=1)
            run(dataset, vendor.url, tmp_path / keep)
            with pytest.raises(InputError, match=f"row 1 was kept as {keep}"):
                rejudge(tmp_path / keep)
        run(dataset, vendor.url, tmp_path / "raw")
        run(dataset, vendor.url, tmp_path / "raw", keep=Keep.VERDICTS)
    assert rejudge(tmp_path / "raw").summary.rows.passed == 2


def test_a_probe_run_is_not_judged_again(finished: Path, tmp_path: Path) -> None:
    shutil.copytree(finished / "run", tmp_path / "run")
    manifest = tmp_path / "run/manifest.json"
    manifest.write_text(manifest.read_text().replace('"verify"', '"probe"', 1))
    with pytest.raises(InputError, match="holds a probe run"):
        rejudge(tmp_path / "run")


def test_a_changed_rule_shows_as_a_difference(finished: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Here the rule that a schema's `required` counts is taken away."""
    from toolcert.core.schema.judge import Judgement, Validator

    monkeypatch.setattr(Validator, "judge", lambda *_: Judgement(ok=True, arguments={}))
    changed = rejudge(finished / "run")
    assert [change.row for change in changed.differences] == [1, 2, 3, 4, 5, 6, 8]
    assert changed.differences[0] == Difference(row=1, before=False, after=True, reason="no fault by these rules")


def test_what_is_no_results_file_is_said_to_be_none(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    path.write_text('{"data_index": 1, "request": {}}\n{"rows": 3}\n')
    with pytest.raises(InputError, match="line 2"):
        rejudge(path)
    with pytest.raises(InputError, match="not a run"):
        rejudge(tmp_path)


def test_both_readers_of_older_results_take_a_line_for_the_same(tmp_path: Path) -> None:
    """A row without status was answered, NaN is read as Python's writer wrote it, a cut-off last line holds no row."""
    answer = {"choices": [{"message": {"content": "Hello."}, "finish_reason": "stop"}]}
    rows = [
        {"data_index": 1, "request": {"messages": [], "top_p": float("nan")}, "response": answer},
        {"data_index": 2, "request": {"messages": []}, "response": answer, "status": "success"},
        {"data_index": 3, "request": {"messages": []}, "response": {"error_message": "gone"}, "status": "failed"},
    ]
    path = tmp_path / "results.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows) + '{"data_index": 4, "requ')
    judged = rejudge(path).summary.rows
    read = read_results(path, "older", Reading(requests=True))
    assert (judged.answered, judged.not_measured) == (2, 1)
    assert (read.measured, len(read.columns), read.torn) == (2, 3, True)
    assert read_answer(read, 2).error == "gone"
