"""The index of a run: made from the log alone, growing with it, made anew when the log is another one."""

from __future__ import annotations

import sqlite3
import threading
from pathlib import Path

import msgspec
import pytest

from reports.verify_samples import write_verify_run
from toolcert.core.cases import Outcome
from toolcert.core.records import ProbeFacts, Record, RowFacts
from toolcert.runs.encoding import encode_record
from toolcert.view.case_index import CaseIndex
from toolcert.view.search_query import condition_of, terms_of


def whole(folder: Path, cache: Path) -> CaseIndex:
    index = CaseIndex(folder, cache)
    while index.grow():
        pass
    return index


def record(case: str, outcome: Outcome = Outcome.PASSED, reason: str = "") -> Record:
    row = RowFacts(index=int(case.removeprefix("row-")), content="00")
    return Record(case=case, endpoint="vendor", model="m", outcome=outcome, reason=reason, row=row)


def log(folder: Path, *records: Record) -> Path:
    folder.mkdir(exist_ok=True)
    with (folder / "records.jsonl").open("ab") as file:
        file.writelines(encode_record(one) for one in records)
    return folder


def outcomes(index: CaseIndex, query: str = "") -> dict[str, str]:
    rows = index.rows(index.found(condition_of(terms_of(query))))
    return {row["key"]: row["outcome"] for row in rows}


def test_it_grows_with_the_log(tmp_path: Path) -> None:
    folder = log(tmp_path / "run", record("row-1"))
    index = whole(folder, tmp_path / "cache")
    log(folder, record("row-2", reason="late words"))
    assert not index.grow()
    assert index.state().cases == 2
    assert outcomes(index, "late") == {"row-2": "passed"}


def test_a_torn_line_waits_for_its_end(tmp_path: Path) -> None:
    folder = log(tmp_path / "run", record("row-1"))
    line = encode_record(record("row-2"))
    with (folder / "records.jsonl").open("ab") as file:
        file.write(line[:20])
    index = whole(folder, tmp_path / "cache")
    assert index.state().cases == 1
    with (folder / "records.jsonl").open("ab") as file:
        file.write(line[20:])
    index.grow()
    assert index.state().cases == 2


def test_of_several_lines_of_a_case_the_last_settled_counts(tmp_path: Path) -> None:
    folder = log(
        tmp_path / "run",
        record("row-1", Outcome.NOT_MEASURED, "first words"),
        record("row-1", Outcome.PASSED, "second words"),
        record("row-1", Outcome.NOT_MEASURED, "third words"),
    )
    index = whole(folder, tmp_path / "cache")
    assert outcomes(index) == {"row-1": "passed"}
    assert outcomes(index, "second") == {"row-1": "passed"}
    assert outcomes(index, "first") == outcomes(index, "third") == {}
    assert index.facets(None)["outcome"] == [("passed", 1)]


def test_a_line_that_is_no_record_is_counted_and_skipped(tmp_path: Path) -> None:
    folder = log(tmp_path / "run", record("row-1"))
    with (folder / "records.jsonl").open("ab") as file:
        file.write(b"{broken\n\xff\xfe\n" + b"[" * 100_000 + b"\n")
    log(folder, record("row-2"))
    index = whole(folder, tmp_path / "cache")
    assert (index.state().cases, index.state().damaged) == (2, 3)


def test_a_log_that_was_replaced_is_read_anew(tmp_path: Path) -> None:
    folder = log(tmp_path / "run", record("row-1", reason="old"), record("row-2"))
    index = whole(folder, tmp_path / "cache")
    (folder / "records.jsonl").unlink()
    log(folder, record("row-3", reason="new"))
    whole(folder, tmp_path / "cache")
    assert outcomes(index) == {"row-3": "passed"}
    assert outcomes(index, "old") == {}


def test_a_damaged_index_is_made_anew(tmp_path: Path) -> None:
    folder = log(tmp_path / "run", record("row-1"))
    index = whole(folder, tmp_path / "cache")
    index.path.write_bytes(b"no database " * 1000)
    for ending in ("-wal", "-shm"):
        index.path.with_name(index.path.name + ending).unlink(missing_ok=True)
    with pytest.raises(sqlite3.DatabaseError):
        index.state()
    assert outcomes(whole(folder, tmp_path / "cache")) == {"row-1": "passed"}


def test_an_index_that_others_have_made_anew_is_not_discarded(tmp_path: Path) -> None:
    folder = log(tmp_path / "run", record("row-1"))
    index = whole(folder, tmp_path / "cache")
    copied = index.path.read_bytes()

    def fail_after_others_made_it_anew() -> None:
        with index._guarded():
            index.path.rename(tmp_path / "damaged")
            index.path.write_bytes(copied)
            raise sqlite3.DatabaseError

    with pytest.raises(sqlite3.DatabaseError):
        fail_after_others_made_it_anew()
    assert index.path.exists()
    with pytest.raises(sqlite3.DatabaseError), index._guarded():
        raise sqlite3.DatabaseError
    assert not index.path.exists()


def test_an_index_that_another_is_making_is_waited_for(tmp_path: Path) -> None:
    folder = log(tmp_path / "run", record("row-1"))
    index = CaseIndex(folder, tmp_path / "cache")
    index.path.parent.mkdir()
    maker = sqlite3.connect(index.path, isolation_level=None, check_same_thread=False)
    maker.execute("BEGIN IMMEDIATE")
    end = threading.Timer(0.2, maker.execute, ("COMMIT",))
    end.start()
    assert index.state().cases == 0
    end.join()
    maker.close()
    assert outcomes(whole(folder, tmp_path / "cache")) == {"row-1": "passed"}


@pytest.mark.heavy
def test_two_viewers_share_an_index(tmp_path: Path) -> None:
    folder = write_verify_run(tmp_path / "run", rows=3000, body_size=20)
    indexes = [CaseIndex(folder, tmp_path / "cache") for _ in range(2)]

    def grow(index: CaseIndex) -> None:
        while index.grow(0.01):
            pass

    threads = [threading.Thread(target=grow, args=(index,)) for index in indexes]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [index.state().cases for index in indexes] == [3000, 3000]
    assert len(outcomes(indexes[0], '"Question 2999"')) == 1


def test_a_run_without_a_log_is_empty(tmp_path: Path) -> None:
    index = whole(tmp_path / "none", tmp_path / "cache")
    assert index.state().cases == 0
    assert outcomes(index) == {}


def test_the_line_of_a_case_is_that_of_the_log(small_run: Path, tmp_path: Path) -> None:
    line = whole(small_run, tmp_path).line("row-77")
    assert line is not None
    assert msgspec.json.decode(line)["case"] == "row-77"
    assert whole(small_run, tmp_path).line("row-0") is None


def test_hostile_text_is_indexed_as_it_is(hostile_run: Path, tmp_path: Path) -> None:
    index = whole(hostile_run, tmp_path)
    assert index.state().cases == 40
    [(model, number)] = index.facets(None)["model"]
    assert "<script>" in model
    assert number == 40


@pytest.mark.parametrize("number", [1 << 63, -1 << 70])
def test_numbers_beyond_those_of_the_index_do_not_stop_it(tmp_path: Path, number: int) -> None:
    of_row = msgspec.structs.replace(record("row-1"), row=RowFacts(index=number, content="00"))
    probe = ProbeFacts(probe="basic", iteration=number)
    log(tmp_path / "run", of_row, msgspec.structs.replace(record("row-2"), row=None, probe=probe))
    assert whole(tmp_path / "run", tmp_path / "cache").state().cases == 2
