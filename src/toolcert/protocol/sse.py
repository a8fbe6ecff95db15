"""Server-sent events, read from bytes however they are split."""

from __future__ import annotations

from toolcert.core.values import Value

MAX_LINE = 8 * 1024 * 1024
"""A longer line is not an event of a chat: a whole answer of the largest models is under 1 MiB."""
_BOM = b"\xef\xbb\xbf"
_PLAIN = b"data: "


class ServerEvent(Value, gc=False):
    """One event; `data` is kept as bytes, because what is not UTF-8 is worth reporting."""

    data: bytes
    event: str = ""
    id: str = ""


class LineTooLong(ValueError):  # noqa: N818 - a fact about the stream, which the caller turns into a fault
    """A line is longer than the reader may accept."""


class SseReader:
    """Takes a stream in pieces of any size; gives its events and counts lines that do not belong there."""

    def __init__(self, *, max_line: int = MAX_LINE) -> None:
        self.strays: list[bytes] = []
        """Lines that are not a field of an event."""
        self.unfinished = False
        """Whether the stream ended inside an event: without the empty line that closes it."""
        self._max_line = max_line
        self._held: list[bytes] = []
        self._held_size = 0
        self._at_start = True
        self._data: list[bytes] = []
        self._event = ""
        self._id = ""

    def feed(self, data: bytes) -> list[ServerEvent]:
        """The events that `data` completes."""
        if b"\n" in data or b"\r" in data or self._at_start or self._ends_in_return():
            return self._read_lines(self._complete_lines(data))
        self._hold(data)
        return []

    def finish(self) -> list[ServerEvent]:
        """The stream has ended: the event it left open, if any."""
        rest = b"".join(self._held)
        self._held, self._held_size = [], 0
        events = self._read_lines([rest.removesuffix(b"\r")]) if rest else []
        self.unfinished = bool(self._data or self._event)
        return events + self._close_event()

    def _ends_in_return(self) -> bool:
        return bool(self._held) and self._held[-1].endswith(b"\r")

    def _complete_lines(self, data: bytes) -> list[bytes]:
        """All lines that are certain to be complete; the rest is held back."""
        text = b"".join((*self._held, data))
        if self._at_start:
            if len(text) < len(_BOM) and _BOM.startswith(text):
                self._held, self._held_size = [], 0
                self._hold(text)
                return []
            text = text.removeprefix(_BOM)
            self._at_start = False
        body, held = _split_complete(text)
        self._held, self._held_size = [], 0
        self._hold(held)
        lines = body.split(b"\n")
        lines.pop()
        return lines

    def _hold(self, data: bytes) -> None:
        if data:
            self._held.append(data)
            self._held_size += len(data)
        if self._held_size > self._max_line:
            raise LineTooLong(f"a line of the stream is longer than {self._max_line} bytes")

    def _read_lines(self, lines: list[bytes]) -> list[ServerEvent]:
        events: list[ServerEvent] = []
        for line in lines:
            if line.startswith(_PLAIN):
                self._data.append(line[6:])
            elif not line:
                events += self._close_event()
            else:
                self._read_field(line)
        return events

    def _read_field(self, line: bytes) -> None:
        if len(line) > self._max_line:
            raise LineTooLong(f"a line of the stream is longer than {self._max_line} bytes")
        name, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if name == b"data":
            self._data.append(value)
        elif name == b"event":
            self._event = value.decode(errors="replace")
        elif name == b"id":
            self._id = value.decode(errors="replace")
        elif name not in (b"", b"retry"):  # an empty name is a comment
            self.strays.append(line)

    def _close_event(self) -> list[ServerEvent]:
        if not self._data and not self._event:
            return []
        event = ServerEvent(data=b"\n".join(self._data), event=self._event, id=self._id)
        self._data, self._event = [], ""
        return [event]


class Events(Value):
    """All events of a whole stream, and what was wrong with their framing."""

    events: list[ServerEvent]
    strays: list[bytes] = []
    unfinished: bool = False


def read_events(stream: bytes) -> Events:
    """The events of a stream that has been received to its end."""
    reader = SseReader(max_line=len(stream) + 1)
    events = reader.feed(stream) + reader.finish()
    return Events(events=events, strays=reader.strays, unfinished=reader.unfinished)


def read_plain_events(stream: bytes) -> list[bytes] | None:
    """The data of each event, for the common stream of nothing but `data: ...` blocks; None for any other."""
    if not stream.startswith(_PLAIN) or not stream.endswith(b"\n\n") or b"\r" in stream:
        return None
    blocks = stream[len(_PLAIN) : -2].split(b"\n\n" + _PLAIN)
    for block in blocks:
        if b"\n" in block:
            return None
    return blocks


def _split_complete(text: bytes) -> tuple[bytes, bytes]:
    """The part up to the last certain end of a line, with ends made uniform, and what is left."""
    if b"\r" not in text:
        end = text.rfind(b"\n") + 1
        return text[:end], text[end:]
    # A carriage return at the very end may be half of a pair whose line feed is still to come.
    end = max(text.rfind(b"\n"), text.rfind(b"\r", 0, len(text) - 1)) + 1
    return text[:end].replace(b"\r\n", b"\n").replace(b"\r", b"\n"), text[end:]
