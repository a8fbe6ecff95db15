"""One case for the browser: the conversation, the wire, the judgement step by step."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from toolcert.core.exchanges import Attempt, Exchange, Reply
from toolcert.core.findings import INTERNAL, Finding
from toolcert.core.records import Manifest, Record
from toolcert.core.requests import function_of
from toolcert.core.values import JsonObject, Value
from toolcert.diagnose import kind_of
from toolcert.diagnose.checks.registry import View, checks_for
from toolcert.diagnose.judgement import CallJudgement, judge_calls
from toolcert.endpoints.curl import curl_line
from toolcert.protocol.arrivals import Pace, pace_of
from toolcert.protocol.chunk import Delta, Function, decode_chunk
from toolcert.protocol.irregularity import Notices
from toolcert.protocol.reply import read_reply
from toolcert.protocol.sse import read_events
from toolcert.protocol.unicode import NOT_JSON, well_formed_throughout
from toolcert.reports.display_text import cut, pace_text, plural, seconds
from toolcert.runs.encoding import decode_record, decode_replies
from toolcert.runs.marks import Mark

LONGEST = 200_000
"""Characters of one text; the whole line can be downloaded."""
LONGEST_ADDITION = 160
MOST_EVENTS = 2_000
MOST_MESSAGES = 400
MOST_TOOLS = 300


class CallShown(Value):
    """One call as people read it."""

    name: str
    arguments: str
    """Pretty if it is JSON, otherwise as it came."""
    id: str = ""
    sound: bool | None = None
    """Whether it names an offered tool and satisfies its schema; None if nothing judges it."""
    faults: tuple[str, ...] = ()


class MessageShown(Value):
    """One message of the conversation."""

    role: str
    text: str = ""
    reasoning: str = ""
    calls: tuple[CallShown, ...] = ()
    answers: str = ""
    """The id of the call whose result this is."""
    note: str = ""


class ToolShown(Value):
    """One offered tool."""

    name: str
    description: str
    schema: str


class EventShown(Value):
    """One event of a stream."""

    data: str
    says: str
    """What it adds to the answer, in a few words; the data if they have no form that is known."""
    name: str = ""
    at: float | None = None
    """Seconds since the attempt began."""
    after: float | None = None
    """Seconds since the event before."""
    signs: tuple[str, ...] = ()
    """What is special about it."""


class Wire(Value):
    """One exchange as the wire carried it."""

    url: str
    sent: str
    status: int | None = None
    headers: tuple[tuple[str, str], ...] = ()
    body: str = ""
    events: tuple[EventShown, ...] = ()
    more_events: int = 0
    pace: str = ""
    """When the events came, in words; empty if it was not recorded."""
    size: int = 0
    fault: str = ""
    notes: tuple[str, ...] = ()
    attempts: tuple[Attempt, ...] = ()
    curl: str = ""


class Turn(Value):
    """One request and its answer."""

    messages: tuple[MessageShown, ...]
    """Those that the turns before did not hold."""
    answer: MessageShown | None
    wire: Wire
    tools: tuple[ToolShown, ...] = ()


class FindingShown(Value):
    """One finding with what the catalogue says of it."""

    code: str
    severity: str
    title: str
    evidence: str = ""
    turn: int = 0
    call: int | None = None
    because_of: str | None = None
    meaning: str = ""
    cause: str = ""
    remedy: str = ""


class Step(Value):
    """One step of the judgement."""

    title: str
    said: str
    tone: str = "ok"
    """ok, note, warning, error or unknown."""
    points: tuple[tuple[str, str, str], ...] = ()
    """Tone, code and words of everything that was noticed in it."""


class CaseView(Value):
    """Everything that the page of a case shows."""

    key: str
    title: str
    endpoint: str
    model: str
    outcome: str
    reason: str
    at: float
    facts: tuple[tuple[str, str], ...]
    turns: tuple[Turn, ...]
    findings: tuple[FindingShown, ...]
    steps: tuple[Step, ...]
    marks: tuple[Mark, ...] = ()
    expected: str = ""
    figures: str = ""


def case_view(line: bytes, manifest: Manifest, marks: tuple[Mark, ...] = ()) -> CaseView:
    """The page of the case on a line of the log."""
    record = decode_record(line)
    unread = INTERNAL in record.codes or any(exchange.fault for exchange in record.detail.exchanges)
    replies = () if unread else decode_replies(line)
    findings = record.detail.findings or tuple(
        Finding(code=code, severity=kind_of(code).severity) for code in record.codes
    )
    detail = record.detail
    return CaseView(
        key=record.case,
        title=_title(record),
        endpoint=record.endpoint,
        model=record.model,
        outcome=record.outcome.value,
        reason=cut(record.reason, LONGEST),
        at=record.at,
        facts=tuple(_facts(record)),
        turns=tuple(_turns(record, replies, manifest)),
        findings=tuple(map(_finding, findings)),
        steps=tuple(_steps(record, replies, findings)),
        marks=tuple(mark for mark in marks if mark.covers(record)),
        expected="" if detail.expected is None else pretty(detail.expected),
        figures=pretty(detail.figures) if detail.figures else "",
    )


def pretty(value: Any) -> str:
    """A value as indented JSON."""
    text = msgspec.json.format(msgspec.json.encode(well_formed_throughout(value)), indent=2)
    return cut(text.decode("utf-8", "replace"), LONGEST)


def _title(record: Record) -> str:
    if record.row is not None:
        return f"Row {record.row.index}" + (f", {record.row.id}" if record.row.id is not None else "")
    if record.probe is not None:
        return f"{record.probe.probe}, run {record.probe.iteration}"
    return record.case


def _facts(record: Record) -> Iterator[tuple[str, str]]:
    row, probe = record.row, record.probe
    pairs: list[tuple[str, Any]] = []
    if row is not None:
        pairs = [
            ("First token, s", _seconds(row.first_token)),
            ("Whole answer, s", _seconds(row.seconds)),
            ("Attempts", row.attempts),
            ("Tokens in, out", f"{_known(row.prompt_tokens)}, {_known(row.completion_tokens)}"),
            ("Finish reason", row.finish),
            ("Tools offered", row.tools),
            ("Streamed", "yes" if row.streamed else "no"),
            ("Answered as", row.answered_as),
            ("Tags", ", ".join(row.tags)),
        ]
    elif probe is not None:
        pairs = [
            ("First token, s", _seconds(probe.first_token)),
            ("Each turn, s", ", ".join(map(_seconds, probe.seconds))),
            ("Requests", probe.requests),
            ("Tokens in, out", f"{probe.tokens_in}, {probe.tokens_out}" if probe.tokens_in or probe.tokens_out else ""),
            ("Fingerprints", ", ".join(probe.fingerprints)),
        ]
    return ((name, str(value)) for name, value in pairs if value not in (None, ""))


def _seconds(value: float | None) -> str:
    return "" if value is None else seconds(value)


def _known(value: int | None) -> str:
    return "?" if value is None else str(value)


def _turns(record: Record, replies: tuple[Reply, ...], manifest: Manifest) -> Iterator[Turn]:
    spec = next((spec for spec in manifest.endpoints if spec.name == record.endpoint), None)
    before: list[Any] = []
    for number, exchange in enumerate(record.detail.exchanges):
        reply = replies[number] if number < len(replies) else _read(record, exchange)
        asked = exchange.request.body.get("messages")
        messages = (
            asked if isinstance(asked, list) else [{"role": "user", "content": exchange.request.body.get("prompt")}]
        )
        same = sum(1 for _ in _shared(before, messages))
        judged = judge_calls(exchange.request, reply) if reply is not None and reply.readable else ()
        tools = () if number else tuple(_tools(exchange))
        yield Turn(
            messages=tuple(_message(one) for one in messages[same : same + MOST_MESSAGES]),
            answer=None if reply is None else _answer(reply, judged),
            wire=_wire(exchange, "" if spec is None or not exchange.url else curl_line(exchange, spec)),
            tools=tools,
        )
        before = messages


def _read(record: Record, exchange: Exchange) -> Reply | None:
    """The answer of one exchange; none if there was none, or if our own reader failed on it."""
    if exchange.fault is not None or exchange.cut is not None or INTERNAL in record.codes or not exchange.payload:
        return None
    return read_reply(exchange)


def _shared(before: list[Any], after: list[Any]) -> Iterator[Any]:
    """The messages that two requests have in common from the start."""
    for one, other in zip(before, after, strict=False):
        if one != other:
            return
        yield one


def _message(message: Any) -> MessageShown:
    if not isinstance(message, dict):
        return MessageShown(role="?", text=pretty(message))
    calls = message.get("tool_calls")
    return MessageShown(
        role=_text(message.get("role")) or "?",
        text=_content(message.get("content")),
        reasoning=_content(message.get("reasoning_content", message.get("reasoning"))),
        calls=tuple(map(_call, calls)) if isinstance(calls, list) else (),
        answers=_text(message.get("tool_call_id")),
        note=_text(message.get("name")),
    )


def _call(call: Any) -> CallShown:
    function = function_of(call) or {}
    identity = call.get("id") if isinstance(call, dict) else None
    return CallShown(
        name=_text(function.get("name")), arguments=_arguments(function.get("arguments")), id=_text(identity)
    )


def _answer(reply: Reply, judged: tuple[CallJudgement, ...]) -> MessageShown:
    calls = (
        CallShown(
            name=_text(call.name),
            arguments=_arguments(call.arguments),
            id=_text(call.id),
            sound=None if number >= len(judged) else judged[number].valid,
            faults=() if number >= len(judged) else tuple(str(bucket) for bucket in judged[number].buckets),
        )
        for number, call in enumerate(reply.tool_calls)
    )
    ends = f"finish reason {reply.finish_reason}" if reply.finish_reason else "no finish reason"
    return MessageShown(
        role=_text(reply.role) or "assistant",
        text=cut(reply.content or "", LONGEST),
        reasoning=cut(reply.reasoning or "", LONGEST),
        calls=tuple(calls),
        note=ends if reply.complete else f"{ends}, not complete",
    )


def _content(content: Any) -> str:
    """The text of a message; parts that are not text are shown as they are."""
    if isinstance(content, list):
        return cut("\n".join(_part(part) for part in content), LONGEST)
    return _text(content)


def _part(part: Any) -> str:
    if isinstance(part, dict) and isinstance(part.get("text"), str):
        return str(part["text"])
    return cut(pretty(part), 2000)


def _text(value: Any) -> str:
    if value is None:
        return ""
    return cut(value, LONGEST) if isinstance(value, str) else pretty(value)


def _arguments(arguments: Any) -> str:
    if not isinstance(arguments, str):
        return _text(arguments)
    try:
        return pretty(msgspec.json.decode(arguments))
    except NOT_JSON:
        return cut(arguments, LONGEST)


def _tools(exchange: Exchange) -> Iterator[ToolShown]:
    for tool in exchange.request.tools[:MOST_TOOLS]:
        function = function_of(tool) or {}
        yield ToolShown(
            name=_text(function.get("name")) or "?",
            description=_text(function.get("description")),
            schema=pretty(function.get("parameters")),
        )


def _wire(exchange: Exchange, curl: str) -> Wire:
    sent: JsonObject = exchange.request.body if exchange.sent is None else exchange.sent
    pace = pace_of(exchange)
    events, more = _events(exchange, pace)
    fault = exchange.fault
    status = "" if fault is None or fault.status is None else f"status {fault.status}: "
    notes = [*exchange.notes, *(f"{name} was not sent: the server refuses it" for name in exchange.left_out)]
    if exchange.cut is not None:
        notes.append(
            f"The answer has {exchange.cut.length} bytes; its beginning is kept (sha256 {exchange.cut.digest})."
        )
    return Wire(
        url=exchange.url,
        sent=pretty(sent),
        status=exchange.status,
        headers=tuple(exchange.headers.items()),
        body="" if events else _body(exchange.payload),
        events=events,
        more_events=more,
        pace=pace_text(pace) if pace is not None and pace.times else "",
        size=len(exchange.payload),
        fault="" if fault is None else f"{status}{fault.message}",
        notes=tuple(notes),
        attempts=exchange.attempts,
        curl=cut(curl, LONGEST),
    )


def _events(exchange: Exchange, pace: Pace | None) -> tuple[tuple[EventShown, ...], int]:
    if not exchange.event_stream or not exchange.payload:
        return (), 0
    events = read_events(exchange.payload).events
    times = pace.times if pace is not None and len(pace.times) == len(events) else ()
    shown = (
        EventShown(
            data=cut(event.data.decode("utf-8", "replace"), 4000),
            says=cut(", ".join(_additions(event.data)) or event.data.decode("utf-8", "replace"), LONGEST_ADDITION),
            name=event.event,
            at=times[place] if times else None,
            after=times[place] - times[place - 1] if times and place else None,
            signs=tuple(_signs(place, pace)),
        )
        for place, event in enumerate(events[:MOST_EVENTS])
    )
    return tuple(shown), max(0, len(events) - MOST_EVENTS)


def _additions(data: bytes) -> Iterator[str]:
    """What an event adds to the answer."""
    chunk = decode_chunk(data, Notices())
    if chunk is None:
        return
    for choice in chunk.choices or ():
        delta = choice.delta or Delta()
        pieces = [piece.function or Function() for piece in delta.tool_calls or ()]
        parts = [
            ("role", delta.role),
            ("reasoning", delta.reasoning_content or delta.reasoning),
            ("text", delta.content or choice.text),
            *(part for piece in pieces for part in (("calls", piece.name), ("arguments", piece.arguments))),
            ("calls", delta.function_call),
            ("finishes:", choice.finish_reason),
        ]
        yield from (f"{name} {_text(value)}" for name, value in parts if value)
    yield from (f"{name} {_text(value)}" for name, value in (("error", chunk.error), ("usage", chunk.usage)) if value)


def _signs(place: int, pace: Pace | None) -> Iterator[str]:
    if pace is None:
        return
    if place == pace.token:
        yield "first token"
    if place == pace.call:
        yield "first call"
    if place == pace.slowest:
        yield "longest pause"


def _body(payload: bytes) -> str:
    try:
        return pretty(msgspec.json.decode(payload))
    except NOT_JSON:
        return cut(payload.decode("utf-8", "replace"), LONGEST)


def _finding(found: Finding) -> FindingShown:
    kind = kind_of(found.code)
    return FindingShown(
        code=found.code,
        severity=found.severity.value,
        title=kind.title,
        evidence=cut(found.evidence, LONGEST),
        turn=found.turn,
        call=found.call,
        because_of=found.because_of,
        meaning=kind.meaning,
        cause=kind.cause,
        remedy=kind.remedy,
    )


def _steps(record: Record, replies: tuple[Reply, ...], findings: tuple[Finding, ...]) -> Iterator[Step]:
    """From the wire to the outcome: who looked at what, and what it said."""
    several = len(record.detail.exchanges) > 1
    for number, exchange in enumerate(record.detail.exchanges):
        turn = f"Turn {number + 1}: " if several else ""
        yield _transport(turn, exchange)
        reply = replies[number] if number < len(replies) else _read(record, exchange)
        if reply is None:
            continue
        yield _reading(turn, reply)
        if not reply.readable:
            continue
        judged = judge_calls(exchange.request, reply)
        if judged:
            yield _calls(turn, reply, judged)
        yield _checks(turn, View(request=exchange.request, exchange=exchange, reply=reply, calls=judged))
    folded = [one for one in findings if one.because_of is not None]
    if folded:
        points = tuple(
            (one.severity.value, one.code, f"follows from {one.because_of}: shown under it and counted nowhere")
            for one in folded
        )
        yield Step(
            title="Folding", said=f"left out of the count: {plural(len(folded), 'finding')}", tone="note", points=points
        )
    yield _outcome(record, findings)


def _transport(turn: str, exchange: Exchange) -> Step:
    tries = plural(len(exchange.attempts), "attempt")
    if exchange.fault is not None:
        said = f"{exchange.fault.kind.value}: {exchange.fault.message} ({tries})"
        return Step(title=f"{turn}Transport", said=said, tone="unknown")
    return Step(title=f"{turn}Transport", said=f"status {exchange.status}, {tries}")


def _reading(turn: str, reply: Reply) -> Step:
    noted = tuple((kind_of(one.code).severity.value, one.code, one.evidence) for one in reply.irregularities)
    form = "a stream of events" if reply.streamed else "one JSON answer"
    if not reply.readable:
        return Step(title=f"{turn}Reading", said="the answer is not of the protocol", tone="error", points=noted)
    said = f"read as {form}" + ("" if reply.complete else ", which breaks off")
    return Step(title=f"{turn}Reading", said=said, tone=noted[0][0] if noted else "ok", points=noted)


def _calls(turn: str, reply: Reply, judged: tuple[CallJudgement, ...]) -> Step:
    points = tuple(
        (
            "unknown" if one.valid is None else "ok" if one.valid else "error",
            _text(call.name) or "(no name)",
            ", ".join(map(str, one.buckets)) or ("satisfies its schema" if one.valid else "cannot be judged"),
        )
        for call, one in zip(reply.tool_calls, judged, strict=False)
    )
    bad = sum(one.valid is False for one in judged)
    said = f"{plural(len(judged), 'call')} checked against the offered tools, {bad} not valid"
    return Step(title=f"{turn}Calls", said=said, tone="error" if bad else "ok", points=points)


def _checks(turn: str, view: View) -> Step:
    checks = checks_for(view)
    points = tuple(
        ((one.severity or kind.severity).value, one.code or kind.code, one.text)
        for kind, function in checks
        for one in function(view)
    )
    tones = [tone for tone, _, _ in points]
    worst = next((tone for tone in ("error", "warning", "note") if tone in tones), "ok")
    said = f"{plural(len(checks), 'check')} looked at the answer, {plural(len(points), 'thing')} noticed"
    return Step(title=f"{turn}Checks", said=said, tone=worst, points=points)


def _outcome(record: Record, findings: tuple[Finding, ...]) -> Step:
    counted = tuple((one.severity.value, one.code, one.evidence) for one in findings if one.because_of is None)
    tones = {
        "passed": "ok",
        "failed": "error",
        "unsupported": "unknown",
        "not_measured": "unknown",
        "skipped": "unknown",
    }
    why = f": {cut(record.reason, 2000)}" if record.reason else ""
    return Step(
        title="Outcome",
        said=f"{record.outcome.value.replace('_', ' ')}{why}",
        tone=tones[record.outcome.value],
        points=counted,
    )
