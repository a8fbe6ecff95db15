"""The union of runs that each asked a share of the cases: the run that one machine would have written.

Rows come in the order of the dataset, cases of probes in the order in which they finished. Lines are never decoded
where they need not be, and memory holds a few numbers for each.
"""

from __future__ import annotations

import hashlib
import heapq
import os
import sys
import warnings
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import BinaryIO

import msgspec

from toolcert.core.cases import Shard
from toolcert.core.errors import InputError, ToolcertWarning, UsageError
from toolcert.core.records import Manifest, Part
from toolcert.core.text.number_text import plural
from toolcert.runs.encoding import decode_head
from toolcert.runs.files import output_errors, write_whole
from toolcert.runs.marks import MARKS, Mark, read_marks
from toolcert.runs.provenance import without_secrets
from toolcert.runs.reader import LINES_BUFFER, RunReader, bounded_lines, is_run, read_manifest
from toolcert.runs.resume import differences, refuse_another_job
from toolcert.runs.row_code import CODE_KEY, CODE_START
from toolcert.runs.writer import RECORDS, hold, write_manifest

_DRAFT = ".records.merged"
_INDEX_END = CODE_START + 8
_CHOICE = ("limit", "sample", "seed", "where", "threshold")
"""Parameters of verify that a run may change when it goes on, and that all shards of one run share."""
_SHOWN = 5
_FEW_FILES = 32
"""Descriptors for all but the logs."""

Observer = Callable[[bytes], None]
"""Is given every line that is written."""


class _Log:
    """The log of one run, of which each line can be read by its place in the order of the union."""

    def __init__(self, reader: RunReader) -> None:
        self.folder = reader.folder
        self.manifest = reader.manifest
        self._reader = reader
        self._of_rows = reader.manifest.job == "verify"
        self._offsets = array("Q")
        self._lengths = array("I")
        self._numbers = array("d")
        self._file: BinaryIO | None = None
        if not reader.path.exists():
            self._order = array("I")
            return
        self._file = reader.path.open("rb", buffering=0)
        # Looking for doubled lines takes a pass of its own, so it is left until two rows have the same number.
        trusts = self._of_rows and not reader.manifest.has_stale_lines
        self._read(b"" if trusts else reader.marks)
        self._order = self._sorted()
        if trusts and any(self._numbers[one] == self._numbers[other] for one, other in pairwise(self._order)):
            self._read(reader.read_marks())
            self._order = self._sorted()

    def __len__(self) -> int:
        return len(self._numbers)

    def close(self) -> None:
        if self._file is not None:
            self._file.close()

    def places(self, log: int) -> Iterator[tuple[float, int, int]]:
        """What the union is sorted by, the number of this log, and where the line is in it."""
        for place in self._order:
            yield self._numbers[place], log, place

    def line(self, place: int) -> bytes:
        assert self._file is not None
        try:
            self._file.seek(self._offsets[place])
            line = self._file.read(self._lengths[place])
        except OSError as error:
            raise InputError(f"cannot read {self._reader.path}: {error.strerror or error}.") from error
        if len(line) < self._lengths[place]:
            raise InputError(f"{self._reader.path} became shorter while it was read.", remedy="Merge again.")
        return line

    def _read(self, marks: bytes) -> None:
        for numbers in (self._offsets, self._lengths, self._numbers):
            del numbers[:]
        offset = 0
        with self._reader.path.open("rb", buffering=LINES_BUFFER) as file:
            for number, line in enumerate(bounded_lines(file, self._reader.path)):
                if line[-1:] == b"\n" and not (number < len(marks) and marks[number]):
                    self._offsets.append(offset)
                    self._lengths.append(len(line))
                    self._numbers.append(self._number(line, number + 1))
                offset += len(line)

    def _number(self, line: bytes, number: int) -> float:
        try:
            if self._of_rows and line.startswith(CODE_KEY):
                return int(line[CODE_START:_INDEX_END], 16)
            head = decode_head(line)
        except (ValueError, RecursionError) as error:  # what msgspec raises is a ValueError, too
            raise self.damaged(number, error) from error
        if not self._of_rows:
            return head.at
        if head.row is None:
            raise self.damaged(number, "it has no row")
        return head.row.index

    def damaged(self, number: int, error: object) -> InputError:
        return InputError(
            f"{self._reader.path}, line {number}: not a record of a toolcert run ({error}).",
            remedy="Remove the line, and ask its case again with the same --output.",
        )

    def _sorted(self) -> array[int]:
        return array("I", sorted(range(len(self._numbers)), key=self._numbers.__getitem__))


class Union:
    """Runs that belong together, each with its share; together they are a run."""

    def __init__(self, folders: Sequence[Path], *, allow_gaps: bool = False) -> None:
        from toolcert.http.connection import allow_connections  # asyncio, which reading alone need not load

        folders = _each_once(folders)
        if allow_connections(len(folders) + _FEW_FILES) < len(folders) + _FEW_FILES:
            raise UsageError(
                f"this system allows too few open files to merge {len(folders)} runs at once.",
                remedy="Merge them in groups with --allow-gaps and then the results, or raise `ulimit -n`.",
            )
        readers = sorted(map(RunReader, folders), key=_first_shard)
        for reader in readers:
            _refuse_whole_run(reader)
            _refuse_foreign(readers[0], reader)
        self._parts = _all_parts(readers)
        self._logs = [_Log(reader) for reader in readers]
        gaps = [*self._missing(), *self._unfinished(), *self._incomplete(), *self._disagreement()]
        if gaps and not allow_gaps:
            raise InputError(
                f"{'; '.join(gaps)}.",
                remedy="Run what is missing: a run that was stopped goes on with the same command and --output. "
                "Or merge what there is with --allow-gaps.",
            )
        for gap in gaps:
            warnings.warn(f"{gap}.", ToolcertWarning, stacklevel=2)
        if len({part.toolcert for part in self._parts.values()}) > 1:
            versions = ", ".join(sorted({part.toolcert for part in self._parts.values()}))
            warnings.warn(f"the shards were judged by versions {versions}.", ToolcertWarning, stacklevel=2)
        self.manifest = self._merged(complete=not gaps)

    @property
    def not_dealt(self) -> int:
        """Cases of shards that are not there, where their number is known."""
        return max(0, (self._planned_by_all() or 0) - sum(part.planned or 0 for part in self._parts.values()))

    def _planned_by_all(self) -> int | None:
        return max((part.planned_by_all or 0 for part in self._parts.values()), default=0) or None

    def write(self, folder: Path, *, fresh: bool = False, observe: Observer | None = None) -> None:
        """Write the run into a folder, in one step; a merge of some of these runs that is there is replaced."""
        if any(folder.resolve() == log.folder.resolve() for log in self._logs):
            raise UsageError(f"{folder} is one of the runs that are merged.", remedy="Choose another --output.")
        with hold(folder):
            self._refuse_other_run(folder, fresh=fresh)
            marks = self.marks(folder)
            draft = folder / _DRAFT
            try:
                with output_errors(folder / RECORDS), draft.open("wb", buffering=LINES_BUFFER) as file:
                    file.writelines(self._lines(observe))
                    file.flush()
                    os.fsync(file.fileno())
                # Until the log is there, the manifest says that the run has not ended.
                write_manifest(folder, msgspec.structs.replace(self.manifest, finished_at=None))
                with output_errors(folder / RECORDS):
                    draft.replace(folder / RECORDS)
                write_manifest(folder, self.manifest)
                if marks:
                    write_whole(folder / MARKS, (msgspec.json.encode(mark) + b"\n" for mark in marks))
            finally:
                draft.unlink(missing_ok=True)

    def close(self) -> None:
        """Close the logs."""
        for log in self._logs:
            log.close()

    def _lines(self, observe: Observer | None) -> Iterator[bytes]:
        """Every line once, in order."""
        of_rows, logs = self.manifest.job == "verify", self._logs
        seen: dict[float | str, tuple[bytes, _Log]] = {}
        for number, which, place in heapq.merge(*(log.places(which) for which, log in enumerate(logs))):
            log = logs[which]
            line = log.line(place)
            try:
                key = number if of_rows else decode_head(line).case
                known = seen.get(key)
                if known is None:
                    if of_rows:
                        seen.clear()  # rows come in order: only the last can come again
                    seen[key] = line, log
                    if observe is not None:
                        observe(line)
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
                raise log.damaged(place + 1, error) from error
            if known is None:
                yield line
            elif known[0] != line:
                raise _conflict(key, known[1], log)

    def _refuse_other_run(self, folder: Path, *, fresh: bool) -> None:
        """Replace only what can be made again from these runs, unless the user insists."""
        if is_run(folder):
            there = read_manifest(folder)
            refuse_another_job(folder, there, self.manifest.job)
            runs = {part.run for part in self._parts.values()}
            again = bool(there.parts) and all(part.run in runs for part in there.parts)
        else:
            again = not (folder / RECORDS).exists()
        if not again and not fresh:
            raise InputError(
                f"{folder} holds a run that these shards cannot make again.",
                remedy="Choose another --output, or --fresh to forget that run.",
            )

    def marks(self, folder: Path) -> list[Mark]:
        """The marks about cases of all runs; those about an earlier merge in `folder` win."""
        places = (*(log.folder for log in self._logs), folder)
        marks = [mark for place in places for mark in read_marks(place / MARKS)]
        return list({(mark.case, mark.finding): mark for mark in marks}.values())

    def _missing(self) -> Iterator[str]:
        count = next(iter(self._parts)).count
        missing = [
            shard for number in range(1, count + 1) if (shard := Shard(index=number, count=count)) not in self._parts
        ]
        if missing:
            are = "is" if len(missing) == 1 else "are"
            yield f"{_listed('shard', [str(shard) for shard in missing])} {are} missing"

    def _unfinished(self) -> Iterator[str]:
        open_end = [str(shard) for shard, part in self._parts.items() if part.finished_at is None]
        if open_end:
            yield f"{_listed('shard', open_end)} {'has' if len(open_end) == 1 else 'have'} not finished"

    def _incomplete(self) -> Iterator[str]:
        """Logs that were cut off on their way here; those of unfinished runs are named already."""
        for log in self._logs:
            parts = _parts_of(log.manifest)
            planned = sum(part.planned or 0 for part in parts)
            if (
                len(log) < planned
                and all(part.finished_at is not None for part in parts)
                and not log.manifest.interrupted
            ):
                yield f"{log.folder} holds {len(log)} of its {plural(planned, 'case')} (was it copied to its end?)"

    def _disagreement(self) -> Iterator[str]:
        """Shards that dealt different lists, such as of models that were listed at different times."""
        totals = sorted({part.planned_by_all for part in self._parts.values() if part.planned_by_all is not None})
        if len(totals) > 1:
            told = " and ".join(map(str, totals))
            yield f"the shards do not agree on the number of cases they are dealt from ({told})"
        elif self.not_dealt and not any(self._missing()):
            yield f"{plural(self.not_dealt, 'case')} fell to none of these shards (is each the shard that it says?)"

    def _merged(self, *, complete: bool) -> Manifest:
        parts = tuple(self._parts[shard] for shard in sorted(self._parts, key=lambda shard: shard.index))
        manifests = [log.manifest for log in self._logs]
        first = manifests[0]
        ends = [part.finished_at for part in parts if part.finished_at is not None]
        models = {name: None for manifest in manifests for name in manifest.models}
        return msgspec.structs.replace(
            first,
            run=_id_of(parts),
            started_at=min(part.started_at for part in parts),
            finished_at=max(ends, default=None),
            interrupted=not complete,
            models={
                name: tuple(
                    {info.id: info for manifest in manifests for info in manifest.models.get(name, ())}.values()
                )
                for name in models
            },
            partial=any(manifest.partial for manifest in manifests),
            unreachable={
                name: why for manifest in manifests for name, why in manifest.unreachable.items() if name not in models
            },
            dataset=next((one.dataset for one in manifests if one.dataset and one.dataset.digest), first.dataset),
            planned=self._planned_by_all() if first.job == "verify" else None,
            shard=None,
            planned_by_all=None,
            parts=parts,
            has_stale_lines=False,
            argv=without_secrets(sys.argv),
        )


def _each_once(folders: Iterable[Path]) -> list[Path]:
    """The folders without those that are named twice."""
    once: dict[Path, Path] = {}
    for folder in folders:
        if folder.resolve() in once:
            warnings.warn(f"{folder} is given twice, and counts once.", ToolcertWarning, stacklevel=2)
        once.setdefault(folder.resolve(), folder)
    return list(once.values())


def _parts_of(manifest: Manifest) -> tuple[Part, ...]:
    """The runs behind a run: its parts, or itself."""
    return manifest.parts or (
        Part(
            run=manifest.run,
            shard=manifest.shard,
            started_at=manifest.started_at,
            finished_at=None if manifest.interrupted else manifest.finished_at,
            toolcert=manifest.toolcert,
            planned=manifest.planned,
            planned_by_all=manifest.planned_by_all,
        ),
    )


def _all_parts(readers: Sequence[RunReader]) -> dict[Shard, Part]:
    """Shard to run; two runs of one shard, and shards of different numbers, are refused."""
    parts: dict[Shard, Part] = {}
    homes: dict[Shard, Path] = {}
    for reader in readers:
        for part in _parts_of(reader.manifest):
            shard = _shard_of(reader.folder, part)
            known, home = parts.get(shard, part), homes.get(shard, reader.folder)
            if known.run != part.run:
                raise InputError(
                    f"{home} and {reader.folder} are two runs of shard {shard}.", remedy="Name the one that counts."
                )
            other = next((one for one in parts if one.count != shard.count), None)
            if other is not None:
                raise InputError(
                    f"{homes[other]} is shard {other} and {reader.folder} is shard {shard}: "
                    "they were dealt in different ways.",
                    remedy="Merge the shards of one run.",
                )
            parts[shard], homes[shard] = part if known.finished_at is None else known, home
    return parts


def _first_shard(reader: RunReader) -> int:
    """The order of runs, so that the order of their names does not matter."""
    return min((_shard_of(reader.folder, part).index for part in _parts_of(reader.manifest) if part.shard), default=0)


def _shard_of(folder: Path, part: Part) -> Shard:
    try:
        return Shard.parse(part.shard or "")
    except ValueError:
        raise InputError(f"the manifest of {folder} is damaged: it names a shard {part.shard!r}.") from None


def _refuse_whole_run(reader: RunReader) -> None:
    if reader.manifest.job not in ("verify", "probe"):
        raise InputError(f"{reader.folder} is a {reader.manifest.job} run; only verify and probe runs have shards.")
    if reader.manifest.shard is None and not reader.manifest.parts:
        raise InputError(
            f"{reader.folder} is not a shard: its run was to ask every case.",
            remedy="Merge runs that were made with --shard, or merges of them.",
        )


def _refuse_foreign(first: RunReader, other: RunReader) -> None:
    """Refuse a run that did not ask as the first one did."""
    old, new = (msgspec.structs.replace(one.manifest, shard=None) for one in (first, other))
    if old.job != new.job:
        raise InputError(f"{first.folder} is a {old.job} run and {other.folder} a {new.job} run.")
    if found := [*differences(old, new), *_other_plan(old, new)]:
        raise InputError(
            f"{first.folder} and {other.folder} are not shards of one run: {'; '.join(found)}.",
            remedy="Merge runs of one command that differ in --shard and --output only.",
        )


def _other_plan(old: Manifest, new: Manifest) -> Iterator[str]:
    """What a run may change when it goes on, and shards may not."""
    if old.job == "verify":
        for name in _CHOICE:
            if old.parameters.get(name) != new.parameters.get(name):
                yield f"{name} is {old.parameters.get(name)} and {new.parameters.get(name)}"
        if old.dataset and new.dataset and (one := old.dataset.digest) and (two := new.dataset.digest) and one != two:
            yield f"their datasets differ ({old.dataset.path}, {new.dataset.path})"
        return
    if {spec.name for spec in old.endpoints} | {*old.unreachable} != {spec.name for spec in new.endpoints} | {
        *new.unreachable
    }:
        yield "their endpoints differ"
    for name in ("suite", "probes", "iterations", "threshold"):
        if getattr(old, name) != getattr(new, name):
            yield f"{name} differ"
    scenarios = (one.parameters.get("scenarios") or {} for one in (old, new))
    if len({msgspec.json.encode(one, order="sorted") for one in scenarios}) > 1:
        yield "their scenarios differ"


def _conflict(key: float | str, one: _Log, other: _Log) -> InputError:
    case = f"row {key:.0f}" if isinstance(key, float) else f"case {key}"
    return InputError(
        f"{one.folder} and {other.folder} disagree on {case}.",
        remedy="One is an older copy of the other, or they ran on different datasets; name the ones that count.",
    )


def _listed(noun: str, names: Sequence[str]) -> str:
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return f"{noun}{'' if len(names) == 1 else 's'} {', '.join(names[:_SHOWN])}{more}"


def _id_of(parts: Sequence[Part]) -> str:
    """The id of a union: the same runs give the same one, so that a history that has it replaces it."""
    return hashlib.sha256(" ".join(sorted(part.run for part in parts)).encode()).hexdigest()[:8]
