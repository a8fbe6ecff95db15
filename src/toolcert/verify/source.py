"""The lines of a dataset file: plain, gzip or zstd, counted from 1, never all in memory."""

from __future__ import annotations

import gzip
import hashlib
import io
import shutil
import sys
import tempfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, NoReturn, cast

from toolcert.core.errors import InputError
from toolcert.runs.files import output_errors
from toolcert.verify.form import HEAD, STDIN, Origin, refuse_other_forms

_GZIP = b"\x1f\x8b"
_ZSTD = b"\x28\xb5\x2f\xfd"
_BOM = b"\xef\xbb\xbf"
_BLOCK = 1 << 17
"""Large enough that reading costs no time of its own, small beside everything else."""


class Source:
    """A dataset that can be read from its beginning as often as needed."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.digest: str | None = None
        """SHA-256 of the uncompressed text, once it was read to its end."""
        self.rows: int | None = None
        """Lines that are not blank, known at the same time."""
        self._path = Path(name)
        self._spooled = self._kept()
        refuse_other_forms(self._origin(), self._head())

    def lines(self) -> Iterator[tuple[int, bytes]]:
        """Every line that is not blank, with its number; the digest is known after the last one."""
        digest = hashlib.sha256()
        number = rows = 0
        with self._open() as file:
            try:
                for line in _lines(file, digest.update):
                    number += 1
                    if line and not line.isspace():
                        rows += 1
                        yield number, line if number > 1 else line.removeprefix(_BOM)
            except (OSError, EOFError, zlib.error) as error:
                self._unreadable(f"stops being readable after line {number}", error)
        self.digest, self.rows = digest.hexdigest(), rows

    def count(self, at_most: int | None = None) -> int:
        """How many lines there are to ask, counted no further than `at_most`."""
        found = 0
        with self._open() as file:
            try:
                for line in _lines(file):
                    found += bool(line) and not line.isspace()
                    if found == at_most:
                        break
            except (OSError, EOFError, zlib.error):
                return found  # the lines before the damage are asked; reading them reports it
        return found

    def close(self) -> None:
        """Remove what was kept of a stream."""
        if self._spooled is not None:
            self._spooled.close()

    def _kept(self) -> IO[bytes] | None:
        """What can be read only once, on disk; None for a file, which is only tried."""
        if self.name == STDIN:
            return _spool(_standard_input())
        if self._path.is_dir():
            raise InputError(f"{self.name} is a folder, not a dataset.", remedy="Name a JSONL file, or - for stdin.")
        try:
            with self._path.open("rb") as file:
                return None if self._path.is_file() else _spool(file)
        except OSError as error:
            self._unreadable("cannot be read", error)

    def _head(self) -> bytes:
        """The first bytes; damage to the archive is told by whoever reads the lines."""
        with self._open() as file:
            try:
                return file.read(HEAD)
            except (OSError, EOFError, zlib.error):
                return b""

    def _origin(self) -> Origin:
        with self._open_packed() as raw:
            head = raw.read(4)
        unpack = "gunzip -c" if head.startswith(_GZIP) else "zstd -dc" if head == _ZSTD else ""
        return Origin(name=self.name, unpack=unpack, stream=self._spooled is not None)

    def _open_packed(self) -> IO[bytes]:
        return self._path.open("rb") if self._spooled is None else Path(self._spooled.name).open("rb")

    def _open(self) -> IO[bytes]:
        raw = self._open_packed()
        head = raw.read(4)
        raw.seek(0)
        if head.startswith(_GZIP):
            return cast("IO[bytes]", io.BufferedReader(gzip.GzipFile(fileobj=raw), _BLOCK))
        if head == _ZSTD:
            return _open_zstd(raw)
        return raw

    def _unreadable(self, what: str, error: BaseException) -> NoReturn:
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(f"the dataset {self.name} {what}: {reason}.") from error


def _lines(file: IO[bytes], on_block: Callable[[bytes], object] | None = None) -> Iterator[bytes]:
    """The lines without their ends, cut out of blocks: a file's own readline looks at every byte by itself."""
    begun: list[bytes] = []
    while block := file.read(_BLOCK):
        if on_block is not None:
            on_block(block)
        first, *rest = block.split(b"\n")
        begun.append(first)
        if rest:
            yield b"".join(begun)
            begun = [rest.pop()]
            yield from rest
    if last := b"".join(begun):
        yield last


def _open_zstd(raw: IO[bytes]) -> IO[bytes]:
    from toolcert.verify.zstd import ZstdFile

    return cast("IO[bytes]", io.BufferedReader(ZstdFile(raw), _BLOCK))


def _standard_input() -> IO[bytes]:
    if sys.stdin is None:
        raise InputError("there is no standard input to read a dataset from.", remedy="Name a JSONL file.")
    return sys.stdin.buffer


def _spool(stream: IO[bytes]) -> IO[bytes]:
    """A stream on disk: it can be read twice, and a slow writer cannot hold up answers under way."""
    with output_errors(Path(tempfile.gettempdir())):
        file = tempfile.NamedTemporaryFile(prefix="toolcert-dataset-")  # noqa: SIM115 - lives as long as the source
        shutil.copyfileobj(stream, file, _BLOCK)
        file.flush()
    return cast("IO[bytes]", file)
