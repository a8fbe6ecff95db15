"""Zstandard files read as the standard library reads gzip: frame after frame, and a truncated file is an error."""

from __future__ import annotations

import io
from typing import IO

import zstandard

_CHUNK = 1 << 10
"""Compressed bytes unpacked at once: even these few can unpack to 32 MiB."""


class ZstdFile(io.RawIOBase):
    """The uncompressed content of a file, forwards only."""

    def __init__(self, raw: IO[bytes]) -> None:
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
            self._frame = zstandard.ZstdDecompressor().decompressobj()
        try:
            content = self._frame.decompress(data)
        except zstandard.ZstdError as error:
            raise OSError(str(error)) from error
        self._within = not self._frame.eof
        return content
