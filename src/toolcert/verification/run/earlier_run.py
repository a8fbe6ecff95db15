"""An earlier run in the same folder: what stands, what is asked again, and what is set aside until it fits again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from pathlib import Path

import msgspec

from toolcert.core.cases import Outcome
from toolcert.core.errors import UsageError
from toolcert.core.records import Record
from toolcert.core.values import Value
from toolcert.runs.encoding import DETAIL_MARK, decode_head, encode_record
from toolcert.runs.files import output_errors, write_whole
from toolcert.runs.reader import RunReader, decoded_lines, is_run, read_manifest, whole_lines
from toolcert.runs.resume import Keys, PlacedKeys, refuse_another_job, settled, start_afresh
from toolcert.runs.writer import RECORDS, repair_tail, write_manifest
from toolcert.verification.digest import target_hash
from toolcert.verification.verify_options import Shaping

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


JOB = "verify"


class Earlier:
    """What an earlier run in the same folder has measured already."""

    def __init__(
        self,
        standing: PlacedKeys | None = None,
        only: PlacedKeys | None = None,
        *,
        again: PlacedKeys | None = None,
        counts: Counter[str] | None = None,
    ) -> None:
        self.standing = PlacedKeys() if standing is None else standing
        """Rows that are chosen and need not be asked again."""
        self.again = PlacedKeys() if again is None else again
        """Rows that were set aside and fit again."""
        self.only = only
        """Where given, nothing but these is asked (`--only-failed`)."""
        counts = Counter() if counts is None else counts
        self.elsewhere = counts["elsewhere"] > 0
        """Whether the log also speaks of rows that are not chosen now."""
        self.foreign = counts["foreign"]
        """Measurements in the log of another target: they have no place in this run."""
        self.displaced = counts["displaced"]
        """All measurements that have to leave the log when this run begins."""

    @property
    def resumed(self) -> int:
        """Rows that need not be asked."""
        return len(self.standing) + len(self.again)

    @property
    def taken_over(self) -> int:
        """Rows met so far that an earlier run speaks for."""
        return self.standing.met + self.again.met

    def asks(self, key: str, line: int) -> bool:
        """Whether the row with this key, on this line now, is still to be asked."""
        if self.standing.meet(key, line) or self.again.meet(key, line):
            return False
        return self.only is None or self.only.meet(key, line)


class Wanted(Value):
    """What a run asks of whom, as far as the records of an earlier run depend on it."""

    target: str
    fresh: bool = False
    only_failed: bool = False
    chosen: Keys | None = None
    """The rows this run may ask; None for all. What became of the others is not its business."""

    def chooses(self, head: Record) -> bool:
        """Whether this run may ask the row of an earlier record."""
        return self.chosen is None or head.case in self.chosen

    def speaks_of(self, head: Record) -> bool:
        """Whether an earlier record is of the same target."""
        return head.case.startswith(f"{self.target}-")

    def lets_stand(self, head: Record) -> bool:
        """Whether an earlier record is still to be counted when this run is done."""
        if self.fresh or not self.speaks_of(head):
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


def run_asking(folder: Path, target: str) -> str | None:
    """The id of the run in `folder`, if it asks this target: whoever goes on with it is the same run."""
    if not is_run(folder):
        return None
    manifest = read_manifest(folder)
    if manifest.job != JOB or not manifest.endpoints:
        return None
    shaping = {name: value for name, value in manifest.parameters.items() if name in Shaping.__struct_fields__}
    return manifest.run if target_hash(manifest.endpoints[0], shaping) == target else None


def look_at(folder: Path, wanted: Wanted) -> Earlier:
    """What the run in `folder` has measured already; nothing is changed there."""
    if not is_run(folder):
        return Earlier()
    reader = RunReader(folder)
    refuse_another_job(folder, reader.manifest, JOB)
    counts: Counter[str] = Counter()
    if wanted.fresh:
        counts["displaced"] = sum(map(_is_measurement, reader.lines()))
        return Earlier(counts=counts)
    only = PlacedKeys(_to_ask_again(reader)) if wanted.only_failed else None
    standing = PlacedKeys(_standing(reader, wanted, counts))
    return Earlier(standing, only, again=_fitting_again(reader, wanted), counts=counts)


class LogRoom:
    """Room in the log for a run: what it does not speak of leaves, and only `--fresh` throws away what was measured.

    What will be left is written beside the log before anything is asked: to copy a large log while answers are awaited
    would count as the vendor's time. The caller holds the folder's lock.
    """

    def __init__(self, folder: Path, wanted: Wanted) -> None:
        self._folder = folder
        self._wanted = wanted
        self._draft: Draft | None = None

    def prepare(self) -> None:
        """Write what will be left."""
        if not self._wanted.fresh and is_run(self._folder) and (self._folder / RECORDS).exists():
            repair_tail(self._folder / RECORDS)
            self._draft = draft_of(RunReader(self._folder), self._wanted.lets_stand)

    def make(self) -> None:
        """Let it take the place of the log."""
        if self._wanted.fresh:
            _mark_unfinished(self._folder)
            start_afresh(self._folder, JOB)
            forget_aside(self._folder, self._wanted.speaks_of)
        elif self._draft is not None:
            _mark_unfinished(self._folder)
            self._draft.take()

    def close(self) -> None:
        """Leave nothing behind that was not needed."""
        if self._draft is not None:
            self._draft.discard()


def _mark_unfinished(folder: Path) -> None:
    """Whoever reads the log while, or after, rows have left it must not take the rest for the whole."""
    if is_run(folder):
        write_manifest(folder, msgspec.structs.replace(read_manifest(folder), finished_at=None))


def take_back(folder: Path, wanted: Wanted, asked: PlacedKeys, *, interrupted: bool) -> int:
    """Let failures that `--only-failed` asked again in vain stand as they stood, for nothing better is known of them.

    Gives back how many. After an interruption nobody knows which lines are gone, so all come back.
    """

    def was_asked(head: Record) -> bool:
        met = asked.line_of(head.case) > 0 or (interrupted and head.case in asked)
        return met and wanted.speaks_of(head) and wanted.chooses(head)

    reader = RunReader(folder)
    back = fitting_again(folder, Keys(head.case for head in reader.heads() if settled(head)), was_asked)
    for head in heads_aside(folder):
        if head.row is not None:
            back.meet(head.case, asked.line_of(head.case) or head.row.index)
    if back.met:
        rest = (line for line in reader.lines() if not back.line_of(decode_head(line).case))
        write_whole(reader.path, chain(rest, lines_again(folder, back)))
        forget_aside(folder, lambda head: back.line_of(head.case) > 0)
    return back.met


def follow_moved_lines(folder: Path, earlier: Earlier) -> int:
    """Give records taken over the numbers their lines have now; how many were set aside, for their lines are gone."""
    standing = earlier.standing
    if not len(standing):
        return 0
    reader = RunReader(folder)

    def stands(head: Record) -> bool:
        return head.case not in standing or standing.line_of(head.case) > 0

    draft = draft_of(reader, stands)
    if draft is not None:
        draft.take()
    if any(_moved(head, standing) for head in reader.heads()):
        write_whole(reader.path, (_moved_line(line, standing) for line in reader.lines()))
    return len(standing) - standing.met


def _standing(reader: RunReader, wanted: Wanted, counts: Counter[str]) -> Iterator[str]:
    """Keys of the rows that are chosen and stand; what else is in the log is counted."""
    for head in reader.heads():
        chosen, stands = wanted.chooses(head), wanted.lets_stand(head)
        if chosen and stands:
            yield head.case
        counts["elsewhere"] += not chosen
        counts["displaced"] += settled(head) and not stands
        counts["foreign"] += settled(head) and not wanted.speaks_of(head)


def _fitting_again(reader: RunReader, wanted: Wanted) -> PlacedKeys:
    """What was set aside and stands as soon as its row is met."""
    if not any(wanted.speaks_of(head) for head in heads_aside(reader.folder)):
        return PlacedKeys()
    measured = Keys(head.case for head in reader.heads() if settled(head))
    return fitting_again(reader.folder, measured, lambda head: wanted.chooses(head) and wanted.lets_stand(head))


def _to_ask_again(reader: RunReader) -> Iterator[str]:
    """Keys of failed and unmeasured rows, those included that an interrupted --only-failed has set aside."""
    for head in reader.heads():
        if head.outcome in (Outcome.FAILED, Outcome.NOT_MEASURED):
            yield head.case
    yield from (head.case for head in heads_aside(reader.folder))


def _is_measurement(line: bytes) -> bool:
    """Whether --fresh would throw something away with this line; a damaged one is what it is often used for."""
    try:
        return settled(decode_head(line))
    except (msgspec.DecodeError, UnicodeDecodeError):
        return False


def _moved(head: Record, standing: PlacedKeys) -> bool:
    return head.row is not None and standing.line_of(head.case) not in (0, head.row.index)


def _moved_line(line: bytes, standing: PlacedKeys) -> bytes:
    number = standing.line_of(decode_head(line).case)
    return renumbered(line, number) if number else line
