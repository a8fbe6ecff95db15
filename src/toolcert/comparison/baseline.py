"""Named baselines: a run with its digest and parameters, so that a later comparison can tell whether it changed."""

from __future__ import annotations

import hashlib
import time
from pathlib import Path

import msgspec

from toolcert.core.errors import InputError, UsageError
from toolcert.core.text.lazy_pattern import lazy_pattern
from toolcert.core.values import JsonObject, Value
from toolcert.runs.files import write_whole
from toolcert.runs.location import locate_run
from toolcert.runs.reader import read_manifest
from toolcert.runs.writer import RECORDS
from toolcert.verification.digest import SAMPLING_FIELDS
from toolcert.version import __version__

FOLDER = "toolcert-baselines"
_NAME = lazy_pattern(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_BLOCK = 1 << 20


class Blessing(Value):
    """A named baseline."""

    name: str
    path: str
    digest: str
    """SHA-256 of its records as they were when it was blessed."""
    blessed_at: float
    toolcert: str
    dataset_digest: str | None = None
    parameters: JsonObject = {}


def bless(run: Path, name: str, folder: Path = Path(FOLDER)) -> Blessing:
    """Keep `run` as the baseline `name`; an earlier one of that name is replaced."""
    if not _NAME.fullmatch(name):
        raise UsageError(
            f"{name!r} cannot be the name of a baseline.", remedy="Use letters, digits, dot, dash, underscore."
        )
    run = locate_run(run)
    if not run.exists():
        raise InputError(f"there is no run or results file {run}.")
    if run.is_file() and not run.stat().st_size:
        raise InputError(f"{run} is empty.", remedy="Was the run that should have written it interrupted?")
    manifest = read_manifest(run) if run.is_dir() else None
    if manifest is not None and manifest.job != "verify":
        raise InputError(f"{run} is a {manifest.job} run; only verify runs can be compared with.")
    blessing = Blessing(
        name=name,
        path=str(run.resolve()),
        digest=digest_of(run),
        blessed_at=time.time(),
        toolcert=__version__,
        dataset_digest=manifest.dataset.digest if manifest is not None and manifest.dataset is not None else None,
        parameters={} if manifest is None else manifest.parameters,
    )
    text = msgspec.json.format(msgspec.json.encode(blessing), indent=2)
    write_whole(folder / f"{name}.json", [text, b"\n"])
    return blessing


def find_blessing(folder: Path, name: str) -> Blessing | None:
    """The baseline of that name, if there is one."""
    path = folder / f"{name}.json"
    if not _NAME.fullmatch(name) or not path.is_file():
        return None
    try:
        return msgspec.json.decode(path.read_bytes(), type=Blessing)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, OSError) as error:
        raise InputError(
            f"{path} is damaged: {error}.", remedy=f"Bless the run again: toolcert bless RUN --as {name}"
        ) from error


def readable_blessing(folder: Path, name: str) -> Blessing | None:
    """The baseline of that name; None where its file is damaged, which blessing it again repairs."""
    try:
        return find_blessing(folder, name)
    except InputError:
        return None


def stale_baseline(blessing: Blessing) -> InputError | None:
    """The refusal of a baseline whose run changed after it was blessed; None where it did not."""
    if digest_of(Path(blessing.path)) == blessing.digest:
        return None
    return InputError(
        f"the baseline {blessing.name} is stale: {blessing.path} has changed since it was blessed.",
        remedy=f"Bless it again (toolcert bless {blessing.path} --as {blessing.name}), or compare anyway with --force.",
    )


def other_question(
    blessing: Blessing, vendor: str, dataset_digest: str | None, parameters: JsonObject
) -> InputError | None:
    """The refusal of a baseline that answered another dataset, or with other parameters, than the vendor."""
    if blessing.dataset_digest and dataset_digest and blessing.dataset_digest != dataset_digest:
        return InputError(
            f"the baseline {blessing.name} is stale: it answered another version of the dataset than {vendor}.",
            remedy="Run the baseline on this dataset and bless it again, or compare the common rows with --force.",
        )
    old, new = blessing.parameters, parameters
    differing = [name for name in SAMPLING_FIELDS if old and new and old.get(name) != new.get(name)]
    if not differing:
        return None
    return InputError(
        f"the baseline {blessing.name} was asked with other parameters than {vendor}: {', '.join(differing)}.",
        remedy="Run one of them again with the other's parameters, or compare anyway with --force.",
    )


def digest_of(run: Path) -> str:
    """SHA-256 of the records of a run, or of a results file."""
    digest = hashlib.sha256()
    path = run / RECORDS if run.is_dir() else run
    try:
        with path.open("rb") as file:
            while block := file.read(_BLOCK):
                digest.update(block)
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror or error}.") from error
    return digest.hexdigest()
