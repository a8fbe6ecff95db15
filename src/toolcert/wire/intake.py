"""A body on its way in: kept as received, held to its caps, and its first token timed."""

from __future__ import annotations

import re
from collections.abc import Callable

from toolcert.core.values import Value
from toolcert.wire.coding import CodingError, Decoder, decoder_for
from toolcert.wire.sse import MAX_LINE

MAX_PAYLOAD = 64 * 1024 * 1024
"""Far above any answer of a chat; a server that sends more is broken or hostile."""
_TOKEN = re.compile(
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


class Intake:
    """Collects a body and watches it."""

    __slots__ = (
        "_caps",
        "_decoder",
        "_line",
        "_on_first_token",
        "_parts",
        "_received",
        "_tail",
        "event_stream",
        "first_token",
        "oversized",
        "size",
    )

    def __init__(self, caps: Caps, on_first_token: Callable[[], None] | None = None) -> None:
        self.event_stream = False
        self.first_token: float | None = None
        """Clock time of the read that carried it."""
        self.oversized: str | None = None
        """Which cap was broken, in words."""
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
        """Bytes that may still come."""
        return self._caps.payload - self.size

    def expect(self, headers: dict[str, str]) -> None:
        """Learn from the headers what is coming."""
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
        if self.size > self._caps.payload:
            self._refuse_payload()
        elif self.event_stream:
            self._watch_line(data)
            if self.first_token is None:
                self._look_for_token(data, now)

    def finish(self) -> None:
        """The body has come to its end; CodingError where its encoding has not."""
        if self._decoder is not None and self._received and not self._decoder.finished:
            raise CodingError("the compressed answer is incomplete")

    def payload(self) -> bytes:
        """All that came."""
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
