"""Finds one row of a finished run by line, key or id, and sends it again."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import msgspec

from toolcert.core.errors import InputError, UsageError
from toolcert.core.exchanges import Exchange, Reply
from toolcert.core.records import Manifest, Record
from toolcert.core.requests import Request, RequestKind
from toolcert.core.values import Value
from toolcert.engine.interfaces import Session
from toolcert.runs.encoding import decode_head, decode_record, decode_replies
from toolcert.runs.reader import RunReader
from toolcert.verification.older_results import is_older_results, read_older
from toolcert.verification.rejudgement import adapter_of_run, dataset_problems, record_of_older
from toolcert.verification.run.row_judge import Row, RowJudge


class FoundRow(Value):
    """A record, with its parsed answers if they were kept."""

    record: Record
    replies: tuple[Reply, ...] = ()


def find_row(run: Path, wanted: str) -> FoundRow:
    """The whole record of a row by its line (`17`), its case key or its `toolcert.id`."""
    found = _in_older(run, wanted) if is_older_results(run) else _in_run(RunReader(run), wanted)
    if found is None:
        raise InputError(
            f"{run} has no row {wanted}.",
            remedy="Rows are numbered by their lines in the dataset, or have an id there; probe cases have keys.",
        )
    return found


def _in_run(reader: RunReader, wanted: str) -> FoundRow | None:
    """Lines and keys come first; an id may look like a line number."""
    return _first(reader, lambda head: wanted in (head.case, head.row and str(head.row.index))) or _first(
        reader, lambda head: head.row is not None and head.row.id == wanted
    )


def _first(reader: RunReader, is_wanted: Callable[[Record], bool]) -> FoundRow | None:
    lines = reader.decoded(lambda line: _found(line) if is_wanted(decode_head(line)) else None)
    return next((found for found in lines if found is not None), None)


def _found(line: bytes) -> FoundRow:
    record = decode_record(line)
    answered = [exchange.fault is None for exchange in record.detail.exchanges]
    return FoundRow(record=record, replies=decode_replies(line) if all(answered) else ())


def _in_older(path: Path, wanted: str) -> FoundRow | None:
    rows = (row for row in read_older(path) if str(row.data_index) == wanted)
    return next((FoundRow(record=record_of_older(row, str(path))) for row in rows), None)


class Replay(Value):
    """The earlier and the new record of a row."""

    before: Record
    after: Record


async def replay(
    record: Record, manifest: Manifest, session: Session, model: str | None = None, adapter: str | None = None
) -> Replay:
    """Send the request behind `record` again, to another model where one is named."""
    judge = RowJudge(adapter_of_run(manifest, adapter))  # before anything is sent
    if record.row is None or not record.detail.exchanges:
        raise UsageError(
            f"{record.case} holds no request that could be sent again.",
            remedy="Replay takes rows of verify runs kept as raw or assembled.",
        )
    exchange = record.detail.exchanges[-1]
    row = Row.of_record(record, dataset_problems(record, exchange))
    asked = exchange.request
    if model is not None:
        row = msgspec.structs.replace(row, model=model)
        asked = msgspec.structs.replace(asked, body=asked.body | {"model": model})
    answered = await session.ask(_as_sent(exchange, asked))
    # A raw completion is judged by the tools of its row, which the rendered prompt no longer shows.
    again = msgspec.structs.replace(answered, request=asked)
    return Replay(before=record, after=judge.judge(row, again))


def _as_sent(exchange: Exchange, asked: Request) -> Request:
    """The request to send; a raw completion sends the prompt that was rendered then."""
    if asked.kind is not RequestKind.COMPLETIONS or exchange.sent is None:
        return asked
    return Request(body=exchange.sent | {"model": asked.body["model"]}, kind=asked.kind)
