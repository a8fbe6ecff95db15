"""Taking up an earlier run: what stands, what is asked again, and what became of lines that moved."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec

from toolcert.core.errors import InputError, UsageError
from toolcert.core.outcomes import Outcome
from toolcert.core.records import Record
from toolcert.runs.encoding import DETAIL_MARK, decode_head, encode_record
from toolcert.runs.files import output_errors, write_whole
from toolcert.runs.lock import hold
from toolcert.runs.reader import RunReader, is_run
from toolcert.runs.resume import settled
from toolcert.runs.writer import repair_tail

SUPERSEDED = "superseded.jsonl"
"""Measurements a later run in the same folder no longer speaks of: of another target, or of lines taken out."""
_WHOLE = (1 << 64) - 1


class Keys:
    """Keys in eight bytes each, with the line each was last met on in four more."""

    def __init__(self, keys: Iterator[str] | None = None) -> None:
        self._digests = array("Q", sorted(hash(key) & _WHOLE for key in keys or ()))
        self._lines = array("I", bytes(4 * len(self._digests)))

    def __len__(self) -> int:
        return len(self._digests)

    def __contains__(self, key: str) -> bool:
        return self._place(key) is not None

    def meet(self, key: str, line: int) -> bool:
        """Note the line a key stands on now; False for a key that is not here."""
        place = self._place(key)
        if place is None:
            return False
        self._lines[place] = line
        return True

    def line_of(self, key: str) -> int:
        """The line noted for a key; 0 where it was not met."""
        place = self._place(key)
        return 0 if place is None else self._lines[place]

    def _place(self, key: str) -> int | None:
        digest = hash(key) & _WHOLE
        place = bisect_left(self._digests, digest)
        return place if place < len(self._digests) and self._digests[place] == digest else None


class Earlier:
    """What an earlier run in the same folder has measured already."""

    def __init__(self, standing: Keys | None = None, only: Keys | None = None) -> None:
        self.standing = standing or Keys()
        self.only = only
        """Where given, nothing but these is asked (`--only-failed`)."""

    def asks(self, key: str, line: int) -> bool:
        """Whether the row with this key, on this line now, is still to be asked."""
        if self.standing.meet(key, line):
            return False
        return self.only is None or key in self.only

    def __len__(self) -> int:
        return len(self.standing)


def take_up(folder: Path, target: str, *, only_failed: bool = False) -> Earlier:
    """Make the run in `folder` ready to go on with `target`; nothing measured is thrown away."""
    if not is_run(folder):
        if only_failed:
            raise UsageError(
                f"there is no run in {folder} whose failed rows could be asked again.",
                remedy="Name the folder of the earlier run with --output.",
            )
        return Earlier()
    reader = RunReader(folder)
    if reader.manifest.job != "verify":
        raise InputError(
            f"{folder} holds a {reader.manifest.job} run; this is a verify run.", remedy="Choose another --output."
        )

    def stands(head: Record) -> bool:
        mine = head.case.startswith(f"{target}-")
        return mine and settled(head) and not (only_failed and head.outcome is Outcome.FAILED)

    again = Keys(_to_ask_again(reader)) if only_failed else None
    if reader.path.exists():
        with hold(folder):
            repair_tail(reader.path)
            _keep_only(reader, stands)
    return Earlier(Keys(head.case for head in reader.heads()), again)


def look_at(folder: Path, target: str) -> Earlier:
    """What a run in `folder` has measured of `target`, without changing anything there."""
    if not is_run(folder):
        return Earlier()
    heads = RunReader(folder).heads()
    return Earlier(Keys(head.case for head in heads if settled(head) and head.case.startswith(f"{target}-")))


def follow_moved_lines(folder: Path, earlier: Earlier) -> None:
    """Give records taken over the numbers their lines have now; those of lines that are gone are set aside."""
    if not len(earlier):
        return
    reader = RunReader(folder)
    standing = earlier.standing

    def stands(head: Record) -> bool:
        return head.case not in standing or standing.line_of(head.case) > 0

    with hold(folder):
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
    with output_errors(aside), aside.open("ab") as file:
        for line in reader.lines():
            head = decode_head(line)
            if settled(head) and not stands(head):
                file.write(line)
    write_whole(reader.path, (line for line in reader.lines() if stands(decode_head(line))))


def _moved(head: Record, standing: Keys) -> bool:
    return head.row is not None and standing.line_of(head.case) not in (0, head.row.index)


def _renumbered(line: bytes, standing: Keys) -> bytes:
    head = decode_head(line)
    if head.row is None or not _moved(head, standing):
        return line
    row = msgspec.structs.replace(head.row, index=standing.line_of(head.case))
    start = encode_record(msgspec.structs.replace(head, row=row))
    rest = line.find(DETAIL_MARK)
    return start if rest < 0 else start[:-2] + line[rest:]
