"""The history files: read, extended by a run, limited to the days that are kept, and written again."""

from __future__ import annotations

import json
import logging
import os
import shutil
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, Any, NamedTuple

from toolcert.api.history import add_summary
from toolcert.api.probe import ProbeRun
from toolcert.core.exchanges import Exchange, Reply
from toolcert.core.records import Record
from toolcert.history.csv_import import (
    PARTIAL,
    REGISTRY_FILE,
    RESULTS_FILE,
    SUMMARY_FILE,
    csv_rows,
    import_csv,
    import_registry,
    time_of,
)
from toolcert.history.export import export_csv, latest_per_day
from toolcert.history.observation import HELLO, Observation, StoredRun, day_of, today
from toolcert.history.overview import Overview, overview
from toolcert.history.store import HistoryStore
from toolcert.probes.catalogue.hello_world import expected_greeting
from toolcert.protocol.reply import read_reply
from toolcert.reports.display_text import LONGEST_CELL, plural
from toolcert.runs.files import check_writable, output_errors
from toolcert.runs.reader import RunReader
from toolcert.runs.writer import wait_for_lock
from watsonx_tool_tester.config import RELIABILITY_THRESHOLD, Config

FILES = (RESULTS_FILE, REGISTRY_FILE, SUMMARY_FILE)
KEPT_DAYS = 90
_TIMES = {
    "tool_call_time": "tool_call_time",
    "response_time": "response_processing_time",
    "total_time": "total_time",
}
"""The columns of times by the names that they have in a result."""
_FLAGS = {"true": True, "false": False}
_LONGEST_WAIT = 60.0
"""Seconds; others hold the files only while they write them."""


def check_history(config: Config) -> None:
    """Refuse, before anything is asked, files that cannot be read or written."""
    folder = Path(config.history_dir)
    for name in FILES:
        check_writable(folder / name)
    with _store_of(folder, config.client_type.value):
        pass


def save_history(run: ProbeRun, results: Sequence[dict[str, Any]], config: Config) -> list[str]:
    """Add a run to the three files and return what is to be said about older rows.

    It replaces an earlier run of the same day.
    """
    folder = Path(config.history_dir)
    day = day_of(run.summary.started_at)
    more = {(day, model): row for model, row in _evidence(run, config).items()}
    for result in results:
        more[day, result["model"]] |= _times(result)
    with _alone(folder), _store_of(folder, config.client_type.value) as files:
        add_summary(run.summary, files.location)
        return _write(files, folder, _first_day(day, config.history_days), more)


def history_overview(folder: Path, *, endpoint: str = "watsonx", days: int = KEPT_DAYS) -> Overview:
    """What the files tell of the last days."""
    with _store_of(folder, endpoint) as files:
        return overview(files.store, days=days)


def rows_of_last_day(folder: Path) -> list[dict[str, str]]:
    """What the last tested day says of each model."""
    rows = read_rows(folder / RESULTS_FILE)
    last = max((row["date"] for row in rows), default="")
    return [row for row in rows if row["date"] == last]


def result_of(row: Mapping[str, str]) -> dict[str, Any]:
    """The part of a result dictionary that a row holds."""
    called, handled, reliable = (
        _FLAGS.get(row.get(name, "").strip().lower())
        for name in ("tool_call_support", "handles_response", "is_reliable")
    )
    call, answer = (time_of(row.get(name)) or 0.0 for name in ("tool_call_time", "response_time"))
    return {
        "model": row["model_id"],
        "tool_call_support": called,
        "handles_response": handled,
        "details": row.get("details", ""),
        "response_times": dict(zip(_TIMES.values(), (call, answer, call + answer), strict=True)),
        "reliability": {"is_reliable": reliable},
    }


def clean_up(folder: Path, days: int = KEPT_DAYS) -> list[str]:
    """Drop the rows older than `days` days and return what is to be said about them."""
    if not (folder / RESULTS_FILE).is_file():
        return []
    with _alone(folder), _store_of(folder, "history") as files:
        if files.store.last_day() is None:
            return []
        return _write(files, folder, _first_day(today(), days), {})


def read_rows(path: Path) -> list[dict[str, str]]:
    """The rows of one of the files; none if it does not exist."""
    return [row for _, row in csv_rows(path)] if path.is_file() else []


class HistoryManager:
    """The files under the names that scripts of the older package import."""

    def __init__(self, history_dir: str = "reports/history") -> None:
        self.history_dir = history_dir
        self.results_file, self.models_file, self.summary_file = (str(Path(history_dir, name)) for name in FILES)

    def record_test_results(self, results: Sequence[Mapping[str, Any]], test_date: str | None = None) -> None:
        """Add result dictionaries of `ModelTester` as the results of a day, today unless another is given."""
        day = test_date or today()
        run = StoredRun(run=f"results-{day}", day=day, started_at=time.time(), source="probe", suite="hello")
        found = [_observation(result, run) for result in results]
        more = {(day, result["model"]): _times(result) for result in results}
        folder = Path(self.history_dir)
        with _alone(folder), _store_of(folder, "results") as files:
            files.store.add(run, found)
            _tell(_write(files, folder, "", more))

    def cleanup_old_data(self, days_to_keep: int = KEPT_DAYS) -> None:
        """Drop older rows; if all would go, a backup stays beside the file."""
        _tell(clean_up(Path(self.history_dir), days_to_keep))

    def get_model_history(self, model_id: str, days: int = 30) -> list[dict[str, str]]:
        """The rows of a model in the last days, oldest first."""
        rows = self._since(self.results_file, days)
        return [row for row in rows if row["model_id"] == model_id]

    def get_daily_summary_history(self, days: int = 30) -> list[dict[str, str]]:
        """The rows of daily_summary.csv in the last days, oldest first."""
        return self._since(self.summary_file, days)

    def get_trackable_models(self) -> list[dict[str, str]]:
        """The registry rows of models that ever called the tool."""
        return [row for row in read_rows(Path(self.models_file)) if row["ever_worked"].lower() == "true"]

    def _since(self, path: str, days: int) -> list[dict[str, str]]:
        first = _first_day(today(), days)
        found = [row for row in read_rows(Path(path)) if (row.get("date") or row.get("datetime") or "") >= first]
        return sorted(found, key=lambda row: row.get("date") or row.get("datetime") or "")


def _tell(sentences: Sequence[str]) -> None:
    for sentence in sentences:
        logging.getLogger("watsonx_tool_tester").warning(sentence)


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Wait for other processes that change the files, so that none of them loses the rows of another."""
    place = folder / ".lock"
    while True:
        with output_errors(place):
            folder.mkdir(parents=True, exist_ok=True)
            file = place.open("ab")
        wait_for_lock(file, place, _LONGEST_WAIT)
        if _is_at(file, place):
            break
        file.close()  # whoever held it before has deleted it
    with file:
        try:
            yield
        finally:
            with suppress(OSError):  # no lock is left in a folder that is committed as it is
                place.unlink()


def _is_at(file: IO[bytes], path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(file.fileno()), path.stat())
    except FileNotFoundError:
        return False


class _Files(NamedTuple):
    """A temporary store that holds what the files hold."""

    store: HistoryStore
    location: str
    joined: int
    """Rows that gave way to a later one of the same model and day."""


@contextmanager
def _store_of(folder: Path, endpoint: str) -> Iterator[_Files]:
    with TemporaryDirectory(prefix="watsonx-tool-tester-") as scratch:
        location = str(Path(scratch) / "history.sqlite")
        with HistoryStore(location) as store:
            joined = 0
            if (folder / RESULTS_FILE).is_file():
                joined = import_csv(store, folder, endpoint=endpoint).replaced
            elif (folder / REGISTRY_FILE).is_file():
                import_registry(store, folder / REGISTRY_FILE)
            yield _Files(store, location, joined)


def _write(files: _Files, folder: Path, first_day: str, more: Mapping[tuple[str, str], dict[str, Any]]) -> list[str]:
    """Write the three files without the rows before `first_day`, and say which rows go."""
    imported = [one for one in latest_per_day(files.store.observations(probe=HELLO, originals=True)) if one.original]
    old = [one for one in imported if one.day < first_day]
    said = []
    if files.joined:
        gone = plural(files.joined, "earlier row")
        said.append(f"{gone} left {folder / RESULTS_FILE}: it now has one per model and day, the last.")
    if old:
        said.append(f"{plural(len(old), 'row')} before {first_day} left {folder / RESULTS_FILE} (--history-days).")
    if old and len(old) == len(imported):
        # A file whose every row is too old was kept for a reason, or the clock is wrong.
        said += [f"The file as it was is {_backup(folder / name)}." for name in FILES if (folder / name).is_file()]
    export_csv(files.store, folder, since=first_day, more=more)
    return said


def _backup(path: Path) -> Path:
    """A copy beside the file, under a name that is free."""
    names = (path.with_name(f"{path.stem}.backup-{number}{path.suffix}") for number in range(1, 10_000))
    target = next(name for name in names if not name.exists())
    with output_errors(target):
        shutil.copy2(path, target)
    return target


def _first_day(last: str, days: int) -> str:
    return (datetime.fromisoformat(last).replace(tzinfo=UTC) - timedelta(days=days - 1)).date().isoformat()


def _times(result: Mapping[str, Any]) -> dict[str, Any]:
    """The three columns of times, as in the report."""
    times = result.get("response_times") or {}
    return {column: round(times.get(name) or 0.0, 4) for column, name in _TIMES.items()}


def _observation(result: Mapping[str, Any], run: StoredRun) -> Observation:
    """One result dictionary as the store keeps it; counts that it does not hold follow from its rates."""
    reliability, times = result.get("reliability") or _of_one_iteration(result), result.get("response_times") or {}
    iterations = int(reliability.get("iterations") or 0)
    called = reliability.get("tool_calls")
    called = round((reliability.get("tool_call_success_rate") or 0.0) * iterations) if called is None else called
    rate = reliability.get("response_handling_success_rate") or 0.0
    handled, judged = reliability.get("responses_handled"), reliability.get("responses_measured", called)
    handled = round(rate * judged) if handled is None else handled
    refused = result["tool_call_support"] is False and not iterations
    return Observation(
        run=run.run,
        endpoint="results",
        model=result["model"],
        probe=HELLO,
        day=run.day,
        at=run.started_at,
        passed=handled,
        failed=iterations - handled,
        unsupported=int(refused),
        not_measured=int(result["tool_call_support"] is None),
        called=called,
        callable=iterations,
        handled=handled,
        handleable=judged,
        call_p50=times.get("tool_call_time") or None,
        answer_p50=times.get("response_processing_time") or None,
        reason=result.get("details") or "",
    )


def _of_one_iteration(result: Mapping[str, Any]) -> dict[str, Any]:
    """The figures of a result without any, as older scripts write it by hand."""
    called, handled = result["tool_call_support"], result.get("handles_response")
    return {
        "iterations": int(called is not None),
        "tool_call_success_rate": float(bool(called)),
        "response_handling_success_rate": float(bool(handled)),
        "responses_measured": int(bool(called) and handled is not None),
    }


def _evidence(run: ProbeRun, config: Config) -> dict[str, dict[str, Any]]:
    """The raw request and answer of each model, from its first iteration with an answer."""
    asked = {"client": config.client_type.value, "iterations": config.iterations, "threshold": RELIABILITY_THRESHOLD}
    asked |= {PARTIAL: True} if run.summary.partial else {}
    found = {one.model: {"model_version": one.model, "actual_result": one.reason} for one in run.summary.models}
    for record in RunReader(Path(run.folder)).records():
        if "test_prompt" not in found.get(record.model, {"test_prompt": ""}) and record.detail.exchanges:
            found[record.model] = _row(record)
    return {model: row | {"test_config": json.dumps(asked)} for model, row in found.items()}


def _row(record: Record) -> dict[str, Any]:
    first, *later = record.detail.exchanges
    prompt = str(first.request.body["messages"][0]["content"])
    last = _reply(later[-1] if later else first)
    return {
        "tool_call_raw": _raw(first),
        "response_raw": _raw(later[-1]) if later else "",
        "test_prompt": prompt,
        "expected_result": expected_greeting(prompt),
        "actual_result": ((last.content if last else None) or record.reason)[:LONGEST_CELL],
        "model_version": str((last and (last.system_fingerprint or last.model)) or record.model),
    }


def _raw(exchange: Exchange) -> str:
    """What came, as much of it as a cell of a spreadsheet holds; the csv module refuses to read much more."""
    text = exchange.payload.decode("utf-8", "backslashreplace") or (exchange.fault.message if exchange.fault else "")
    return text[:LONGEST_CELL]


def _reply(exchange: Exchange) -> Reply | None:
    return read_reply(exchange) if exchange.fault is None else None
