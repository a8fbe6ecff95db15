"""Taking up a run: nothing that was measured is asked again, and every row stands once."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from support.rows import row, write_rows
from support.verifying import index_of, records, run, timeless
from toolcert.core.cases import Outcome
from toolcert.core.errors import InputError, NothingMeasuredError, OutputError, UsageError
from toolcert.runs.writer import RECORDS, hold
from toolcert.simulate import Vendor
from toolcert.verification.run import earlier_run
from toolcert.verification.run.earlier_run import SUPERSEDED
from toolcert.verification.run.job import VerifyRun
from toolcert.verification.run.log import UNMEASURED
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
    """Also where the first part reached a part of the rows only; another model, or --fresh, make another run."""
    dataset = write_rows(tmp_path / "d.jsonl", [row(n) for n in range(3)])
    asked: list[dict[str, Any]] = [{"limit": 2}, {}, {"model": "other"}, {"model": "other", "fresh": True}]
    ids = [run(dataset, vendor.url, tmp_path / "run", **change).summary.run for change in asked]
    assert ids[0] == ids[1]
    assert len(set(ids)) == 3


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
    gone = (tmp_path / "run" / SUPERSEDED).read_text().splitlines()
    assert len(gone) == 1
    assert content(2) in gone[0]


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
def test_what_can_change_the_answer_asks_again(
    tmp_path: Path, vendor: Vendor, asked: Asked, change: dict[str, Any]
) -> None:
    """The earlier measurements are set aside, not mixed in and not lost."""
    dataset = write_rows(tmp_path / "d.jsonl", [row(n) for n in range(3)])
    run(dataset, vendor.url, tmp_path / "run")
    asked()
    result = run(dataset, vendor.url, tmp_path / "run", **change)
    assert len(asked()) == 3
    assert result.summary.rows.lines == 3
    assert len((tmp_path / "run" / SUPERSEDED).read_text().splitlines()) == 3


def test_another_endpoint_asks_again(tmp_path: Path, vendor: Vendor, asked: Asked) -> None:
    dataset = write_rows(tmp_path / "d.jsonl", [row(n) for n in range(3)])
    run(dataset, vendor.url, tmp_path / "run")
    with Vendor(models=["faithful"]) as elsewhere:
        assert run(dataset, elsewhere.url, tmp_path / "run").summary.rows.lines == 3
        assert len(list(elsewhere.requests)) == 3


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
    def and_another_comes(folder: Path, wanted: earlier_run.Wanted) -> earlier_run.Earlier:
        earlier = earlier_run.look_at(folder, wanted)
        with pytest.raises(OutputError, match="another toolcert"):
            hold(folder)
        return earlier

    monkeypatch.setattr("toolcert.verification.run.job.look_at", and_another_comes)
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


def test_a_torn_line_among_the_superseded_spoils_none_that_follow(tmp_path: Path, vendor: Vendor) -> None:
    """As a full disk leaves it."""
    dataset = write_rows(tmp_path / "d.jsonl", [row(1), row(2)])
    run(dataset, vendor.url, tmp_path / "run")
    aside = tmp_path / "run" / SUPERSEDED
    aside.write_bytes(b'{"case":"torn')
    run(dataset, vendor.url, tmp_path / "run", model="other")
    assert len([json.loads(line) for line in aside.read_bytes().splitlines()]) == 2
    run(dataset, vendor.url, tmp_path / "run", model="other", only_failed=True)


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


@pytest.mark.parametrize("fresh", [False, True], ids=["taken up", "fresh"])
@pytest.mark.parametrize("rows", [3, 30], ids=["to the end", "given up"])
def test_a_run_that_reaches_nobody_leaves_the_earlier_one_as_it_was(
    tmp_path: Path, vendor: Vendor, asked: Asked, rows: int, fresh: bool
) -> None:
    dataset = write_rows(tmp_path / "d.jsonl", [row(n) for n in range(rows)])
    run(dataset, vendor.url, tmp_path / "run")
    before, manifest = records_of(tmp_path / "run"), (tmp_path / "run/manifest.json").read_bytes()
    told = told_by(lambda: run(dataset, NOWHERE, tmp_path / "run", fresh=fresh, endpoint={"retries": 0}))
    assert f"The {rows} rows measured earlier in {tmp_path / 'run'} stay as they were" in told
    assert records_of(tmp_path / "run") == before
    assert (tmp_path / "run/manifest.json").read_bytes() == manifest
    assert not (tmp_path / "run" / SUPERSEDED).exists()
    failed = records(tmp_path / "run" / UNMEASURED)
    assert {one.outcome for one in failed} == {Outcome.NOT_MEASURED}
    asked()
    assert run(dataset, vendor.url, tmp_path / "run").summary.rows.passed == rows
    assert asked() == []
    assert not (tmp_path / "run" / UNMEASURED).exists()


@pytest.mark.parametrize("fresh", [False, True], ids=["taken up", "fresh"])
def test_a_run_that_asks_nothing_leaves_the_earlier_one_as_it_was(tmp_path: Path, vendor: Vendor, fresh: bool) -> None:
    dataset = write_rows(tmp_path / "d.jsonl", [row(n) for n in range(3)])
    run(dataset, vendor.url, tmp_path / "run")
    before = records_of(tmp_path / "run")
    nothing = run(dataset, vendor.url, tmp_path / "run", model="other", where=("tool=absent",), fresh=fresh)
    assert nothing.kept_earlier
    assert records_of(tmp_path / "run") == before


def told_by(ask: Callable[[], VerifyRun]) -> str:
    """What a run that reaches nobody says, whether it goes to the end or gives up."""
    try:
        result = ask()
    except NothingMeasuredError as error:
        return str(error)
    assert result.kept_earlier
    assert result.summary.nothing_measured
    return " ".join(result.notices)


def test_the_first_answer_lets_a_run_take_the_place_of_an_earlier_one(tmp_path: Path, vendor: Vendor) -> None:
    """Rows that failed before it move in with it, and each stands once."""
    dataset = write_rows(tmp_path / "d.jsonl", ["{", *(row(n) for n in range(4))])
    run(dataset, vendor.url, tmp_path / "run")
    vendor.outage("500", after=len(list(vendor.requests)))
    with Vendor(models=["faithful"]) as elsewhere:
        elsewhere.outage("500", after=0, count=2)
        result = run(dataset, elsewhere.url, tmp_path / "run", endpoint={"retries": 0, "concurrency": 1})
    assert sorted(index_of(one) for one in records(tmp_path / "run")) == [1, 2, 3, 4, 5]
    assert (result.summary.rows.passed, result.summary.rows.not_measured, result.summary.rows.skipped) == (2, 2, 1)
    assert not (tmp_path / "run" / UNMEASURED).exists()
    assert f"4 rows measured earlier (endpoint {vendor.url}) were set aside" in result.notices[0]


def test_what_was_set_aside_is_taken_up_when_it_fits_again(tmp_path: Path, vendor: Vendor, asked: Asked) -> None:
    path = tmp_path / "d.jsonl"
    first = run(write_rows(path, [row(n) for n in range(4)]), vendor.url, tmp_path / "run").summary
    other = run(str(path), vendor.url, tmp_path / "run", model="other")
    assert "4 rows measured earlier (model faithful) were set aside" in other.notices[0]
    asked()
    moved = write_rows(path, [row(3), row(2), row(1), row(0)])
    back = run(moved, vendor.url, tmp_path / "run")
    assert asked() == []
    assert back.notices[-1] == "4 rows set aside earlier were taken up again, not asked again."
    assert timeless(back.summary)["rows"] == timeless(first)["rows"]
    assert lines_of(tmp_path / "run") == {line: content(4 - line) for line in range(1, 5)}
    assert {json.loads(line)["model"] for line in (tmp_path / "run" / SUPERSEDED).read_text().splitlines()} == {"other"}


def test_a_line_put_back_into_the_dataset_is_not_asked_again(tmp_path: Path, vendor: Vendor, asked: Asked) -> None:
    path = tmp_path / "d.jsonl"
    run(write_rows(path, [row(1), row(2)]), vendor.url, tmp_path / "run")
    gone = run(write_rows(path, [row(2)]), vendor.url, tmp_path / "run")
    assert gone.notices[0].startswith("1 row that the dataset no longer has was set aside in")
    asked()
    result = run(write_rows(path, [row(2), row(3), row(1)]), vendor.url, tmp_path / "run")
    assert asked() == [content(3)]
    assert lines_of(tmp_path / "run") == {1: content(2), 2: content(3), 3: content(1)}
    assert result.summary.rows.passed == 3


def test_fresh_asks_again_what_was_set_aside(tmp_path: Path, vendor: Vendor, asked: Asked) -> None:
    dataset = write_rows(tmp_path / "d.jsonl", [row(n) for n in range(3)])
    run(dataset, vendor.url, tmp_path / "run")
    run(dataset, vendor.url, tmp_path / "run", model="other")
    asked()
    run(dataset, vendor.url, tmp_path / "run", fresh=True, max_requests=1)
    assert len(asked()) == 1
    run(dataset, vendor.url, tmp_path / "run")
    assert len(asked()) == 2


def test_failed_rows_stay_known_where_asking_them_again_reaches_nobody(tmp_path: Path, vendor: Vendor) -> None:
    dataset = write_rows(tmp_path / "d.jsonl", [row(1, toolcert={"expected": {"call": False}}), row(2)])
    run(dataset, vendor.url, tmp_path / "run")
    vendor.outage("500", after=0)
    again = run(dataset, vendor.url, tmp_path / "run", only_failed=True, endpoint={"retries": 0})
    assert again.kept_earlier
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
    assert not (tmp_path / "run" / f"next-{RECORDS}").exists()


@pytest.mark.parametrize("name", [SUPERSEDED, RECORDS])
def test_a_log_that_lost_rows_half_way_is_not_called_whole(
    tmp_path: Path, vendor: Vendor, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """The disk is full, or the process ends, between what must happen together."""
    dataset = write_rows(tmp_path / "d.jsonl", [row(1, toolcert={"expected": {"call": False}}), row(2)])
    run(dataset, vendor.url, tmp_path / "run")
    real = Path.replace

    def fail_after(self: Path, target: Path) -> Path:
        done = real(self, target)
        if self.name == f"next-{name}":
            raise OSError(28, "No space left on device")
        return done

    monkeypatch.setattr(Path, "replace", fail_after)
    with pytest.raises(OutputError):
        run(dataset, vendor.url, tmp_path / "run", only_failed=True)
    monkeypatch.undo()
    broken = summarise(tmp_path / "run")
    assert broken.rows.lines == 2 or broken.incomplete
    mended = run(dataset, vendor.url, tmp_path / "run").summary
    assert (mended.rows.failed, mended.rows.passed, mended.incomplete) == (1, 1, False)


def test_nothing_is_measured_where_the_next_run_would_clear_it_away(tmp_path: Path, vendor: Vendor) -> None:
    dataset = write_rows(tmp_path / "d.jsonl", [row(1)])
    run(dataset, vendor.url, tmp_path / "run")
    with pytest.raises(UsageError, match="measured nothing"):
        run(dataset, vendor.url, tmp_path / "run" / UNMEASURED)
