"""The chunks of a streamed answer as typed values: a fast decoder for regular ones, a lenient one for the rest."""

from __future__ import annotations

import json
from typing import Any, NoReturn, TypeAlias

import msgspec
from msgspec import UNSET, UnsetType

from toolcert.core.text.excerpt import shown
from toolcert.core.values import JsonObject
from toolcert.protocol.irregularity import Notices
from toolcert.protocol.unicode import NOT_JSON, text_of_parts, well_formed, well_formed_throughout


class Function(msgspec.Struct, gc=False):
    """The named part of a piece of a call."""

    name: Any = None
    arguments: Any = None


class Piece(msgspec.Struct, gc=False):
    """One entry of a delta's `tool_calls`."""

    index: int | None = None
    id: Any = None
    type: Any = None
    function: Function | None = None


CallPieces: TypeAlias = list[Piece] | UnsetType | None


class Delta(msgspec.Struct, gc=False):
    """What a chunk adds to a message."""

    role: str | None = None
    content: str | None = None
    reasoning_content: str | None = None
    reasoning: str | None = None
    tool_calls: CallPieces = UNSET
    function_call: Any = None


class StreamChoice(msgspec.Struct, gc=False):
    """One choice of a chunk; `text` is the completions protocol's delta."""

    index: int | None = None
    delta: Delta | None = None
    text: str | None = None
    finish_reason: str | None = None
    usage: JsonObject | None = None
    error: Any = None


class Chunk(msgspec.Struct, gc=False):
    """One event of a streamed answer, without its identity, which `Identity` holds."""

    choices: list[StreamChoice] | UnsetType | None = UNSET
    usage: JsonObject | None = None
    error: Any = None


class Identity(msgspec.Struct, gc=False):
    """Id, model and fingerprint of the answer. Decoded only where they may have changed: every chunk repeats them."""

    id: Any = None
    model: Any = None
    model_id: Any = None
    provider: Any = None
    system_fingerprint: Any = None


WRONG_CALLS: list[Piece] = []
"""Stands for a `tool_calls` that is not a list of objects; compared by identity."""

_LONGEST_INDEX = 9
"""Digits of an index: no real one is longer, and Python refuses to convert thousands of digits."""

_chunk_decoder = msgspec.json.Decoder(Chunk)
_identity_decoder = msgspec.json.Decoder(Identity)


def decode_regular(data: bytes) -> Chunk | None:
    """The chunk in an event's data, if every part of it has the protocol's type."""
    try:
        return _chunk_decoder.decode(data)
    except NOT_JSON:
        return None


def decode_chunk(data: bytes, notices: Notices) -> Chunk | None:
    """The chunk in an event's data, regular or not; None where there is none, and the reason noted."""
    regular = decode_regular(data)
    if regular is not None:
        return regular
    value = decode_anyhow(data, notices)
    if isinstance(value, dict):
        try:
            return _Lenient(notices).chunk(value)
        except RecursionError:
            notices.note("stream.framing", f"an event nested without end: {shown(data)}", rule="json")
            return None
    if value is not UNSET:
        notices.note("stream.framing", f"an event that is no object: {shown(data)}", rule="no object")
    return None


def decode_identity(data: bytes) -> Identity:
    """The identity fields of a chunk; empty where they cannot be read."""
    try:
        return _identity_decoder.decode(data)
    except NOT_JSON:
        return Identity()


def decode_anyhow(data: bytes, notices: Notices) -> Any:
    """The JSON value of an irregular event, UNSET where it has none; what is wrong with it is noted."""
    try:
        text = data.decode()
    except UnicodeDecodeError:
        notices.note("stream.framing", f"an event that is not UTF-8: {shown(data)}", rule="utf-8")
        text = data.decode(errors="replace")
    try:
        value = json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError):
        notices.note("stream.framing", f"an event that is not JSON: {shown(data)}", rule="json")
        return UNSET
    return value


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not JSON")


class _Lenient:
    """Builds a chunk from a JSON object whose parts are not of the protocol's types."""

    def __init__(self, notices: Notices) -> None:
        self._notices = notices

    def chunk(self, value: JsonObject) -> Chunk:
        choices = value.get("choices", UNSET)
        if isinstance(choices, list):
            choices = [self._choice(choice) for choice in choices if self._is_object("a choice", choice)]
        elif choices is not UNSET and choices is not None:
            self._wrong("choices", choices)
            choices = None
        return Chunk(
            choices=choices, usage=self._object("usage", value), error=well_formed_throughout(value.get("error"))
        )

    def _choice(self, value: JsonObject) -> StreamChoice:
        delta = self._object("delta", value)
        return StreamChoice(
            index=self._integer(value),
            delta=None if delta is None else self._delta(delta),
            text=self._text("text", value),
            finish_reason=well_formed(self._text("finish_reason", value)),
            usage=self._object("usage", value),
            error=value.get("error"),
        )

    def _delta(self, value: JsonObject) -> Delta:
        return Delta(
            role=well_formed(self._text("role", value)),
            content=self._text("content", value),
            reasoning_content=self._text("reasoning_content", value),
            reasoning=self._text("reasoning", value),
            tool_calls=self._calls(value.get("tool_calls", UNSET)),
            function_call=value.get("function_call"),
        )

    def _calls(self, value: Any) -> CallPieces:
        if value is UNSET or value is None:
            return UNSET if value is UNSET else None
        if not isinstance(value, list) or not all(isinstance(piece, dict) for piece in value):
            self._wrong("tool_calls", value)
            return WRONG_CALLS
        return [self._piece(piece) for piece in value]

    def _piece(self, value: JsonObject) -> Piece:
        function = self._object("function", value) or {}
        index = value.get("index")
        if index is not None and type(index) is not int:
            self._notices.note("stream.index_missing", f"index is {shown(index)}, no whole number", rule="type")
            index = int(index) if _is_whole(index) else None
        arguments = function.get("arguments")
        if not isinstance(arguments, str):  # halves of a character in two pieces of text are joined later
            arguments = well_formed_throughout(arguments)
        name, call_id, kind = map(well_formed_throughout, (function.get("name"), value.get("id"), value.get("type")))
        return Piece(index=index, id=call_id, type=kind, function=Function(name=name, arguments=arguments))

    def _text(self, field: str, value: JsonObject) -> str | None:
        text = value.get(field)
        if text is None or isinstance(text, str):
            return text
        self._wrong(field, text)
        return text_of_parts(text)

    def _object(self, field: str, value: JsonObject) -> JsonObject | None:
        part = value.get(field)
        if part is None or isinstance(part, dict):
            return well_formed_throughout(part) if field == "usage" else part
        self._wrong(field, part)
        return None

    def _integer(self, value: JsonObject) -> int | None:
        index = value.get("index")
        if index is None or type(index) is int:
            return index
        self._wrong("index of a choice", index)
        return None

    def _is_object(self, what: str, value: Any) -> bool:
        if not isinstance(value, dict):
            self._wrong(what, value)
        return isinstance(value, dict)

    def _wrong(self, field: str, value: Any) -> None:
        self._notices.note("envelope.not_openai", f"{field} is {shown(value)}", rule=field)


def _is_whole(index: Any) -> bool:
    if isinstance(index, str):
        return index.isdecimal() and len(index) <= _LONGEST_INDEX
    return isinstance(index, float) and index.is_integer()
