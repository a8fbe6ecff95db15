"""The lines of a dataset file: plain, gzip or zstd, counted from 1, never all in memory.

A file that is not JSONL is refused once, with the command that converts it.
"""

from __future__ import annotations

import codecs
import hashlib
import io
import json
import sys
import zlib
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import IO, NoReturn, cast

from toolcert.core.errors import InputError
from toolcert.core.text.byte_lines import split_lines
from toolcert.core.text.lazy_pattern import lazy_pattern
from toolcert.core.values import Value
from toolcert.runs.files import output_errors
from toolcert.stores.object_url import is_url

STDIN = "-"
HEAD = 1 << 16
"""Bytes at the start of a file that are examined."""
_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, b"{\x00", b"\x00{", b"[\x00", b"\x00[")
_ARRAY = lazy_pattern(r"\[\s*(\{|\]|$)")
_OPENED = lazy_pattern(r'\{\s*\n\s*"')
"""How every printer of indented JSON begins an object."""


class Origin(Value):
    """Where the first bytes come from, as far as the remedy depends on it."""

    name: str
    unpack: str = ""
    """The command that unpacks an archive to standard output."""
    stream: bool = False
    """What can be read only once."""

    @property
    def shown(self) -> str:
        return "standard input" if self.name == STDIN else self.name

    def through(self, command: str) -> str:
        """How to put it through a command that reads a file or standard input."""
        if self.stream:
            return f"Pipe it through `{' | '.join(filter(None, [self.unpack, command]))}` first."
        import shlex

        file = shlex.quote(self.name)
        commands = f"{self.unpack} {file} | {command}" if self.unpack else f"{command} {file}"
        return f"{commands} > {shlex.quote(f'{self.name}.jsonl')}"


def refuse_other_forms(origin: Origin, head: bytes) -> None:
    """Refuse a dataset that is not JSONL and say what it is; a bad line in JSONL is a finding instead."""
    if head.startswith(_UTF16):
        remedy = origin.through("iconv -f UTF-16 -t UTF-8")
        raise InputError(f"{origin.shown} is UTF-16, not UTF-8.", remedy=remedy)
    text = head.removeprefix(codecs.BOM_UTF8).decode("utf-8", "replace").lstrip()
    if _ARRAY.match(text) and not _first_line_is_json(text):
        raise _not_jsonl(origin, "one JSON array", "jq -c '.[]'")
    if text.startswith("{") and _goes_over_lines(text):
        raise _not_jsonl(origin, "JSON printed over several lines", "jq -c .")


def _not_jsonl(origin: Origin, what: str, command: str) -> InputError:
    return InputError(f"{origin.shown} is {what}, not JSONL (one request a line).", remedy=origin.through(command))


def _first_line_is_json(text: str) -> bool:
    """Whether the first line is complete and another follows: then the file is JSONL with a bad line."""
    line, _, rest = text.partition("\n")
    return bool(rest.strip()) and _end_of_value(line) == len(line.rstrip())


def _goes_over_lines(text: str) -> bool:
    """Whether the first value does not end on the line it begins on."""
    first = text.partition("\n")[0]
    return _end_of_value(first) is None and (_OPENED.match(text) is not None or _end_of_value(text) is not None)


def _end_of_value(text: str) -> int | None:
    """Where the JSON value at the start of `text` ends; None if there is none or it is incomplete."""
    try:
        return json.JSONDecoder().raw_decode(text)[1]
    except (ValueError, RecursionError):
        return None


_GZIP = b"\x1f\x8b"
_ZSTD = b"\x28\xb5\x2f\xfd"
_BOM = b"\xef\xbb\xbf"
_BLOCK = 1 << 17
"""Bytes per read: large enough for speed, small beside the rest of the memory used."""


LONGEST_LINE = 64 * 1024 * 1024
"""Bytes of a row: a hundred images fit in. A small archive can unpack to a line that no memory holds."""


class _LineTooLong(Exception):  # noqa: N818 - becomes an InputError that names the line
    """A line has more than LONGEST_LINE bytes."""


class Source:
    """A dataset that can be read from its beginning as often as needed."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.digest: str | None = None
        """SHA-256 of the uncompressed text; None until it was read to its end."""
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
            except _LineTooLong:
                raise InputError(
                    f"line {number + 1} of the dataset {self.name} is longer than {LONGEST_LINE >> 20} MiB.",
                    remedy="A row is one request on one line; is the file JSONL?",
                ) from None
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
            except (OSError, EOFError, zlib.error, _LineTooLong):
                return found  # the lines before the damage are asked; reading them reports it
        return found

    def close(self) -> None:
        """Delete the copy of a stream."""
        if self._spooled is not None:
            self._spooled.close()

    def _kept(self) -> IO[bytes] | None:
        """A copy on disk of a stream, which can be read only once; None for a file, which is only opened."""
        if self.name == STDIN:
            return _spool(_standard_input())
        if is_url(self.name):
            from toolcert.stores.object_store import copy_object

            return _spooled(partial(copy_object, self.name))
        if self._path.is_dir():
            raise InputError(f"{self.name} is a folder, not a dataset.", remedy="Name a JSONL file, or - for stdin.")
        try:
            with self._path.open("rb") as file:
                return None if self._path.is_file() else _spool(file)
        except OSError as error:
            self._unreadable("cannot be read", error)

    def _head(self) -> bytes:
        """The first bytes; a damaged archive is reported later, when its lines are read."""
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
            import gzip

            return cast("IO[bytes]", io.BufferedReader(gzip.GzipFile(fileobj=raw), _BLOCK))
        if head == _ZSTD:
            return _open_zstd(raw)
        return raw

    def _unreadable(self, what: str, error: BaseException) -> NoReturn:
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(f"the dataset {self.name} {what}: {reason}.") from error


def _lines(file: IO[bytes], on_block: Callable[[bytes], object] | None = None) -> Iterator[bytes]:
    """The lines without their ends, split from blocks: that is faster than the file's own readline."""
    begun: list[bytes] = []
    size = 0
    while block := file.read(_BLOCK):
        if on_block is not None:
            on_block(block)
        first, *rest = split_lines(block)
        begun.append(first)
        size += len(first)
        if size > LONGEST_LINE:
            raise _LineTooLong
        if rest:
            yield b"".join(begun)
            begun = [rest.pop()]
            size = len(begun[0])
            yield from rest
    if last := b"".join(begun):
        yield last


def _open_zstd(raw: IO[bytes]) -> IO[bytes]:
    return cast("IO[bytes]", io.BufferedReader(ZstdFile(raw), _BLOCK))


def _standard_input() -> IO[bytes]:
    if sys.stdin is None:
        raise InputError("there is no standard input to read a dataset from.", remedy="Name a JSONL file.")
    return sys.stdin.buffer


def _spool(stream: IO[bytes]) -> IO[bytes]:
    """Copy a stream to disk: it can then be read twice, and a slow writer does not delay running requests."""
    import shutil

    return _spooled(lambda file: shutil.copyfileobj(stream, file, _BLOCK))


def _spooled(copy_to: Callable[[IO[bytes]], None]) -> IO[bytes]:
    import tempfile

    with output_errors(Path(tempfile.gettempdir())):
        file = tempfile.NamedTemporaryFile(prefix="toolcert-dataset-")  # noqa: SIM115 - lives as long as the source
        copy_to(cast("IO[bytes]", file))
        file.flush()
    return cast("IO[bytes]", file)


_CHUNK = 1 << 10
"""Compressed bytes unpacked at once: even these few can unpack to 32 MiB."""


class ZstdFile(io.RawIOBase):
    """A Zstandard file read as the standard library reads gzip: frame after frame; a truncated file is an error."""

    def __init__(self, raw: IO[bytes]) -> None:
        import zstandard  # only few datasets need it

        self._zstandard = zstandard
        self._raw = raw
        self._frame = zstandard.ZstdDecompressor().decompressobj()
        self._within = False
        """Whether a frame was begun and not ended."""
        self._pending = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]  # io hands over a writable view
        while not self._pending:
            data = self._frame.unused_data if self._frame.eof else b""
            data = data or self._raw.read(_CHUNK)
            if not data:
                if self._within:
                    raise EOFError("the compressed file ends in the middle")
                return 0
            self._pending = memoryview(self._decompress(data))
        size = min(len(buffer), len(self._pending))
        buffer[:size] = self._pending[:size]
        self._pending = self._pending[size:]
        return size

    def close(self) -> None:
        self._raw.close()
        super().close()

    def _decompress(self, data: bytes) -> bytes:
        if self._frame.eof:
            self._frame = self._zstandard.ZstdDecompressor().decompressobj()
        try:
            content = self._frame.decompress(data)
        except self._zstandard.ZstdError as error:
            raise OSError(str(error)) from error
        self._within = not self._frame.eof
        return content
