"""Named baselines: kept with their digest, refused when they are no longer what was blessed."""

from __future__ import annotations

import pytest

from support.comparison_runs import same_rows, write_results, write_run
from toolcert.comparison.baseline import bless, find_blessing
from toolcert.comparison.compare_options import CompareOptions
from toolcert.comparison.pipeline import compare
from toolcert.core.errors import InputError, UsageError

ROWS = same_rows(30)


@pytest.fixture
def shelf(tmp_path):
    return tmp_path / "baselines"


def options(shelf, **extra) -> CompareOptions:
    return CompareOptions(baselines=str(shelf), **extra)


def test_a_blessed_run_is_found_by_its_name(tmp_path, shelf):
    run = write_run(tmp_path / "run", ROWS, parameters={"temperature": 0.6, "model": "m"})
    blessing = bless(run, "official", shelf)
    assert find_blessing(shelf, "official") == blessing
    assert len(blessing.digest) == 64
    other = write_run(tmp_path / "vendor", ROWS, parameters={"temperature": 0.6, "model": "other"})
    comparison = compare(["official"], [str(other)], options(shelf))
    assert comparison.baseline.blessed_as == "official"
    assert comparison.baseline.path == str(run)


def test_a_results_file_can_be_blessed(tmp_path, shelf):
    bless(write_results(tmp_path / "base.jsonl", ROWS), "older", shelf)
    other = write_results(tmp_path / "vendor.jsonl", ROWS)
    assert compare(["older"], [str(other)], options(shelf)).vendors[0].matching.matched == 30


def test_a_changed_baseline_is_stale(tmp_path, shelf):
    run = write_run(tmp_path / "run", ROWS)
    bless(run, "official", shelf)
    write_run(tmp_path / "run", ROWS[:20])
    other = str(write_run(tmp_path / "vendor", ROWS))
    with pytest.raises(InputError, match="stale") as refused:
        compare(["official"], [other], options(shelf))
    assert "--force" in refused.value.remedy
    forced = compare(["official"], [other], options(shelf, force=True))
    assert forced.baseline.rows == 20
    assert "stale" in forced.warnings[0], "who insists is told all the same"


def test_a_baseline_that_is_gone_cannot_be_forced(tmp_path, shelf):
    path = write_results(tmp_path / "base.jsonl", ROWS)
    bless(path, "official", shelf)
    path.unlink()
    other = str(write_results(tmp_path / "vendor.jsonl", ROWS))
    with pytest.raises(InputError, match="no longer exists"):
        compare(["official"], [other], options(shelf, force=True))


def test_a_baseline_of_another_version_of_the_dataset_is_stale(tmp_path, shelf):
    bless(write_run(tmp_path / "run", ROWS, dataset="d1"), "official", shelf)
    other = str(write_run(tmp_path / "vendor", ROWS, dataset="d2"))
    with pytest.raises(InputError, match="another version of the dataset"):
        compare(["official"], [other], options(shelf))
    assert compare(["official"], [other], options(shelf, force=True)).vendors[0].matching.matched == 30


def test_a_baseline_asked_with_other_parameters_is_refused(tmp_path, shelf):
    bless(write_run(tmp_path / "run", ROWS, parameters={"temperature": 0.6, "max_tokens": 100}), "official", shelf)
    other = str(write_run(tmp_path / "vendor", ROWS, parameters={"temperature": 0.6, "max_tokens": 200}))
    with pytest.raises(InputError, match="max_tokens"):
        compare(["official"], [other], options(shelf))


def test_a_further_baseline_is_held_to_the_same(tmp_path, shelf):
    plain = str(write_run(tmp_path / "plain", ROWS, dataset="d2"))
    bless(write_run(tmp_path / "run", ROWS, dataset="d1"), "official", shelf)
    other = str(write_run(tmp_path / "vendor", ROWS, dataset="d2"))
    with pytest.raises(InputError, match="another version of the dataset"):
        compare([plain, "official"], [other], options(shelf))


def test_files_without_manifest_are_not_refused_for_it(tmp_path, shelf):
    bless(write_run(tmp_path / "run", ROWS), "official", shelf)
    other = str(write_results(tmp_path / "vendor.jsonl", ROWS))
    comparison = compare(["official"], [other], options(shelf))
    assert any("no manifest" in note for note in comparison.vendors[0].notes)


@pytest.mark.parametrize("name", ["", "a/b", "../up", ".hidden", "with space", "x" * 101])
def test_a_name_must_be_one_that_a_file_can_have(tmp_path, shelf, name):
    with pytest.raises(UsageError):
        bless(write_results(tmp_path / "base.jsonl", ROWS), name, shelf)


def test_a_name_that_is_also_a_folder_is_not_guessed(tmp_path, shelf, monkeypatch):
    """Whoever blessed `official` and has a folder `official` is told, instead of compared with the one or the other."""
    monkeypatch.chdir(tmp_path)
    bless(write_run(tmp_path / "run", ROWS), "official", shelf)
    other = str(write_run(tmp_path / "vendor", ROWS))
    folder = write_run(tmp_path / "official", ROWS[:20])
    with pytest.raises(InputError, match="name of a blessed baseline and of") as refused:
        compare(["official"], [other], options(shelf))
    assert "./official" in refused.value.remedy
    assert compare(["./official"], [other], options(shelf)).baseline.rows == 20
    bless(folder, "official", shelf)
    assert compare(["official"], [other], options(shelf)).baseline.blessed_as == "official", "now both are one"


def test_only_runs_that_can_be_compared_are_blessed(tmp_path, shelf):
    with pytest.raises(InputError, match="probe run"):
        bless(write_run(tmp_path / "probe", [], job="probe"), "official", shelf)
    with pytest.raises(InputError, match="there is no run"):
        bless(tmp_path / "nothing", "official", shelf)
    (tmp_path / "folder").mkdir()
    with pytest.raises(InputError, match="not a run"):
        bless(tmp_path / "folder", "official", shelf)
    (tmp_path / "empty.jsonl").touch()
    with pytest.raises(InputError, match="is empty"):
        bless(tmp_path / "empty.jsonl", "official", shelf)


def test_a_damaged_blessing_is_told(tmp_path, shelf):
    shelf.mkdir()
    (shelf / "official.json").write_text("{")
    with pytest.raises(InputError, match="damaged"):
        find_blessing(shelf, "official")
    assert find_blessing(shelf, "other") is None
