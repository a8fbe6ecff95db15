"""The rows of a verify run, from a run folder or from an older results file, with evidence only if it is wanted."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from heapq import nsmallest
from pathlib import Path

import msgspec

from toolcert.core.cases import Outcome
from toolcert.core.exchanges import Reply
from toolcert.core.records import Detail, Record, RowFacts
from toolcert.diagnose.judgement import Rules
from toolcert.reports.formats import Extras
from toolcert.runs.encoding import decode_head, decode_record, decode_replies
from toolcert.runs.reader import RunReader
from toolcert.verification.older_results import is_older_results, read_older
from toolcert.verification.rejudgement import record_of_older, rejudged
from toolcert.verification.single_row import FoundRow


def every_row(extras: Extras) -> list[tuple[Record, RowFacts]]:
    """Each record with its row, by the line in the dataset; none if the run is not available."""
    records = _records(Path(extras.run), extras.rules, extras.adapter) if extras.run else ()
    rows = [(record, record.row) for record in records if record.row is not None]
    return sorted(rows, key=lambda pair: pair[1].index)


def _records(run: Path, rules: Rules | None, adapter: str | None) -> Iterable[Record]:
    if rules is None and not is_older_results(run):
        return RunReader(run).heads()
    # Without evidence, so that all rows of a large run fit in memory.
    judged = rejudged(run, rules or Rules.OURS, adapter)
    return (msgspec.structs.replace(one.record, detail=Detail()) for one in judged)


def telling_rows(extras: Extras, most: int, others: Collection[int]) -> list[tuple[Record, RowFacts]]:
    """The first `most` rows that failed, then `others`, by their line in the dataset and without evidence."""
    if not extras.run:
        return []
    shown: list[tuple[Record, RowFacts]] = []

    def failing() -> Iterator[tuple[int, int, Record]]:
        for number, record in enumerate(_records(Path(extras.run), extras.rules, extras.adapter)):
            row = record.row
            if row is not None and record.outcome is Outcome.FAILED:
                yield row.index, number, record
            elif row is not None and row.index in others:
                shown.append((record, row))

    # A bounded heap: memory does not grow with the run, however many rows fail.
    failed = [(record, record.row) for _, _, record in nsmallest(most, failing()) if record.row is not None]
    return failed + sorted(shown, key=lambda pair: pair[1].index)


def whole_rows(run: Path, wanted: Collection[int]) -> Iterator[tuple[int, FoundRow]]:
    """The wanted rows with request and answer, each with its line in the dataset, in the order of the log."""
    return _whole_older(run, wanted) if is_older_results(run) else _whole(RunReader(run), wanted)


def _whole_older(path: Path, wanted: Collection[int]) -> Iterator[tuple[int, FoundRow]]:
    for row in read_older(path):
        if row.data_index in wanted:
            yield row.data_index, FoundRow(record=record_of_older(row, str(path)))


def _whole(reader: RunReader, wanted: Collection[int]) -> Iterator[tuple[int, FoundRow]]:
    def read(line: bytes) -> tuple[int, FoundRow] | None:
        row = decode_head(line).row
        if row is None or row.index not in wanted:
            return None
        record = decode_record(line)
        return row.index, FoundRow(record=record, replies=_replies(record, line))

    return (found for found in reader.decoded(read) if found is not None)


def _replies(record: Record, line: bytes) -> tuple[Reply, ...]:
    answered = all(exchange.fault is None for exchange in record.detail.exchanges)
    return decode_replies(line) if answered else ()
