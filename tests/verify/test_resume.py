"""Taking up a run: nothing that was measured is asked again, and every row stands once."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from support.rows import row, write_rows
from support.verifying import index_of, records, run, timeless
from toolcert.core.errors import InputError, OutputError, UsageError
from toolcert.core.outcomes import Outcome
from toolcert.runs.lock import hold
from toolcert.simulate import Vendor
from toolcert.verify import takeup
from toolcert.verify.summary import summarise
from toolcert.verify.takeup import SUPERSEDED


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
    def and_another_comes(folder: Path, wanted: takeup.Wanted) -> takeup.Earlier:
        earlier = takeup.take_up(folder, wanted)
        with pytest.raises(OutputError, match="another toolcert"):
            hold(folder)
        return earlier

    monkeypatch.setattr("toolcert.verify.job.take_up", and_another_comes)
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
