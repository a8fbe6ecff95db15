"""The results.jsonl of the older verifiers: the shape of a line, its meaning, and its reader.

`verify --from` reads each line as an exchange that our rules can judge. A comparison reads many lines together and
decodes them no further than it needs; both take a field for the same thing.
"""

from __future__ import annotations

import json
import re
from array import array
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from operator import lt
from pathlib import Path
from typing import Annotated, Any, TypeVar

import msgspec

from toolcert.core.errors import InputError
from toolcert.core.exchanges import Attempt, Exchange, Fault, FaultKind, Reply, Timing
from toolcert.core.requests import Request
from toolcert.core.text.lazy_pattern import lazy_pattern
from toolcert.core.values import JsonObject, Value
from toolcert.runs.reader import bounded_lines

SUCCESS = "success"
"""The status of a row that was answered; a row without status was answered too."""
UNREADABLE = (msgspec.DecodeError, UnicodeError, RecursionError)
"""What decoding raises for a line that holds no row."""
RowNumber = Annotated[int, msgspec.Meta(ge=0, le=0xFFFF_FFFF)]
"""A comparison keeps the number of a row in four bytes."""
_RESPONSE = b'"response":'
_LONGEST_ERROR = 500
_STATUS = lazy_pattern(r"(?:Error code|status(?: code)?)[:= ]+(\d{3})", re.IGNORECASE)
_KINDS = {401: FaultKind.AUTH, 403: FaultKind.AUTH, 404: FaultKind.UNKNOWN_MODEL, 429: FaultKind.RATE_LIMITED}


class OlderRow(Value):
    """One line with its whole request and answer; only fields that the judgement needs are required."""

    data_index: RowNumber
    request: JsonObject
    response: msgspec.Raw = msgspec.Raw(b"null")
    status: str = SUCCESS
    finish_reason: Any = None
    tool_calls_valid: bool | None = None
    duration_ms: float | None = None

    def exchange(self) -> Exchange:
        """The row as one request and its answer; a failed row becomes a fault."""
        took = self.duration_ms
        # A clock that was set back meanwhile makes it negative.
        timing = Timing(last_byte=None if took is None or took < 0 else took / 1000)
        fault = None if self.status == SUCCESS else _fault(self.response)
        status = 200 if fault is None else fault.status
        return Exchange(
            request=Request(body=self.request),
            status=status,
            payload=b"" if fault else bytes(self.response),
            from_file=True,
            fault=fault,
            attempts=(Attempt(number=1, started_at=0.0, timing=timing, status=status, fault=fault),),
        )


class _Numbered(msgspec.Struct, gc=False):
    """The fields that show whether a line is about the same row as a later one."""

    data_index: RowNumber
    hash: str | None = None
    status: str = SUCCESS


Row = TypeVar("Row", bound=OlderRow)
_decode_number = msgspec.json.Decoder(_Numbered).decode
_NO_ROW = -1


def is_older_results(path: Path) -> bool:
    """Whether `path` is a file and not a run folder of ours."""
    return path.is_file()


def read_older(path: Path) -> Iterator[OlderRow]:
    """The rows of an older results file, one at a time: each row's last line, and not a last one that was cut off."""
    return (row for _, row in placed_older(path, OlderRow))


def placed_older(path: Path, kind: type[Row]) -> Iterator[tuple[int, Row]]:
    """The same rows with the fields of `kind`, each with the offset of its line."""
    decode = msgspec.json.Decoder(kind).decode
    offset = 0
    try:
        stale = superseded(path)
        with path.open("rb") as file:
            for number, line in enumerate(bounded_lines(file, path), 1):
                start, offset = offset, offset + len(line)
                if line.isspace() or any(stale[number - 1 : number]):
                    continue
                try:
                    yield start, older_row(line, kind, decode)
                except UNREADABLE as error:
                    if not is_cut_off(line):
                        raise not_results(path, number, error) from error
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror or error}.") from error


def older_row(line: bytes, kind: type[Row], decode: Callable[[bytes], Row]) -> Row:
    """One line; `decode` is the decoder of `kind`."""
    try:
        return decode(line)
    except msgspec.DecodeError:
        row = whole_row(line)
        return msgspec.convert({**row, "response": msgspec.Raw(msgspec.json.encode(row.get("response")))}, kind)


def superseded(path: Path) -> bytes:
    """A byte for each line, not zero where the row failed and a later line is about it; empty where there is none.

    While a run goes on its file is only appended to, so a killed run leaves two lines of what it asked again.
    Those are rows that failed: an answer that is there twice was asked for twice on purpose.
    """
    with path.open("rb") as file:
        rows_read = map(_numbered, bounded_lines(file, path))
        numbers = array("q", (_NO_ROW if row is None else row.data_index for row in rows_read))
    rows = array("q", filter(_NO_ROW.__ne__, numbers))
    if all(map(lt, rows, islice(rows, 1, None))):  # in order, as a run leaves them that came to its end
        return b""
    with path.open("rb") as file:
        lines = [*map(_numbered, bounded_lines(file, path))]
    last = {(row.data_index, row.hash): line for line, row in enumerate(lines) if row is not None}
    return bytes(
        row is not None and row.status != SUCCESS and last[row.data_index, row.hash] != line
        for line, row in enumerate(lines)
    )


def _numbered(line: bytes) -> _Numbered | None:
    try:
        return _decode_number(line)
    except UNREADABLE:
        return None


def not_results(path: Path, number: int, error: Exception) -> InputError:
    """The refusal of a line that holds no row."""
    why = "nested too deeply" if isinstance(error, RecursionError) else str(error)
    return InputError(
        f"{path}, line {number}: not a line of a results.jsonl file ({why}).",
        remedy="Expected is a run folder of toolcert, or a file with data_index, request, response and status.",
    )


def _fault(response: msgspec.Raw) -> Fault:
    try:
        text = error_text(msgspec.json.decode(response))
    except UNREADABLE:  # a line may be read as far as its other fields go
        text = bytes(response).decode("utf-8", "replace")
    found = _STATUS.search(text)
    if found is None:
        timeout = "timeout" in text.lower() or "timed out" in text.lower()
        return Fault(kind=FaultKind.TIMEOUT if timeout else FaultKind.RESET, message=text)
    status = int(found[1])
    kind = _KINDS.get(status, FaultKind.SERVER_ERROR if status >= 500 else FaultKind.REJECTED)
    return Fault(kind=kind, message=text, status=status)


def error_text(response: Any) -> str:
    """What a row that was not answered names as its error, on one line."""
    error = response
    if isinstance(response, dict):
        error = response.get("error_message") or response.get("error") or response
    text = error if isinstance(error, str) else msgspec.json.encode(error).decode()
    return text.partition("\n")[0][:_LONGEST_ERROR]


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
    """A line as the older verifiers write it, without its request; a field that is missing may stand before it."""

    data_index: RowNumber
    response: Response | None
    status: str
    finish_reason: str | None
    tool_calls_valid: bool | None


class Offered(msgspec.Struct, frozen=True, gc=False):
    """Of the request, which model it asked and which tools it offered."""

    model: str | None = None
    tools: msgspec.Raw = msgspec.Raw()


class OfferRow(msgspec.Struct, gc=False):
    """A line whose answer was read already."""

    request: Offered = Offered()


class ResultRow(AnswerRow, kw_only=True):
    """A line as the older verifiers write it."""

    request: Asked = Asked()
    response: Response | None = None
    status: str = SUCCESS
    finish_reason: str | None = None
    tool_calls_valid: bool | None = None


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
    """Which model was asked, with which tools, on a line whose answer was read already."""
    try:
        return _decode_offer(line).request
    except msgspec.DecodeError:
        return _decode_odd(line).request


def decode_answers(lines: Sequence[bytes]) -> Sequence[AnswerRow] | None:
    """Many lines without their requests, which are most of them, in one go; None where one must be read whole.

    What precedes the first comma is usually the number, what follows from the last `"response":` on the rest.
    Cut elsewhere, inside a text, the request or the answer, quotes or braces are left open and nothing decodes; a field
    that is missing may stand in what was left out.
    """
    try:
        parts = [line[: line.index(b",") + 1] + line[line.rfind(_RESPONSE) :] for line in lines]
        rows = _decode_answers(b"[" + b",".join(parts) + b"]")
    except (ValueError, RecursionError):  # msgspec's errors are ValueErrors too
        return None
    return rows if len(rows) == len(lines) else None


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


def is_cut_off(line: bytes) -> bool:
    """Whether a line that is not a row is the beginning of one, at the end of the file: writing it was interrupted."""
    if line.endswith(b"\n"):
        return False
    try:
        msgspec.json.decode(line)
    except UNREADABLE:
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
