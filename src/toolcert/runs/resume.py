"""Resuming: what is measured is not asked again, what is not measured is, and no key stands twice."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Iterator
from hashlib import blake2b
from pathlib import Path

from toolcert.core.errors import InputError
from toolcert.core.manifest import Manifest
from toolcert.core.outcomes import Outcome
from toolcert.core.records import Record
from toolcert.runs.encoding import decode_head
from toolcert.runs.files import output_errors, write_whole
from toolcert.runs.lock import hold
from toolcert.runs.reader import RunReader, is_run
from toolcert.runs.writer import RECORDS, repair_tail

SETTLED = frozenset({Outcome.PASSED, Outcome.FAILED, Outcome.UNSUPPORTED})
"""Outcomes that asking again would only repeat; the others are asked anew."""


class MeasuredKeys:
    """The keys of settled cases in eight bytes each."""

    def __init__(self, keys: Iterator[str] | None = None) -> None:
        self._digests = array("Q", sorted(_digest(key) for key in keys or ()))

    def __contains__(self, key: object) -> bool:
        digest = _digest(str(key))
        place = bisect_left(self._digests, digest)
        return place < len(self._digests) and self._digests[place] == digest

    def __len__(self) -> int:
        return len(self._digests)


def _digest(key: str) -> int:
    return int.from_bytes(blake2b(key.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big")


def settled(record: Record) -> bool:
    """Whether this record stands when its run is resumed."""
    return record.outcome in SETTLED


def resume(folder: Path, manifest: Manifest) -> MeasuredKeys:
    """Make an earlier run in `folder` ready to go on: repair its tail, drop what is to be asked again."""
    if not is_run(folder):
        return MeasuredKeys()
    reader = RunReader(folder)
    _refuse_another_run(folder, reader.manifest, manifest)
    if not reader.path.exists():
        return MeasuredKeys()
    with hold(folder):
        repair_tail(reader.path)
        if any(not settled(head) for head in reader.heads()):
            write_whole(reader.path, (line for line in reader.lines() if settled(decode_head(line))))
    return MeasuredKeys(head.case for head in reader.heads())


def start_afresh(folder: Path) -> None:
    """Forget an earlier run in `folder`; other files there are left alone."""
    records = folder / RECORDS
    with output_errors(records):
        if is_run(folder) and records.exists():
            with hold(folder):
                records.unlink()


def _refuse_another_run(folder: Path, old: Manifest, new: Manifest) -> None:
    """A folder holds one run: other ways of asking in it would make figures that belong to neither."""
    if old.job != new.job:
        raise InputError(
            f"{folder} holds a {old.job} run; this is a {new.job} run.", remedy="Choose another --output, or --fresh."
        )
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
