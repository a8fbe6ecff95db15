"""One line of an older verifier's results.jsonl, decoded no further than a comparison needs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Annotated, Any

import msgspec

from toolcert.comparison.read.columns import MASK_32
from toolcert.core.exchanges import Exchange
from toolcert.core.replies import Reply
from toolcert.core.requests import Request
from toolcert.core.values import JsonObject

SUCCESS = "success"
_RESPONSE = b'"response":'
_ABSENT = ""


class Function(msgspec.Struct, frozen=True, gc=False):
    """Name and arguments as the server wrote them."""

    name: Any = None
    arguments: Any = None


class Call(msgspec.Struct, gc=False):
    """One structured call."""

    id: Any = None
    function: Function = Function()


class Message(msgspec.Struct, gc=False):
    """The answer's message."""

    content: Any = None
    tool_calls: list[Call] | None = None


class Choice(msgspec.Struct, gc=False):
    """The answer's first choice."""

    message: Message
    finish_reason: str | None = None


class Usage(msgspec.Struct, gc=False):
    """Token counts."""

    prompt_tokens: int | None = None


class Response(msgspec.Struct, gc=False):
    """The answer; without choices it is an error."""

    model: str | None = None
    choices: list[Choice] | None = None
    usage: Usage | None = None
    system_fingerprint: str | None = None


class Asked(msgspec.Struct, frozen=True, gc=False):
    """The request; what is only hashed stays text."""

    model: str | None = None
    messages: msgspec.Raw = msgspec.Raw()
    tools: msgspec.Raw = msgspec.Raw()
    tool_choice: Any = None
    parallel_tool_calls: Any = None
    response_format: Any = None
    temperature: Any = None
    top_p: Any = None
    max_tokens: Any = None
    max_completion_tokens: Any = None
    seed: Any = None
    stream: Any = None


class AnswerRow(msgspec.Struct, gc=False, kw_only=True):
    """A line as the older verifiers write it, without its request."""

    data_index: Annotated[int, msgspec.Meta(ge=0, le=MASK_32)]
    response: Response | None = None
    status: str
    finish_reason: str | None = _ABSENT
    tool_calls_valid: bool | msgspec.UnsetType | None = msgspec.UNSET


class Offered(msgspec.Struct, frozen=True, gc=False):
    """Of the request, whom it asked and which tools it offered."""

    model: str | None = None
    tools: msgspec.Raw = msgspec.Raw()


class OfferRow(msgspec.Struct, gc=False):
    """A line whose answer was read already."""

    request: Offered = Offered()


class ResultRow(AnswerRow, kw_only=True):
    """A line as the older verifiers write it."""

    request: Asked = Asked()


_decode_row = msgspec.json.Decoder(ResultRow).decode
_decode_offer = msgspec.json.Decoder(OfferRow).decode
_decode_answers = msgspec.json.Decoder(list[AnswerRow]).decode


def first_choice(row: AnswerRow) -> Choice | None:
    """The answer's first choice; None where nothing was measured."""
    response = row.response
    return response.choices[0] if row.status == SUCCESS and response is not None and response.choices else None


def decode_row(line: bytes) -> ResultRow:
    """One whole line, also one whose answer has an odd shape."""
    try:
        return _decode_row(line)
    except msgspec.DecodeError:
        return _decode_odd(line)


def offer_on(line: bytes) -> Offered | Asked:
    """Who was asked, with which tools, on a line whose answer was read already."""
    try:
        return _decode_offer(line).request
    except msgspec.DecodeError:
        return _decode_odd(line).request


def decode_answers(lines: Sequence[bytes]) -> Sequence[AnswerRow] | None:
    """Many lines without their requests, which are most of them, in one go; None where one must be read whole.

    What stands before the first comma is usually the number, what stands from the last `"response":` on the rest.
    Cut elsewhere, inside a text, the request or the answer, quotes or braces are left open and nothing decodes; a field
    that is missing may stand in what was left out.
    """
    try:
        parts = [line[: line.index(b",") + 1] + line[line.rfind(_RESPONSE) :] for line in lines]
        rows = _decode_answers(b"[" + b",".join(parts) + b"]")
    except (ValueError, RecursionError):  # msgspec's errors are ValueErrors too
        return None
    whole = len(rows) == len(lines) and msgspec.UNSET not in [row.tool_calls_valid for row in rows]
    return rows if whole and _ABSENT not in [row.finish_reason for row in rows] else None


def _decode_odd(line: bytes) -> ResultRow:
    """A line whose answer is not of the usual shape, read by the rules of the wire."""
    raw = whole_row(line)
    response = raw.pop("response", None)
    row = msgspec.convert({**raw, "request": _asked(raw.get("request"))}, ResultRow)
    reply = reply_to(raw.get("request"), response)
    if reply.readable:
        calls = [Call(call.id, Function(call.name, call.arguments)) for call in reply.tool_calls]
        tokens = (reply.usage or {}).get("prompt_tokens")
        row.response = Response(
            reply.model if isinstance(reply.model, str) else None,
            [Choice(Message(reply.content, calls), reply.finish_reason)],
            Usage(tokens if isinstance(tokens, int) else None),
            reply.system_fingerprint if isinstance(reply.system_fingerprint, str) else None,
        )
    return row


def is_torn(line: bytes) -> bool:
    """Whether a line that is no row is the beginning of one: writing it was interrupted."""
    try:
        msgspec.json.decode(line)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return line.lstrip().startswith(b"{")
    return False


def whole_row(line: bytes) -> JsonObject:
    """Everything on a line; also what Python's parser takes and JSON does not (NaN, half a surrogate pair)."""
    try:
        return msgspec.json.decode(line, type=JsonObject)
    except msgspec.DecodeError:
        from toolcert.protocol.unicode import well_formed_throughout

        try:
            row = well_formed_throughout(json.loads(line))
        except ValueError:
            row = None
        if not isinstance(row, dict):
            raise
        return row


def _asked(request: Any) -> Any:
    """The request again as text where it must stay text."""
    if not isinstance(request, dict):
        return {}
    model = request.get("model")
    texts = {name: msgspec.Raw(msgspec.json.encode(request[name])) for name in ("messages", "tools") if name in request}
    return {**request, **texts, "model": model if isinstance(model, str) else None}


def reply_to(request: Any, response: Any) -> Reply:
    """The answer as the wire's own reader reads it."""
    from toolcert.protocol.reply import read_reply

    body = request if isinstance(request, dict) else {}
    payload = msgspec.json.encode(response)
    return read_reply(Exchange(request=Request(body={**body, "stream": False}), status=200, payload=payload))
