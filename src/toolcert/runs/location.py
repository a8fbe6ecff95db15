"""Where a run is: from the name that a user gives to its folder, and the runs below a folder."""

from __future__ import annotations

import warnings
from enum import StrEnum
from os import PathLike
from pathlib import Path

import msgspec

from toolcert.core.errors import InputError, ToolcertWarning
from toolcert.core.records import Manifest
from toolcert.core.text.lazy_pattern import lazy_pattern
from toolcert.core.values import Value
from toolcert.runs.provenance import RUNS
from toolcert.runs.reader import is_run, read_manifest
from toolcert.runs.writer import MANIFEST, RECORDS, is_held
from toolcert.stores.object_url import ORIGIN, is_url

LATEST = "latest"
_LATEST = lazy_pattern(rf"{LATEST}(?:~(\d{{1,6}}))?")
_RUN_ID = lazy_pattern(r"[0-9a-f]{8}")


class RunState(StrEnum):
    """How far a run has come."""

    RUNNING = "running"
    FINISHED = "finished"
    INTERRUPTED = "interrupted"
    """Stopped by the user, or killed; the same command with --output continues it."""


class RunEntry(Value):
    """A run in a list of runs, known by its manifest alone."""

    folder: Path
    manifest: Manifest
    size: int
    """Bytes of its log."""
    state: RunState


def locate_run(name: str | PathLike[str]) -> Path:
    """The folder or file that a user means by a run.

    That is a path, `latest` (the newest run below toolcert-runs), `latest~2` (the second before it), or the id of a
    run there. A path that exists comes first. A name without a run is returned as a path; its reader reports that.
    A URL of an object store becomes its local mirror; `URL/latest` is the newest run below the URL.
    """
    if is_url(name):
        return _at_url(str(name))
    path, word = Path(name), str(name)
    if _exists(path):
        return path.parent if path.name == RECORDS and is_run(path.parent) else path
    if found := _LATEST.fullmatch(word):
        return _newest(int(found.group(1) or 0))
    if _RUN_ID.fullmatch(word):
        return next((entry.folder for entry in list_runs(RUNS) if entry.manifest.run == word), path)
    return path


def _at_url(url: str) -> Path:
    from toolcert.stores.mirror import files_below, mirror

    parent, _, word = url.rstrip("/").rpartition("/")
    found = _LATEST.fullmatch(word)
    manifests = files_below(parent, MANIFEST) if found else {}
    if found is None or word in manifests:
        return mirror(url, RECORDS)
    # The order of `list_runs`: a merge begins when its first shard does.
    runs = sorted(manifests, key=lambda name: (_started_at(manifests[name]), name), reverse=True)
    before = int(found.group(1) or 0)
    if before < len(runs):
        return mirror(f"{parent}/{runs[before]}", RECORDS)
    raise InputError(f"there is no run {word}: {parent} holds {len(runs)}.", remedy="Name the URL given to --output.")


def _started_at(manifest: bytes) -> float:
    try:
        return msgspec.json.decode(manifest, type=Manifest).started_at
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return 0.0  # its reader says what is wrong


def run_name(folder: str | PathLike[str]) -> str:
    """What to call a run: the URL that its folder mirrors, or the folder."""
    if not _exists(Path(folder, ORIGIN)):
        return str(folder)
    from toolcert.stores.mirror import origin_of

    return origin_of(folder)


def list_runs(folder: str | PathLike[str]) -> list[RunEntry]:
    """The runs directly below a folder or URL, newest first; or the folder itself, where it is a run.

    A run whose manifest cannot be read is left out with a warning.
    """
    try:
        folders = _mirrors_below(str(folder)) if is_url(folder) else _folders_below(Path(folder))
    except FileNotFoundError:
        return []
    except OSError as error:
        raise InputError(f"cannot read {folder}: {error.strerror or error}.") from error
    entries = [entry for path in folders if (entry := _entry(path)) is not None]
    return sorted(entries, key=lambda entry: (entry.manifest.started_at, entry.folder.name), reverse=True)


def _folders_below(folder: Path) -> list[Path]:
    return [folder] if is_run(folder) else [path for path in folder.iterdir() if is_run(path)]


def _mirrors_below(url: str) -> list[Path]:
    from toolcert.stores.mirror import files_below, mirror

    parent = url.rstrip("/")
    return [mirror(f"{parent}/{name}", RECORDS) for name in files_below(parent, MANIFEST)]


def _entry(folder: Path) -> RunEntry | None:
    try:
        manifest = read_manifest(folder)
        size = (folder / RECORDS).stat().st_size if (folder / RECORDS).exists() else 0
    except (InputError, OSError) as error:
        warnings.warn(f"{folder} is left out: {error}", ToolcertWarning, stacklevel=2)
        return None
    return RunEntry(folder=folder, manifest=manifest, size=size, state=_state(folder, manifest))


def _state(folder: Path, manifest: Manifest) -> RunState:
    if manifest.finished_at is not None:
        return RunState.INTERRUPTED if manifest.interrupted else RunState.FINISHED
    return RunState.RUNNING if is_held(folder) or _is_mirrored_while_it_runs(folder) else RunState.INTERRUPTED


def _is_mirrored_while_it_runs(folder: Path) -> bool:
    if run_name(folder) == str(folder):
        return False
    from toolcert.stores.mirror import is_written_elsewhere

    return is_written_elsewhere(folder)


def _newest(before: int) -> Path:
    runs = list_runs(RUNS)
    if before < len(runs):
        return runs[before].folder
    there = f"{RUNS} holds {len(runs)}" if runs else f"{RUNS} holds none"
    raise InputError(
        f"there is no run {LATEST}{f'~{before}' if before else ''}: {there}.",
        remedy="Name the folder given to --output; `toolcert runs FOLDER` lists the runs below a folder.",
    )


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except OSError:  # a name too long for the file system, or a folder that may not be entered
        return False
