"""Taking up an earlier run: what stands, what is asked again, and what became of lines that moved."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec

from toolcert.core.errors import UsageError
from toolcert.core.outcomes import Outcome
from toolcert.core.records import Record
from toolcert.core.values import Value
from toolcert.runs.encoding import DETAIL_MARK, decode_head, encode_record
from toolcert.runs.files import output_errors, write_whole
from toolcert.runs.keys import Keys, PlacedKeys
from toolcert.runs.reader import RunReader, is_run
from toolcert.runs.resume import refuse_another_job, settled
from toolcert.runs.writer import RECORDS, repair_tail

JOB = "verify"
SUPERSEDED = "superseded.jsonl"
"""Measurements a later run in the same folder no longer speaks of: of another target, or of lines taken out."""


class Earlier:
    """What an earlier run in the same folder has measured already."""

    def __init__(
        self, standing: PlacedKeys | None = None, only: Keys | None = None, *, elsewhere: bool = False
    ) -> None:
        self.standing = PlacedKeys() if standing is None else standing
        """Rows that are chosen and need not be asked again."""
        self.only = only
        """Where given, nothing but these is asked (`--only-failed`)."""
        self.elsewhere = elsewhere
        """Whether the log also speaks of rows that are not chosen now."""

    def asks(self, key: str, line: int) -> bool:
        """Whether the row with this key, on this line now, is still to be asked."""
        if self.standing.meet(key, line):
            return False
        return self.only is None or key in self.only


class Wanted(Value):
    """What a run asks of whom, as far as the records of an earlier run depend on it."""

    target: str
    only_failed: bool = False
    chosen: Keys | None = None
    """The rows this run may ask; None for all. What became of the others is not its business."""

    def chooses(self, head: Record) -> bool:
        """Whether this run may ask the row of an earlier record."""
        return self.chosen is None or head.case in self.chosen

    def lets_stand(self, head: Record) -> bool:
        """Whether an earlier record is still to be counted when this run is done."""
        if not head.case.startswith(f"{self.target}-"):
            return False
        if not self.chooses(head):
            return True
        return settled(head) and not (self.only_failed and head.outcome is Outcome.FAILED)


def require_run(folder: Path) -> None:
    """There must be a run whose failed rows can be asked again."""
    if not is_run(folder):
        raise UsageError(
            f"there is no run in {folder} whose failed rows could be asked again.",
            remedy="Name the folder of the earlier run with --output.",
        )


def look_at(folder: Path, wanted: Wanted) -> Earlier:
    """What the run in `folder` has measured already; nothing is changed there."""
    if not is_run(folder):
        return Earlier()
    reader = RunReader(folder)
    refuse_another_job(folder, reader.manifest, JOB)
    again = Keys(_to_ask_again(reader)) if wanted.only_failed else None
    standing = PlacedKeys(head.case for head in reader.heads() if wanted.chooses(head) and wanted.lets_stand(head))
    elsewhere = wanted.chosen is not None and not all(wanted.chooses(head) for head in reader.heads())
    return Earlier(standing, again, elsewhere=elsewhere)


def take_up(folder: Path, wanted: Wanted) -> Earlier:
    """Make the run in `folder` ready to go on; nothing measured is thrown away. The caller holds the folder's lock."""
    earlier = look_at(folder, wanted)
    if is_run(folder) and (folder / RECORDS).exists():
        repair_tail(folder / RECORDS)
        _keep_only(RunReader(folder), wanted.lets_stand)
    return earlier


def follow_moved_lines(folder: Path, earlier: Earlier) -> None:
    """Give records taken over the numbers their lines have now; those of lines that are gone are set aside."""
    reader = RunReader(folder)
    standing = earlier.standing

    def stands(head: Record) -> bool:
        return head.case not in standing or standing.line_of(head.case) > 0

    _keep_only(reader, stands)
    if any(_moved(head, standing) for head in reader.heads()):
        write_whole(reader.path, (_renumbered(line, standing) for line in reader.lines()))


def _to_ask_again(reader: RunReader) -> Iterator[str]:
    """Keys of failed and unmeasured rows, those included that an interrupted --only-failed has set aside."""
    for head in reader.heads():
        if head.outcome in (Outcome.FAILED, Outcome.NOT_MEASURED):
            yield head.case
    aside = reader.folder / SUPERSEDED
    if aside.exists():
        with aside.open("rb") as file:
            yield from (decode_head(line).case for line in file if line.endswith(b"\n"))


def _keep_only(reader: RunReader, stands: Callable[[Record], bool]) -> None:
    """Leave only the standing records in the log; measurements among the others are set aside, not lost."""
    if all(stands(head) for head in reader.heads()):
        return
    aside = reader.folder / SUPERSEDED
    if aside.exists():
        repair_tail(aside)
    with output_errors(aside), aside.open("ab") as file:
        for line in reader.lines():
            head = decode_head(line)
            if settled(head) and not stands(head):
                file.write(line)
    write_whole(reader.path, (line for line in reader.lines() if stands(decode_head(line))))


def _moved(head: Record, standing: PlacedKeys) -> bool:
    return head.row is not None and standing.line_of(head.case) not in (0, head.row.index)


def _renumbered(line: bytes, standing: PlacedKeys) -> bytes:
    head = decode_head(line)
    if head.row is None or not _moved(head, standing):
        return line
    row = msgspec.structs.replace(head.row, index=standing.line_of(head.case))
    start = encode_record(msgspec.structs.replace(head, row=row))
    rest = line.find(DETAIL_MARK)
    return start if rest < 0 else start[:-2] + line[rest:]
