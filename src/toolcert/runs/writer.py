"""Writes the run log: one writer per folder, append-only, durable when reported, never damaged by a full disk."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import IO

import msgspec

from toolcert.core.errors import OutputError
from toolcert.core.events import CaseFinished, Event, RunFinished
from toolcert.core.records import Manifest, Record
from toolcert.runs.encoding import Keep, encode_record
from toolcert.runs.files import output_error, output_errors, refuse_shared, write_whole
from toolcert.stores.folder_lock import lock_file, look_at_lock

_LOCK = ".lock"
RECORDS = "records.jsonl"
MANIFEST = "manifest.json"
WRITTEN = (_LOCK, RECORDS, MANIFEST, "superseded.jsonl", "marks.jsonl", ".records.merged")
"""What writers of a run put into its folder."""


def hold(folder: Path) -> IO[bytes]:
    """Make the folder and lock it; the lock lasts as long as the returned file is open."""
    with output_errors(folder):
        folder.mkdir(parents=True, exist_ok=True)
        for name in WRITTEN:
            refuse_shared(folder / name)
        file = (folder / _LOCK).open("ab")
    try:
        try:
            lock_file(file)
        except OSError:
            time.sleep(0.05)  # it may be someone who only looks whether the folder is held
            lock_file(file)
    except OSError:
        file.close()
        raise OutputError(
            f"another toolcert is writing to {folder}.", remedy="Wait for it, or choose another --output."
        ) from None
    return file


def wait_for_lock(file: IO[bytes], path: Path, seconds: float = 10.0) -> None:
    """Lock an open file until it is closed; wait for others that write to it for a moment."""
    until = time.monotonic() + seconds
    while True:
        try:
            lock_file(file)
        except OSError:
            if time.monotonic() > until:
                raise OutputError(f"another toolcert is writing to {path}.", remedy="Wait for it.") from None
            time.sleep(0.01)
        else:
            return


def is_held(folder: Path) -> bool:
    """Whether another process is writing to the folder; nothing is written there to find out."""
    try:
        file = (folder / _LOCK).open("rb")
    except OSError:
        return False
    with file:
        try:
            look_at_lock(file)
        except OSError:
            return True
    return False


SYNC_SECONDS = 1.0
"""A power cut loses at most this much; a crash of the process loses nothing that was reported."""


class RunWriter:
    """The only writer of a run folder; as an event handler it must come first, so that reported means saved."""

    def __init__(
        self, folder: Path, manifest: Manifest, *, keep: Keep = Keep.RAW, lock: IO[bytes] | None = None
    ) -> None:
        """`lock` is the lock of the folder if the caller holds it already; the caller releases it."""
        self.folder = folder
        self.manifest = manifest
        self._keep = keep
        self._path = folder / RECORDS
        self._file = -1
        self._synced = time.monotonic()
        self._own_lock = hold(folder) if lock is None else None
        try:
            self._open()
        except BaseException:
            self.close()
            raise

    def __call__(self, event: Event) -> None:
        if isinstance(event, CaseFinished):
            self.append(event.record)
        elif isinstance(event, RunFinished):
            self.finish(interrupted=event.interrupted)

    def finish_all(self, events: Sequence[CaseFinished]) -> None:
        """Write the records of many finished cases at once, which spares the system parts of pages."""
        self.append_lines(self.encode(events))

    def encode(self, events: Sequence[CaseFinished]) -> bytes:
        """The lines of finished cases."""
        return b"".join([encode_record(event.record, self._keep) for event in events])

    def append(self, record: Record) -> None:
        """Write one record; when this returns, a crash of the process no longer loses it."""
        self.append_lines(encode_record(record, self._keep))

    def append_lines(self, lines: bytes) -> None:
        """Write records that are already encoded."""
        try:
            self._write_all(lines)
            if time.monotonic() - self._synced >= SYNC_SECONDS:
                self._sync()
        except OSError as error:  # without a context manager, which would cost more than the rest for every record
            raise output_error(self._path, error) from error

    def finish(self, *, interrupted: bool = False) -> None:
        """Write the end of the run into the manifest and release the folder."""
        finished = msgspec.structs.replace(self.manifest, finished_at=time.time(), interrupted=interrupted)
        with output_errors(self._path):
            self._sync()
        write_manifest(self.folder, finished)
        self.manifest = finished
        self.close()

    def close(self) -> None:
        """Release the folder; the manifest does not say that the run ended."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1
        if self._own_lock is not None:
            self._own_lock.close()

    def replace_lines(self, lines: Iterable[bytes]) -> None:
        """Replace the log by `lines` in one step; later records follow them."""
        # Windows cannot replace an open file.
        os.close(self._file)
        self._file = -1
        write_whole(self._path, lines)
        self._open_log()

    def _open(self) -> None:
        self._open_log()
        repair_tail(self._path)
        write_manifest(self.folder, self.manifest)

    def _open_log(self) -> None:
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0)
        with output_errors(self._path):
            self._file = os.open(self._path, flags, 0o644)

    def _write_all(self, lines: bytes) -> None:
        try:
            written = os.write(self._file, lines)
            while written < len(lines):
                written += os.write(self._file, lines[written:])
        except OSError:
            # A full disk may have taken part of the line; the log must end with a whole one.
            repair_tail(self._path)
            raise

    def _sync(self) -> None:
        os.fsync(self._file)
        self._synced = time.monotonic()


def write_manifest(folder: Path, manifest: Manifest) -> None:
    """Write the manifest beside the records."""
    text = msgspec.json.format(msgspec.json.encode(manifest), indent=2)
    write_whole(folder / MANIFEST, [text, b"\n"])


def repair_tail(path: Path) -> int:
    """Cut off an incomplete last line and return its size in bytes."""
    try:
        with path.open("r+b") as file:
            size = file.seek(0, os.SEEK_END)
            whole = _end_of_last_line(file.fileno(), size)
            if whole != size:
                file.truncate(whole)
            return size - whole
    except OSError as error:
        raise OutputError(f"cannot repair {path}: {error.strerror or error}.") from error


def _end_of_last_line(handle: int, size: int) -> int:
    """Offset just behind the last newline, found from the end in blocks."""
    block = 1 << 16
    end = size
    while end > 0:
        start = max(0, end - block)
        os.lseek(handle, start, os.SEEK_SET)
        found = os.read(handle, end - start).rfind(b"\n")
        if found >= 0:
            return start + found + 1
        end = start
    return 0
