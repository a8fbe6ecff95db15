"""The one rule by which both jobs continue the run in a folder.

A run is known by its job, its endpoint (address, dialect, options), its request body and the parameters of its
requests; for verify the model is one of these. A folder that holds another run is refused. More endpoints, models,
probes, iterations or rows extend the run. What it has an answer to is not asked again. Nothing leaves the log: what is
asked again is appended, and `RunReader` says which line of a case counts.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any, TypeAlias

import msgspec

from toolcert.core.errors import InputError
from toolcert.core.records import Manifest, Record
from toolcert.core.targets import EndpointSpec
from toolcert.runs.encoding import DETAIL_MARK, decode_head, encode_record
from toolcert.runs.files import output_errors, write_whole
from toolcert.runs.reader import GONE, WHOLE, RunReader, is_run, read_manifest, settled, sorted_in_parts, whole_lines
from toolcert.runs.writer import MANIFEST, RECORDS, write_manifest

SUPERSEDED = "superseded.jsonl"
"""Where version 0.1 put records of another target, and of rows that had left the dataset."""
_CHOICE = {
    "verify": frozenset({"limit", "sample", "seed", "where", "keep", "threshold"}),
    "probe": frozenset({"pairs"}),
    "load": frozenset({"pairs", "bisect", "hold"}),
}
"""Parameters of a job that choose which rows are asked, kept or how judged, and change no request. The seed of
verify draws the sample; the seed of probe is sent."""
_OPEN, _SETTLED, _RETRIED = range(3)
AskAgain: TypeAlias = Callable[[Record], bool]
"""Says of a record that has an answer whether its case is asked again anyway."""


class Earlier:
    """The cases in the log of an earlier run, in 12 bytes each; they can be looked up but not listed."""

    def __init__(
        self, heads: Iterable[Record] = (), again: AskAgain | None = None, manifest: Manifest | None = None
    ) -> None:
        packed = ((hash(head.case) << 2 | _state(head, again)) & WHOLE for head in heads)
        self._cases = array("Q", chain.from_iterable(sorted_in_parts(packed)))
        """The hash of each case, with its state in the last two bits."""
        self._lines = array("I", bytes(4 * len(self._cases)))
        self.manifest = manifest
        """What the run that goes on writes into the folder; None where there is no earlier run."""

    def __len__(self) -> int:
        """How many cases need not be asked."""
        return sum(number & 3 == _SETTLED for number in self._cases)

    def __contains__(self, case: object) -> bool:
        """Whether a case need not be asked."""
        return self._state(case) == _SETTLED

    @property
    def known(self) -> int:
        """How many cases the log has."""
        return len(self._cases)

    @property
    def met(self) -> int:
        """How many of them were met so far."""
        return self.known - self._lines.count(0)

    @property
    def settled_met(self) -> int:
        """How many cases were met that need not be asked."""
        return sum(case & 3 == _SETTLED and line > 0 for case, line in zip(self._cases, self._lines, strict=True))

    def asks(self, case: str, line: int, *, only_known: bool = False) -> bool:
        """Meet a case on a line of the dataset; whether it is still to be asked."""
        place = self._place(case)
        if place is None:
            return not only_known
        self._lines[place] = line
        return self._cases[place] & 3 != _SETTLED

    def is_retry(self, case: str) -> bool:
        """Whether a case has an answer already and is asked again anyway."""
        return self._state(case) == _RETRIED

    def line_of(self, case: str) -> int | None:
        """The line on which a case was met, 0 where it was not; None for a case that is not in the log."""
        place = self._place(case)
        return None if place is None else self._lines[place]

    def _state(self, case: object) -> int | None:
        place = self._place(case)
        return None if place is None else self._cases[place] & 3

    def _place(self, case: object) -> int | None:
        sought = hash(case) << 2 & WHOLE
        place = bisect_left(self._cases, sought)
        return place if place < len(self._cases) and self._cases[place] >> 2 == sought >> 2 else None


def _state(head: Record, again: AskAgain | None) -> int:
    if not settled(head):
        return _OPEN
    return _RETRIED if again is not None and again(head) else _SETTLED


def resume(folder: Path, manifest: Manifest, again: AskAgain | None = None) -> Earlier:
    """What the run in `folder` has measured already; nothing is changed there, and another run is refused."""
    if not is_run(folder):
        return Earlier()
    reader = RunReader(folder)
    refuse_another_run(folder, reader.manifest, manifest)
    earlier = Earlier(reader.heads(gone=True), again)
    stale = reader.manifest.has_stale_lines or any(reader.marks) or len(earlier) < earlier.known
    extended = _extended(reader.manifest, manifest)
    earlier.manifest = msgspec.structs.replace(extended, run=reader.manifest.run, has_stale_lines=stale)
    return earlier


def _extended(old: Manifest, new: Manifest) -> Manifest:
    """The manifest of a probe run that goes on: what was asked before stays part of it."""
    if new.job != "probe":
        return new
    probes = tuple(dict.fromkeys((*old.probes, *new.probes)))
    return msgspec.structs.replace(
        new,
        started_at=min(old.started_at, new.started_at),
        endpoints=tuple({spec.name: spec for spec in (*old.endpoints, *new.endpoints)}.values()),
        models={
            name: tuple({info.id: info for info in (*old.models.get(name, ()), *new.models.get(name, ()))}.values())
            for name in dict.fromkeys((*old.models, *new.models))
        },
        partial=old.partial and new.partial,
        unreachable={name: why for name, why in new.unreachable.items() if name not in old.models},
        suite=new.suite if new.suite == old.suite else None,
        probes=probes,
    )


def start_afresh(folder: Path, job: str) -> None:
    """Delete an earlier run of the same job in `folder`; other files there are left alone."""
    if not is_run(folder):
        return
    refuse_another_job(folder, read_manifest(folder), job)
    for name in (RECORDS, SUPERSEDED, MANIFEST):
        with output_errors(folder / name):
            (folder / name).unlink(missing_ok=True)


def refuse_another_job(folder: Path, manifest: Manifest, job: str) -> None:
    """A folder of one job is never used for the other, not even with --fresh."""
    if manifest.job != job:
        raise InputError(
            f"{folder} holds a {manifest.job} run; this is a {job} run.", remedy="Choose another --output."
        )


def refuse_another_run(folder: Path, old: Manifest, new: Manifest) -> None:
    """Figures over two ways of asking would belong to neither run."""
    refuse_another_job(folder, old, new.job)
    if found := differences(old, new):
        raise InputError(
            f"{folder} holds another run: {'; '.join(found)}.",
            remedy="Choose another --output, or --fresh to forget that run.",
        )


def differences(old: Manifest, new: Manifest) -> list[str]:
    """What makes the run in a folder another run than this one, in words; empty where this one goes on with it."""
    return [
        *([] if old.shard == new.shard else [f"shard was {_shown(old.shard)}, now {_shown(new.shard)}"]),
        *(text for before, now in _same_endpoints(old, new) for text in _endpoint_differences(before, now)),
        *_parameter_differences(old, new),
    ]


def _same_endpoints(old: Manifest, new: Manifest) -> Iterator[tuple[EndpointSpec, EndpointSpec]]:
    """Pairs of endpoints to compare: the only one of verify, whatever its name; in probe those with the same name."""
    if new.job == "verify":
        return zip(old.endpoints, new.endpoints, strict=False)
    known = {spec.name: spec for spec in old.endpoints}
    common = [(known[spec.name], spec) for spec in new.endpoints if spec.name in known]
    # Further endpoints extend a run; a run that has none of the earlier ones is another run.
    return iter(common or zip(old.endpoints, new.endpoints, strict=False))


def _endpoint_differences(before: EndpointSpec, now: EndpointSpec) -> Iterator[str]:
    # Headers are left out: they carry keys and ids of traces, which may change while a run goes on.
    if before.base_url.rstrip("/") != now.base_url.rstrip("/"):
        yield f"endpoint was {before.base_url}, now {now.base_url}"
    if before.dialect != now.dialect:
        yield f"dialect was {before.dialect}, now {now.dialect}"
    if before.extra_body != now.extra_body:
        yield "extra body was another"
    for name in _differing(before.options, now.options):
        yield f"{_plain(name)} was another"


def _parameter_differences(old: Manifest, new: Manifest) -> Iterator[str]:
    for name in _differing(old.parameters, new.parameters):
        before, now = old.parameters.get(name), new.parameters.get(name)
        if name in _CHOICE.get(new.job, ()):
            continue
        if name == "scenarios":  # further ones extend the run; a file that has changed since is another question
            files = (before or {}), (now or {})
            yield from (
                f"scenario {one} was another" for one in _differing(*files) if all(one in file for file in files)
            )
        elif isinstance(before, dict) or isinstance(now, dict):
            yield f"{_plain(name)} was another"
        else:
            yield f"{_plain(name)} was {_shown(before)}, now {_shown(now)}"


def _differing(before: dict[str, Any], now: dict[str, Any]) -> list[str]:
    return [name for name in sorted({*before, *now}) if before.get(name) != now.get(name)]


def _plain(name: str) -> str:
    return name.replace("_", " ")


def _shown(value: Any) -> str:
    return "not set" if value is None else str(value)


def renumbered(line: bytes, number: int) -> bytes:
    """The line of a record with another place in the dataset; its evidence is not touched."""
    head = decode_head(line)
    if head.row is None or head.row.index == number:
        return line
    start = encode_record(msgspec.structs.replace(head, row=msgspec.structs.replace(head.row, index=number)))
    rest = line.find(DETAIL_MARK)
    return start if rest < 0 else start[:-2] + line[rest:]


def adopt_superseded(folder: Path, target: str) -> None:
    """Take records of this target back into the log that version 0.1 has put aside.

    They come first, so that what the log says of the same rows still counts, and as rows that left the dataset until
    they are met in it. The caller holds the folder's lock.
    """
    aside = folder / SUPERSEDED

    def fits(line: bytes) -> bool:
        try:
            return decode_head(line).case.startswith(f"{target}-")
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise InputError(f"{aside} is damaged: {error}.", remedy="Remove the file, or the line.") from error

    if not is_run(folder) or not any(map(fits, whole_lines(aside))):
        return
    # In this order a crash leaves records in both files, which does no harm, and never in neither.
    write_manifest(folder, msgspec.structs.replace(read_manifest(folder), has_stale_lines=True, finished_at=None))
    back = (renumbered(line, GONE) for line in whole_lines(aside) if fits(line))
    write_whole(folder / RECORDS, chain(back, whole_lines(folder / RECORDS)))
    write_whole(aside, (line for line in whole_lines(aside) if not fits(line)))
