"""Import the history files of watsonx-tool-tester: columns by header, counts recomputed, original rows kept."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path

from toolcert.core.errors import InputError
from toolcert.core.statistics.rates import wilson
from toolcert.core.text.visible_text import original_cell
from toolcert.core.values import JsonObject, Value
from toolcert.history.observation import HELLO, Observation, StoredRun
from toolcert.history.store import HistoryStore

RESULTS = (
    "timestamp",
    "date",
    "model_id",
    "tool_call_support",
    "handles_response",
    "is_reliable",
    "tool_call_time",
    "response_time",
    "total_time",
    "iterations",
    "tool_success_rate",
    "response_success_rate",
    "details",
    "tool_call_raw",
    "response_raw",
    "error_message",
    "test_prompt",
    "expected_result",
    "actual_result",
    "model_version",
    "test_config",
)
PROVIDER = "model_provider"
"""An extra column that some files have."""
NEEDED = ("date", "model_id", "tool_call_support", "handles_response", "iterations", "tool_success_rate")
"""Columns that an import cannot do without."""
_MOST_ITERATIONS = 1_000_000
_LONGEST_CELL = 2**31 - 1
"""Characters; the default of the csv module is less than an answer may be long."""
REGISTRY = (
    "model_id",
    "first_seen",
    "last_seen",
    "ever_worked",
    "ever_handled_response",
    "total_tests",
    "working_days",
    "response_handling_days",
    "display_name",
    "last_error",
    "avg_tool_time",
    "avg_response_time",
    "best_tool_time",
    "best_response_time",
    "consistency_score",
)
SUMMARY = (
    "date",
    "total_models",
    "working_models",
    "handling_models",
    "reliable_models",
    "avg_tool_time",
    "avg_response_time",
    "avg_total_time",
    "fastest_model",
    "fastest_time",
)
PARTIAL = "only_some_models"
"""The entry of test_config that distinguishes a run of some listed models from a run of all."""
RESULTS_FILE = "test_results.csv"
REGISTRY_FILE = "models_registry.csv"
SUMMARY_FILE = "daily_summary.csv"


ENDPOINT = "imported"
"""The endpoint of imported rows unless another one is given."""


class Imported(Value):
    """What an import added."""

    rows: int
    models: int
    days: int
    replaced: int = 0
    """Rows left out because a later row has the same model and day."""
    registry: int = 0


def import_csv(store: HistoryStore, path: Path, *, endpoint: str = ENDPOINT) -> Imported:
    """Import a test_results.csv, or the folder that holds it; models_registry.csv beside it is imported too."""
    results = path / RESULTS_FILE if path.is_dir() else path
    latest: dict[tuple[str, str], Observation] = {}
    rows = 0
    for observation in _observations(results, endpoint):
        rows += 1
        key = (observation.day, observation.model)
        if key not in latest or observation.at >= latest[key].at:
            latest[key] = observation
    store.add_all(_by_day(latest.values(), endpoint))
    registry = results.parent / REGISTRY_FILE
    kept = import_registry(store, registry) if registry.is_file() else 0
    return Imported(
        rows=len(latest),
        models=len({model for _, model in latest}),
        days=len({day for day, _ in latest}),
        replaced=rows - len(latest),
        registry=kept,
    )


def _by_day(observations: Iterable[Observation], endpoint: str) -> Iterator[tuple[StoredRun, list[Observation]]]:
    days: dict[str, list[Observation]] = {}
    for observation in observations:
        days.setdefault(observation.day, []).append(observation)
    for day, found in sorted(days.items()):
        began = min(observation.at for observation in found)
        partial = all(_is_of_chosen_models(observation.original or {}) for observation in found)
        run = StoredRun(
            run=_run(day, endpoint), day=day, started_at=began, source="csv", suite="hello", partial=partial
        )
        yield run, found


def _is_of_chosen_models(row: JsonObject) -> bool:
    """Whether the run of a row asked only some of the listed models, which our own rows say in their last column."""
    try:
        config = json.loads(row.get("test_config") or "{}")
    except ValueError:  # the older tool writes what Python prints
        return False
    return isinstance(config, dict) and bool(config.get(PARTIAL))


def _run(day: str, endpoint: str) -> str:
    return f"csv-{day}" if endpoint == ENDPOINT else f"csv-{day}-{endpoint}"


def _observations(path: Path, endpoint: str) -> Iterator[Observation]:
    for line, row in csv_rows(path, NEEDED):
        try:
            yield _observation(row, endpoint)
        except ValueError as error:
            raise InputError(f"{path}, line {line}: {error}.", remedy="Correct or remove the row.") from None


def csv_rows(path: Path, needed: Iterable[str] = ()) -> Iterator[tuple[int, JsonObject]]:
    """The rows of one of the files with their lines, without empty ones."""
    csv.field_size_limit(_LONGEST_CELL)
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            reader = csv.DictReader(file)
            missing = [name for name in needed if name not in (reader.fieldnames or ())]
            if missing:
                raise InputError(
                    f"{path} has no column {', '.join(missing)}.",
                    remedy="Give the test_results.csv of watsonx-tool-tester.",
                )
            for row in reader:
                cells = {name: original_cell(value or "") for name, value in row.items() if name is not None}
                if any(cell.strip() for cell in cells.values()):
                    yield reader.line_num, cells
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"cannot read {path}: {error}.") from None


def _observation(row: JsonObject, endpoint: str) -> Observation:
    day = _moment(row["date"]).date().isoformat()
    iterations = iterations_of(row)
    called = round(_rate(row["tool_success_rate"]) * iterations)
    # The older tool divides by the number of calls, so without a call there is nothing to handle.
    handled = round(_rate(row.get("response_success_rate")) * called)
    unheard = called if row.get("response_success_rate") == "" else 0  # as our own export writes a lost second turn
    interval = wilson(handled, iterations - unheard)
    refused = (
        not iterations and row["tool_call_support"].strip().lower() == "false"
    )  # as our own export writes a refusal
    return Observation(
        run=_run(day, endpoint),
        endpoint=endpoint,
        model=row["model_id"],
        probe=HELLO,
        day=day,
        at=_moment(row.get("timestamp") or row["date"]).timestamp(),
        passed=handled,
        failed=iterations - handled - unheard,
        unsupported=int(refused),
        not_measured=unheard or int(not iterations and not refused),
        called=called,
        callable=iterations,
        handled=handled,
        handleable=called - unheard,
        low=interval.lower if interval else None,
        high=interval.upper if interval else None,
        call_p50=time_of(row.get("tool_call_time")),
        answer_p50=time_of(row.get("response_time")),
        reason=row.get("details") or "",
        original=row,
    )


def iterations_of(row: JsonObject) -> int:
    """How often a model was asked; a spreadsheet may have made 5.0 of it."""
    number = _number(row["iterations"])
    if not 0 <= number <= _MOST_ITERATIONS or number % 1:
        raise ValueError(f"{row['iterations']!r} is not a number of iterations")
    return int(number)


def _moment(text: str) -> datetime:
    """A date, or a date with a time; UTC unless a zone is given."""
    try:
        moment = datetime.fromisoformat(text.strip())
    except ValueError:
        raise ValueError(f"{text!r} is not a date") from None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _number(text: str | None) -> float:
    return float(text) if text and text.strip() else 0.0


def _rate(text: str | None) -> float:
    rate = _number(text)
    if not 0 <= rate <= 1:
        raise ValueError(f"{text!r} is not a rate between 0 and 1")
    return rate


def time_of(text: str | None) -> float | None:
    """A time in seconds; the older tool writes 0.0 if nothing was measured."""
    seconds = _number(text)
    return seconds if 0 < seconds < float("inf") else None


def import_registry(store: HistoryStore, path: Path) -> int:
    """Import a models_registry.csv and return the number of its rows."""
    rows = [row for _, row in csv_rows(path, REGISTRY[:1])]
    store.keep_registry(rows)
    return len(rows)
