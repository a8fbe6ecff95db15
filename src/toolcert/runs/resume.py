"""Resumes a run: what was measured is not asked again, what was not measured is, and no key occurs twice."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from pathlib import Path

from toolcert.core.cases import Outcome
from toolcert.core.errors import InputError
from toolcert.core.manifest import Manifest
from toolcert.core.records import Record
from toolcert.runs.encoding import decode_head
from toolcert.runs.files import output_errors, write_whole
from toolcert.runs.reader import RunReader, is_run, read_manifest
from toolcert.runs.writer import MANIFEST, RECORDS, repair_tail

_WHOLE = (1 << 64) - 1


class Keys:
    """Keys in eight bytes each; they can be found and not listed."""

    def __init__(self, keys: Iterable[str] = ()) -> None:
        self._digests = array("Q", sorted(hash(key) & _WHOLE for key in keys))

    def __len__(self) -> int:
        return len(self._digests)

    def __contains__(self, key: object) -> bool:
        return self._place(key) is not None

    def _place(self, key: object) -> int | None:
        digest = hash(key) & _WHOLE
        place = bisect_left(self._digests, digest)
        return place if place < len(self._digests) and self._digests[place] == digest else None


class PlacedKeys(Keys):
    """Keys with the line each was last met on, in four bytes more."""

    def __init__(self, keys: Iterable[str] = ()) -> None:
        super().__init__(keys)
        self._lines = array("I", bytes(4 * len(self)))

    @property
    def met(self) -> int:
        """How many were met so far."""
        return len(self) - self._lines.count(0)

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


SETTLED = frozenset({Outcome.PASSED, Outcome.FAILED, Outcome.UNSUPPORTED})
"""Outcomes that asking again would only repeat; the others are asked anew."""


def settled(record: Record) -> bool:
    """Whether this record stands when its run is resumed."""
    return record.outcome in SETTLED


def resume(folder: Path, manifest: Manifest) -> Keys:
    """Make an earlier run in `folder` ready to go on: repair its tail, drop what is to be asked again."""
    if not is_run(folder):
        return Keys()
    reader = RunReader(folder)
    _refuse_another_run(folder, reader.manifest, manifest)
    if not reader.path.exists():
        return Keys()
    repair_tail(reader.path)
    if any(not settled(head) for head in reader.heads()):
        write_whole(reader.path, (line for line in reader.lines() if settled(decode_head(line))))
    return Keys(head.case for head in reader.heads())


def start_afresh(folder: Path, job: str) -> None:
    """Forget an earlier run of the same job in `folder`; other files there are left alone."""
    if not is_run(folder):
        return
    refuse_another_job(folder, read_manifest(folder), job)
    for name in (RECORDS, MANIFEST):
        with output_errors(folder / name):
            (folder / name).unlink(missing_ok=True)


def refuse_another_job(folder: Path, manifest: Manifest, job: str) -> None:
    """Nobody means to put one job's measurements into the folder of another's."""
    if manifest.job != job:
        raise InputError(
            f"{folder} holds a {manifest.job} run; this is a {job} run.", remedy="Choose another --output."
        )


def _refuse_another_run(folder: Path, old: Manifest, new: Manifest) -> None:
    """A folder holds one run: other ways of asking in it would make figures that belong to neither."""
    refuse_another_job(folder, old, new.job)
    for difference in _differences(old, new):
        raise InputError(
            f"{folder} holds measurements {difference}.", remedy="Choose another --output, or --fresh to forget them."
        )


def _differences(old: Manifest, new: Manifest) -> Iterator[str]:
    """What was asked elsewhere or otherwise; the key of a case covers none of it."""
    known = {spec.name: spec for spec in old.endpoints}
    for spec in new.endpoints:
        before = known.get(spec.name, spec)
        if before.base_url != spec.base_url:
            yield f"of {spec.name} at {before.base_url}, not at {spec.base_url}"
        if before.extra_body != spec.extra_body:
            yield f"of {spec.name} with another extra body"
    for name in sorted({*old.parameters, *new.parameters}):
        if old.parameters.get(name) != new.parameters.get(name):
            yield f"with other {name.replace('_', ' ')}"
