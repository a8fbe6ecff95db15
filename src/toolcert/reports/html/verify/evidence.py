"""Request and answer of a row as text for the page: whole where short, cut where long."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from toolcert.core.exchanges import Exchange
from toolcert.core.replies import Reply
from toolcert.core.values import JsonObject, Value
from toolcert.reports.extras import Extras
from toolcert.reports.rows import whole_rows
from toolcert.reports.text import plural, visible
from toolcert.verify.lookup import Found
from toolcert.wire.reading import read_reply
from toolcert.wire.texts import NOT_JSON

LONGEST = 3000
"""Characters of a request or an answer."""
BUDGET = 450_000
"""Characters of all evidence on a page: it must stay under a megabyte."""


class RowEvidence(Value):
    """What was asked and what came."""

    request: str
    answer: str
    status: str

    @property
    def size(self) -> int:
        return len(self.request) + len(self.answer)


def evidence(wanted: Iterable[int], extras: Extras) -> dict[int, RowEvidence]:
    """Evidence for the wanted rows, the first ones first, as long as the page has room."""
    ordered = list(dict.fromkeys(wanted))
    if not extras.run or not ordered:
        return {}
    found = whole_rows(Path(extras.run), frozenset(ordered))
    shown: dict[int, RowEvidence] = {}
    room = BUDGET
    for row in ordered:
        made = _evidence(found[row]) if row in found else None
        if made is not None and made.size <= room:
            shown[row] = made
            room -= made.size
    return shown


def _evidence(found: Found) -> RowEvidence | None:
    exchanges = found.record.detail.exchanges
    if not exchanges:
        return None
    exchange = exchanges[-1]
    return RowEvidence(
        request=_pretty(_request(exchange.request.body, found)),
        answer=_answer(exchange, found.replies[-1] if found.replies else None),
        status=_status(found),
    )


def _request(body: JsonObject, found: Found) -> JsonObject:
    """The body with the tools that matter: those that were called, or the first few."""
    tools = body.get("tools")
    if not isinstance(tools, list) or len(tools) <= 2:
        return body
    called = set(found.record.row.names) if found.record.row else set()
    kept = [tool for tool in tools if _name(tool) in called] or tools[:1]
    left_out = len(tools) - len(kept)
    return {**body, "tools": [*kept, f"... and {plural(left_out, 'more tool')}"] if left_out else tools}


def _name(tool: Any) -> Any:
    function = tool.get("function") if isinstance(tool, Mapping) else None
    name = function.get("name") if isinstance(function, Mapping) else None
    return name if isinstance(name, str) else None


def _answer(exchange: Exchange, kept: Reply | None) -> str:
    if exchange.fault is not None:
        status = "" if exchange.fault.status is None else f"HTTP {exchange.fault.status}: "
        return _cut(visible(f"{status}{exchange.fault.message}"))
    if not exchange.event_stream and exchange.payload:
        try:
            return _pretty(msgspec.json.decode(exchange.payload))
        except NOT_JSON:
            return _cut(visible(exchange.payload.decode("utf-8", "replace")))
    return _pretty(_assembled(kept or read_reply(exchange)))


def _assembled(reply: Reply) -> JsonObject:
    calls = [{"id": call.id, "name": call.name, "arguments": call.arguments} for call in reply.tool_calls]
    shown = {
        "content": reply.content,
        "reasoning": reply.reasoning,
        "tool_calls": calls or None,
        "finish_reason": reply.finish_reason,
    }
    return {name: value for name, value in shown.items() if value is not None}


def _status(found: Found) -> str:
    row = found.record.row
    if row is None or row.seconds is None:
        return visible(found.record.reason)
    return visible(f"{row.seconds:.2f} s, {plural(row.attempts, 'attempt')}, finish reason {row.finish}")


def _pretty(value: Any) -> str:
    text = msgspec.json.format(msgspec.json.encode(value), indent=2).decode("utf-8", "replace")
    return _cut("\n".join(visible(line) for line in text.split("\n")))


def _cut(text: str) -> str:
    if len(text) <= LONGEST:
        return text
    return f"{text[:LONGEST]}\n… {plural(len(text) - LONGEST, 'character')} more: toolcert show"
