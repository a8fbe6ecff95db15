"""Traces of the serving stack: what is the same, what is not, and who is told about it."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest

from support.comparison_runs import Row, same_rows, write_results, write_run
from toolcert.comparison.pipeline import compare
from toolcert.comparison.result import Sign, VendorComparison

ROWS = same_rows(100)


def against(baseline: Path, vendor: Path, *further: Path) -> VendorComparison:
    return compare([str(baseline), *map(str, further)], [str(vendor)]).vendors[0]


def sign(vendor: VendorComparison, name: str) -> Sign:
    return next(found for found in vendor.signs if found.name.startswith(name))


def with_answers(path: Path, *edits: tuple[int, dict]) -> Path:
    """A results file with fields of some responses replaced, by line."""
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    for place, fields in edits:
        lines[place]["response"].update(fields)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


@pytest.fixture
def named(tmp_path):
    """Results whose answers name the model asked for, and results whose answers name another."""
    own = write_results(tmp_path / "own.jsonl", ROWS)
    other = write_results(tmp_path / "other.jsonl", ROWS, answers_as="another")
    again = write_results(tmp_path / "again.jsonl", ROWS, answers_as="another")
    return own, other, again


def test_all_under_their_name_against_none_is_no_sameness(named):
    own, other, _ = named
    for first, second in ((own, other), (other, own)):
        found = sign(against(first, second), "Answered by the model")
        assert found.same is False
        assert {found.vendor, found.baseline} == {"100 of 100", "0 of 100"}


def test_both_under_another_name_is_sameness(named):
    _, other, again = named
    assert sign(against(other, again), "Answered by the model").same is True


def test_one_answer_by_a_fallback_is_not_the_same(tmp_path, named):
    own, _, _ = named
    fallback = with_answers(write_results(tmp_path / "fallback.jsonl", ROWS), (7, {"model": "cheap"}))
    vendor = against(own, fallback)
    assert sign(vendor, "Answered by the model").same is False
    [finding] = [one for one in vendor.findings if one.code == "identity.model_differs"]
    assert finding.rows == 1
    assert finding.evidence == "fallback was asked as m and answered as cheap"


def test_what_only_the_baseline_shows_is_marked_as_its_own(named):
    own, other, _ = named
    [finding] = [one for one in against(other, own).findings if one.code == "identity.model_differs"]
    assert finding.of_baseline
    [finding] = [one for one in against(own, other).findings if one.code == "identity.model_differs"]
    assert not finding.of_baseline


def test_a_build_that_no_run_of_the_baseline_shows_is_another(tmp_path):
    files = {name: write_results(tmp_path / f"{name}.jsonl", ROWS) for name in ("one", "two", "vendor")}
    for name, prints in (("one", "a"), ("two", "b"), ("vendor", "ab")):
        edits = [(place, {"system_fingerprint": prints[place % len(prints)]}) for place in range(100)]
        with_answers(files[name], *edits)
    assert sign(against(files["one"], files["vendor"]), "Fingerprint").same is False
    assert sign(against(files["one"], files["vendor"], files["two"]), "Fingerprint").same is True


def test_three_runs_of_the_baseline_count_rows_on_which_all_of_them_agree(tmp_path):
    """The counts beside the p-value are of the vendor against all further runs, not against the first of them."""
    rows = [Row(index=index) for index in range(1, 61)]

    def silent(*indices: int) -> list[Row]:
        return [msgspec.structs.replace(row, called=row.index not in indices) for row in rows]

    runs = [silent(), silent(1), silent(2, 3), silent(2, *range(10, 30))]
    folders = [str(write_run(tmp_path / str(number), run)) for number, run in enumerate(runs)]
    vendor = compare(folders[:3], folders[3:]).vendors[0]
    decision = next(test for test in vendor.tests if test.name == "decision")
    assert (decision.more, decision.less) == (20, 2), "row 2 is noise, rows 1 and 3 speak against a difference"
    margin = next(test for test in vendor.margins if test.name == "agreement")
    assert (margin.rows.lost, margin.rows.gained) == (21, 1), "against the first further run alone"
