"""Records as lines: verdict fields first, evidence last, the answer as the wire carried it.

A line is `{<verdict fields>,"detail":{...}}`. A reader of verdicts stops at the detail key, which
cannot occur earlier: inside a JSON string its quotes would be escaped. The line of a dataset row begins
with the row's code, for readers that need not even parse the verdict fields.
"""

from __future__ import annotations

import hashlib
from enum import StrEnum
from operator import attrgetter, is_
from typing import Any, cast

import msgspec

from toolcert.core.cases import Outcome
from toolcert.core.exchanges import Arrivals, Attempt, Cut, Exchange, Fault, Reply
from toolcert.core.findings import INTERNAL, Finding, Severity
from toolcert.core.records import Detail, Record
from toolcert.core.requests import Request, RequestKind
from toolcert.core.text.json_text import MAX_DEPTH, nested_deeper_than
from toolcert.core.values import JsonObject, Value
from toolcert.protocol.reply import read_reply
from toolcert.runs.prose_of_0_1 import with_skip_kind
from toolcert.runs.row_code import CODE_KEY, row_code

MOST_KEPT = 16 * 1024 * 1024
"""Bytes of an answer that a run keeps; a stream of fifty thousand tokens has fewer."""
CUT_TO = 64 * 1024
"""Bytes that are kept of a longer one, beside its length and digest."""
DETAIL_MARK = b',"detail":'
_NEWLINE, _RETURN = b"\n\r"


class Keep(StrEnum):
    """How much of each exchange a run keeps."""

    RAW = "raw"
    """Everything the wire carried: runs can be judged again."""
    ASSEMBLED = "assembled"
    """The answer as read, without the raw body or events."""
    VERDICTS = "verdicts"
    """Verdict fields only: no request, no answer, no excerpt."""


class StoredExchange(Value):
    """An exchange as written: the raw answer is in `response` or, when it is not one-line JSON, in `response_text`."""

    request: Request
    url: str = ""
    sent: JsonObject | None = None
    status: int | None = None
    headers: dict[str, str] = {}
    event_stream: bool = False
    arrivals: Arrivals | None = None
    fault: Fault | None = None
    attempts: tuple[Attempt, ...] = ()
    notes: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    response: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    response_text: str | None = None
    response_bytes: bytes | None = None
    """Base64 of an answer that is not UTF-8."""
    reply: Reply | None = None
    cut: Cut | None = None


class _SplicedRequest(Value):
    """A request whose body is encoded already."""

    body: msgspec.Raw
    kind: RequestKind = RequestKind.CHAT


class StoredDetail(Value):
    """The detail of a record as written."""

    findings: tuple[Finding, ...] = ()
    exchanges: tuple[StoredExchange, ...] = ()
    expected: Any = None
    figures: JsonObject = {}


class _DetailPart(Value):
    detail: StoredDetail = StoredDetail()


_encoder = msgspec.json.Encoder()
_decode_fields = msgspec.json.Decoder(Record).decode
_NO_DETAIL: Detail = Record.__struct_defaults__[-1]
"""The default itself: only that very object is left out of a line, an equal one is not."""


_changeable_fields = attrgetter("case", "outcome", "reason", "codes", "row")
"""Those that may be changed before a record is written."""


class LateDetail(msgspec.Struct, dict=True, eq=False):
    """The evidence of a record that came as a line, decoded when it is needed."""

    line: bytes
    _fields: tuple[Any, ...]

    def line_of(self, record: Record) -> bytes | None:
        """The line, if the record is still what it says."""
        return self.line if all(map(is_, self._fields, _changeable_fields(record))) else None

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        detail = decode_record(self.line).detail
        self.__dict__.update(msgspec.structs.asdict(detail))
        return getattr(detail, name)


def record_of(line: bytes) -> Record:
    """A whole line that was just made, of which only the verdict fields are decoded until its evidence is needed."""
    end = line.find(DETAIL_MARK)
    if end < 0:
        return _decode_fields(line)
    head = _decode_fields(line[:end] + b"}")
    late: Any = LateDetail(line, _changeable_fields(head))  # stands for a Detail: it has the same fields
    return msgspec.structs.replace(head, detail=late)


def encode_record(record: Record, keep: Keep = Keep.RAW, *, body: bytes | None = None) -> bytes:
    """One line of the run log, newline included; `body` takes the place of the JSON that was sent as a request."""
    if keep is Keep.RAW and isinstance(record.detail, LateDetail) and (line := record.detail.line_of(record)):
        return line
    if keep is Keep.VERDICTS:
        stored = msgspec.structs.replace(record, reason=_bare_reason(record), detail=_NO_DETAIL)
    else:
        stored = msgspec.structs.replace(record, detail=_stored_detail(record.detail, keep, body))
    line = _encoder.encode(stored)
    if record.row is None:
        return line + b"\n"
    return b"".join((CODE_KEY, row_code(record.row), b'",', line[1:], b"\n"))


def _stored_detail(detail: Detail, keep: Keep, body: bytes | None) -> Detail:
    if detail == _NO_DETAIL:
        return _NO_DETAIL
    stored = StoredDetail(
        findings=detail.findings,
        exchanges=tuple([_store(exchange, keep, body) for exchange in detail.exchanges]),
        expected=detail.expected,
        figures=detail.figures,
    )
    return cast(Detail, stored)  # the same field of the line, as it is written


def _bare_reason(record: Record) -> str:
    """Why a row is not `passed`, without a word of the row or of its answer."""
    if record.row is None or record.outcome is Outcome.SKIPPED or not record.reason:
        return record.reason
    if record.outcome is Outcome.FAILED:
        found = (one for one in record.detail.findings if one.because_of is None)
        errors = (one.code for one in found if one.severity is Severity.ERROR)
        return next((code for code in errors if not code.startswith("dataset.")), "not as expected")
    return next((code for code in record.codes if code.startswith("transport.")), record.outcome.value)


def decode_head(line: bytes) -> Record:
    """The verdict fields of a line, without decoding its evidence."""
    end = line.find(DETAIL_MARK)
    return _head_of(line if end < 0 else line[:end] + b"}")


def _head_of(fields: bytes) -> Record:
    record = _decode_fields(fields)
    return with_skip_kind(record) if record.outcome is Outcome.SKIPPED and record.skip is None else record


def decode_record(line: bytes) -> Record:
    """A whole line."""
    stored = msgspec.json.decode(line, type=_DetailPart).detail
    detail = Detail(
        findings=stored.findings,
        exchanges=tuple(_restore(exchange) for exchange in stored.exchanges),
        expected=stored.expected,
        figures=stored.figures,
    )
    return msgspec.structs.replace(decode_head(line), detail=detail)


def kept_as(line: bytes) -> Keep:
    """How much of its exchanges a line holds."""
    exchanges = msgspec.json.decode(line, type=_DetailPart).detail.exchanges
    if not exchanges:
        return Keep.VERDICTS
    return Keep.RAW if all(exchange.reply is None for exchange in exchanges) else Keep.ASSEMBLED


def decode_replies(line: bytes) -> tuple[Reply, ...]:
    """The answers of a line as read, from the raw wire or as kept; none of a case that we failed to judge."""
    if INTERNAL in decode_head(line).codes:
        return ()  # our reader may fail on them again
    exchanges = msgspec.json.decode(line, type=_DetailPart).detail.exchanges
    return tuple(exchange.reply or read_reply(_restore(exchange)) for exchange in exchanges)


def _store(exchange: Exchange, keep: Keep, body: bytes | None) -> StoredExchange:
    raw: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    text, other, reply, cut = None, None, None, exchange.cut
    if len(exchange.payload) > MOST_KEPT:
        cut = Cut(length=len(exchange.payload), digest=hashlib.sha256(exchange.payload).hexdigest())
        text = exchange.payload[:CUT_TO].decode("utf-8", "replace")
    elif keep is Keep.ASSEMBLED:
        reply = read_reply(exchange) if exchange.fault is None else None
    elif exchange.payload:
        raw, text, other = _raw_forms(exchange.payload, event_stream=exchange.event_stream)
    return StoredExchange(
        request=_request(exchange, body),
        url=exchange.url,
        sent=exchange.sent,
        status=exchange.status,
        headers=exchange.headers,
        event_stream=exchange.event_stream,
        arrivals=None if keep is Keep.ASSEMBLED else exchange.arrivals,
        fault=exchange.fault,
        attempts=exchange.attempts,
        notes=exchange.notes,
        left_out=exchange.left_out,
        response=raw,
        response_text=text,
        response_bytes=other,
        reply=reply,
        cut=cut,
    )


def _request(exchange: Exchange, body: bytes | None) -> Request:
    request, encoded = exchange.request, exchange.encoded
    if encoded is None or encoded[0] is not request.body:
        return request
    spliced = _SplicedRequest(body=msgspec.Raw(body or encoded[1]), kind=request.kind)
    return cast(Request, spliced)  # gives the same JSON


def _raw_forms(
    payload: bytes, *, event_stream: bool
) -> tuple[msgspec.Raw | msgspec.UnsetType, str | None, bytes | None]:
    """The answer as JSON to splice, as text, or as bytes: the first of these that loses nothing."""
    try:
        text = payload.decode()
    except UnicodeDecodeError:
        return msgspec.UNSET, None, payload
    if not event_stream and _is_one_line_json(payload):
        return msgspec.Raw(payload), None, None
    return msgspec.UNSET, text, None


def _is_one_line_json(payload: bytes) -> bool:
    # Outer white space or a newline would not survive the splice, so such an answer is kept as text.
    if payload[:1] not in (b"{", b"[") or payload[-1:] not in (b"}", b"]") or _NEWLINE in payload or _RETURN in payload:
        return False
    if nested_deeper_than(MAX_DEPTH, payload):
        return False
    try:
        msgspec.json.decode(payload, type=msgspec.Raw)
    except (msgspec.DecodeError, RecursionError):
        return False
    return True


def _restore(stored: StoredExchange) -> Exchange:
    return Exchange(
        request=stored.request,
        url=stored.url,
        sent=stored.sent,
        status=stored.status,
        headers=stored.headers,
        payload=_payload(stored),
        event_stream=stored.event_stream,
        arrivals=stored.arrivals,
        fault=stored.fault,
        attempts=stored.attempts,
        notes=stored.notes,
        left_out=stored.left_out,
        cut=stored.cut,
    )


def _payload(stored: StoredExchange) -> bytes:
    if stored.response_bytes is not None:
        return stored.response_bytes
    if stored.response_text is not None:
        return stored.response_text.encode()
    return b"" if stored.response is msgspec.UNSET else bytes(stored.response)
