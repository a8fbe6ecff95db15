"""The log of a verify run: a fresh run replaces an earlier one only once it has measured something."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec

from toolcert.core.errors import UsageError
from toolcert.core.events import CaseFinished, Event
from toolcert.core.records import Record
from toolcert.core.text.number_text import plural
from toolcert.runs.encoding import decode_head
from toolcert.runs.files import output_errors
from toolcert.runs.reader import GONE, SETTLED, RunReader, is_run, whole_lines
from toolcert.runs.resume import Earlier, renumbered, start_afresh
from toolcert.runs.writer import RECORDS, RunWriter, write_manifest

JOB = "verify"
UNMEASURED = "unmeasured"
"""Below the run's folder: the log of a fresh run that has measured nothing yet. A mistyped address leaves it there, and
the earlier run as it was."""


class VerifyLog:
    """A handler that writes records to where they belong; it must be the first handler."""

    def __init__(self, folder: Path, open_writer: Callable[[Path], RunWriter], *, fresh: bool) -> None:
        self.folder = folder
        self._open = open_writer
        self.replaced = _measured_lines(folder) if fresh else 0
        """Measurements of an earlier run that this run replaces."""
        self.kept_earlier = self.replaced > 0
        """Whether the earlier run is still as it was."""
        place = folder / UNMEASURED
        if self.kept_earlier:
            start_afresh(place, JOB)
            with output_errors(place):
                place.mkdir(exist_ok=True)
            self.writer = open_writer(place)
            return
        _clear(place)
        if fresh:
            start_afresh(folder, JOB)
        self.writer = open_writer(folder)

    def __call__(self, event: Event) -> None:
        if isinstance(event, CaseFinished):
            self.finish_all([event])
        else:
            self.writer(event)

    def finish_all(self, events: Sequence[CaseFinished]) -> None:
        """Write many records at once."""
        lines = self.writer.encode(events)  # before anything is replaced: it may fail
        if self.kept_earlier and any(event.record.outcome.measured for event in events):
            self._replace_earlier()
        self.writer.append_lines(lines)

    def close(self) -> None:
        """Release the files."""
        self.writer.close()

    def untouched(self) -> str:
        """What to say of a fresh run that measured nothing."""
        stay = "stays as it was" if self.replaced == 1 else "stay as they were"
        rows = f"The {plural(self.replaced, 'row')} measured earlier in {self.folder}"
        return f"{rows} {stay}; this run, which measured nothing, is in {self.folder / UNMEASURED}."

    def _replace_earlier(self) -> None:
        waiting = self.writer
        waiting.close()
        start_afresh(self.folder, JOB)
        self.kept_earlier = False
        self.writer = self._open(self.folder)
        self.writer.manifest = waiting.manifest
        for line in whole_lines(waiting.folder / RECORDS):
            self.writer.append_lines(line)
        _clear(waiting.folder)


def refuse_place_of_unmeasured(folder: Path) -> None:
    """The next run in the parent folder would delete what is measured there."""
    if folder.name == UNMEASURED and is_run(folder.parent):
        raise UsageError(
            f"{folder} is reserved for runs in {folder.parent} that measured nothing.",
            remedy="Choose another --output.",
        )


def require_run(folder: Path) -> None:
    """Fail if there is no run whose failed rows can be asked again."""
    if not is_run(folder):
        raise UsageError(
            f"there is no run in {folder} whose failed rows could be asked again.",
            remedy="Name the folder of the earlier run with --output.",
        )


def follow_moved_lines(writer: RunWriter, earlier: Earlier, *, whole: bool) -> int:
    """Give earlier records the numbers that their lines have now; how many rows left the dataset.

    Only where the `whole` dataset was read is a row gone that was not met.
    """

    def number_now(head: Record) -> int:
        before = GONE if head.row is None else head.row.index
        line = earlier.line_of(head.case)
        if line is None:  # asked for the first time by this run
            return before
        return line or (GONE if whole else before)

    heads = RunReader(writer.folder).heads(gone=True)
    changed = [number_now(head) for head in heads if head.row is not None and head.row.index != number_now(head)]
    left = changed.count(GONE)
    if left:  # readers must know it before such lines are there
        writer.manifest = msgspec.structs.replace(writer.manifest, has_stale_lines=True)
        write_manifest(writer.folder, writer.manifest)
    if changed:
        lines = whole_lines(writer.folder / RECORDS)
        writer.replace_lines(renumbered(line, number_now(decode_head(line))) for line in lines)
    return left


def _measured_lines(folder: Path) -> int:
    return sum(map(_is_measurement, whole_lines(folder / RECORDS))) if is_run(folder) else 0


def _is_measurement(line: bytes) -> bool:
    """Whether --fresh would throw something away with this line; a damaged line is often the reason for --fresh."""
    try:
        return decode_head(line).outcome in SETTLED
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return False


def _clear(place: Path) -> None:
    if is_run(place):
        start_afresh(place, JOB)
        with contextlib.suppress(OSError):  # somebody put something else there
            place.rmdir()
