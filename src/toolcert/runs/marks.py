"""Marks: what people say about cases of a run, in a file of its own beside the log.

The file is append-only, one mark a line. A later mark about the same case and finding replaces an earlier one.
"""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Iterable
from enum import StrEnum
from os import PathLike
from pathlib import Path
from typing import NamedTuple

import msgspec

from toolcert.core.cases import Outcome
from toolcert.core.errors import InputError, ToolcertWarning
from toolcert.core.findings import Severity
from toolcert.core.records import Record
from toolcert.core.values import Value
from toolcert.core.verdict import is_allowed
from toolcert.diagnose import kind_of
from toolcert.runs.files import output_errors, refuse_shared
from toolcert.runs.reader import bounded_lines
from toolcert.runs.writer import wait_for_lock

MARKS = "marks.jsonl"
"""The file beside `records.jsonl`."""
MOST_NOTE = 4000
"""Characters of a note."""


class MarkKind(StrEnum):
    """What a mark says."""

    KNOWN = "known"
    """The finding is right, and known: it need not stop anything."""
    WRONG = "wrong"
    """The finding is wrong: the answer is in order."""


class Mark(Value):
    """What a person says about a case, or about one finding of it."""

    case: str
    """The key of a case. Of a probe run also the beginning of keys up to a slash: `endpoint/model/probe` is about all
    iterations of a probe, `endpoint/model` of all probes."""
    kind: MarkKind
    finding: str | None = None
    """The code of the finding, or of its family; None is about every finding of the case."""
    note: str = ""
    at: float = 0.0
    """Unix time."""
    content: str = ""
    """The content digest of a dataset row: by it the mark is found again in another run of the dataset."""

    def covers(self, record: Record) -> bool:
        """Whether it is about this case."""
        if self.content and record.row is not None and record.row.content == self.content:
            return True
        return record.case == self.case or (record.probe is not None and record.case.startswith(f"{self.case}/"))

    def excuses(self, code: str) -> bool:
        """Whether it is about this finding of a case that it covers."""
        return self.finding is None or is_allowed(code, (self.finding,))


class MarkBook:
    """Marks, found by the case that they are about."""

    def __init__(self, marks: Iterable[Mark] = ()) -> None:
        self.marks = tuple(marks)
        self._by_case: dict[str, list[Mark]] = {}
        self._by_content: dict[str, list[Mark]] = {}
        for mark in self.marks:
            self._by_case.setdefault(mark.case, []).append(mark)
            if mark.content:
                self._by_content.setdefault(mark.content, []).append(mark)

    def __bool__(self) -> bool:
        return bool(self.marks)

    def about(self, record: Record) -> list[Mark]:
        """The marks that are about this case."""
        if not self.marks:
            return []
        found = list(self._by_case.get(record.case, ()))
        if record.row is not None:
            found += [mark for mark in self._by_content.get(record.row.content, ()) if mark not in found]
        if record.probe is not None:
            parts = record.case.split("/")
            for end in range(1, len(parts)):
                found += self._by_case.get("/".join(parts[:end]), ())
        return found

    def excused(self, record: Record) -> frozenset[str]:
        """The codes of a case that marks excuse."""
        marks = self.about(record)
        return frozenset(code for code in record.codes if any(mark.excuses(code) for mark in marks)) if marks else _NONE

    def explains(self, record: Record) -> bool:
        """Whether marks excuse all that is wrong with a case that did not pass."""
        if record.outcome not in (Outcome.FAILED, Outcome.UNSUPPORTED):
            return False
        marks = self.about(record)
        if any(mark.finding is None for mark in marks):
            return True
        errors = [code for code in record.codes if marks and kind_of(code).severity is Severity.ERROR]
        deciding = errors or record.codes
        return bool(marks and deciding) and all(any(mark.excuses(code) for mark in marks) for code in deciding)

    def words(self, record: Record) -> str:
        """What the marks about a case say, with their notes: `known (ticket 12)`."""
        marks = self.about(record)
        return "; ".join(f"{mark.kind} ({mark.note})" if mark.note else mark.kind for mark in marks)


_NONE: frozenset[str] = frozenset()


class Excuse(NamedTuple):
    """What marks excuse of one case."""

    codes: frozenset[str] = _NONE
    explained: bool = False
    """All that is wrong with it: the case does not count in the verdict."""


NO_EXCUSE = Excuse()


class MarkLine(Value):
    """A mark as reports show it."""

    case: str
    kind: MarkKind
    finding: str | None = None
    note: str = ""
    cases: int = 0
    """Cases of the run that it is about."""
    row: int | None = None
    """The line of the dataset, where it is about a row."""
    respected: bool = False
    """Given with --known: what it is about closes no gate and does not count in the verdict."""


class MarkTally:
    """Judges the cases of a run by marks, and counts what each mark is about."""

    def __init__(self, own: Iterable[Mark] = (), known: Iterable[Mark] = ()) -> None:
        """`own` marks are kept beside the run and are shown; those that are `known` are respected too."""
        self._known = MarkBook(known)
        respected = {(mark.case, mark.finding) for mark in self._known.marks}
        self._all = MarkBook(
            (*self._known.marks, *(mark for mark in own if (mark.case, mark.finding) not in respected))
        )
        self._cases: dict[int, int] = dict.fromkeys(map(id, self._all.marks), 0)
        self._rows: dict[int, int] = {}

    def judge(self, record: Record) -> Excuse:
        """Count a case, and say what is excused of it."""
        for mark in self._all.about(record):
            if any(map(mark.excuses, record.codes)) or (mark.finding is None and record.outcome is not Outcome.PASSED):
                self._cases[id(mark)] += 1
                if record.row is not None:
                    self._rows.setdefault(id(mark), record.row.index)
        return Excuse(self._known.excused(record), self._known.explains(record)) if self._known else NO_EXCUSE

    def lines(self) -> tuple[MarkLine, ...]:
        """The marks that are about any case of the run."""
        respected = {id(mark) for mark in self._known.marks}
        return tuple(
            MarkLine(
                case=mark.case,
                kind=mark.kind,
                finding=mark.finding,
                note=mark.note,
                cases=self._cases[id(mark)],
                row=self._rows.get(id(mark)),
                respected=id(mark) in respected,
            )
            for mark in self._all.marks
            if self._cases[id(mark)]
        )


def marks_of(folder: Path, known: Iterable[Mark] = ()) -> MarkTally:
    """The marks beside a run and those that the user gives."""
    return MarkTally(own_marks(folder), known)


def own_marks(folder: Path) -> list[Mark]:
    """The marks beside a run; a damaged file is reported and left out, because the run itself can be read."""
    try:
        return read_marks(folder / MARKS)
    except InputError as error:
        warnings.warn(f"the marks of {folder} are left out: {error}", ToolcertWarning, stacklevel=2)
        return []


def known_marks(path: str | PathLike[str] | None) -> list[Mark]:
    """The marks of a file that the user names, which must be there."""
    if path is None:
        return []
    if not Path(path).is_file():
        raise InputError(f"there is no file of marks {path}.", remedy="`toolcert mark` writes marks.jsonl into a run.")
    return read_marks(Path(path))


def read_marks(path: Path) -> list[Mark]:
    """The marks in a file, oldest first; none if there is no file. A torn last line is left out."""
    standing: dict[tuple[str, str | None], Mark] = {}
    if path.exists() and not path.is_file():  # opening a pipe would wait for ever
        raise InputError(f"{path} is no file.", remedy="Remove it, or name another file.")
    try:
        with path.open("rb") as file:
            for number, line in enumerate(bounded_lines(file, path), 1):
                if not line.strip() or (not line.endswith(b"\n") and _mark(line) is None):
                    continue
                mark = _mark(line)
                if mark is None:
                    raise InputError(
                        f"{path}, line {number}: not a mark.", remedy="Remove the line, or name another file."
                    )
                standing.pop((mark.case, mark.finding), None)
                standing[mark.case, mark.finding] = mark
    except FileNotFoundError:
        return []
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror or error}.") from error
    return list(standing.values())


def append_mark(path: Path, mark: Mark) -> Mark:
    """Add a mark to a file, durably, and return it with its time; several writers wait for each other."""
    mark = msgspec.structs.replace(mark, at=mark.at or time.time(), note=mark.note[:MOST_NOTE])
    refuse_shared(path)
    with output_errors(path), path.open("a+b") as file:
        wait_for_lock(file, path)  # without it the line that another one is writing would look torn
        file.seek(0)
        torn = file.read().rpartition(b"\n")[2]
        if torn and _mark(torn) is None:  # left by a writer that was killed; it must not swallow this one
            file.truncate(file.seek(0, os.SEEK_END) - len(torn))
            torn = b""
        file.write((b"\n" if torn else b"") + msgspec.json.encode(mark) + b"\n")
        file.flush()
        os.fsync(file.fileno())
    return mark


def _mark(line: bytes) -> Mark | None:
    try:
        return msgspec.json.decode(line, type=Mark)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
