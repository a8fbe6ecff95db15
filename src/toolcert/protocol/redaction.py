"""Secrets erased from an answer before it is kept, also those that a stream spreads over several events."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, NamedTuple

import msgspec

from toolcert.core.exchanges import Fault
from toolcert.core.secrets import HIDDEN, Eraser
from toolcert.protocol.sse import Events, ServerEvent, read_events

_HIDDEN = HIDDEN.encode()
_DEEPEST = 20
"""Levels of objects and lists; nothing that is put together from pieces lies deeper."""


class _Piece(NamedTuple):
    """A text inside an event, and where to put what is left of it."""

    owner: Any
    place: Any
    text: bytes


def erased_payload(eraser: Eraser, payload: bytes, *, event_stream: bool) -> bytes:
    """`payload` with no secret in it, nor in what its events say together."""
    payload = eraser.bytes(payload)
    # A body has pieces only where its content is a list of parts, each with a text.
    if not (event_stream or payload.find(b'"text"') >= 0) or not eraser.may_be_in_pieces(payload):
        return payload
    return _without_pieces(eraser, payload) if event_stream else _without_parts(eraser, payload)


def _without_pieces(eraser: Eraser, stream: bytes) -> bytes:
    """The stream itself, or, where its texts together held a secret, its events written again without it."""
    log = read_events(stream)
    values = [_decoded(event.data) for event in log.events]
    return _written(log, values) if _erase_all(eraser, values) else stream


def _without_parts(eraser: Eraser, body: bytes) -> bytes:
    """The body itself, or, where the parts of a text together held a secret, the same JSON without it."""
    value = _decoded(body)
    return _encoded(value) if _erase_all(eraser, [value]) else body


def _erase_all(eraser: Eraser, values: Iterable[Any]) -> bool:
    """Take secrets out of the texts that values have at the same place; whether there were any."""
    texts: dict[tuple[Any, ...], list[_Piece]] = {}
    for value in values:
        _collect(value, (), texts)
    found = [_erase(pieces, eraser) for pieces in texts.values()]  # all of them, not up to the first
    return any(found)


def _decoded(data: bytes) -> Any:
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        return None


def _collect(value: Any, path: tuple[Any, ...], texts: dict[tuple[Any, ...], list[_Piece]]) -> None:
    """Put the texts of one event behind those that earlier events have at the same place."""
    for place, part in _parts(value):
        # A choice or call is the one its index says, wherever in its list it stands. What has no index is a part of
        # one text: clients put the parts of a content together.
        index = (part.get("index") if isinstance(part, dict) else None) if isinstance(value, list) else place
        if isinstance(part, str):
            text = part.encode("utf-8", "surrogatepass")
            texts.setdefault((*path, index), []).append(_Piece(value, place, text))
        elif len(path) < _DEEPEST:
            _collect(part, (*path, str(index)), texts)


def _parts(value: Any) -> Iterable[tuple[Any, Any]]:
    if isinstance(value, dict):
        return value.items()
    return enumerate(value) if isinstance(value, list) else ()


def _erase(pieces: list[_Piece], eraser: Eraser) -> bool:
    """Take secrets out of a text that came in pieces; whether there were any."""
    spans = eraser.spans(b"".join(piece.text for piece in pieces))
    offset = 0
    for piece in pieces if spans else ():
        left = _left_of(piece.text, offset, spans)
        piece.owner[piece.place] = left.decode("utf-8", "surrogatepass")
        offset += len(piece.text)
    return bool(spans)


def _left_of(text: bytes, offset: int, spans: list[tuple[int, int]]) -> bytes:
    """What is left of one piece; the mark stands where a secret began."""
    kept, done = b"", 0
    for start, end in spans:
        low, high = max(start - offset, 0), min(end - offset, len(text))
        if low < high:
            kept += text[done:low] + (_HIDDEN if start >= offset else b"")
            done = high
    return kept + text[done:]


def _written(log: Events, values: list[Any]) -> bytes:
    blocks = [_block(event, value) for event, value in zip(log.events, values, strict=True)]
    stream = b"".join(blocks)
    return stream.rstrip(b"\n") if log.unfinished else stream


def _block(event: ServerEvent, value: Any) -> bytes:
    name = f"event: {event.event}\n".encode() if event.event else b""
    data = event.data if value is None else _encoded(value)
    return name + b"".join(b"data: %b\n" % line for line in data.split(b"\n")) + b"\n"


def _encoded(value: Any) -> bytes:
    try:
        return json.dumps(value, separators=(",", ":")).encode()
    except RecursionError:
        return b"{}"  # too deeply nested to be written again: dropped, because a secret may be in it


def erased_fault(eraser: Eraser, fault: Fault) -> Fault:
    """`fault` with no secret in its message."""
    return msgspec.structs.replace(fault, message=eraser.text(fault.message))


def erased_headers(eraser: Eraser, headers: dict[str, str]) -> dict[str, str]:
    """`headers` with no secret in their values; one search over all of them covers the usual case."""
    values = "\n".join(headers.values())
    if eraser.text(values) is values:
        return headers
    return {name: eraser.text(value) for name, value in headers.items()}
