"""The figures of summary.json, counted over all rows whatever run asked them."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime

from toolcert.core.records import Record
from toolcert.core.values import JsonObject


class Totals:
    """Takes rows one by one."""

    def __init__(self, model: str) -> None:
        self._model = model
        self._statuses: Counter[str] = Counter()
        self._finishes: Counter[str] = Counter()
        self._validity: Counter[bool] = Counter()
        self._tokens = Counter(prompt_tokens=0, completion_tokens=0)
        self._began: float | None = None
        self._ended: float | None = None

    def add(self, row: JsonObject, record: Record) -> None:
        """Count one row."""
        self._statuses[row["status"]] += 1
        if row["status"] == "success":
            self._finishes[row["finish_reason"] or "none"] += 1
        if row["tool_calls_valid"] is not None:
            self._validity[row["tool_calls_valid"]] += 1
        if record.row is not None:
            self._tokens["prompt_tokens"] += record.row.prompt_tokens or 0
            self._tokens["completion_tokens"] += record.row.completion_tokens or 0
        self._note_time(record)

    def _note_time(self, record: Record) -> None:
        attempts = [attempt for exchange in record.detail.exchanges for attempt in exchange.attempts]
        began = attempts[0].started_at if attempts else record.at
        self._began = began if self._began is None else min(self._began, began)
        self._ended = record.at if self._ended is None else max(self._ended, record.at)

    def summary(self, started_at: float) -> JsonObject:
        """The content of summary.json; times span the rows, so that a run with nothing left to do changes nothing."""
        others = {name: number for name, number in self._finishes.items() if name not in ("stop", "tool_calls")}
        began = started_at if self._began is None else self._began
        ended = began if self._ended is None else self._ended
        return {
            "model": self._model,
            "success_count": self._statuses["success"],
            "failure_count": self._statuses["failed"],
            "finish_stop": self._finishes["stop"],
            "finish_tool_calls": self._finishes["tool_calls"],
            "finish_others": sum(others.values()),
            "finish_others_detail": dict(sorted(others.items())),
            "schema_validation_error_count": self._validity[False],
            "successful_tool_call_count": self._validity[True],
            "usage": {**self._tokens, "total_tokens": self._tokens.total()},
            "eval_started_at": datetime.fromtimestamp(began, UTC).isoformat(),
            "eval_finished_at": datetime.fromtimestamp(ended, UTC).isoformat(),
            "eval_duration_ms": round(1000 * (ended - began)),
        }
