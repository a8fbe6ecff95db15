"""The older tool's history files, in both directions."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from toolcert.core.errors import InputError
from toolcert.history.csv_import import PROVIDER, REGISTRY, RESULTS, SUMMARY, import_csv
from toolcert.history.daily_status import DayStatus
from toolcert.history.export import export_csv, is_reliable
from toolcert.history.observation import HELLO, Observation, StoredRun
from toolcert.history.overview import overview
from toolcert.history.store import HistoryStore


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def row(**values: str) -> dict[str, str]:
    base = {
        "timestamp": "2026-01-02T06:00:00.5", "date": "2026-01-02", "model_id": "m", "tool_call_support": "True",
        "handles_response": "True", "is_reliable": "True", "tool_call_time": "0.5", "response_time": "0.4",
        "total_time": "0.9", "iterations": "50", "tool_success_rate": "0.98", "response_success_rate": "0.979592",
        "details": "fine",
    }  # fmt: skip
    return base | values


def write(path: Path, found: list[dict[str, str]], columns: tuple[str, ...] = RESULTS) -> Path:
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, columns, restval="")
        writer.writeheader()
        writer.writerows(found)
    return path


@pytest.mark.heavy
def test_the_real_history_imports_and_exports_unchanged(location: str, recorded: Path, tmp_path: Path) -> None:
    source = recorded / "watsonx-history"
    with HistoryStore(location) as store:
        imported = import_csv(store, source)
        found = list(store.observations())
        export_csv(store, tmp_path / "out")
    assert (imported.rows, imported.models, imported.days, imported.registry) == (2298, 28, 90, 46)
    assert "2026-05-23" not in {one.day for one in found}
    assert sum(bool(one.called) for one in found) == 873
    assert sum(bool(one.handled) for one in found) == 784
    assert sum(is_reliable(one) for one in found) == 721
    for name in ("test_results.csv", "models_registry.csv"):
        before, after = rows(source / name), rows(tmp_path / "out" / name)
        assert sorted(map(str, before)) == sorted(map(str, after))
    assert list(rows(tmp_path / "out" / "daily_summary.csv")[0]) == list(SUMMARY)


def test_counts_are_recovered_by_rounding(tmp_path: Path) -> None:
    with HistoryStore(str(tmp_path / "h")) as store:
        import_csv(store, write(tmp_path / "t.csv", [row()]))
        (one,) = store.observations()
    assert (one.called, one.callable, one.handled, one.handleable) == (49, 50, 48, 49)


def test_an_iteration_without_a_second_answer_widens_no_interval(tmp_path: Path) -> None:
    file = write(tmp_path / "test_results.csv", [row(tool_success_rate="1.0", response_success_rate="")])
    with HistoryStore(str(tmp_path / "h.sqlite")) as store:
        import_csv(store, file)
        (seen,) = store.observations(probe=HELLO)
    assert (seen.measured, seen.low, seen.high) == (0, None, None)


def test_the_latest_of_a_day_counts_and_values_survive_as_text(tmp_path: Path) -> None:
    found = [
        row(timestamp="2026-01-02T09:00:00", details="later"),
        row(),
        row(model_id="n", date="2026-01-02T07:00:00"),
    ]
    with HistoryStore(str(tmp_path / "h")) as store:
        imported = import_csv(store, write(tmp_path / "t.csv", found))
        export_csv(store, tmp_path / "out")
    assert (imported.rows, imported.replaced) == (2, 1)
    exported = {one["model_id"]: one for one in rows(tmp_path / "out" / "test_results.csv")}
    assert exported["m"]["details"] == "later"
    assert exported["m"]["response_success_rate"] == "0.979592"
    assert exported["n"]["date"] == "2026-01-02T07:00:00"


def test_a_22nd_column_newlines_and_crlf_are_taken(tmp_path: Path) -> None:
    found = [row(details="first\r\nsecond, with a comma") | {PROVIDER: "ibm"}]
    with HistoryStore(str(tmp_path / "h")) as store:
        import_csv(store, write(tmp_path / "t.csv", found, (*RESULTS, PROVIDER)))
        export_csv(store, tmp_path / "out")
    (one,) = rows(tmp_path / "out" / "test_results.csv")
    assert one[PROVIDER] == "ibm"
    assert one["details"] == "first\r\nsecond, with a comma"


def test_rows_as_a_spreadsheet_leaves_them_are_read(tmp_path: Path) -> None:
    """A mark at the beginning, empty lines, whole numbers with a point, and cells as long as an answer may be."""
    path = write(tmp_path / "t.csv", [row(iterations="5.0", details="x" * 200_000)])
    path.write_text(f"\ufeff{path.read_text()}\n   \n,,,,\n")
    with HistoryStore(str(tmp_path / "h")) as store:
        imported = import_csv(store, path)
        (one,) = store.observations()
    assert (imported.rows, one.callable, len(one.reason)) == (1, 5, 200_000)


def test_a_model_whose_name_looks_like_a_formula_keeps_it(tmp_path: Path) -> None:
    place = tmp_path / "out"
    with HistoryStore(str(tmp_path / "h")) as store:
        import_csv(store, write(tmp_path / "t.csv", [row(model_id="@cf/m"), row(model_id="'quoted'")]))
        export_csv(store, place)
    assert {one["model_id"] for one in rows(place / "test_results.csv")} == {"'@cf/m", "'quoted'"}
    with HistoryStore(str(tmp_path / "again")) as store:
        import_csv(store, place)
        assert {one.model for one in store.observations()} == {"@cf/m", "'quoted'"}
        assert {one["model_id"] for one in store.registry()} == {"@cf/m", "'quoted'"}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("a,b\n1,2\n", "has no column"),
        (
            "date,model_id,tool_call_support,handles_response,iterations,tool_success_rate\nx,m,True,True,5,1\n",
            "line 2",
        ),
        (
            "date,model_id,tool_call_support,handles_response,iterations,tool_success_rate\n2026-01-01,m,T,T,x,1\n",
            "line 2",
        ),
    ],
)
def test_a_wrong_file_is_named_with_its_line(tmp_path: Path, content: str, message: str) -> None:
    path = tmp_path / "t.csv"
    path.write_text(content)
    with HistoryStore(str(tmp_path / "h")) as store, pytest.raises(InputError, match=message):
        import_csv(store, path)


def test_registry_columns_are_the_fifteen_of_the_text(tmp_path: Path) -> None:
    with HistoryStore(str(tmp_path / "h")) as store:
        import_csv(
            store, write(tmp_path / "t.csv", [row(), row(date="2026-01-03", tool_success_rate="0", iterations="5")])
        )
        export_csv(store, tmp_path / "out")
    (one,) = rows(tmp_path / "out" / "models_registry.csv")
    assert tuple(one) == REGISTRY
    assert (one["total_tests"], one["working_days"], one["ever_worked"], one["last_seen"]) == (
        "2",
        "1",
        "True",
        "2026-01-03",
    )


def test_a_model_that_was_not_asked_is_told_from_one_that_did_not_answer(tmp_path: Path) -> None:
    """Through the files and back: an embedding model has no outage every day."""
    day = "2026-01-03"
    common = {"run": "r", "endpoint": "e", "probe": HELLO, "day": day, "at": 1.0}
    found = [
        Observation(**common, model="embedder", unsupported=1, reason="has no chat function"),
        Observation(**common, model="silent", not_measured=5, reason="HTTP 503"),
    ]
    with HistoryStore(str(tmp_path / "h")) as store:
        store.add_all([(StoredRun(run="r", day=day, started_at=1.0, source="probe"), found)])
        export_csv(store, tmp_path / "out")
    written = {one["model_id"]: one["tool_call_support"] for one in rows(tmp_path / "out" / "test_results.csv")}
    assert written == {"embedder": "False", "silent": ""}
    with HistoryStore(str(tmp_path / "again")) as store:
        import_csv(store, tmp_path / "out")
        models = overview(store).models
    assert {one.model: one.days[0].status for one in models} == {
        "embedder": DayStatus.NOT_SUPPORTED,
        "silent": DayStatus.NOT_MEASURED,
    }
