"""The history files: read, extended by a run, limited to the days that are kept, and written again."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from toolcert.api.history import add_summary
from toolcert.api.probe import ProbeRun
from toolcert.core.exchanges import Exchange
from toolcert.core.records import Record
from toolcert.core.replies import Reply
from toolcert.history.csv_import import RESULTS_FILE, import_csv
from toolcert.history.export import export_csv
from toolcert.history.observation import day_of
from toolcert.history.overview import overview
from toolcert.history.store import HistoryStore
from toolcert.probes.calling.hello_world import expected_greeting
from toolcert.protocol.reply import read_reply
from toolcert.reports.formats import Section
from toolcert.runs.reader import RunReader
from watsonx_tool_tester.config import RELIABILITY_THRESHOLD, Config


def save_history(run: ProbeRun, config: Config) -> None:
    """Add a run to the three files; it replaces an earlier run of the same day."""
    folder = Path(config.history_dir)
    day = day_of(run.summary.started_at)
    with _scratch_store() as (store, location):
        if (folder / RESULTS_FILE).is_file():
            import_csv(store, folder, endpoint=config.client_type.value)
        add_summary(run.summary, location)
        store.forget_before(_first_day(day, config.history_days))
        export_csv(store, folder, more={(day, model): row for model, row in _evidence(run, config).items()})


def section(config: Config) -> Section:
    """The history section of the HTML report."""
    from toolcert.reports.history.html import history_section

    with _scratch_store() as (store, _):
        import_csv(store, Path(config.history_dir), endpoint=config.client_type.value)
        return history_section(overview(store, days=config.history_days))


@contextmanager
def _scratch_store() -> Iterator[tuple[HistoryStore, str]]:
    """A temporary store, filled from the files."""
    with TemporaryDirectory(prefix="watsonx-tool-tester-") as scratch:
        location = str(Path(scratch) / "history.sqlite")
        with HistoryStore(location) as store:
            yield store, location


def _first_day(last: str, days: int) -> str:
    return (datetime.fromisoformat(last).replace(tzinfo=UTC) - timedelta(days=days - 1)).date().isoformat()


def _evidence(run: ProbeRun, config: Config) -> Mapping[str, dict[str, Any]]:
    """The raw request and answer of each model, from its first iteration with an answer."""
    asked = {"client": config.client_type.value, "iterations": config.iterations, "threshold": RELIABILITY_THRESHOLD}
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
        "actual_result": (last.content if last else None) or record.reason,
        "model_version": str((last and (last.system_fingerprint or last.model)) or record.model),
    }


def _raw(exchange: Exchange) -> str:
    return exchange.payload.decode("utf-8", "backslashreplace") or (exchange.fault.message if exchange.fault else "")


def _reply(exchange: Exchange) -> Reply | None:
    return read_reply(exchange) if exchange.fault is None else None
