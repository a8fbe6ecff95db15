"""The history written to files: JSON Lines, Parquet, or the CSV files of the older tool."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

from toolcert.core.errors import InputError, MissingExtraError, install_line
from toolcert.core.statistics import PROBE_THRESHOLD
from toolcert.core.values import JsonObject
from toolcert.history import database
from toolcert.history.csv_import import PROVIDER, REGISTRY, REGISTRY_FILE, RESULTS, RESULTS_FILE, SUMMARY, SUMMARY_FILE
from toolcert.history.observation import HELLO, Observation
from toolcert.history.store import HistoryStore
from toolcert.runs.files import write_whole


def export_csv(
    store: HistoryStore,
    folder: Path,
    *,
    since: str | None = None,
    more: Mapping[tuple[str, str], JsonObject] | None = None,
) -> int:
    """Write the three files and return the number of rows of test_results.csv.

    `more` holds, by day and model, columns that the store does not keep, such as raw answers.
    """
    extra = more or {}
    found = latest_per_day(store.observations(probe=HELLO, since=since, originals=True))
    if not found:
        raise InputError(
            f"the history has no run of {HELLO}, the only probe that these files can hold.",
            remedy="Export it as jsonl or parquet, or probe with --suite hello.",
        )
    provider = any(PROVIDER in (observation.original or {}) for observation in found)
    columns = (*RESULTS, PROVIDER) if provider else RESULTS
    _write(folder / RESULTS_FILE, columns, [_completed(one, extra.get((one.day, one.model), {})) for one in found])
    _write(folder / REGISTRY_FILE, REGISTRY, _registry_rows(store, found))
    _write(folder / SUMMARY_FILE, SUMMARY, _summary_rows(found))
    return len(found)


def latest_per_day(observations: Iterable[Observation]) -> list[Observation]:
    """One observation per model and day: the last run of the day that got an answer, else the last one."""
    latest: dict[tuple[str, str], Observation] = {}
    for observation in observations:
        target = (observation.day, observation.model)
        if observation.answered or target not in latest or not latest[target].answered:
            latest[target] = observation
    return sorted(latest.values(), key=lambda observation: (observation.day, observation.at))


def _completed(observation: Observation, more: JsonObject) -> JsonObject:
    """Add the extra columns; imported rows stay unchanged."""
    return result_row(observation) if observation.original is not None else result_row(observation) | more


def result_row(observation: Observation) -> JsonObject:
    """A row of test_results.csv: the imported row if there is one, else built from the observation."""
    if observation.original is not None:
        return observation.original
    call, answer = observation.call_p50 or 0.0, observation.answer_p50 or 0.0
    calling, handling = observation.calling.value, observation.handling.value
    supported = bool(observation.called)
    return {
        "timestamp": datetime.fromtimestamp(observation.at, UTC).replace(tzinfo=None).isoformat(),
        "date": observation.day,
        "model_id": observation.model,
        "tool_call_support": supported if observation.answered else "",
        "handles_response": bool(observation.handled) if observation.answered else "",
        "is_reliable": is_reliable(observation) if supported else "",
        "tool_call_time": round(call, 4),
        "response_time": round(answer, 4),
        "total_time": round(call + answer, 4),
        "iterations": observation.callable,
        "tool_success_rate": calling or 0.0,
        "response_success_rate": handling or 0.0,
        "details": observation.reason or "Consistent success across all iterations",
        "error_message": "" if supported else observation.reason,
    }


def is_reliable(observation: Observation) -> bool:
    """Calling and handling both reach the threshold of the older tool."""
    rates = (observation.calling.value, observation.handling.value)
    return all(rate is not None and rate >= PROBE_THRESHOLD for rate in rates)


def _registry_rows(store: HistoryStore, found: Sequence[Observation]) -> list[JsonObject]:
    """Imported rows are kept until toolcert has tested the model itself."""
    rows: dict[str, JsonObject] = {row["model_id"]: row for row in store.registry()}
    by_model: dict[str, list[Observation]] = {}
    for observation in found:
        by_model.setdefault(observation.model, []).append(observation)
    for model, seen in by_model.items():
        if model not in rows or any(observation.original is None for observation in seen):
            rows[model] = _registry_row(model, seen, rows.get(model))
    return list(rows.values())


def _registry_row(model: str, seen: Sequence[Observation], before: Mapping[str, Any] | None) -> JsonObject:
    working = [observation for observation in seen if observation.called]
    handling = [observation for observation in seen if observation.handled]
    calls = [observation.call_p50 for observation in seen if observation.call_p50]
    answers = [observation.answer_p50 for observation in seen if observation.answer_p50]
    return {
        "model_id": model,
        "first_seen": (before or {}).get("first_seen") or seen[0].day,
        "last_seen": seen[-1].day,
        "ever_worked": bool(working),
        "ever_handled_response": bool(handling),
        "total_tests": len(seen),
        "working_days": len({observation.day for observation in working}),
        "response_handling_days": len({observation.day for observation in handling}),
        "display_name": model.rpartition("/")[2],
        "last_error": next((one.reason for one in reversed(seen) if not one.called), ""),
        "avg_tool_time": _mean(calls),
        "avg_response_time": _mean(answers),
        "best_tool_time": min(calls, default=0),
        "best_response_time": min(answers, default=0),
        "consistency_score": len(working) / max(1, sum(one.answered for one in seen)),
    }


def _summary_rows(found: Sequence[Observation]) -> list[JsonObject]:
    days: dict[str, list[Observation]] = {}
    for observation in found:
        days.setdefault(observation.day, []).append(observation)
    return [_summary_row(day, seen) for day, seen in sorted(days.items())]


def _summary_row(day: str, seen: Sequence[Observation]) -> JsonObject:
    calls = [one.call_p50 for one in seen if one.call_p50]
    answers = [one.answer_p50 for one in seen if one.answer_p50]
    totals = {one.model: one.call_p50 + one.answer_p50 for one in seen if one.call_p50 and one.answer_p50}
    fastest = min(totals, key=lambda model: totals[model], default="")
    return {
        "date": day,
        "total_models": len(seen),
        "working_models": sum(bool(one.called) for one in seen),
        "handling_models": sum(bool(one.handled) for one in seen),
        "reliable_models": sum(is_reliable(one) for one in seen),
        "avg_tool_time": _mean(calls),
        "avg_response_time": _mean(answers),
        "avg_total_time": _mean(list(totals.values())),
        "fastest_model": fastest,
        "fastest_time": totals.get(fastest, 0.0),
    }


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0


def _write(path: Path, columns: Sequence[str], rows: Iterable[JsonObject]) -> None:
    out = io.StringIO(newline="")
    writer = csv.DictWriter(out, columns, restval="", extrasaction="ignore")
    writer.writeheader()
    writer.writerows(rows)
    write_whole(path, [out.getvalue().encode()])


def export_jsonl(store: HistoryStore, path: Path, *, since: str | None = None) -> int:
    """Write every observation with its findings, one per line, and return their number."""
    found = store.observations(since=since, findings=True, originals=True)
    lines = [msgspec.json.encode(msgspec.structs.asdict(one)) + b"\n" for one in found]
    write_whole(path, lines)
    return len(lines)


def export_parquet(store: HistoryStore, path: Path, *, since: str | None = None) -> int:
    """Write every observation as a row of a Parquet file, nested values as JSON text, and return their number."""
    try:
        import pyarrow as arrow
        from pyarrow import parquet
    except ModuleNotFoundError:
        raise MissingExtraError("Parquet needs pyarrow.", remedy=install_line("parquet")) from None
    rows = [_flat(one) for one in store.observations(since=since, findings=True, originals=True)]
    kinds = {int: arrow.int64(), float: arrow.float64()}
    columns = [(column.name, kinds.get(column.type.python_type, arrow.string())) for column in database.observations.c]
    table = arrow.Table.from_pylist(rows, schema=arrow.schema([*columns, ("findings", arrow.string())]))
    file = arrow.BufferOutputStream()
    parquet.write_table(table, file)
    write_whole(path, [file.getvalue()])
    return len(rows)


def _flat(one: Observation) -> dict[str, object]:
    return {
        name: msgspec.json.encode(value).decode() if isinstance(value, dict | tuple) else value
        for name, value in msgspec.structs.asdict(one).items()
    }
