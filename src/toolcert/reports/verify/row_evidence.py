"""Findings of a verify run on the page, and the rows behind them: request and answer, cut if long."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import zip_longest
from pathlib import Path

from toolcert.core.cases import Outcome
from toolcert.core.findings import DATASET, INTERNAL
from toolcert.core.records import Record, RowFacts
from toolcert.core.requests import function_name
from toolcert.core.values import JsonObject, Value
from toolcert.diagnose import kind_of
from toolcert.reports.display_text import count, plural, shorten, visible
from toolcert.reports.formats import Extras
from toolcert.reports.html.evidence import PaceShown, answer_text, pace_shown, page_size, pretty, size_of
from toolcert.reports.html.page import TONES, full_title
from toolcert.reports.verify.rows import telling_rows, whole_rows
from toolcert.verification.single_row import FoundRow
from toolcert.verification.summary.figures import Example, FindingLine, VerifySummary

MOST_ROWS = 2000
"""Failing rows on a page; the viewer shows all."""
BUDGET = 1_000_000
"""Bytes of all requests and answers on a page."""
LONGEST_REASON = 240
LONGEST_TOOL = 80
_TRANSPORT = "transport."
"""Codes of what is not a finding about the vendor and has no entry on the page."""


class RowEvidence(Value):
    """What was asked and what came."""

    request: str
    answer: str
    status: str
    pace: PaceShown | None = None

    @property
    def size(self) -> int:
        return page_size(self.request, self.answer) + 500 + size_of(self.pace)


class RowView(Value):
    """One row that failed, or that shows a finding."""

    index: int
    role: str
    tools: str
    tool_names: str
    """What the filter by tool looks at."""
    codes: tuple[str, ...]
    reason: str
    shown: RowEvidence | None
    """Request and answer if the page has room."""


def row_views(summary: VerifySummary, extras: Extras) -> tuple[RowView, ...]:
    """Rows that failed, then the other examples of findings, by their line in the dataset."""
    examples = list(dict.fromkeys(_example_rows(summary)))
    found = telling_rows(extras, MOST_ROWS, frozenset(examples))
    indices = {row.index for _, row in found}
    texts = _evidence([row for row in examples if row in indices], indices, extras) if indices else {}
    return tuple(_row(record, row, texts.get(row.index)) for record, row in found)


def _example_rows(summary: VerifySummary) -> Iterator[int]:
    """One example of each finding before a second of any: if the page runs full, every finding still has one."""
    for turn in zip_longest(*([example.row for example in line.examples] for line in summary.vendor)):
        yield from (row for row in turn if row is not None)


def _evidence(first: Iterable[int], rows: Iterable[int], extras: Extras) -> dict[int, RowEvidence]:
    """Requests and answers as long as the page has room: those of `first`, then by line."""
    wanted = list(dict.fromkeys([*first, *sorted(rows)]))
    made = {}
    for index, found in whole_rows(Path(extras.run), frozenset(wanted)):
        if (text := _made(found)) is not None:
            made[index] = text
    shown: dict[int, RowEvidence] = {}
    room = BUDGET
    for row in wanted:
        if row in made and made[row].size <= room:
            shown[row] = made[row]
            room -= made[row].size
    return shown


def _made(found: FoundRow) -> RowEvidence | None:
    exchanges = found.record.detail.exchanges
    if not exchanges:
        return None
    exchange = exchanges[-1]
    return RowEvidence(
        request=pretty(_request(exchange.request.body, found)),
        answer=answer_text(exchange, found.replies[-1] if found.replies else None),
        status=_status(found),
        pace=pace_shown(exchange),
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


def _status(found: FoundRow) -> str:
    row = found.record.row
    if row is None or row.seconds is None:
        return visible(found.record.reason)
    return visible(f"{row.seconds:.2f} s, {plural(row.attempts, 'attempt')}, finish reason {row.finish}")


def _row(record: Record, row: RowFacts, shown: RowEvidence | None) -> RowView:
    names = [visible(name) for name in dict.fromkeys(row.names or ((row.lost,) if row.lost else ()))]
    codes = tuple(code for code in record.codes if not code.startswith((DATASET, INTERNAL, _TRANSPORT)))
    return RowView(
        index=row.index,
        role="bad" if record.outcome is Outcome.FAILED else "note",
        tools=shorten(", ".join(names), LONGEST_TOOL),
        tool_names="|".join(shorten(name, LONGEST_TOOL) for name in names[:8]),
        codes=codes,
        reason=shorten(visible(record.reason), LONGEST_REASON),
        shown=shown,
    )


LONGEST_EVIDENCE = 400


class ExampleView(Value):
    """One row that shows a finding."""

    row: int
    tool: str
    evidence: str
    listed: bool
    """Whether the row is on the page."""


class FindingView(Value):
    """One kind of finding."""

    code: str
    anchor: str
    """A code that is an error in some rows and harmless in others has two entries, and each an address."""
    severity: str
    tone: str
    title: str
    meaning: str
    cause: str
    remedy: str
    rows: int
    longest: int
    """Rows of the most frequent finding: the end of the scale that all bars share."""
    examples: tuple[ExampleView, ...]
    listed: int
    """Rows on the page that show it."""


class DatasetView(Value):
    """One kind of fault of the dataset."""

    code: str
    title: str
    rows: str
    which: str
    treated: str


def finding_views(summary: VerifySummary, rows: Iterable[RowView]) -> tuple[FindingView, ...]:
    """All findings, worst first as in the summary."""
    listed: dict[str, set[int]] = {}
    for row in rows:
        for code in row.codes:
            listed.setdefault(code, set()).add(row.index)
    longest = max((line.rows for line in summary.vendor), default=1)
    first = {line.code: line for line in reversed(summary.vendor)}
    return tuple(_view(line, longest, listed, first=first[line.code] is line) for line in summary.vendor)


def _view(line: FindingLine, longest: int, listed: Mapping[str, set[int]], *, first: bool) -> FindingView:
    kind = kind_of(line.code)
    on_page = listed.get(line.code, set())
    return FindingView(
        code=line.code,
        anchor=line.code if first else f"{line.code}-{line.severity.value}",
        severity=line.severity.value,
        tone=TONES[line.severity],
        title=full_title(line.code, line.title),
        meaning=kind.meaning,
        cause=kind.cause,
        remedy=kind.remedy,
        rows=line.rows,
        longest=longest,
        examples=tuple(_example(example, listed=example.row in on_page) for example in line.examples),
        listed=len(on_page),
    )


def _example(example: Example, *, listed: bool) -> ExampleView:
    return ExampleView(
        row=example.row,
        tool=shorten(visible(example.tool), LONGEST_TOOL),
        evidence=shorten(visible(example.evidence), LONGEST_EVIDENCE),
        listed=listed,
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
