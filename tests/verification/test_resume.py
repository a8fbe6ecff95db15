"""A verify run that goes on: nothing that was measured is asked again, every row counts once, no other run mixes in."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from support.rows import row, write_rows
from support.verifying import index_of, records, run, timeless
from toolcert.comparison.pipeline import compare
from toolcert.comparison.read.packed_run import read_run
from toolcert.core.cases import Outcome
from toolcert.core.errors import InputError, NothingMeasuredError, OutputError, UsageError
from toolcert.reports.formats import Extras
from toolcert.reports.verify.rows import every_row, whole_rows
from toolcert.runs.resume import SUPERSEDED, Earlier, resume
from toolcert.runs.writer import RECORDS, hold
from toolcert.simulate import Vendor
from toolcert.verification.rejudgement import rejudge
from toolcert.verification.run.job import VerifyRun
from toolcert.verification.run.log import UNMEASURED
from toolcert.verification.single_row import find_row
from toolcert.verification.summary.tally import summarise


class Asked:
    """Counts what reaches the vendor from one moment to the next."""

    def __init__(self, vendor: Vendor) -> None:
        self._vendor = vendor
        self._seen = 0

    def __call__(self) -> list[str]:
        entries = list(self._vendor.requests)
        new, self._seen = entries[self._seen :], len(entries)
        return sorted(entry.body["messages"][-1]["content"] for entry in new)


@pytest.fixture
def vendor():
    with Vendor(models={"faithful": "faithful", "other": "faithful"}) as one:
        yield one


@pytest.fixture
def asked(vendor: Vendor) -> Asked:
    return Asked(vendor)


def content(number: int) -> str:
    return row(number)["messages"][-1]["content"]


def lines_of(folder: Path) -> dict[int, str]:
    """Line number to what was asked on it, from the records."""
    return {index_of(one): one.detail.exchanges[0].request.body["messages"][-1]["content"] for one in records(folder)}


def test_a_finished_run_asks_nothing_and_keeps_its_figures(tmp_path: Path, vendor: Vendor, asked: Asked) -> None:
    dataset = write_rows(tmp_path / "d.jsonl", [row(n) for n in range(5)])
    first = run(dataset, vendor.url, tmp_path / "run").summary
    assert len(asked()) == 5
    second = run(dataset, vendor.url, tmp_path / "run").summary
    assert asked() == []
    assert timeless(second) == timeless(first)


def test_a_run_that_goes_on_is_the_same_run(tmp_path: Path, vendor: Vendor) -> None:
    """Also where the first part reached a part of the rows only; --fresh makes another run."""
    dataset = write_rows(tmp_path / "d.jsonl", [row(n) for n in range(3)])
    asked: list[dict[str, Any]] = [{"limit": 2}, {}, {"fresh": True}]
    ids = [run(dataset, vendor.url, tmp_path / "run", **change).summary.run for change in asked]
    assert ids[0] == ids[1]
    assert ids[1] != ids[2]


def test_fresh_forgets_the_earlier_run(tmp_path: Path, vendor: Vendor, asked: Asked) -> None:
    dataset = write_rows(tmp_path / "d.jsonl", [row(1)])
    run(dataset, vendor.url, tmp_path / "run")
    run(dataset, vendor.url, tmp_path / "run", fresh=True)
    assert len(asked()) == 2
    assert len(records(tmp_path / "run")) == 1


def test_moved_inserted_deleted_and_repeated_lines(tmp_path: Path, vendor: Vendor, asked: Asked) -> None:
    """Only what is new is asked, and every record carries the number its line has now."""
    path = tmp_path / "d.jsonl"
    run(write_rows(path, [row(n) for n in range(6)]), vendor.url, tmp_path / "run")
    asked()
    new = [5, 0, 9, 3, 3, 1, 4]  # 2 is gone, 9 is new, 3 stands twice, the others have moved
    result = run(write_rows(path, [row(n) for n in new]), vendor.url, tmp_path / "run")
    assert asked() == sorted([content(9), content(3)])
    assert lines_of(tmp_path / "run") == {line: content(number) for line, number in enumerate(new, 1)}
    assert result.summary.rows.lines == 7
    assert result.notices == ("1 row that the dataset no longer has stays in the log and is left out of the figures.",)
    assert content(2) in (tmp_path / "run" / RECORDS).read_text()
    assert run(str(path), vendor.url, tmp_path / "run").notices == ()


def test_a_repeated_line_taken_out_again_leaves_one_record(tmp_path: Path, vendor: Vendor, asked: Asked) -> None:
    path = tmp_path / "d.jsonl"
    run(write_rows(path, [row(1), row(1), row(2)]), vendor.url, tmp_path / "run")
    asked()
    result = run(write_rows(path, [row(2), row(1)]), vendor.url, tmp_path / "run")
    assert asked() == []
    assert lines_of(tmp_path / "run") == {1: content(2), 2: content(1)}
    assert result.summary.rows.lines == 2


@pytest.mark.parametrize(
    "change",
    [
        {"extra_body": {"top_k": 1}},
        {"model": "other"},
        {"temperature": 0.9},
        {"stream": True},
        {"endpoint": {"extra_body": {"top_k": 1}}},
    ],
    ids=str,
)
def test_what_can_change_the_answer_makes_another_run_which_is_refused(
    tmp_path: Path, vendor: Vendor, asked: Asked, change: dict[str, Any]
) -> None:
    """The measurements of the run in the folder are not mixed in, not moved and not lost."""
    dataset = write_rows(tmp_path / "d.jsonl", [row(n) for n in range(3)])
    run(dataset, vendor.url, tmp_path / "run")
    asked()
    before = {path: path.read_bytes() for path in (tmp_path / "run").iterdir()}
    with pytest.raises(InputError, match="another run") as refused:
        run(dataset, vendor.url, tmp_path / "run", **change)
    assert refused.value.remedy == "Choose another --output, or --fresh to forget that run."
    assert asked() == []
    assert {path: path.read_bytes() for path in (tmp_path / "run").iterdir()} == before
    assert run(dataset, vendor.url, tmp_path / "run", fresh=True, **change).summary.rows.lines == 3
    assert len(asked()) == 3


def test_a_run_of_another_endpoint_is_refused_whatever_its_name(tmp_path: Path, vendor: Vendor, asked: Asked) -> None:
    dataset = write_rows(tmp_path / "d.jsonl", [row(n) for n in range(3)])
    run(dataset, vendor.url, tmp_path / "run", endpoint={"name": "first"})
    with Vendor(models=["faithful"]) as elsewhere:
        with pytest.raises(InputError, match=f"endpoint was {vendor.url}, now {elsewhere.url}"):
            run(dataset, elsewhere.url, tmp_path / "run", endpoint={"name": "first"})
        assert list(elsewhere.requests) == []
    asked()
    run(dataset, vendor.url, tmp_path / "run", endpoint={"name": "second"})
    assert asked() == []


def test_a_part_of_the_rows_does_not_push_the_others_out(tmp_path: Path, vendor: Vendor, asked: Asked) -> None:
    dataset = write_rows(tmp_path / "d.jsonl", [row(n) for n in range(6)])
    run(dataset, vendor.url, tmp_path / "run", where=("index=4-6",))
    assert len(asked()) == 3
    run(dataset, vendor.url, tmp_path / "run", limit=2)
    assert len(asked()) == 2
    assert run(dataset, vendor.url, tmp_path / "run").summary.rows.lines == 6
    assert asked() == [content(2)]


def test_what_was_not_measured_is_asked_again_and_replaced(tmp_path: Path, vendor: Vendor, asked: Asked) -> None:
    dataset = write_rows(tmp_path / "d.jsonl", [row(n) for n in range(8)])
    vendor.outage("500", after=5)
    first = run(dataset, vendor.url, tmp_path / "run", endpoint={"retries": 0, "concurrency": 1}).summary
    assert (first.rows.answered, first.rows.not_measured) == (5, 3)
    assert first.not_measured_by == {"server_error": 3}
    vendor.restore()
    asked()
    second = run(dataset, vendor.url, tmp_path / "run").summary
    assert asked() == sorted(content(n) for n in (5, 6, 7))
    assert (second.rows.answered, second.rows.not_measured) == (8, 0)


def test_only_failed_asks_failed_and_unmeasured_rows_again(tmp_path: Path, vendor: Vendor, asked: Asked) -> None:
    failing = [row(n, toolcert={"expected": {"call": False}}) for n in (1, 2)]
    dataset = write_rows(tmp_path / "d.jsonl", [*failing, row(3), row(4)])
    run(dataset, vendor.url, tmp_path / "run", limit=3)
    asked()
    result = run(dataset, vendor.url, tmp_path / "run", only_failed=True)
    assert asked() == sorted([content(1), content(2)])
    assert result.summary.rows.lines == 3
    with pytest.raises(UsageError, match="no run"):
        run(dataset, vendor.url, tmp_path / "other", only_failed=True)


def test_only_failed_asks_nothing_else_where_every_row_failed(tmp_path: Path, vendor: Vendor, asked: Asked) -> None:
    rows = [row(n, toolcert={"expected": {"call": False}}) for n in range(4)]
    dataset = write_rows(tmp_path / "d.jsonl", rows)
    run(dataset, vendor.url, tmp_path / "run", limit=2)
    asked()
    run(dataset, vendor.url, tmp_path / "run", only_failed=True)
    assert asked() == [content(0), content(1)]


def test_rows_that_are_not_chosen_keep_what_was_said_of_them(tmp_path: Path, vendor: Vendor, asked: Asked) -> None:
    """A part of the failed rows asked again must not make the others look as if they had never failed."""
    failing = [row(n, toolcert={"expected": {"call": False}}) for n in (1, 2)]
    dataset = write_rows(tmp_path / "d.jsonl", [*failing, row(3), row(4)])
    run(dataset, vendor.url, tmp_path / "run", max_requests=3, endpoint={"concurrency": 1})
    asked()
    result = run(dataset, vendor.url, tmp_path / "run", only_failed=True, limit=1)
    assert asked() == [content(1)]
    rows = result.summary.rows
    assert (rows.lines, rows.failed, rows.passed, rows.skipped) == (4, 2, 1, 1)


def test_fresh_and_only_failed_exclude_each_other(tmp_path: Path, vendor: Vendor) -> None:
    dataset = write_rows(tmp_path / "d.jsonl", [row(1)])
    run(dataset, vendor.url, tmp_path / "run")
    with pytest.raises(UsageError, match="--only-failed"):
        run(dataset, vendor.url, tmp_path / "run", only_failed=True, fresh=True)
    assert summarise(tmp_path / "run").rows.passed == 1


def test_nobody_comes_between_the_look_at_a_run_and_its_going_on(
    tmp_path: Path, vendor: Vendor, monkeypatch: pytest.MonkeyPatch
) -> None:
    def and_another_comes(folder: Path, *given: Any) -> Earlier:
        earlier = resume(folder, *given)
        with pytest.raises(OutputError, match="another toolcert"):
            hold(folder)
        return earlier

    monkeypatch.setattr("toolcert.verification.run.job.resume", and_another_comes)
    dataset = write_rows(tmp_path / "d.jsonl", [row(1)])
    assert run(dataset, vendor.url, tmp_path / "run").summary.rows.passed == 1


def test_lines_that_cannot_be_asked_stand_once_however_often_the_run_is_taken_up(
    tmp_path: Path, vendor: Vendor
) -> None:
    dataset = write_rows(tmp_path / "d.jsonl", [row(1), "{", "{", row(2)])
    for _ in range(3):
        run(dataset, vendor.url, tmp_path / "run")
    assert [(index_of(one), one.outcome) for one in records(tmp_path / "run")] == [
        (1, Outcome.PASSED),
        (2, Outcome.SKIPPED),
        (3, Outcome.SKIPPED),
        (4, Outcome.PASSED),
    ]


def test_a_torn_last_line_is_asked_again(tmp_path: Path, vendor: Vendor, asked: Asked) -> None:
    dataset = write_rows(tmp_path / "d.jsonl", [row(n) for n in range(3)])
    run(dataset, vendor.url, tmp_path / "run", endpoint={"concurrency": 1})
    log = tmp_path / "run/records.jsonl"
    log.write_bytes(log.read_bytes()[:-200])
    asked()
    run(dataset, vendor.url, tmp_path / "run")
    assert asked() == [content(2)]
    assert summarise(tmp_path / "run").rows.passed == 3
    assert all(json.loads(line) for line in log.read_text().splitlines())


def test_a_probe_run_in_the_folder_is_refused(tmp_path: Path, vendor: Vendor) -> None:
    dataset = write_rows(tmp_path / "d.jsonl", [row(1)])
    run(dataset, vendor.url, tmp_path / "run")
    manifest = tmp_path / "run/manifest.json"
    manifest.write_text(manifest.read_text().replace('"verify"', '"probe"', 1))
    before = (tmp_path / "run/records.jsonl").read_bytes()
    for fresh in (False, True):
        with pytest.raises(InputError, match="probe run"):
            run(dataset, vendor.url, tmp_path / "run", fresh=fresh)
    assert (tmp_path / "run/records.jsonl").read_bytes() == before


NOWHERE = "http://127.0.0.1:9/v1"


def records_of(folder: Path) -> bytes:
    return (folder / "records.jsonl").read_bytes()


@pytest.mark.parametrize("rows", [3, 30], ids=["to the end", "given up"])
def test_a_fresh_run_that_reaches_nobody_leaves_the_earlier_one_as_it_was(
    tmp_path: Path, vendor: Vendor, asked: Asked, rows: int
) -> None:
    dataset = write_rows(tmp_path / "d.jsonl", [row(n) for n in range(rows)])
    run(dataset, vendor.url, tmp_path / "run")
    before, manifest = records_of(tmp_path / "run"), (tmp_path / "run/manifest.json").read_bytes()
    told = told_by(lambda: run(dataset, NOWHERE, tmp_path / "run", fresh=True, endpoint={"retries": 0}))
    assert f"The {rows} rows measured earlier in {tmp_path / 'run'} stay as they were" in told
    assert records_of(tmp_path / "run") == before
    assert (tmp_path / "run/manifest.json").read_bytes() == manifest
    failed = records(tmp_path / "run" / UNMEASURED)
    assert {one.outcome for one in failed} == {Outcome.NOT_MEASURED}
    asked()
    assert run(dataset, vendor.url, tmp_path / "run").summary.rows.passed == rows
    assert asked() == []
    assert not (tmp_path / "run" / UNMEASURED).exists()


def test_a_fresh_run_that_asks_nothing_leaves_the_earlier_one_as_it_was(tmp_path: Path, vendor: Vendor) -> None:
    dataset = write_rows(tmp_path / "d.jsonl", [row(n) for n in range(3)])
    run(dataset, vendor.url, tmp_path / "run")
    before = records_of(tmp_path / "run")
    nothing = run(dataset, vendor.url, tmp_path / "run", model="other", where=("tool=absent",), fresh=True)
    assert nothing.kept_earlier
    assert records_of(tmp_path / "run") == before


def test_an_outage_while_a_run_goes_on_costs_nothing_that_was_measured(
    tmp_path: Path, vendor: Vendor, asked: Asked
) -> None:
    dataset = write_rows(tmp_path / "d.jsonl", [row(n) for n in range(6)])
    run(dataset, vendor.url, tmp_path / "run", limit=3)
    vendor.outage("500", after=0)
    for _ in range(2):
        rows = run(dataset, vendor.url, tmp_path / "run", endpoint={"retries": 0}).summary.rows
        assert (rows.lines, rows.passed, rows.not_measured) == (6, 3, 3)
    vendor.restore()
    asked()
    assert run(dataset, vendor.url, tmp_path / "run").summary.rows.passed == 6
    assert len(asked()) == 3


def told_by(ask: Callable[[], VerifyRun]) -> str:
    """What a run that reaches nobody says, whether it goes to the end or gives up."""
    try:
        result = ask()
    except NothingMeasuredError as error:
        return str(error)
    assert result.kept_earlier
    assert result.summary.nothing_measured
    return " ".join(result.notices)


def test_the_first_answer_lets_a_fresh_run_take_the_place_of_an_earlier_one(tmp_path: Path, vendor: Vendor) -> None:
    """Rows that failed before it move in with it, and each stands once."""
    dataset = write_rows(tmp_path / "d.jsonl", ["{", *(row(n) for n in range(4))])
    run(dataset, vendor.url, tmp_path / "run")
    with Vendor(models=["faithful"]) as elsewhere:
        elsewhere.outage("500", after=0, count=2)
        alone = {"retries": 0, "concurrency": 1}
        result = run(dataset, elsewhere.url, tmp_path / "run", fresh=True, endpoint=alone)
    assert sorted(index_of(one) for one in records(tmp_path / "run")) == [1, 2, 3, 4, 5]
    assert (result.summary.rows.passed, result.summary.rows.not_measured, result.summary.rows.skipped) == (2, 2, 1)
    assert not (tmp_path / "run" / UNMEASURED).exists()
    assert len((tmp_path / "run" / RECORDS).read_bytes().splitlines()) == 5


def test_a_line_put_back_into_the_dataset_is_not_asked_again(tmp_path: Path, vendor: Vendor, asked: Asked) -> None:
    path = tmp_path / "d.jsonl"
    run(write_rows(path, [row(1), row(2)]), vendor.url, tmp_path / "run")
    gone = run(write_rows(path, [row(2)]), vendor.url, tmp_path / "run")
    assert gone.notices[0].startswith("1 row that the dataset no longer has stays in the log")
    assert (gone.summary.rows.lines, gone.summary.incomplete) == (1, False)
    asked()
    result = run(write_rows(path, [row(2), row(3), row(1)]), vendor.url, tmp_path / "run")
    assert asked() == [content(3)]
    assert lines_of(tmp_path / "run") == {1: content(2), 2: content(3), 3: content(1)}
    assert result.summary.rows.passed == 3


def test_a_part_of_the_rows_says_nothing_about_the_others_but_finds_moved_ones(
    tmp_path: Path, vendor: Vendor, asked: Asked
) -> None:
    path = tmp_path / "d.jsonl"
    run(write_rows(path, [row(1), row(2), row(3)]), vendor.url, tmp_path / "run")
    asked()
    result = run(write_rows(path, [row(9), row(2), row(1)]), vendor.url, tmp_path / "run", where=("index=3",))
    assert asked() == []
    assert result.notices == ()
    assert sorted(index_of(one) for one in records(tmp_path / "run")) == [
        2,
        3,
        3,
    ]  # 1 was met on line 3, 3 was not looked for


def test_fresh_asks_again_what_left_the_dataset(tmp_path: Path, vendor: Vendor, asked: Asked) -> None:
    path = tmp_path / "d.jsonl"
    run(write_rows(path, [row(1), row(2)]), vendor.url, tmp_path / "run")
    run(write_rows(path, [row(2)]), vendor.url, tmp_path / "run")
    asked()
    run(write_rows(path, [row(2), row(1)]), vendor.url, tmp_path / "run", fresh=True)
    assert asked() == sorted([content(1), content(2)])


def test_a_finished_run_that_is_run_again_keeps_its_log_to_the_byte(tmp_path: Path, vendor: Vendor) -> None:
    """A blessed baseline stays fresh; a line that cannot be asked is no reason to write again."""
    dataset = write_rows(tmp_path / "d.jsonl", [row(1), "{", row(2, toolcert={"expected": {"call": False}})])
    run(dataset, vendor.url, tmp_path / "run")
    before = records_of(tmp_path / "run")
    again = run(dataset, vendor.url, tmp_path / "run").summary
    assert records_of(tmp_path / "run") == before
    assert (again.rows.passed, again.rows.failed, again.rows.skipped) == (1, 1, 1)


def test_every_reader_counts_a_row_asked_again_once(tmp_path: Path, vendor: Vendor) -> None:
    """Summary, report, comparison, single row, judging again: one rule."""
    path, folder = tmp_path / "d.jsonl", tmp_path / "run"
    failing = [row(n, toolcert={"expected": {"call": False}}) for n in range(3)]
    in_order = {"concurrency": 1}
    run(write_rows(path, [*failing, row(7), row(8)]), vendor.url, folder, endpoint=in_order)
    dataset = write_rows(path, [*failing, row(8)])
    run(dataset, vendor.url, folder, endpoint=in_order, only_failed=True)
    assert len((folder / RECORDS).read_bytes().splitlines()) == 8
    once = run(dataset, vendor.url, tmp_path / "once").summary
    expected = [(1, Outcome.FAILED), (2, Outcome.FAILED), (3, Outcome.FAILED), (4, Outcome.PASSED)]
    assert [(index_of(one), one.outcome) for one in records(folder)] == expected
    assert timeless(summarise(folder)) == timeless(once)
    assert timeless(rejudge(folder).summary) == timeless(once)
    assert [(one.outcome, facts.index) for one, facts in every_row(Extras(run=str(folder)))] == [
        (outcome, index) for index, outcome in expected
    ]
    assert set(dict(whole_rows(folder, range(10)))) == {1, 2, 3, 4}
    packed = read_run(folder, "run")
    assert list(packed.columns.index) == [4, 1, 2, 3]
    numbers = [json.loads(packed.line(place))["row"]["index"] for place in range(4)]
    assert numbers == [4, 1, 2, 3]
    assert packed.line(1) == (folder / RECORDS).read_bytes().splitlines(keepends=True)[5]
    assert find_row(folder, "1").record.at == records(folder)[0].at
    compared = compare([str(folder)], [str(tmp_path / "once")])
    assert (compared.vendors[0].compared, compared.baseline.rows) == (4, 4)


def test_failed_rows_stay_known_where_asking_them_again_reaches_nobody(tmp_path: Path, vendor: Vendor) -> None:
    dataset = write_rows(tmp_path / "d.jsonl", [row(1, toolcert={"expected": {"call": False}}), row(2)])
    run(dataset, vendor.url, tmp_path / "run")
    vendor.outage("500", after=0)
    again = run(dataset, vendor.url, tmp_path / "run", only_failed=True, endpoint={"retries": 0})
    assert again.kept_earlier
    assert again.notices == ("1 failed row got no other answer and stands as it was.",)
    assert (summarise(tmp_path / "run").rows.failed, summarise(tmp_path / "run").rows.passed) == (1, 1)


@pytest.mark.parametrize("stop", [{}, {"max_requests": 2}], ids=["outage", "limit"])
def test_failed_rows_stay_known_where_only_some_are_answered_again(
    tmp_path: Path, vendor: Vendor, asked: Asked, stop: dict[str, Any]
) -> None:
    """Failures that leave the figures because nobody answered any more would make a bad vendor a good one."""
    failing = [row(n, toolcert={"expected": {"call": False}}) for n in range(6)]
    dataset = write_rows(tmp_path / "d.jsonl", [*failing, row(7), row(8)])
    before = run(dataset, vendor.url, tmp_path / "run").summary.rows
    asked()
    if not stop:
        vendor.outage("500", after=2)
    alone = {"retries": 0, "concurrency": 1}
    again = run(dataset, vendor.url, tmp_path / "run", only_failed=True, endpoint=alone, **stop)
    assert len(asked()) >= 2
    assert "4 failed rows got no other answer and stand as they were." in again.notices
    assert (again.summary.rows.failed, again.summary.rows.passed, again.summary.rows.lines) == (6, 2, 8)
    assert before.failed == 6
    assert timeless(summarise(tmp_path / "run")) == timeless(again.summary)
    assert sorted(lines_of(tmp_path / "run")) == list(range(1, 9))


def test_a_full_disk_while_lines_are_renumbered_leaves_a_whole_log(
    tmp_path: Path, vendor: Vendor, monkeypatch: pytest.MonkeyPatch, asked: Asked
) -> None:
    path = tmp_path / "d.jsonl"
    run(write_rows(path, [row(1), row(2), row(3)]), vendor.url, tmp_path / "run")
    dataset = write_rows(path, [row(3), row(2), row(4)])
    real = Path.replace

    def fail(self: Path, target: Path) -> Path:
        if target.name == RECORDS:
            raise OSError(28, "No space left on device")
        return real(self, target)

    monkeypatch.setattr(Path, "replace", fail)
    with pytest.raises(OutputError):
        run(dataset, vendor.url, tmp_path / "run")
    monkeypatch.undo()
    asked()
    mended = run(dataset, vendor.url, tmp_path / "run").summary
    assert asked() == []
    assert (mended.rows.lines, mended.rows.passed, mended.incomplete) == (3, 3, False)
    assert lines_of(tmp_path / "run") == {1: content(3), 2: content(2), 3: content(4)}


def test_what_0_1_set_aside_is_not_asked_again(tmp_path: Path, vendor: Vendor, asked: Asked) -> None:
    """A torn line behind it spoils nothing; what is of another model stays where it is."""
    dataset = write_rows(tmp_path / "d.jsonl", [row(1), row(2), row(3)])
    run(dataset, vendor.url, tmp_path / "run")
    first, *rest = records_of(tmp_path / "run").splitlines(keepends=True)
    foreign = b'{"case":"00000000-other","endpoint":"e","model":"other","outcome":"passed"}\n'
    (tmp_path / "run" / SUPERSEDED).write_bytes(foreign + first + b'{"case":"torn')
    (tmp_path / "run" / RECORDS).write_bytes(b"".join(rest))
    asked()
    assert run(dataset, vendor.url, tmp_path / "run").summary.rows.passed == 3
    assert asked() == []
    assert sorted(lines_of(tmp_path / "run")) == [1, 2, 3]
    assert (tmp_path / "run" / SUPERSEDED).read_bytes() == foreign


def test_nothing_is_measured_where_the_next_run_would_clear_it_away(tmp_path: Path, vendor: Vendor) -> None:
    dataset = write_rows(tmp_path / "d.jsonl", [row(1)])
    run(dataset, vendor.url, tmp_path / "run")
    with pytest.raises(UsageError, match="measured nothing"):
        run(dataset, vendor.url, tmp_path / "run" / UNMEASURED)
