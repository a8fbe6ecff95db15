"""Content encodings: the two that are offered, decoded as the bytes arrive."""

from __future__ import annotations

import zlib
from typing import Protocol

ACCEPTED = "gzip, br"
_GZIP_WINDOW = 16 + zlib.MAX_WBITS


class CodingError(Exception):
    """The body is not what its content-encoding says."""


class Decoder(Protocol):
    """Gives back the decoded form of what it is fed."""

    def decode(self, data: bytes, most: int) -> bytes:
        """At least what fits into `most` bytes, and not much more: a small body may unpack to a huge one."""

    @property
    def finished(self) -> bool:
        """Whether the encoded data reached its own end."""


class Gzip:
    """gzip, of one or several members."""

    def __init__(self) -> None:
        self._member = zlib.decompressobj(_GZIP_WINDOW)

    @property
    def finished(self) -> bool:
        return self._member.eof

    def decode(self, data: bytes, most: int) -> bytes:
        decoded = b""
        try:
            while data and len(decoded) <= most:
                if self._member.eof:
                    self._member = zlib.decompressobj(_GZIP_WINDOW)
                decoded += self._member.decompress(data, most + 1)
                data = self._member.unconsumed_tail or self._member.unused_data
        except zlib.error as error:
            raise CodingError(f"the answer is no gzip: {error}") from None
        return decoded


class Brotli:
    """br."""

    def __init__(self) -> None:
        import brotli  # type: ignore[import-untyped]  # it ships no types

        self._decompressor = brotli.Decompressor()
        self._error = brotli.error

    @property
    def finished(self) -> bool:
        return bool(self._decompressor.is_finished())

    def decode(self, data: bytes, most: int) -> bytes:
        try:
            decoded = self._decompressor.process(data, output_buffer_limit=most + 1)
            while len(decoded) <= most and not self._decompressor.can_accept_more_data():
                decoded += self._decompressor.process(b"", output_buffer_limit=most + 1)
        except self._error as error:
            raise CodingError(f"the answer is no br: {error}") from None
        return bytes(decoded)


def decoder_for(encoding: str) -> Decoder | None:
    """The decoder of a content-encoding; None where the body stays as it is."""
    name = encoding.strip().lower()
    if name in ("gzip", "x-gzip"):
        return Gzip()
    return Brotli() if name == "br" else None
