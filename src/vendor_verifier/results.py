"""results.jsonl and summary.json: written from the run log; a results file that stands alone can be continued."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any

import msgspec

from toolcert.core.cases import Case, SkipKind
from toolcert.core.errors import InputError
from toolcert.core.events import CaseFinished, Event
from toolcert.core.exchanges import Exchange, FaultKind, Reply
from toolcert.core.records import Record
from toolcert.core.requests import Request, RequestKind
from toolcert.core.values import JsonObject, Value
from toolcert.protocol.unicode import NOT_JSON
from toolcert.reports.json import whole
from toolcert.runs.encoding import decode_head, decode_record
from toolcert.runs.files import open_descriptor, output_errors, write_whole
from toolcert.runs.reader import RunReader
from toolcert.runs.writer import RunWriter
from toolcert.verification.adapters.base import ModelAdapter
from toolcert.verification.digest import content_hash, row_key
from toolcert.verification.older_results import SUCCESS, OlderRow, older_row, placed_older, read_older
from toolcert.verification.rejudgement import adapter_of_run
from toolcert.verification.run.job import VerifyJob
from toolcert.verification.run.row_judge import Row, RowJudge, read_answer
from toolcert.verification.verify_options import adapter_of


class Totals:
    """Counts rows for the summary."""

    def __init__(self, model: str, started_at: float) -> None:
        self._model = model
        self._started_at = started_at
        self._statuses: Counter[str] = Counter()
        self._finishes: Counter[str] = Counter()
        self._validity: Counter[bool] = Counter()
        self._tokens = Counter(prompt_tokens=0, completion_tokens=0)
        self._invalid_lines = 0
        self.broken = 0
        """Failed rows whose answer began and broke off."""
        self._began: float | None = None
        self._ended: float | None = None

    def add(self, row: JsonObject | None, record: Record) -> None:
        """Count one row; without one, a line of the dataset that cannot be asked."""
        if row is None:
            self._invalid_lines += 1
            return
        self.broken += is_broken(record)
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

    def summary(self) -> JsonObject:
        """The content of summary.json; its times are those of the rows: with nothing left to ask, nothing changes."""
        others = {name: number for name, number in self._finishes.items() if name not in ("stop", "tool_calls")}
        began = self._started_at if self._began is None else self._began
        ended = began if self._ended is None else self._ended
        return {
            "model": self._model,
            "success_count": self._statuses["success"],
            "failure_count": self._statuses["failed"],
            "invalid_line_count": self._invalid_lines,
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


FROM_FILE = "results"
"""The figures of a record that was taken from a results file: fields of its line that stay as they are."""


class ResultsWriter:
    """Writes the rows of a run to its results file: one by one while it goes on, and in order when it has ended."""

    def __init__(self, output: Path, adapter: ModelAdapter, extra_body: JsonObject, *, keep: bool) -> None:
        """With `keep` the answers in the file stay in it, and rows are appended to them."""
        self._output = output
        self._adapter = adapter
        self._extra_body = extra_body
        self._keep = keep
        self._replaces_answers = holds_answers(output)
        self._file: IO[bytes] | None = None
        # What is not a file can only be written once, at the end.
        self._grows = open_descriptor(output) is None and (output.is_file() or not output.exists())

    def __call__(self, event: Event) -> None:
        if not self._grows or not isinstance(event, CaseFinished):
            return
        row = result_row(event.record, self._adapter, self._extra_body)
        # A run that gets no answer must not cost the answers of an earlier one.
        if row is None or (self._file is None and self._replaces_answers and row["status"] != SUCCESS):
            return
        with output_errors(self._output):
            if self._file is None:
                self._file = self._begin()
            self._file.write(msgspec.json.encode(row) + b"\n")
            self._file.flush()

    def close(self) -> None:
        """Stop appending."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def _begin(self) -> IO[bytes]:
        write_whole(self._output, _answered_lines(self._output) if self._keep and self._output.exists() else ())
        return self._output.open("ab")


def _answered_lines(path: Path) -> Iterator[bytes]:
    """The lines of rows that were answered; the others are asked again and appended."""
    with path.open("rb") as file:
        for offset, row in placed_older(path, OlderRow):
            if row.status == SUCCESS:
                file.seek(offset)
                yield file.readline()


def holds_answers(output: Path) -> bool:
    """Whether the results hold answers; a file that cannot be read counts as worth keeping."""
    try:
        return output.is_file() and any(row.status == SUCCESS for row in read_older(output))
    except InputError:
        return True


def write_results(folder: Path, output: Path, extra_body: JsonObject) -> Totals:
    """Write every row, sorted by its line, and count all of them; a file that says the same already is left alone."""
    reader = RunReader(folder)
    adapter = adapter_of_run(reader.manifest)
    totals = Totals(str(reader.manifest.parameters.get("model", "")), reader.manifest.started_at)

    def lines(counted: Totals | None = None) -> Iterator[bytes]:
        for record in _in_order(reader):
            row = result_row(record, adapter, extra_body)
            if counted is not None:
                counted.add(row, record)
            if row is not None:
                yield msgspec.json.encode(row) + b"\n"

    if output.is_file() and _says(output, lines()):
        for _ in lines(totals):
            pass
    else:
        write_whole(output, lines(totals))
    return totals


def _says(path: Path, lines: Iterator[bytes]) -> bool:
    with path.open("rb") as file:
        return all(line == file.readline() for line in lines) and not file.read(1)


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


def is_broken(record: Record) -> bool:
    """Whether an answer began and broke off."""
    fault = record.detail.exchanges[-1].fault if record.detail.exchanges else None
    return fault is not None and fault.kind is FaultKind.RESET and fault.status is not None and fault.status < 300


def result_row(record: Record, adapter: ModelAdapter, extra_body: JsonObject) -> JsonObject | None:
    """One line of results.jsonl; None for a line of the dataset that cannot be asked."""
    if record.skip is SkipKind.BAD_ROW:
        return None
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
        **record.detail.figures.get(FROM_FILE, {}),
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
    return reason if status is None or status < 300 else f"Error code: {status} - {reason}"


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


_OURS = re.compile(r"[0-9a-f]{8}-[0-9a-f]{24}(?:~\d+)?")
"""The hash in a row that this package wrote: it also covers the endpoint, so another one is never taken."""


class FileRow(OlderRow):
    """A line of a results file with the fields that tell what was asked and when."""

    hash: Any = None
    extra_body: Any = None
    last_run_at: Any = None

    @property
    def is_ours(self) -> bool:
        return isinstance(self.hash, str) and _OURS.fullmatch(self.hash) is not None


_decode = msgspec.json.Decoder(FileRow).decode


class Match(Value):
    """A row of the dataset and, if there is one, its answer in the file."""

    case: Case
    offset: int | None = None


class EarlierResults:
    """The answers in a results file; only their places are held in memory."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.rows = 0
        self.answers = 0
        self.from_elsewhere = 0
        """Answers that do not say where they were asked."""
        self._by_hash: dict[str, int] = {}
        self._by_content: dict[str, list[int]] = {}
        for offset, row in placed_older(path, FileRow):
            self.rows += 1
            if row.status == SUCCESS:
                self.answers += 1
                self._enter(row, offset)

    def _enter(self, row: FileRow, offset: int) -> None:
        if row.is_ours:
            self._by_hash[row.hash] = offset
        else:
            self.from_elsewhere += 1
            extra = row.extra_body if isinstance(row.extra_body, dict) else {}
            self._by_content.setdefault(_question({**row.request, **extra}), []).append(offset)

    def matches(self, job: VerifyJob) -> Iterator[Match]:
        """Every row of the dataset that can be asked, with the place of its answer."""
        left = {content: offsets[::-1] for content, offsets in self._by_content.items()}
        for case in job.plan().cases():
            if case.body is None:
                continue
            offset = self._by_hash.get(case.key)
            if offset is None and left and (same := left.get(_question(case.body))):
                offset = same.pop()
            yield Match(case=case, offset=offset)

    def is_complete(self, job: VerifyJob) -> bool:
        """Whether the file is what a run would leave now: every row answered, in order, and nothing else."""
        offsets = [match.offset for match in self.matches(job)]
        return None not in offsets and len(offsets) == self.rows and offsets == sorted(offsets)  # type: ignore[type-var]

    def enter_into(self, folder: Path, job: VerifyJob) -> int:
        """Make a run folder with the answers that belong to this run; how many they are."""
        found = [match for match in self.matches(job) if match.offset is not None]
        judge = RowJudge(adapter_of(job.shaping))
        if found:
            with self.path.open("rb") as file, closing(RunWriter(folder, job.manifest)) as writer:
                for match in found:
                    file.seek(match.offset or 0)
                    writer.append(_record(match.case, older_row(file.readline(), FileRow, _decode), judge))
        return len(found)


def _question(body: JsonObject) -> str:
    """The content of a request; whether usage is asked for in a stream makes no other question of it."""
    return row_key("", content_hash(body), {name: value for name, value in body.items() if name != "stream_options"})


def _record(case: Case, row: FileRow, judge: RowJudge) -> Record:
    """The record of an answer in the file; what the file says of it stays as it is."""
    at, seconds = _time(row.last_run_at), (row.duration_ms or 0.0) / 1000
    exchange = row.exchange()
    attempt = msgspec.structs.replace(exchange.last, started_at=max(0.0, at - seconds))
    request = Request(body=case.body or {})
    asked: Exchange = msgspec.structs.replace(exchange, request=request, attempts=(attempt,))
    record = judge.judge(Row.of_case(case), asked, at=at)
    fields = ("extra_body", "finish_reason", "tool_calls_valid", "last_run_at", "duration_ms")
    kept = {name: getattr(row, name) for name in fields if getattr(row, name) is not None}
    if row.duration_ms is not None:
        kept["duration_ms"] = round(row.duration_ms)
    detail = msgspec.structs.replace(record.detail, figures={FROM_FILE: kept})
    return msgspec.structs.replace(record, detail=detail)


def _time(text: Any) -> float:
    try:
        return datetime.fromisoformat(text).timestamp()
    except (TypeError, ValueError):
        return 0.0
