"""Reads finished and unfinished runs in bounded memory: heads cheaply, evidence on demand, each case once."""

from __future__ import annotations

import os
import warnings
from array import array
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property, partial
from itertools import pairwise
from pathlib import Path
from typing import IO, TypeVar

import msgspec

from toolcert.core.cases import Outcome
from toolcert.core.errors import InputError, ToolcertWarning
from toolcert.core.records import RUN_FORMAT, Manifest, Record
from toolcert.runs.encoding import decode_head, decode_record
from toolcert.runs.writer import MANIFEST, RECORDS, WRITTEN

T = TypeVar("T")

SETTLED = frozenset({Outcome.PASSED, Outcome.FAILED, Outcome.UNSUPPORTED})
"""Outcomes that are an answer; a case with another outcome is asked again when its run is resumed."""
GONE = 0
"""The number of a row that left the dataset; lines are counted from 1."""
_COUNTS, _SUPERSEDED, _GONE = range(3)
_LAST_MOMENT = 253402300799.0
"""The end of the year 9999."""
_CASE = b'"case":"'
_NEWLINE = 10
LINES_BUFFER = 1 << 20
"""Bytes read at once: lines of some kilobytes are read several times as fast as through the usual buffer."""
LONGEST_LINE = 1 << 30
"""Bytes: more than the longest conversation with answers of the largest size that is kept."""
_LARGEST_MANIFEST = 1 << 28
WHOLE = (1 << 64) - 1
"""Makes a hash a whole number of 64 bits."""


def settled(record: Record) -> bool:
    """Whether this record is kept when its run is resumed."""
    if record.outcome in SETTLED:
        return True
    # A line that cannot be read has a key, but no content: the same line would fail in the same way.
    return bool(record.outcome is Outcome.SKIPPED and record.codes and record.row and not record.row.content)


class RunReader:
    """A run folder, read line by line.

    The log is only appended to, so a case may have several lines. One of them counts: the last that is settled, or
    the last of all. A retry without an answer never hides an earlier answer. Every reader of runs follows this rule.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.manifest = read_manifest(folder)

    @property
    def path(self) -> Path:
        return self.folder / RECORDS

    def lines(self) -> Iterator[bytes]:
        """The lines that count; a torn last line (the run was killed there) is left out."""
        return (line for _, line in self._numbered())

    def placed_lines(self) -> Iterator[tuple[int, bytes]]:
        """The lines that count, each with the offset at which it begins."""
        offset = 0
        for number, line in enumerate(whole_lines(self.path)):
            if not self.marks[number : number + 1].strip(b"\0"):
                yield offset, line
            offset += len(line)

    def placed_heads(self) -> Iterator[tuple[int, Record]]:
        """Every record that counts without its evidence, with the offset at which its line begins."""
        offset = 0
        for number, line in enumerate(whole_lines(self.path), 1):
            if not self.marks[number - 1 : number].strip(b"\0"):
                yield from ((offset, head) for head in self._decoded([(number, line)], decode_head))
            offset += len(line)

    def heads(self, *, gone: bool = False) -> Iterator[Record]:
        """Every record that counts, without its evidence; with `gone` also those of rows that left the dataset."""
        return self._decoded(self._numbered(gone=gone), decode_head)

    def records(self) -> Iterator[Record]:
        """Every record that counts, evidence included."""
        return self.decoded(decode_record)

    def decoded(self, decode: Callable[[bytes], T]) -> Iterator[T]:
        """Every line that counts as `decode` reads it; one that is not a record is named with its number."""
        return self._decoded(self._numbered(), decode)

    @cached_property
    def marks(self) -> bytes:
        """A byte for each line of the log, zero for a line that counts; empty where all lines do."""
        return self.read_marks() if self.manifest.has_stale_lines or self._repeated_cases() else b""

    def read_marks(self) -> bytes:
        """The marks of every line; lines that are doubled although the manifest rules that out are reported."""
        repeated = self._repeated_cases()
        numbered = enumerate(whole_lines(self.path), 1)
        heads = self._decoded(numbered, lambda line: (decode_head(line), _case_hash(line) in repeated))
        marks = line_marks(heads)
        doubled = 0 if self.manifest.has_stale_lines else marks.count(_SUPERSEDED)
        if doubled:
            lines = "1 line repeats a case" if doubled == 1 else f"{doubled} lines repeat cases"
            message = f"{self.path}: {lines} of other lines; every case counts once."
            warnings.warn(message, ToolcertWarning, stacklevel=2)
        return marks

    def _repeated_cases(self) -> frozenset[int]:
        """Hashes of cases that may have several lines, as after a retry. No line is decoded."""
        hashes = map(_case_hash, whole_lines(self.path))
        return frozenset(one for part in sorted_in_parts(hashes) for one, other in pairwise(part) if one == other)

    def _numbered(self, *, gone: bool = False) -> Iterator[tuple[int, bytes]]:
        left_out = (_SUPERSEDED,) if gone else (_SUPERSEDED, _GONE)
        marks = self.marks
        for number, line in enumerate(whole_lines(self.path), 1):
            if number > len(marks) or marks[number - 1] not in left_out:
                yield number, line

    def _decoded(self, numbered: Iterable[tuple[int, bytes]], decode: Callable[[bytes], T]) -> Iterator[T]:
        for number, line in numbered:
            try:
                yield decode(line)
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
                raise InputError(
                    f"{self.path}, line {number}: not a record of a toolcert run ({error}).",
                    remedy="Remove the line, or run again with --fresh.",
                ) from error


def line_marks(heads: Iterable[tuple[Record, bool]]) -> bytes:
    """For each line of a log whether it counts, is superseded by another, or is about a row that left the dataset.

    A head comes with whether other lines may be about its case: only those need to be remembered.
    """
    marks = bytearray()
    standing: dict[int, tuple[int, bool]] = {}
    """Hash of a case to the line that counts for it, and whether that is settled."""
    for number, (head, repeated) in enumerate(heads):
        marks.append(_GONE if head.row is not None and head.row.index == GONE else _COUNTS)
        if not repeated:
            continue
        key, answered = hash(head.case), settled(head)
        before, answered_before = standing.get(key, (number, False))
        if answered or not answered_before:
            standing[key] = number, answered
            superseded = before
        else:
            superseded = number
        if before != number:
            marks[superseded] = _SUPERSEDED
    return bytes(marks)


def sorted_in_parts(numbers: Iterable[int]) -> Iterator[list[int]]:
    """Whole numbers of 64 bits in order, part by part: 8 bytes each until then, where a list of all takes 40."""
    parts = [array("Q") for _ in range(256)]
    for number in numbers:
        parts[number >> 56].append(number)
    yield from map(sorted, parts)


def _case_hash(line: bytes) -> int:
    start = line.find(_CASE) + len(_CASE)
    return hash(line[start : line.find(b'"', start)]) & WHOLE


def whole_lines(path: Path) -> Iterator[bytes]:
    """The lines of a file that need not be there; a torn last one is left out."""
    if not path.exists():
        return
    with path.open("rb", buffering=LINES_BUFFER) as file:
        for line in bounded_lines(file, path):
            if line.endswith(b"\n"):
                yield line


def bounded_lines(file: IO[bytes], path: Path) -> Iterator[bytes]:
    """The lines of an open file. A run that somebody sent may hold one that fills the memory: that is refused.

    A line without an end is the last. A run in progress may go on with it while it is read; that is no further line.
    """
    # No line is longer than its file; a pipe has no length.
    short = 0 < os.fstat(file.fileno()).st_size < LONGEST_LINE
    for line in file if short else _refusing_long_lines(file, path):
        yield line
        if line[-1] != _NEWLINE:
            break


def _refusing_long_lines(file: IO[bytes], path: Path) -> Iterator[bytes]:
    for number, line in enumerate(iter(partial(file.readline, LONGEST_LINE), b""), 1):
        if len(line) == LONGEST_LINE:
            raise InputError(
                f"{path}, line {number}: longer than {LONGEST_LINE >> 20} MiB, which no line of a run is.",
                remedy="Remove the line, or name another run.",
            )
        yield line


def is_run(path: Path) -> bool:
    """Whether `path` is a run folder."""
    return (path / MANIFEST).is_file()


def read_manifest(folder: Path) -> Manifest:
    """The manifest of a run folder; says clearly what is wrong with anything else."""
    path = folder / MANIFEST
    for name in WRITTEN:
        if (folder / name).exists() and not (folder / name).is_file():  # opening a pipe would wait for ever
            raise InputError(f"{folder / name} is no file.", remedy="Remove it, or name another run.")
    if path.exists() and path.stat().st_size > _LARGEST_MANIFEST:
        raise InputError(f"{path} is larger than {_LARGEST_MANIFEST >> 20} MiB.", remedy="Name another run.")
    try:
        manifest = msgspec.json.decode(path.read_bytes(), type=Manifest)
    except FileNotFoundError:
        raise InputError(
            f"{folder} is not a run of toolcert: it has no {MANIFEST}.",
            remedy="Name the folder given to --output, or one below toolcert-runs/.",
        ) from None
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror or error}.") from error
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise InputError(
            f"{path} is damaged: {error}.", remedy="Choose another --output, or remove the folder."
        ) from error
    if manifest.format > RUN_FORMAT:
        raise InputError(
            f"{folder} was written by toolcert {manifest.toolcert} in a newer format ({manifest.format}).",
            remedy="Update toolcert.",
        )
    if not all(0 <= moment <= _LAST_MOMENT for moment in (manifest.started_at, manifest.finished_at or 0.0)):
        raise InputError(f"{path} is damaged: it names a time that no calendar has.")
    threshold = manifest.parameters.get("threshold", 0)
    if not isinstance(threshold, int | float):
        raise InputError(f"{path} is damaged: its threshold is not a number.")
    return manifest
