"""Measurements that a later run in the same folder no longer speaks of: set aside, taken up when they fit again."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import msgspec

from toolcert.core.records import Record
from toolcert.runs.encoding import DETAIL_MARK, decode_head, encode_record
from toolcert.runs.files import output_errors, write_whole
from toolcert.runs.keys import Keys, PlacedKeys
from toolcert.runs.reader import decoded_lines, whole_lines
from toolcert.runs.writer import repair_tail

SUPERSEDED = "superseded.jsonl"
"""Records of another target, or of lines taken out of the dataset."""


def heads_aside(folder: Path) -> Iterator[Record]:
    """Everything set aside, without its evidence."""
    return decoded_lines(folder / SUPERSEDED, decode_head)


def put_aside(folder: Path, lines: Iterable[bytes]) -> None:
    """Keep these lines beside the log."""
    path = folder / SUPERSEDED
    if path.exists():
        repair_tail(path)
    with output_errors(path), path.open("ab") as file:
        file.writelines(lines)


def fitting_again(folder: Path, measured: Keys, fits: Callable[[Record], bool]) -> PlacedKeys:
    """Keys of rows whose last record aside fits, and of which the log has no measurement."""
    last = _last_lines(folder)
    heads = enumerate(heads_aside(folder), 1)
    return PlacedKeys(
        head.case
        for number, head in heads
        if last.line_of(head.case) == number and head.case not in measured and fits(head)
    )


def lines_again(folder: Path, again: PlacedKeys) -> Iterator[bytes]:
    """The last record aside of each row that was met, with the number its line has now."""
    last = _last_lines(folder)
    for number, line in enumerate(whole_lines(folder / SUPERSEDED), 1):
        key = decode_head(line).case
        if again.line_of(key) and last.line_of(key) == number:
            yield renumbered(line, again.line_of(key))


def forget_aside(folder: Path, forgotten: Callable[[Record], bool]) -> None:
    """Leave out what stands in the log again, or is not to come back."""
    if any(forgotten(head) for head in heads_aside(folder)):
        path = folder / SUPERSEDED
        write_whole(path, (line for line in whole_lines(path) if not forgotten(decode_head(line))))


def renumbered(line: bytes, number: int) -> bytes:
    """The line of a record with another place in the dataset; its evidence is not touched."""
    head = decode_head(line)
    if head.row is None or head.row.index == number:
        return line
    start = encode_record(msgspec.structs.replace(head, row=msgspec.structs.replace(head.row, index=number)))
    rest = line.find(DETAIL_MARK)
    return start if rest < 0 else start[:-2] + line[rest:]


def _last_lines(folder: Path) -> PlacedKeys:
    """Where the last record of each row stands: a row may have been set aside more than once."""
    last = PlacedKeys(head.case for head in heads_aside(folder))
    for number, head in enumerate(heads_aside(folder), 1):
        last.meet(head.case, number)
    return last
