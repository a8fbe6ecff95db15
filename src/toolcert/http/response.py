"""One HTTP response, parsed as its bytes arrive."""

from __future__ import annotations

import httptools

from toolcert.core.exchanges import Fault
from toolcert.http.base import broken_off, oversized
from toolcert.http.body import Body, CodingError

MAX_HEAD = 256 * 1024
"""Bytes of status line and headers; servers allow themselves 8 to 64 KiB."""


class _Unasked(Exception):  # noqa: N818 - stops the parser, which reports it as an error of its own
    """More came than was asked for."""


class IncomingResponse:
    """Status, headers and body so far; ends by itself, by a fault, or with its connection."""

    __slots__ = (
        "_complete",
        "_fresh",
        "_head_size",
        "_parser",
        "ended",
        "fault",
        "first_byte",
        "headers",
        "intake",
        "keep_alive",
        "on_body",
        "status",
    )

    def __init__(self, intake: Body) -> None:
        self.status: int | None = None
        self.headers: dict[str, str] = {}
        self.intake = intake
        self.first_byte: float | None = None
        self.ended = False
        self._complete = False
        self.keep_alive = False
        self.fault: Fault | None = None
        self._head_size = 0
        self._fresh: list[bytes] = []
        self.on_body = self._fresh.append
        """Parser callback: a part of the body. The parts of one read are taken in together."""
        self._parser = httptools.HttpResponseParser(self)
        # What common clients put up with is no reason to refuse a server; aiohttp allows the same.
        self._parser.set_dangerous_leniencies(
            lenient_headers=True, lenient_optional_cr_before_lf=True, lenient_spaces_after_chunk_size=True
        )

    def feed(self, data: bytes, now: float) -> bool:
        """Take what the socket gave at clock time `now`; True when the answer has ended."""
        if self.first_byte is None:
            self.first_byte = now
        try:
            self._parser.feed_data(data)
        except (httptools.HttpParserError, httptools.HttpParserUpgrade) as error:
            if not self._complete:
                self.fail(broken_off(f"what the server sends is not HTTP: {error}", self.status))
        if self._fresh:
            self._take_in(now)
        if self.status is None:
            self._head_size += len(data)
            if self._head_size > MAX_HEAD:
                self.fail(oversized(f"the headers are longer than {MAX_HEAD} bytes"))
        elif self._complete and not self.ended:
            self._end()
        return self.ended

    def lose(self, error: BaseException | None) -> None:
        """The connection is gone: the regular end of an answer without a length, otherwise a fault."""
        if self.ended:
            return
        if self.status is None:
            where = "before any answer" if self.first_byte is None else "inside the headers"
            self.fail(broken_off(f"the connection was closed {where}"))
        elif error is None and self._lasts_until_close():
            self._end()
        else:
            how = "reset" if error is not None else "closed"
            self.fail(
                broken_off(f"the connection was {how} inside the answer, after {self.intake.size} bytes", self.status)
            )

    def fail(self, fault: Fault) -> None:
        """End here, for this reason, unless ended already."""
        if not self.ended:
            self.fault = fault
            self.keep_alive = False
            self._release()

    def on_message_begin(self) -> None:
        """Parser callback: an answer begins; after the end of ours it is one that nobody asked for."""
        if self._complete:
            self.keep_alive = False
            raise _Unasked

    def on_header(self, name: bytes, value: bytes) -> None:
        """Parser callback: one header; trailers, which come after the body, are not kept."""
        if self.status is None:
            self.headers[name.decode("latin-1").lower()] = value.decode("latin-1")

    def on_headers_complete(self) -> None:
        """Parser callback: the head has come, of the final answer or of one that announces it."""
        status = self._parser.get_status_code()
        if status < 200:
            return
        self.status = status
        self.intake.expect(self.headers)
        self._check_size()

    def on_message_complete(self) -> None:
        """Parser callback: the answer is complete, or an interim one is over."""
        if self.status is None:
            self.headers = {}
        else:
            self.keep_alive = self._parser.should_keep_alive()
            self._complete = True

    def _take_in(self, now: float) -> None:
        body = b"".join(self._fresh)
        self._fresh.clear()
        try:
            self.intake.add(body, now)
        except CodingError as error:
            self.fail(broken_off(str(error), self.status))
        self._check_size()

    def _end(self) -> None:
        try:
            self.intake.finish()
        except CodingError as error:
            self.fail(broken_off(str(error), self.status))
        else:
            self._release()

    def _release(self) -> None:
        self.ended = True
        self._fresh.clear()
        # The parser holds our methods and we hold the parser: without this only the collector frees the body.
        del self._parser

    def _check_size(self) -> None:
        if self.intake.oversized is not None:
            self.fail(oversized(self.intake.oversized, self.status))

    def _lasts_until_close(self) -> bool:
        return (
            "content-length" not in self.headers and "chunked" not in self.headers.get("transfer-encoding", "").lower()
        )
