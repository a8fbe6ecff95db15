"""Reads a whole event stream: which events are chunks, which end it, which are errors."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import UNSET

from toolcert.core.exchanges import Exchange, Reply
from toolcert.core.text.excerpt import shown
from toolcert.protocol.assembly import Assembly
from toolcert.protocol.chunk import Chunk, Identity, decode_anyhow, decode_chunk, decode_identity, decode_regular
from toolcert.protocol.irregularity import Notices, choices_asked, error_in
from toolcert.protocol.sse import Events, ServerEvent, read_events, read_plain_events

_DONE = b"[DONE]"
_CHUNK_EVENTS = ("", "message")
_CLOSE_EVENT = "close"
_ERROR_EVENT = "error"
_UNKNOWN = b"\n"
"""No event of a plain stream begins with it."""
_TAIL = 120
"""Bytes of the end of a cut stream shown as evidence."""


def read_stream(exchange: Exchange) -> Reply:
    """The answer in an event stream, regular or not."""
    reading = _Reading(exchange)
    plain = read_plain_events(exchange.payload)
    if plain is not None:
        reading.read_plain(plain)
    else:
        reading.read(read_events(exchange.payload))
    return reading.reply()


class _Reading:
    """One pass over the events of a stream."""

    def __init__(self, exchange: Exchange) -> None:
        self._exchange = exchange
        self._notices = Notices()
        self._assembly = Assembly(self._notices, exchange.request)
        self._identity: Identity | None = None
        self._opening = _UNKNOWN
        """How every chunk of the same identity begins: cheaper to compare than to decode."""
        self._ended = False
        self._failed = False
        self._named_events = False
        self._anything = False
        self._note_start()

    def read_plain(self, events: list[bytes]) -> None:
        """Read events that have only data. This is the hot loop of a long stream."""
        self._anything = True
        add, opening = self._assembly.add, self._opening
        for data in events:
            chunk = decode_regular(data)
            if chunk is not None and chunk.choices and chunk.error is None and data.startswith(opening):
                add(chunk)
            else:
                self._take_data(data)
                opening = _UNKNOWN if self._ended else self._opening

    def read(self, log: Events) -> None:
        self._anything = bool(log.events or log.strays)
        events = self._without_torn_end(log) if log.unfinished else log.events
        for event in events:
            self._take(event)
        for stray in log.strays:
            self._notices.note("stream.framing", f"a line that is no field of an event: {shown(stray)}", rule="stray")

    def _take(self, event: ServerEvent) -> None:
        if event.event:
            self._named_events = True
        if event.event in _CHUNK_EVENTS:
            self._take_data(event.data)
        else:
            self._take_named(event)

    def _take_data(self, data: bytes) -> None:
        if self._ended:
            self._notices.note("stream.framing", f"after the end marker: {shown(data)}", rule="after end")
        if data == _DONE:
            self._ended = True
            return
        chunk = decode_chunk(data, self._notices)
        if chunk is None or ((chunk.choices is UNSET or chunk.error is not None) and self._is_error(chunk, data)):
            return
        self._identify(data)
        self._assembly.add(chunk)

    def _take_named(self, event: ServerEvent) -> None:
        if event.event == _CLOSE_EVENT:
            self._ended = True
        elif event.event == _ERROR_EVENT:
            self._fail(event.data)
        else:
            self._notices.note("stream.framing", f"an event named {shown(event.event)}", rule="event name")

    def _is_error(self, chunk: Chunk, data: bytes) -> bool:
        """Note an error in the chunk; True where it is nothing but an error."""
        bare = chunk.choices is UNSET
        if chunk.error is not None or (bare and error_in(decode_anyhow(data, Notices())) is not None):
            self._fail(data)
            return bare
        return False

    def _fail(self, data: bytes) -> None:
        self._failed = True
        value = decode_anyhow(data, Notices())
        error = error_in(value)
        self._notices.note("stream.error_inside", shown(error if error is not None else data))

    def _identify(self, data: bytes) -> None:
        """Take the first identity of the stream, and note another one."""
        identity = decode_identity(data)
        if self._identity is None or not self._identity.id:
            self._identity = identity
            self._opening = _opening(data, identity)
        elif identity.id and identity.id != self._identity.id:
            evidence = f"the id changes from {shown(self._identity.id)} to {shown(identity.id)}"
            self._notices.note("stream.framing", evidence, rule="id")

    def _without_torn_end(self, log: Events) -> list[ServerEvent]:
        """The events without a last one that broke off; one that is whole but not closed is kept and noted."""
        last = log.events[-1]
        whole = last.data == _DONE or decode_anyhow(last.data, Notices()) is not UNSET
        if whole and self._exchange.fault is None:
            self._notices.note("stream.framing", "no empty line after the last event", rule="unfinished")
        return log.events if whole else log.events[:-1]

    def _note_start(self) -> None:
        if not self._exchange.request.stream:
            self._notices.note(
                "stream.unasked", "an event stream in answer to a request without `stream`", rule="unasked"
            )
        media_type = self._exchange.headers.get("content-type", "")
        if media_type and not media_type.lower().startswith("text/event-stream"):
            evidence = f"an event stream with content-type {shown(media_type)}"
            self._notices.note("stream.framing", evidence, rule="media type")

    def reply(self) -> Reply:
        self._failed = self._failed or self._assembly.failed
        readable = self._assembly.has_choice or self._failed or not self._anything
        if not readable:
            rule = "no choice in the stream"
            self._notices.note("envelope.not_openai", f"{rule}: {shown(self._exchange.payload)}", rule=rule)
        elif not self._failed and self._exchange.fault is None:
            self._note_end()
        body = self._exchange.request.body
        self._assembly.note_usage(running_totals_expected=self._named_events or _asks_running_totals(body))
        self._assembly.note_other_choices(choices_asked(body))
        complete = bool(self._ended or self._assembly.finish_reasons) and not self._failed
        reply = self._assembly.reply(self._identity or Identity(), complete=complete and self._exchange.fault is None)
        return reply if readable else msgspec.structs.replace(reply, readable=False)

    def _note_end(self) -> None:
        if self._ended:
            return
        if self._assembly.finish_reasons:
            self._notices.note("stream.framing", "no end marker after the finish reason", rule="end")
        else:
            tail = self._exchange.payload[-_TAIL:]
            self._notices.note("stream.cut", f"the stream ends with {shown(tail)}" if tail else "the stream is empty")


def _opening(data: bytes, identity: Identity) -> bytes:
    """The beginning of a chunk up to the end of its id, if it has one."""
    if not identity.id:
        return _UNKNOWN
    before, found, _ = data.partition(msgspec.json.encode(identity.id))
    return before + found if found else _UNKNOWN


def _asks_running_totals(body: dict[str, Any]) -> bool:
    options = body.get("stream_options")
    return isinstance(options, dict) and bool(options.get("continuous_usage_stats"))
