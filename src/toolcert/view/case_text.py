"""The words of a case that a search looks at: what was asked, what was answered, what was found."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from toolcert.core.values import Value
from toolcert.protocol.unicode import NOT_JSON, well_formed

MOST = 60_000
"""Characters of one case; the index must not outgrow the log."""
MOST_TOOLS = 64


class _Function(Value):
    name: Any = None
    arguments: Any = None


class _Call(Value):
    function: _Function | None = None


class _Message(Value):
    content: Any = None
    reasoning_content: Any = None
    tool_calls: list[_Call] | None = None


class _Choice(Value):
    message: _Message | None = None
    delta: _Message | None = None


class _Answer(Value):
    choices: list[_Choice] | None = None


class _Body(Value):
    messages: Any = None
    prompt: Any = None


class _Asked(Value):
    body: _Body = _Body()


class _Reply(Value):
    content: Any = None
    reasoning: Any = None
    tool_calls: list[_Function] = []


class _Fault(Value):
    message: str = ""


class _Exchange(Value):
    request: _Asked = _Asked()
    response: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    response_text: str | None = None
    reply: _Reply | None = None
    fault: _Fault | None = None


class _Found(Value):
    code: str = ""
    evidence: str = ""


class _Detail(Value):
    findings: list[_Found] = []
    exchanges: list[_Exchange] = []


class _Line(Value):
    case: str = ""
    model: str = ""
    reason: str = ""
    detail: _Detail = _Detail()


_lines = msgspec.json.Decoder(_Line)
_answers = msgspec.json.Decoder(_Answer)


def text_of(line: bytes) -> str:
    """All words of a line of the log; a line that cannot be read has none."""
    try:
        record = _lines.decode(line)
    except NOT_JSON:
        return ""
    parts, room = [], MOST
    for part in _parts(record):
        parts.append(part[:room])
        room -= len(part)
        if room <= 0:
            break
    text: str = well_formed(" ".join(parts))
    return text


def _parts(record: _Line) -> Iterator[str]:
    yield record.case
    yield record.model
    yield record.reason
    for found in record.detail.findings:
        yield found.code
        yield found.evidence
    exchanges = record.detail.exchanges
    for exchange in exchanges:
        yield from _answer(exchange)
    if exchanges:  # the last request of a conversation repeats the earlier ones
        yield from _plain(exchanges[-1].request.body.messages)
        yield from _plain(exchanges[-1].request.body.prompt)


def called_tools(line: bytes) -> list[str]:
    """The names of all calls in a line of the log, each once."""
    try:
        exchanges = _lines.decode(line).detail.exchanges
    except NOT_JSON:
        return []
    names = (function.name for exchange in exchanges for function in _functions(exchange))
    return list(dict.fromkeys(name for name in names if isinstance(name, str) and name))[:MOST_TOOLS]


def _functions(exchange: _Exchange) -> Iterator[_Function]:
    """The calls of an answer, or the pieces of them."""
    if exchange.reply is not None:
        yield from exchange.reply.tool_calls
        return
    whole = exchange.response
    for answer in _events(exchange.response_text or "") if whole is msgspec.UNSET else [bytes(whole)]:
        try:
            choices = _answers.decode(answer).choices or []
        except NOT_JSON:
            continue
        for message in (choice.message or choice.delta or _Message() for choice in choices):
            yield from (call.function or _Function() for call in message.tool_calls or [])


def _events(text: str) -> list[str]:
    return [line[5:].strip() for line in text.splitlines() if line.startswith("data:")]


def _answer(exchange: _Exchange) -> Iterator[str]:
    if exchange.fault is not None:
        yield exchange.fault.message
    if exchange.reply is not None:
        yield from _plain([exchange.reply.content, exchange.reply.reasoning])
        yield from _calls(exchange.reply.tool_calls)
    elif exchange.response is not msgspec.UNSET:
        yield from _json_answer(bytes(exchange.response))
    elif exchange.response_text is not None:
        yield from _text_answer(exchange.response_text)


def _json_answer(raw: bytes) -> Iterator[str]:
    try:
        choices = _answers.decode(raw).choices or []
    except NOT_JSON:
        yield raw.decode("utf-8", "replace")
        return
    for choice in choices:
        message = choice.message or choice.delta or _Message()
        yield from _plain([message.content, message.reasoning_content])
        yield from _calls([call.function or _Function() for call in message.tool_calls or []])


def _text_answer(text: str) -> Iterator[str]:
    """The pieces of a stream put together, or the text itself."""
    events = _events(text)
    if not events:
        yield text
        return
    said: list[str] = []
    called: list[str] = []
    for event in events:
        try:
            choices = _answers.decode(event).choices or []
        except NOT_JSON:
            continue
        for piece in (choice.delta or choice.message or _Message() for choice in choices):
            said += (part for part in (piece.content, piece.reasoning_content) if isinstance(part, str))
            for call in piece.tool_calls or []:
                function = call.function or _Function()
                called += (part for part in (function.name, function.arguments) if isinstance(part, str))
    yield "".join(said)
    yield "".join(called)


def _calls(functions: list[_Function]) -> Iterator[str]:
    for function in functions:
        yield from _plain([function.name, function.arguments])


def _plain(value: Any) -> Iterator[str]:
    """Every text inside a value, at any depth that JSON of a record can have."""
    pending = [value]
    while pending:
        one = pending.pop()
        if isinstance(one, str):
            yield one
        elif isinstance(one, list):
            pending.extend(reversed(one))
        elif isinstance(one, dict):
            pending.extend(value for key, value in reversed(one.items()) if key not in ("type", "role", "id"))
