"""The history written to files: JSON Lines, Parquet, or the CSV files of the older tool."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

from toolcert.core.errors import InputError, MissingExtraError, install_line
from toolcert.core.statistics.rates import PROBE_THRESHOLD
from toolcert.core.text.visible_text import harmless_cell_of_lines, visible_json
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

    `since` limits the results and the summary; the registry counts all days. `more` holds, by day and model, columns
    that the store does not keep, such as raw answers.
    """
    every = list(store.observations(probe=HELLO, originals=True))
    if not every:
        raise InputError(
            f"the history has no run of {HELLO}, the only probe that these files can hold.",
            remedy="Export it as jsonl or parquet, or probe with --suite hello.",
        )
    extra = more or {}
    latest = [_with_times(one, extra.get((one.day, one.model), {})) for one in latest_per_day(every)]
    found = [one for one in latest if since is None or one.day >= since]
    provider = any(PROVIDER in (observation.original or {}) for observation in found)
    columns = (*RESULTS, PROVIDER) if provider else RESULTS
    rows = [_completed(one, extra.get((one.day, one.model), {})) for one in found]
    _write(folder / RESULTS_FILE, columns, rows)
    _write(folder / REGISTRY_FILE, REGISTRY, _registry_rows(store, every, latest))
    _write(folder / SUMMARY_FILE, SUMMARY, _summary_rows(list(zip(found, rows, strict=True))))
    return len(found)


def latest_per_day(observations: Iterable[Observation]) -> list[Observation]:
    """One observation per model and day: the last run of the day that got an answer, else the last one."""
    latest: dict[tuple[str, str], Observation] = {}
    for observation in observations:
        target = (observation.day, observation.model)
        if observation.answered or target not in latest or not latest[target].answered:
            latest[target] = observation
    return sorted(latest.values(), key=lambda observation: (observation.day, observation.at))


def _with_times(observation: Observation, more: JsonObject) -> Observation:
    """With the times of the extra columns, so that every column and every mean tells of the same ones."""
    if observation.original is not None or "tool_call_time" not in more:
        return observation
    call, answer = more["tool_call_time"] or None, more["response_time"] or None
    return msgspec.structs.replace(observation, call_p50=call, answer_p50=answer)


def _completed(observation: Observation, more: JsonObject) -> JsonObject:
    """Add the extra columns; imported rows stay unchanged."""
    return result_row(observation) if observation.original is not None else result_row(observation) | more


def result_row(observation: Observation) -> JsonObject:
    """A row of test_results.csv: the imported row if there is one, else built from the observation."""
    if observation.original is not None:
        return observation.original
    call, answer = observation.call_p50 or 0.0, observation.answer_p50 or 0.0
    calling, handling = observation.calling.value, observation.handling.value
    supported, judged = bool(observation.called), observation.answered
    heard = judged and (not supported or bool(observation.handleable))
    return {
        "timestamp": datetime.fromtimestamp(observation.at, UTC).replace(tzinfo=None).isoformat(),
        "date": observation.day,
        "model_id": observation.model,
        "tool_call_support": supported if judged else "",
        "handles_response": bool(observation.handled) if heard else "",
        "is_reliable": is_reliable(observation) if supported and heard else "",
        "tool_call_time": round(call, 4),
        "response_time": round(answer, 4),
        "total_time": round(call + answer, 4),
        "iterations": observation.callable,
        "tool_success_rate": calling or 0.0 if judged else "",
        "response_success_rate": handling or 0.0 if heard else "",
        "details": observation.reason or "Consistent success across all iterations",
        "error_message": "" if supported else observation.reason,
    }


def is_reliable(observation: Observation) -> bool:
    """Calling and handling both reach the threshold of the older tool."""
    rates = (observation.calling.value, observation.handling.value)
    return all(rate is not None and rate >= PROBE_THRESHOLD for rate in rates)


def _registry_rows(
    store: HistoryStore, every: Sequence[Observation], latest: Sequence[Observation]
) -> list[JsonObject]:
    """One row per model: an imported row is continued by the days that were tested since."""
    rows: dict[str, JsonObject] = {row["model_id"]: row for row in store.registry()}
    imported = {(one.day, one.model): one for one in every if one.original is not None}
    by_model: dict[str, list[Observation]] = {}
    for observation in latest:
        by_model.setdefault(observation.model, []).append(observation)
    for model, seen in by_model.items():
        if model not in rows:
            rows[model] = _registry_row(model, {}, seen, [])
        elif new := [one for one in seen if one.original is None]:
            # A second run of a day takes the place of a row that the imported counters hold already.
            replaced = [one for new_one in new if (one := imported.get((new_one.day, model))) is not None]
            rows[model] = _registry_row(model, rows[model], new, replaced)
    return list(rows.values())


def _registry_row(
    model: str, before: Mapping[str, Any], new: Sequence[Observation], replaced: Sequence[Observation]
) -> JsonObject:
    """The counters of `before`, plus the new days, minus the days that they replace."""

    def count(column: str, holds: Callable[[Observation], bool]) -> int:
        change = sum(map(holds, new)) - sum(map(holds, replaced))
        return int(_number(before, column)) + change

    tests = count("total_tests", lambda one: one.answered)
    working = count("working_days", lambda one: bool(one.called))
    handling = count("response_handling_days", lambda one: bool(one.handled))
    calls, answers = _times(new)
    old_calls, old_answers = _times(replaced)
    return {
        "model_id": model,
        "first_seen": before.get("first_seen") or new[0].day,
        "last_seen": max(str(before.get("last_seen") or ""), new[-1].day),
        "ever_worked": _was_true(before, "ever_worked") or any(one.called for one in new),
        "ever_handled_response": _was_true(before, "ever_handled_response") or any(one.handled for one in new),
        "total_tests": tests,
        "working_days": working,
        "response_handling_days": handling,
        "display_name": before.get("display_name") or model.rpartition("/")[2],
        "last_error": next((one.reason for one in reversed(new) if not one.called), before.get("last_error") or ""),
        "avg_tool_time": _continued_mean(before, "avg_tool_time", "working_days", calls, old_calls),
        "avg_response_time": _continued_mean(
            before, "avg_response_time", "response_handling_days", answers, old_answers
        ),
        "best_tool_time": _best(before, "best_tool_time", calls),
        "best_response_time": _best(before, "best_response_time", answers),
        "consistency_score": working / max(1, tests),
    }


def _number(row: Mapping[str, Any], column: str) -> float:
    """A figure of an imported row; an empty or unreadable one counts as 0."""
    try:
        return float(row.get(column) or 0)
    except ValueError:
        return 0.0


def _was_true(row: Mapping[str, Any], column: str) -> bool:
    return str(row.get(column)).strip().lower() == "true"


def _times(observations: Iterable[Observation]) -> tuple[list[float], list[float]]:
    """The times of the days that count as working and as handling: so many days stand behind a mean."""
    seen = list(observations)
    calls = [one.call_p50 for one in seen if one.called and one.call_p50]
    return calls, [one.answer_p50 for one in seen if one.handled and one.answer_p50]


def _continued_mean(
    before: Mapping[str, Any], column: str, days: str, new: Sequence[float], replaced: Sequence[float]
) -> float:
    """The mean of a row continued by new values; the older mean weighs as much as the days behind it."""
    mean = _number(before, column)
    weight = max(1.0, _number(before, days)) if mean else 0.0
    known = weight + len(new) - len(replaced)
    return max(0.0, mean * weight + sum(new) - sum(replaced)) / known if known > 0 else 0.0


def _best(before: Mapping[str, Any], column: str, new: Sequence[float]) -> float:
    return min((value for value in (_number(before, column), *new) if value), default=0)


def _summary_rows(found: Sequence[tuple[Observation, JsonObject]]) -> list[JsonObject]:
    days: dict[str, list[tuple[Observation, JsonObject]]] = {}
    for one, row in found:
        days.setdefault(one.day, []).append((one, row))
    return [_summary_row(day, seen) for day, seen in sorted(days.items())]


def _summary_row(day: str, seen: Sequence[tuple[Observation, JsonObject]]) -> JsonObject:
    """The times are means over the same models: those that used the result and have both times."""
    timed = [(one.model, one.call_p50, one.answer_p50, row) for one, row in seen if one.handled]
    known = [(model, call, answer, row) for model, call, answer, row in timed if call and answer]
    totals = {model: _number(row, "total_time") or call + answer for model, call, answer, row in known}
    fastest = min(totals, key=lambda model: totals[model], default="")
    return {
        "date": day,
        "total_models": len(seen),
        "working_models": sum(bool(one.called) for one, _ in seen),
        "handling_models": sum(bool(one.handled) for one, _ in seen),
        "reliable_models": sum(is_reliable(one) for one, _ in seen),
        "avg_tool_time": _mean([call for _, call, _, _ in known]),
        "avg_response_time": _mean([answer for _, _, answer, _ in known]),
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
    writer.writerows({name: _harmless(value) for name, value in row.items()} for row in rows)
    write_whole(path, [out.getvalue().encode()])


def _harmless(value: object) -> object:
    """Names and reasons are a vendor's; an escape or a formula in them must not reach a terminal or a spreadsheet."""
    return harmless_cell_of_lines(value) if isinstance(value, str) else value


def export_jsonl(store: HistoryStore, path: Path, *, since: str | None = None) -> int:
    """Write every observation with its findings, one per line, and return their number."""
    found = store.observations(since=since, findings=True, originals=True)
    texts = [msgspec.json.encode(msgspec.structs.asdict(one)).decode() for one in found]
    lines = [visible_json(text).encode() + b"\n" for text in texts]
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
