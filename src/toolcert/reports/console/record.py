"""One record on the console: request, answer, findings, the curl line, and what a replay says."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from toolcert.core.exchanges import Exchange, Reply
from toolcert.core.findings import INTERNAL, Finding
from toolcert.core.records import Manifest, Record
from toolcert.diagnose import kind_of
from toolcert.endpoints.curl import curl_line
from toolcert.protocol.arrivals import pace_of
from toolcert.protocol.reply import read_reply
from toolcert.protocol.unicode import NOT_JSON, well_formed_throughout
from toolcert.reports.console.style import SEVERITY_STYLES, Line, Screen
from toolcert.reports.display_text import count, pace_text, plural, seconds, visible
from toolcert.runs.encoding import encode_record
from toolcert.verification.single_row import FoundRow, Replay


def print_record(found: FoundRow, manifest: Manifest, screen: Screen) -> None:
    """The whole record, one exchange after the other."""
    record = found.record
    spec = next((spec for spec in manifest.endpoints if spec.name == record.endpoint), None)
    blocks: list[list[Line]] = [list(_head(record, screen))]
    for number, exchange in enumerate(record.detail.exchanges):
        blocks.append([Line("request", "bold"), *_json_lines(exchange.request.body)])
        kept = found.replies[number] if number < len(found.replies) else None
        blocks.append([Line("answer", "bold"), *_answer(exchange, kept, unread=INTERNAL in record.codes)])
        if (pace := pace_of(exchange)) is not None and pace.times:
            blocks.append(list(screen.prose(pace_text(pace), "dim")))
    blocks.append(list(_findings(record, screen)))
    if spec is not None:
        lines = [Line(visible(curl_line(exchange, spec))) for exchange in record.detail.exchanges if exchange.url]
        blocks.append([Line("send it again", "bold"), *lines] if lines else [])
    screen.print(*blocks)


def print_replay(both: Replay, screen: Screen, *, kept: Sequence[Reply] = ()) -> None:
    """Print the answers then and now, and whether they agree; `kept` replaces earlier answers that are not raw."""
    blocks: list[list[Line]] = []
    for title, record, replies in (("then", both.before, kept), ("now", both.after, ())):
        answer = _answer(record.detail.exchanges[-1], replies[-1] if replies else None)
        blocks.append([Line(title, "bold"), *_head(record, screen), *answer, *_findings(record, screen)])
    blocks.append(screen.prose(_agreement(both)))
    screen.print(*blocks)


def record_json(record: Record) -> str:
    """The record for programs; the raw answer as text."""
    return msgspec.json.format(encode_record(record), indent=2).decode()


def _head(record: Record, screen: Screen) -> Iterator[Line]:
    where = f"row {record.row.index}" if record.row is not None else record.case
    if record.row is not None and record.row.id is not None:
        where += f" ({record.row.id})"
    said = f"{record.model} at {record.endpoint}: {record.outcome.value}"
    yield from screen.entry(Line(f"{visible(where)} ", "bold"), said, "bold")
    yield from screen.prose(record.reason)
    if record.row is not None and record.row.seconds is not None:
        tries = plural(record.row.attempts, "attempt")
        yield from screen.prose(f"{seconds(record.row.seconds)} s, {tries}, finish reason {record.row.finish}", "dim")


def _answer(exchange: Exchange, kept: Reply | None = None, *, unread: bool = False) -> Iterator[Line]:
    """The answer; `unread` if our reader failed on it."""
    if exchange.fault is not None:
        status = "" if exchange.fault.status is None else f"status {exchange.fault.status}: "
        yield Line(visible(f"none: {status}{exchange.fault.message}"))
        return
    if exchange.cut is not None:
        yield Line(
            f"{count(exchange.cut.length)} bytes, too long to be kept (sha256 {exchange.cut.digest}). It begins:"
        )
        yield Line(visible(exchange.payload[:2000].decode("utf-8", "replace")))
        return
    if not unread and (exchange.event_stream or not exchange.payload):
        yield from _assembled(kept or read_reply(exchange))
        return
    try:
        yield from _json_lines(msgspec.json.decode(exchange.payload))
    except NOT_JSON:
        yield Line(visible(exchange.payload.decode("utf-8", "replace")))


def _assembled(reply: Reply) -> Iterator[Line]:
    """A streamed answer put together; the raw events are in the record."""
    calls = [{"id": call.id, "name": call.name, "arguments": call.arguments} for call in reply.tool_calls]
    shown = {
        "content": reply.content,
        "reasoning": reply.reasoning,
        "tool_calls": calls or None,
        "finish_reason": reply.finish_reason,
        "usage": reply.usage,
    }
    yield from _json_lines({name: value for name, value in shown.items() if value is not None})


def _findings(record: Record, screen: Screen) -> Iterator[Line]:
    if not record.codes:
        yield Line("no finding")
    # A run kept as verdicts has only the codes.
    for found in record.detail.findings or [_bare(code) for code in record.codes]:
        head = Line(f"{found.severity.value:<8}", SEVERITY_STYLES[found.severity])
        cause = f", because of {found.because_of}" if found.because_of else ""
        yield from screen.entry(head, f"{found.code}{cause}: {kind_of(found.code).title}")
        yield from screen.prose(found.evidence, "dim", indent=9)
    trace = record.detail.figures.get("traceback")
    for line in trace.splitlines() if INTERNAL in record.codes and isinstance(trace, str) else ():
        yield Line(f"         {visible(line)}", "dim")


def _bare(code: str) -> Finding:
    return Finding(code=code, severity=kind_of(code).severity)


def _json_lines(value: Any) -> Iterator[Line]:
    text = msgspec.json.format(msgspec.json.encode(well_formed_throughout(value)), indent=2).decode()
    return (Line(visible(line)) for line in text.splitlines())


def _agreement(both: Replay) -> str:
    then, now = both.before.row, both.after.row
    if then is None or now is None or now.called is None or then.called is None:
        return "The answers cannot be compared."
    if then.calls == now.calls:
        return "Both make the same calls." if then.calls else "Both answer in text."
    if then.names == now.names:
        return "Both call the same tools, with other arguments."
    return f"Then: {', '.join(then.names) or 'text'}. Now: {', '.join(now.names) or 'text'}."
