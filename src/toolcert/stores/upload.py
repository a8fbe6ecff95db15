"""Uploads a folder while it grows: its log in parts, its other files whole, under a lease that only one writer has."""

from __future__ import annotations

import os
import sys
import threading
import time
import warnings
from collections.abc import Callable
from contextlib import suppress
from os import PathLike
from pathlib import Path
from typing import IO

from toolcert.core.errors import OutputError, ToolcertWarning
from toolcert.stores.lease import BEAT_SECONDS, LeaseLost, take_lease
from toolcert.stores.mirror import (
    HOLDER,
    WRITING,
    Moved,
    begins_with,
    empty,
    fetch,
    fetch_plain,
    mirror_folder,
    prepare,
    replace_file,
    sync_lock,
    try_lock,
    write_tags,
)
from toolcert.stores.object_store import CHECK, ObjectStore, StoreFault
from toolcert.stores.object_url import parse_url
from toolcert.stores.parts import Content, Series, all_parts, part_name

UPLOAD_SECONDS = 2.0
"""A killed run loses at most what it wrote in this many seconds, as long as the store answers."""
PART_BYTES = 8 << 20
_SMALL = 1 << 20
"""Bytes of a file beside the log that is sent while it may still change."""
_MANY_PARTS = 500
"""A finished log of more parts is sent again in large ones: readers fetch them one by one."""
_LARGE_BYTES = 16 << 20
PATIENCE = 60.0
"""Seconds that a finished run waits for a store that does not answer."""


class SentLog:
    """The local log as far as it was sent."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: IO[bytes] | None = None
        self._identity: tuple[int, int] | None = None
        self.content = Content()
        self.number = 0
        """Parts that were sent to the present series."""
        self._pending = b""
        """A part that may or may not have arrived: it is sent again unchanged, so that no number exists twice."""

    def begin(self, content: Content) -> None:
        """Go on behind what the store has already."""
        self.close()
        self._identity, self.content, self.number, self._pending = None, content, 0, b""
        self._open()  # so that a file that takes its place is known as another one

    def was_replaced(self) -> bool:
        """Whether the file is another one than before, or shorter than what was sent of it."""
        try:
            now = self._path.stat()
        except FileNotFoundError:
            return False  # it is about to be written anew
        return now.st_size < self.content.size or self._identity not in (None, (now.st_ino, now.st_dev))

    def next_part(self, most: int) -> bytes:
        """Whole lines that were not sent yet, about as many bytes as asked for; none if there are no more."""
        self._pending = self._pending or self._read(most)
        return self._pending

    def sent(self) -> None:
        """The part is in the store."""
        self.content.add(self._pending)
        self.number += 1
        self._pending = b""

    @property
    def left(self) -> int:
        """Bytes that are not in the store."""
        try:
            return max(0, self._path.stat().st_size - self.content.size)
        except FileNotFoundError:
            return 0

    def close(self) -> None:
        """Release the file."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def _read(self, most: int) -> bytes:
        file = self._open()
        if file is None:
            return b""
        file.seek(self.content.size)
        data = file.read(most)
        while data and b"\n" not in data and (more := file.read(most)):  # one long line
            data += more
        if sys.platform == "win32":
            self.close()  # an open file cannot be replaced there; elsewhere it keeps its number from another file
        return data[: data.rfind(b"\n") + 1]

    def _open(self) -> IO[bytes] | None:
        if self._file is None and self._path.exists():
            self._file = self._path.open("rb", buffering=0)
            opened = os.fstat(self._file.fileno())
            self._identity = opened.st_ino, opened.st_dev
        return self._file


class Upload:
    """The only writer at a URL. Write into `folder` between `start` and `finish`; what is there reaches the store."""

    def __init__(self, name: str | PathLike[str], log: str, *, patience: float = PATIENCE) -> None:
        self.url = parse_url(name)
        self.folder = mirror_folder(self.url)
        self._store = ObjectStore(self.url)
        self._log_name = log
        self._log = SentLog(self.folder / log)
        self._patience = patience
        self._series = Series(name="")
        self._announced = True
        """Whether the lease names the series, so that readers see it."""
        self._editions = 0
        self._files: dict[str, tuple[int, int, int]] = {}
        """Each file that was sent, as it was then."""
        self._tags: dict[str, str] = {}
        self._complete = False
        """Whether all is in the store and the lease is released."""
        self._fault: StoreFault | None = None
        self._error: BaseException | None = None
        self._closing, self._done, self._abandoned = threading.Event(), threading.Event(), threading.Event()

    def start(self) -> None:
        """Take the lease, bring the folder up to date and begin to upload; refuse while another writer is there."""
        prepare(self.folder, self.url)
        self._lock = self._only_writer_here()
        try:
            with sync_lock(self.folder):
                self._take_over()
        except (StoreFault, Moved) as fault:
            self._lock.close()
            raise OutputError(f"cannot write to {self.url}: {fault}.", remedy=CHECK) from None
        except LeaseLost:
            self._lock.close()
            raise self._lost() from None
        except BaseException:
            self._lock.close()
            raise
        threading.Thread(target=self._send_until_closed, name="toolcert-upload", daemon=True).start()

    def check(self, _event: object = None) -> None:
        """Raise if this writer has lost its lease or cannot go on; a handler of events."""
        if self._error is not None:
            raise self._error

    def abandon(self) -> None:
        """Stop waiting for a store that does not answer."""
        self._abandoned.set()

    def finish(self) -> None:
        """Upload what is left and release the lease; raises if something is not in the store."""
        self._closing.set()
        while not self._done.wait(0.05):
            if self._abandoned.is_set() and self._done.wait(1.0) is False:
                break
        self._log.close()
        self._lock.close()
        self.check()
        if not self._complete:
            reason = self._fault or "it was interrupted"
            raise OutputError(
                f"{self._log.left} bytes of the run are not in {self.url}: {reason}.",
                remedy=f"The whole run is in {self.folder}; the same command on this machine uploads it.",
            )

    def _only_writer_here(self) -> IO[bytes]:
        for _ in range(20):  # a reader that looks whether somebody writes holds it for a moment
            if lock := try_lock(self.folder / WRITING):
                return lock
            time.sleep(0.05)
        raise OutputError(
            f"another toolcert on this machine is writing to {self.url}.",
            remedy="Wait for it, or choose another --output.",
        )

    def _take_over(self) -> None:
        """Take the lease and let the folder hold what the store has; a tail that never got there stays."""
        mark = self.folder / HOLDER
        gone = mark.read_text("ascii", "replace") if mark.exists() else None
        self._lease, before = take_lease(self._store, gone)
        threading.Thread(target=self._beat, name="toolcert-lease", daemon=True).start()
        *closed, self._series = self._lease.series
        try:
            if before is None and gone is None:
                empty(self.folder)  # a copy of what was deleted in the store
                fetch_plain(self._store, self.folder, self._log_name)
            elif before is not None and before.holder != gone:
                closed = fetch(self._store, self.folder, closed, self._log_name, keep_tail=False)
                self._lease.renew((*closed, self._series))
            self._go_on(closed)
            replace_file(mark, self._lease.holder.encode())
        except BaseException:
            self._done.set()
            with suppress(StoreFault, LeaseLost):
                self._lease.renew(released=True)
            raise

    def _go_on(self, closed: list[Series]) -> None:
        parts = all_parts(self._store, closed)
        known, content = begins_with(self.folder / self._log_name, parts)
        if known == len(parts):
            self._log.begin(content)
        else:  # its last writer had replaced it and ended before all of it was uploaded
            self._begin_edition()

    def _beat(self) -> None:
        while not self._done.wait(BEAT_SECONDS):
            self._try(self._lease.renew)

    def _send_until_closed(self) -> None:
        while not self._closing.wait(UPLOAD_SECONDS):
            if self._error is None and self._try(self._send) and self._fault is not None:
                self._fault = None
                self._tell(f"{self.url} answers again.")
        end, told = time.monotonic() + self._patience, False
        while self._error is None and not self._try(self._send_rest):
            if time.monotonic() > end or self._abandoned.wait(1.0):
                break
            if not told:
                self._tell(f"waiting up to {self._patience:.0f} seconds for {self.url}; Ctrl-C ends the wait.")
                told = True
        self._done.set()

    def _try(self, work: Callable[[], None]) -> bool:
        """Do it; a store that fails is reported once and asked again later."""
        try:
            work()
        except StoreFault as fault:
            if self._fault is None:
                self._tell(f"{self.url}: {fault}. The run goes on in {self.folder} and is uploaded later.")
            self._fault = fault
            return False
        except LeaseLost:
            self._error = self._lost()
            return False
        except Exception as error:  # noqa: BLE001 - not hidden: `check` and `finish` raise it
            self._error = error
            return False
        return True

    def _lost(self) -> OutputError:
        return OutputError(
            f"another toolcert has taken over {self.url}, because this one did not renew its lease in time.",
            remedy=f"What this one measured is in {self.folder}; the other asks what did not reach the store.",
        )

    def _send(self, *, last: bool = False, most: int | None = None) -> None:
        """Send what is new."""
        if self._fault is not None:
            self._lease.renew()  # there may be nothing to send that would show whether the store answers
        if self._log.was_replaced():
            self._begin_edition()
        if not self._announced:
            self._send_files(last=last)  # what they say about the log is known before the log is
        while data := self._log.next_part(most or PART_BYTES):
            self._store.write(
                part_name(self._series, self._log.number, self._log.content.with_added(data).digest), data
            )
            self._log.sent()
        self._send_files(last=last)
        if not self._announced:
            self._announce()

    def _send_rest(self) -> None:
        self._send(last=True)
        if sum(one.parts or 0 for one in self._lease.series) + self._log.number > _MANY_PARTS:
            self._begin_edition()
            self._send(last=True, most=_LARGE_BYTES)
        if not self._files and not self._log.content.size and len(self._lease.series) == 1:
            self._lease.forget()
        else:
            self._lease.renew(released=True)
        write_tags(self.folder, self._tags)
        (self.folder / HOLDER).unlink(missing_ok=True)
        self._complete = True

    def _begin_edition(self) -> None:
        """Send the log from its beginning; until all of it is there, readers see the one before."""
        self._editions += 1
        self._series = Series(name=self._lease.next_series(self._editions))
        self._announced = False
        self._log.begin(Content())
        self._files.clear()

    def _announce(self) -> None:
        former = self._lease.series
        self._lease.renew((self._series,))
        self._announced = True
        with suppress(StoreFault):  # what is left over counts nowhere
            self._store.delete(one.name for series in former for one in self._store.entries(series.name))

    def _send_files(self, *, last: bool) -> None:
        there = set()
        for path in sorted(self.folder.rglob("*")):
            name = path.relative_to(self.folder)
            if name.as_posix() == self._log_name or any(step.startswith(".") for step in name.parts):
                continue
            with suppress(FileNotFoundError):  # replaced or removed at this moment
                self._send_file(path, name.as_posix(), last=last)
                there.add(name.as_posix())
        if last:
            gone = self._files.keys() - there
            self._store.delete(f"{self._series.files}/{name}" for name in gone)

    def _send_file(self, path: Path, name: str, *, last: bool) -> None:
        found = path.stat()
        seen = found.st_mtime_ns, found.st_size, found.st_ino
        if not path.is_file() or self._files.get(name) == seen or (found.st_size > _SMALL and not last):
            return
        self._tags[name] = self._store.write(f"{self._series.files}/{name}", path.read_bytes())
        self._files[name] = seen

    @staticmethod
    def _tell(message: str) -> None:
        warnings.warn(message, ToolcertWarning, stacklevel=2)
