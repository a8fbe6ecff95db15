"""Reads finished and unfinished runs in bounded memory: heads cheaply, evidence on demand."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

import msgspec

from toolcert.core.errors import InputError
from toolcert.core.manifest import RUN_FORMAT, Manifest
from toolcert.core.records import Record
from toolcert.runs.encoding import decode_head, decode_record
from toolcert.runs.writer import MANIFEST, RECORDS

T = TypeVar("T")


class RunReader:
    """A run folder, read line by line."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.manifest = read_manifest(folder)

    @property
    def path(self) -> Path:
        return self.folder / RECORDS

    def lines(self) -> Iterator[bytes]:
        """The whole lines; a torn last line (the run was killed there) is left out."""
        return whole_lines(self.path)

    def heads(self) -> Iterator[Record]:
        """Every record without its evidence."""
        return self.decoded(decode_head)

    def records(self) -> Iterator[Record]:
        """Every record, evidence included."""
        return self.decoded(decode_record)

    def decoded(self, decode: Callable[[bytes], T]) -> Iterator[T]:
        """Every line as `decode` reads it; one that is no record is named with its number."""
        return decoded_lines(self.path, decode)


def whole_lines(path: Path) -> Iterator[bytes]:
    """The lines of a log that need not be there; a torn last one is left out."""
    if not path.exists():
        return
    with path.open("rb") as file:
        for line in file:
            if line.endswith(b"\n"):
                yield line


def decoded_lines(path: Path, decode: Callable[[bytes], T]) -> Iterator[T]:
    """Every whole line as `decode` reads it; one that is no record is named with its number."""
    for number, line in enumerate(whole_lines(path), 1):
        try:
            yield decode(line)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise InputError(
                f"{path}, line {number}: not a record of a toolcert run ({error}).",
                remedy="Remove the line, or run again with --fresh.",
            ) from error


def is_run(path: Path) -> bool:
    """Whether `path` is a run folder."""
    return (path / MANIFEST).is_file()


def read_manifest(folder: Path) -> Manifest:
    """The manifest of a run folder; says clearly what is wrong with anything else."""
    path = folder / MANIFEST
    try:
        manifest = msgspec.json.decode(path.read_bytes(), type=Manifest)
    except FileNotFoundError:
        raise InputError(
            f"{folder} is not a run of toolcert: it has no {MANIFEST}.",
            remedy="Name the folder given to --output, or one below toolcert-runs/.",
        ) from None
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror or error}.") from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise InputError(
            f"{path} is damaged: {error}.", remedy="Choose another --output, or remove the folder."
        ) from error
    if manifest.format > RUN_FORMAT:
        raise InputError(
            f"{folder} was written by toolcert {manifest.toolcert} in a newer format ({manifest.format}).",
            remedy="Update toolcert.",
        )
    return manifest
