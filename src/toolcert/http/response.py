"""One HTTP response as its bytes arrive: the head parsed, the body decoded, held to its size limits and timed."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from typing import Protocol

import httptools

from toolcert.core.exchanges import Fault, Timing
from toolcert.core.secrets import Eraser
from toolcert.core.text.lazy_pattern import lazy_pattern
from toolcert.core.values import Value
from toolcert.http.base import HttpResponse, broken_off, oversized
from toolcert.protocol.arrivals import ArrivalLog, moved
from toolcert.protocol.redaction import erased_fault, erased_headers, erased_payload
from toolcert.protocol.sse import MAX_LINE

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
            raise CodingError(f"the answer is not gzip: {error}") from None
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
            raise CodingError(f"the answer is not br: {error}") from None
        return bytes(decoded)


def decoder_for(encoding: str) -> Decoder | None:
    """The decoder of a content-encoding; None where the body stays as it is."""
    name = encoding.strip().lower()
    if name in ("gzip", "x-gzip"):
        return Gzip()
    return Brotli() if name == "br" else None


MAX_PAYLOAD = 64 * 1024 * 1024
"""Far above any chat answer; a server that sends more is broken or hostile."""
_TOKEN = lazy_pattern(
    rb'"(?:content|reasoning_content|reasoning|thinking|refusal|text)"\s*:\s*"[^"]'
    rb'|"(?:tool_calls|function_call)"\s*:\s*[\[{]\s*["{]'
)
"""The first sign of content, reasoning or a piece of a call: one of these fields, not empty. It is searched
in the raw bytes, which costs a microsecond, so that timing does not wait for parsing."""
_OVERLAP = 64
"""Bytes of the past kept for a sign that is split between two reads; the longest sign is shorter."""
_STREAM_STARTS = (b"data:", b"event:", b"id:")


class Caps(Value):
    """How much of an answer is taken in before it counts as oversized, in bytes."""

    payload: int = MAX_PAYLOAD
    line: int = MAX_LINE
    together: int = 1024 * 1024 * 1024
    """For all answers that are under way at the same time."""


class Intake:
    """The bytes of all answers that are under way."""

    __slots__ = ("_most", "answers", "size")

    def __init__(self, most: int) -> None:
        self._most = most
        self.answers = 0
        self.size = 0

    def is_too_much(self, size: int) -> bool:
        """Whether an answer of this size must end: there is no room, and it takes more than its share."""
        return self.size > self._most and size > self._most // self.answers


class Body:
    """Collects a body and watches it."""

    __slots__ = (
        "_caps",
        "_decoder",
        "_intake",
        "_line",
        "_on_first_token",
        "_parts",
        "_received",
        "_tail",
        "arrivals",
        "event_stream",
        "first_token",
        "oversized",
        "size",
    )

    def __init__(
        self, caps: Caps, on_first_token: Callable[[], None] | None = None, intake: Intake | None = None
    ) -> None:
        """`intake` counts this answer too, until it is released."""
        self._intake = intake or Intake(caps.together)
        self._intake.answers += 1
        self.arrivals = ArrivalLog()
        """Of an event stream."""
        self.event_stream = False
        self.first_token: float | None = None
        """Clock time of the read that carried it."""
        self.oversized: str | None = None
        """Which size limit was exceeded, in words."""
        self.size = 0
        self._caps = caps
        self._on_first_token = on_first_token
        self._parts: list[bytes] = []
        self._line = 0
        self._tail = b""
        self._decoder: Decoder | None = None
        self._received = False

    @property
    def room(self) -> int:
        """Bytes left below the limit."""
        return self._caps.payload - self.size

    def expect(self, headers: dict[str, str]) -> None:
        """Prepare for the body that the headers announce."""
        self.event_stream = headers.get("content-type", "")[:17].lower() == "text/event-stream"
        length = headers.get("content-length")
        if length is not None and length.isdecimal() and int(length) > self._caps.payload:
            self._refuse_payload()
        encoding = headers.get("content-encoding")
        if encoding is not None:
            self._decoder = decoder_for(encoding)

    def add(self, data: bytes, now: float) -> None:
        """Keep `data`, received at clock time `now`; CodingError where it cannot be decoded."""
        self._received = True
        if self._decoder is not None:
            data = self._decoder.decode(data, self.room)
        if not self.size and not self.event_stream:
            self.event_stream = data.startswith(_STREAM_STARTS)
        self._parts.append(data)
        self.size += len(data)
        intake = self._intake
        intake.size += len(data)
        if self.size > self._caps.payload:
            self._refuse_payload()
        elif intake.is_too_much(self.size):
            self.oversized = f"the answers under way are longer than {self._caps.together} bytes together"
        elif self.event_stream:
            self._watch_line(data)
            self.arrivals.add(len(data), now)
            if self.first_token is None:
                self._look_for_token(data, now)

    def finish(self) -> None:
        """The body has come to its end; CodingError where its encoding has not."""
        if self._decoder is not None and self._received and not self._decoder.finished:
            raise CodingError("the compressed answer is incomplete")

    def release(self) -> None:
        """The answer is no longer under way."""
        self._intake.answers -= 1
        self._intake.size -= self.size

    def payload(self) -> bytes:
        """Everything received so far, decoded."""
        return self._parts[0] if len(self._parts) == 1 else b"".join(self._parts)

    def _watch_line(self, data: bytes) -> None:
        end = data.find(b"\n")
        longest = self._line + (len(data) if end < 0 else end)
        if len(data) > self._caps.line:  # only then can a line inside it be too long
            longest = max(longest, *map(len, data.split(b"\n")))
        if longest > self._caps.line:
            self.oversized = f"a line of the stream is longer than {self._caps.line} bytes"
        self._line = longest if end < 0 else len(data) - data.rfind(b"\n") - 1

    def _look_for_token(self, data: bytes, now: float) -> None:
        window = self._tail + data
        if _TOKEN.search(window) is None:
            self._tail = window[-_OVERLAP:]
            return
        self.first_token = now
        self._tail = b""
        if self._on_first_token is not None:
            self._on_first_token()

    def _refuse_payload(self) -> None:
        self.oversized = f"the answer is longer than {self._caps.payload} bytes"


MAX_HEAD = 256 * 1024
"""Bytes of status line and headers; servers allow themselves 8 to 64 KiB."""


class _Unasked(Exception):  # noqa: N818 - stops the parser, which reports it as an error of its own
    """A second answer begins where one was asked for."""


class IncomingResponse:
    """Status, headers and body so far; ends by itself, by a fault, or with its connection."""

    __slots__ = (
        "_complete",
        "_fresh",
        "_head_size",
        "_parser",
        "body",
        "ended",
        "fault",
        "first_byte",
        "headers",
        "keep_alive",
        "on_body",
        "status",
    )

    def __init__(self, body: Body) -> None:
        self.status: int | None = None
        self.headers: dict[str, str] = {}
        self.body = body
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
        # Common clients accept these deviations (aiohttp does, too), so they must not fail a server here.
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
                broken_off(f"the connection was {how} inside the answer, after {self.body.size} bytes", self.status)
            )

    def fail(self, fault: Fault) -> None:
        """End here, for this reason, unless ended already."""
        if not self.ended:
            self.fault = fault
            self.keep_alive = False
            self._release()

    def on_message_begin(self) -> None:
        """Parser callback: an answer begins; after the end of ours it is one that was not asked for."""
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
        self.body.expect(self.headers)
        self._check_size()

    def on_message_complete(self) -> None:
        """Parser callback: the answer is complete, or an interim one is over."""
        if self.status is None:
            self.headers = {}
        else:
            self.keep_alive = self._parser.should_keep_alive()
            self._complete = True

    def _take_in(self, now: float) -> None:
        data = b"".join(self._fresh)
        self._fresh.clear()
        try:
            self.body.add(data, now)
        except CodingError as error:
            self.fail(broken_off(str(error), self.status))
        self._check_size()

    def _end(self) -> None:
        try:
            self.body.finish()
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
        if self.body.oversized is not None:
            self.fail(oversized(self.body.oversized, self.status))

    def _lasts_until_close(self) -> bool:
        return (
            "content-length" not in self.headers and "chunked" not in self.headers.get("transfer-encoding", "").lower()
        )


class Answer(Protocol):
    """What a client has taken in of an answer when the attempt ends."""

    status: int | None
    headers: dict[str, str]
    body: Body
    first_byte: float | None
    """Clock time, as all times here."""
    fault: Fault | None


def as_response(
    answer: Answer, eraser: Eraser, *, started: float, connected: float | None, last_byte: float | None
) -> HttpResponse:
    """The answer as the rest of the program sees it: no secret in it, times counted from the start of the attempt."""
    body = answer.body
    timing = Timing(
        connect=None if connected is None else connected - started,
        first_byte=None if answer.first_byte is None else answer.first_byte - started,
        first_token=None if body.first_token is None else body.first_token - started,
        last_byte=None if last_byte is None else last_byte - started,
    )
    received = body.payload()
    payload = erased_payload(eraser, received, event_stream=body.event_stream)
    arrivals = body.arrivals.since(started)
    return HttpResponse(
        status=answer.status,
        headers=erased_headers(eraser, answer.headers),
        payload=payload,
        event_stream=body.event_stream,
        arrivals=None if arrivals is None else moved(arrivals, received, payload),
        timing=timing,
        fault=None if answer.fault is None else erased_fault(eraser, answer.fault),
    )
