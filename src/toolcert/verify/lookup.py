"""One row of a finished run, found by its line in the dataset, by its key, or by the name that the dataset gives it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from toolcert.core.errors import InputError
from toolcert.core.records import Record
from toolcert.core.replies import Reply
from toolcert.core.values import Value
from toolcert.runs.encoding import decode_head, decode_record, decode_replies
from toolcert.runs.reader import RunReader
from toolcert.verify.foreign import is_older_results, read_older
from toolcert.verify.rejudge import record_of_older


class Found(Value):
    """A record with its answers as read, where they were kept."""

    record: Record
    replies: tuple[Reply, ...] = ()


def find_row(run: Path, wanted: str) -> Found:
    """The record of a row (`17`), of a case key, or of a row's own `toolcert.id`, whole."""
    found = _in_older(run, wanted) if is_older_results(run) else _in_run(RunReader(run), wanted)
    if found is None:
        raise InputError(
            f"{run} has no row {wanted}.",
            remedy="Rows are numbered by their lines in the dataset, or have an id there; probe cases have keys.",
        )
    return found


def _in_run(reader: RunReader, wanted: str) -> Found | None:
    """A name that looks like a number is the last thing meant."""
    return _first(reader, lambda head: wanted in (head.case, head.row and str(head.row.index))) or _first(
        reader, lambda head: head.row is not None and head.row.id == wanted
    )


def _first(reader: RunReader, is_wanted: Callable[[Record], bool]) -> Found | None:
    lines = reader.decoded(lambda line: _found(line) if is_wanted(decode_head(line)) else None)
    return next((found for found in lines if found is not None), None)


def _found(line: bytes) -> Found:
    record = decode_record(line)
    answered = [exchange.fault is None for exchange in record.detail.exchanges]
    return Found(record=record, replies=decode_replies(line) if all(answered) else ())


def _in_older(path: Path, wanted: str) -> Found | None:
    rows = (row for row in read_older(path) if str(row.data_index) == wanted)
    return next((Found(record=record_of_older(row, str(path))) for row in rows), None)
