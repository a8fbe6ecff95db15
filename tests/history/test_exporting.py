"""The history in our own form."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest

from support.histories import GOOD, Counts, day_of, seen, stored
from toolcert.core.errors import OutputError
from toolcert.history.export import export_jsonl, export_parquet
from toolcert.history.observation import Observation
from toolcert.history.store import HistoryStore

COURSE: dict[str, list[Counts | str]] = {"a": [GOOD, (0, 0), None], "b": [GOOD, (50, 10), "-"]}


def everything() -> list[Observation]:
    days = [(model, day_of(n), counts) for model, course in COURSE.items() for n, counts in enumerate(course)]
    rows = [seen(model, day, counts) for model, day, counts in days if not isinstance(counts, str)]
    return sorted(rows, key=lambda row: (row.day, row.model))


def test_each_line_is_an_observation_that_reads_back(location: str, tmp_path: Path) -> None:
    with HistoryStore(stored(location, COURSE)) as store:
        number = export_jsonl(store, tmp_path / "out" / "h.jsonl")
    lines = (tmp_path / "out" / "h.jsonl").read_bytes().splitlines()
    read = [msgspec.json.decode(line, type=Observation) for line in lines]
    assert number == len(read) == 5
    assert sorted(read, key=lambda row: (row.day, row.model)) == everything()


@pytest.mark.heavy  # the empty table is written and read among the fast ones
def test_parquet_holds_the_same_with_types_and_findings_as_json(location: str, tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    with HistoryStore(stored(location, COURSE)) as store:
        assert export_parquet(store, tmp_path / "h.parquet") == 5
    table = parquet.read_table(tmp_path / "h.parquet")
    rows = {(row["model"], row["day"]): row for row in table.to_pylist()}
    assert table.num_rows == 5
    assert str(table.schema.field("called").type) == "int64"
    broken = rows["a", day_of(1)]
    assert (broken["called"], broken["callable"], broken["reason"]) == (0, 50, "does not call")
    assert json.loads(broken["findings"])[0]["code"] == "call.in_text"
    assert rows["a", day_of(2)]["not_measured"] == 50


def test_only_the_days_asked_for(tmp_path: Path) -> None:
    with HistoryStore(stored(str(tmp_path / "h"), COURSE)) as store:
        assert export_jsonl(store, tmp_path / "h.jsonl", since=day_of(2)) == 1


@pytest.mark.heavy
def test_an_empty_history_is_an_empty_table(tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    with HistoryStore(str(tmp_path / "h")) as store:
        assert export_jsonl(store, tmp_path / "h.jsonl") == export_parquet(store, tmp_path / "h.parquet") == 0
    assert (tmp_path / "h.jsonl").read_bytes() == b""
    table = parquet.read_table(tmp_path / "h.parquet")
    assert table.num_rows == 0
    assert str(table.schema.field("call_p50").type) == "double"


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with HistoryStore(stored(str(tmp_path / "h"), COURSE)) as store, pytest.raises(OutputError, match="file"):
        export_jsonl(store, tmp_path / "file" / "h.jsonl")
