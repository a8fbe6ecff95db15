"""Findings on the page, each with rows that show it: request and answer, cut where long."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import zip_longest
from pathlib import Path
from typing import Any

import msgspec

from toolcert.core.exchanges import Exchange
from toolcert.core.replies import Reply
from toolcert.core.requests import function_name
from toolcert.core.values import JsonObject, Value
from toolcert.diagnose import kind_of
from toolcert.protocol.reply import read_reply
from toolcert.protocol.unicode import NOT_JSON, well_formed_throughout
from toolcert.reports.display_text import count, plural, shorten, visible
from toolcert.reports.formats import Extras
from toolcert.reports.html.page import TONES, full_title
from toolcert.reports.verify.rows import whole_rows
from toolcert.verification.single_row import FoundRow
from toolcert.verification.summary.figures import Example, FindingLine, VerifySummary

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


def _evidence(found: FoundRow) -> RowEvidence | None:
    exchanges = found.record.detail.exchanges
    if not exchanges:
        return None
    exchange = exchanges[-1]
    return RowEvidence(
        request=_pretty(_request(exchange.request.body, found)),
        answer=_answer(exchange, found.replies[-1] if found.replies else None),
        status=_status(found),
    )


def _request(body: JsonObject, found: FoundRow) -> JsonObject:
    """The body with the tools that matter: those that were called, or the first few."""
    tools = body.get("tools")
    if not isinstance(tools, list) or len(tools) <= 2:
        return body
    called = set(found.record.row.names) if found.record.row else set()
    kept = [tool for tool in tools if function_name(tool) in called] or tools[:1]
    left_out = len(tools) - len(kept)
    return {**body, "tools": [*kept, f"... and {plural(left_out, 'more tool')}"] if left_out else tools}


def _answer(exchange: Exchange, kept: Reply | None) -> str:
    if exchange.fault is not None:
        status = "" if exchange.fault.status is None else f"HTTP {exchange.fault.status}: "
        return _cut(visible(f"{status}{exchange.fault.message}"))
    if exchange.cut is not None:
        return _cut(visible(exchange.payload[:2000].decode("utf-8", "replace")))
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


def _status(found: FoundRow) -> str:
    row = found.record.row
    if row is None or row.seconds is None:
        return visible(found.record.reason)
    return visible(f"{row.seconds:.2f} s, {plural(row.attempts, 'attempt')}, finish reason {row.finish}")


def _pretty(value: Any) -> str:
    text = msgspec.json.format(msgspec.json.encode(well_formed_throughout(value)), indent=2).decode("utf-8", "replace")
    return _cut("\n".join(visible(line) for line in text.split("\n")))


def _cut(text: str) -> str:
    if len(text) <= LONGEST:
        return text
    return f"{text[:LONGEST]}\n… {plural(len(text) - LONGEST, 'character')} more: toolcert show"


LONGEST_EVIDENCE = 400
LONGEST_TOOL = 80
CUT = 4
"""A bar this many times longer than the next one is shortened, so that the others stay readable."""


class ExampleView(Value):
    """One row that shows a finding."""

    row: int
    tool: str
    evidence: str
    shown: RowEvidence | None
    """Request and answer, where the page has room; a row is opened once on a page."""
    elsewhere: bool
    """Opened under an earlier finding."""


class FindingView(Value):
    """One kind of finding."""

    code: str
    severity: str
    tone: str
    title: str
    meaning: str
    cause: str
    remedy: str
    rows: int
    longest: int
    cut: bool
    examples: tuple[ExampleView, ...]


class DatasetView(Value):
    """One kind of fault of the dataset."""

    code: str
    title: str
    rows: str
    which: str
    treated: str


def finding_views(summary: VerifySummary, extras: Extras) -> tuple[FindingView, ...]:
    """All findings, worst first as in the summary."""
    lines = summary.vendor
    # One example of each finding before a second of any: if the page runs full, every finding still has one.
    turns = zip_longest(*([example.row for example in line.examples] for line in lines))
    texts = evidence((row for turn in turns for row in turn if row is not None), extras)
    longest = _longest([line.rows for line in lines])
    opened: set[int] = set()
    return tuple(_view(line, longest, texts, opened) for line in lines)


def _longest(rows: list[int]) -> int:
    """The end of the scale: the longest bar, unless it is much longer than all others."""
    ordered = sorted(rows, reverse=True)
    if len(ordered) > 1 and ordered[0] > CUT * ordered[1]:
        return ordered[1] * 2
    return ordered[0] if ordered else 1


def _view(line: FindingLine, longest: int, texts: dict[int, RowEvidence], opened: set[int]) -> FindingView:
    kind = kind_of(line.code)
    return FindingView(
        code=line.code,
        severity=line.severity.value,
        tone=TONES[line.severity],
        title=full_title(line.code, line.title),
        meaning=kind.meaning,
        cause=kind.cause,
        remedy=kind.remedy,
        rows=line.rows,
        longest=longest,
        cut=line.rows > longest,
        examples=tuple(_example(example, texts, opened) for example in line.examples),
    )


def _example(example: Example, texts: dict[int, RowEvidence], opened: set[int]) -> ExampleView:
    again = example.row in opened
    shown = None if again else texts.get(example.row)
    if shown is not None:
        opened.add(example.row)
    return ExampleView(
        row=example.row,
        tool=shorten(visible(example.tool), LONGEST_TOOL),
        evidence=shorten(visible(example.evidence), LONGEST_EVIDENCE),
        shown=shown,
        elsewhere=again,
    )


def dataset_views(summary: VerifySummary) -> tuple[DatasetView, ...]:
    """The dataset's faults."""
    return tuple(
        DatasetView(
            code=line.code,
            title=line.title,
            rows=count(line.rows),
            which=_which(line),
            treated=kind_of(line.code).remedy,
        )
        for line in summary.of_dataset
    )


def _which(line: FindingLine) -> str:
    rows = ", ".join(str(example.row) for example in line.examples)
    hidden = line.rows - len(line.examples)
    return f"{rows} and {count(hidden)} more" if hidden > 0 and rows else rows
