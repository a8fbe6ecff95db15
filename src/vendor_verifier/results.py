"""Writes results.jsonl and summary.json from the run log."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

from toolcert.core.exchanges import Exchange
from toolcert.core.records import Record
from toolcert.core.replies import Reply
from toolcert.core.requests import RequestKind
from toolcert.core.values import JsonObject
from toolcert.protocol.unicode import NOT_JSON
from toolcert.reports.json import whole
from toolcert.runs.encoding import decode_head, decode_record
from toolcert.runs.files import write_whole
from toolcert.runs.reader import RunReader
from toolcert.verification.adapters.base import ModelAdapter
from toolcert.verification.rejudgement import adapter_of_run
from toolcert.verification.run.row_judge import read_answer


class Totals:
    """Counts rows for the summary."""

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
        """The content of summary.json; its times are those of the rows: with nothing left to ask, nothing changes."""
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


CALLED = "tool_calls"
SUCCESS = "success"


def write_results(folder: Path, output: Path, extra_body: JsonObject) -> JsonObject:
    """Write every row, sorted by its line, and return the summary of all of them."""
    reader = RunReader(folder)
    adapter = adapter_of_run(reader.manifest)
    totals = Totals(str(reader.manifest.parameters.get("model", "")))

    def lines() -> Iterator[bytes]:
        for record in _in_order(reader):
            row = result_row(record, adapter, extra_body)
            totals.add(row, record)
            yield msgspec.json.encode(row) + b"\n"

    write_whole(output, lines())
    return totals.summary(reader.manifest.started_at)


def _in_order(reader: RunReader) -> Iterator[Record]:
    """The records in the order of the dataset; only their offsets are held in memory."""
    places: list[tuple[int, int]] = []
    for offset, line in reader.placed_lines():
        head = decode_head(line)
        places.append((head.row.index if head.row else 0, offset))
    if not places:
        return
    with reader.path.open("rb") as file:
        for _, start in sorted(places):
            file.seek(start)
            yield decode_record(file.readline())


def result_row(record: Record, adapter: ModelAdapter, extra_body: JsonObject) -> JsonObject:
    """One line of results.jsonl."""
    exchange = record.detail.exchanges[-1] if record.detail.exchanges else None
    reply = _reply(exchange, adapter) if exchange is not None and exchange.fault is None else None
    answered = exchange is not None and reply is not None and reply.readable
    finish = reply.finish_reason if answered and reply is not None else None
    return {
        "data_index": record.row.index if record.row else 0,
        "request": exchange.request.body if exchange is not None else {},
        "extra_body": extra_body,
        "response": _response(exchange, reply) if answered else {"error": _error(record, exchange)},
        "status": SUCCESS if answered else "failed",
        "finish_reason": finish,
        "tool_calls_valid": _valid(record, finish),
        "last_run_at": datetime.fromtimestamp(record.at, UTC).isoformat(),
        "duration_ms": _milliseconds(record, exchange),
        "hash": record.case,
    }


def _reply(exchange: Exchange, adapter: ModelAdapter) -> Reply:
    """The answer; raw completions have no finish reason for calls, so one with calls in its text gets it here."""
    reply = read_answer(exchange, adapter)
    if exchange.request.kind is RequestKind.COMPLETIONS and reply.tool_calls:
        return msgspec.structs.replace(reply, finish_reason=CALLED)
    return reply


def _error(record: Record, exchange: Exchange | None) -> str:
    """Why there is no answer; readers of these files expect the status in this form."""
    status = exchange.fault.status if exchange is not None and exchange.fault is not None else None
    reason = str(whole(record.reason))
    return reason if status is None else f"Error code: {status} - {reason}"


def _valid(record: Record, finish: str | None) -> bool | None:
    """Whether the calls are valid; None if the finish reason is another or no schema is usable."""
    if finish != CALLED or record.row is None:
        return None
    return record.row.valid if record.row.names else False


def _milliseconds(record: Record, exchange: Exchange | None) -> int:
    """The time of the last attempt without queueing; an attempt that never ended lasted until it was recorded."""
    if exchange is None or not exchange.attempts:
        return 0
    taken = exchange.seconds
    return round(1000 * (taken if taken is not None else max(0.0, record.at - exchange.last.started_at)))


def _response(exchange: Exchange | None, reply: Reply | None) -> Any:
    """The answer as the server wrote it; a stream or raw completion is assembled into one."""
    assert exchange is not None
    assert reply is not None
    if not exchange.event_stream and exchange.request.kind is RequestKind.CHAT:
        # Strings in JSON have no line breaks, so these are only white space.
        written = exchange.payload.strip().replace(b"\n", b" ").replace(b"\r", b" ")
        if _is_json(written):
            return msgspec.Raw(written)
    return whole(reply.as_completion())


def _is_json(text: bytes) -> bool:
    try:
        msgspec.json.decode(text, type=msgspec.Raw)
    except NOT_JSON:
        return False
    return True
