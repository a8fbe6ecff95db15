"""The history files: read, completed by a run, cut to the days that are kept, and written whole."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from toolcert.api.probing import ProbeRun
from toolcert.api.remembering import remember
from toolcert.core.exchanges import Exchange
from toolcert.core.records import Record
from toolcert.core.replies import Reply
from toolcert.history.csv_export import export_csv
from toolcert.history.csv_import import import_csv
from toolcert.history.older_columns import RESULTS_FILE
from toolcert.history.recording import day_of
from toolcert.history.store import HistoryStore
from toolcert.probes.calling.hello_world import expected_greeting
from toolcert.runs.reader import RunReader
from toolcert.wire.reading import read_reply
from watsonx_tool_tester.config import RELIABILITY_THRESHOLD, Config


def save_history(run: ProbeRun, config: Config) -> None:
    """Put a run into the three files; a later run of the day takes the place of an earlier one."""
    folder = Path(config.history_dir)
    day = day_of(run.summary.started_at)
    with TemporaryDirectory(prefix="watsonx-tool-tester-") as scratch:
        location = str(Path(scratch) / "history.sqlite")
        with HistoryStore(location) as store:
            if (folder / RESULTS_FILE).is_file():
                import_csv(store, folder)
            remember(run.summary, location)
            store.forget_before(_first_day(day, config.history_days))
            export_csv(store, folder, more={(day, model): row for model, row in _evidence(run, config).items()})


def _first_day(last: str, days: int) -> str:
    return (datetime.fromisoformat(last).replace(tzinfo=UTC) - timedelta(days=days - 1)).date().isoformat()


def _evidence(run: ProbeRun, config: Config) -> Mapping[str, dict[str, Any]]:
    """What each model was asked and answered in its first iteration that was answered at all."""
    found: dict[str, dict[str, Any]] = {}
    asked = {"client": str(config.client_type), "iterations": config.iterations, "threshold": RELIABILITY_THRESHOLD}
    for record in RunReader(Path(run.folder)).records():
        if record.model not in found and record.detail.exchanges:
            found[record.model] = _row(record) | {"test_config": json.dumps(asked)}
    return found


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
