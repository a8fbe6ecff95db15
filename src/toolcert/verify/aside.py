"""Measurements that a later run in the same folder no longer speaks of: set aside, taken up when they fit again."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from pathlib import Path

import msgspec

from toolcert.core.records import Record
from toolcert.runs.encoding import DETAIL_MARK, decode_head, encode_record
from toolcert.runs.files import output_errors, write_whole
from toolcert.runs.keys import Keys, PlacedKeys
from toolcert.runs.reader import RunReader, decoded_lines, whole_lines
from toolcert.runs.resume import settled
from toolcert.runs.writer import RECORDS

SUPERSEDED = "superseded.jsonl"
"""Records of another target, or of lines taken out of the dataset."""


def heads_aside(folder: Path) -> Iterator[Record]:
    """Everything set aside, without its evidence."""
    return decoded_lines(folder / SUPERSEDED, decode_head)


class Draft:
    """A log without some of its records, and what was set aside with them, written and not yet in their place."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def write(self, standing: Iterable[bytes], leaving: Iterable[bytes]) -> None:
        """Write both files beside those they will replace."""
        aside = self._next(SUPERSEDED)
        write_whole(aside, chain(whole_lines(self.folder / SUPERSEDED), leaving))
        if not aside.stat().st_size:
            aside.unlink()
        write_whole(self._next(RECORDS), standing)

    def take(self) -> None:
        """Put both in their place; in this order nothing is ever in neither."""
        for name in (SUPERSEDED, RECORDS):
            with output_errors(self.folder / name):
                if self._next(name).exists():
                    self._next(name).replace(self.folder / name)

    def discard(self) -> None:
        """Forget what was not taken."""
        for name in (SUPERSEDED, RECORDS):
            self._next(name).unlink(missing_ok=True)

    def _next(self, name: str) -> Path:
        return self.folder / f"next-{name}"


def draft_of(reader: RunReader, stands: Callable[[Record], bool]) -> Draft | None:
    """The log with only the standing records; measurements among the others are set aside, not lost. None as it is."""
    if all(stands(head) for head in reader.heads()):
        return None
    draft = Draft(reader.folder)
    heads = ((line, decode_head(line)) for line in reader.lines())
    draft.write(
        standing=(line for line in reader.lines() if stands(decode_head(line))),
        leaving=(line for line, head in heads if settled(head) and not stands(head)),
    )
    return draft


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
