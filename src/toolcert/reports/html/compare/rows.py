"""The rows that differ, most telling first, with both answers side by side."""

from __future__ import annotations

from toolcert.compare.comparison import GivenAnswer, RowKind, TellingRow
from toolcert.core.values import Value
from toolcert.reports.compare_words import bucket_name
from toolcert.reports.html.compare.diff import CallDiff, call_diffs
from toolcert.reports.text import cut, shorten, visible, visible_lines

LONGEST_TEXT = 900
LONGEST_CURL = 5000
ROLES = {
    RowKind.INVALID: "bad",
    RowKind.MISSED: "bad",
    RowKind.EXTRA: "extra",
    RowKind.TOOL: "half",
    RowKind.ARGUMENTS: "half",
}


class AnswerView(Value):
    """What one side answered."""

    how: str
    text: str
    finish: str


class RowView(Value):
    """One row."""

    index: int
    role: str
    kind: str
    noisy: bool
    tools: str
    what: str
    words: str
    """What the text filter looks at."""
    asked: str
    offered: str
    baseline: AnswerView
    vendor: AnswerView
    calls: tuple[CallDiff, ...]
    curl: str


def row_views(rows: tuple[TellingRow, ...]) -> tuple[RowView, ...]:
    """The rows as given: the most telling first."""
    return tuple(_view(row) for row in rows)


def _view(row: TellingRow) -> RowView:
    called = [call.name for call in (*row.baseline.calls, *row.vendor.calls)]
    tools = shorten(visible(", ".join(dict.fromkeys(called or row.offered))), 120)
    calls = call_diffs(row.baseline, row.vendor)
    return RowView(
        index=row.index,
        role=ROLES[row.kind],
        kind=row.kind.value,
        noisy=row.noisy,
        tools=tools,
        what=_what(row, calls),
        words=f"{row.index} {tools}".lower(),
        asked=cut(visible_lines(row.asked), LONGEST_TEXT),
        offered=shorten(visible(", ".join(row.offered)), 400),
        baseline=_answer(row.baseline),
        vendor=_answer(row.vendor),
        calls=calls,
        curl=visible(row.curl) if len(row.curl) <= LONGEST_CURL else "",
    )


def _what(row: TellingRow, calls: tuple[CallDiff, ...]) -> str:
    if row.kind is RowKind.MISSED:
        return "baseline calls, vendor answers in text"
    if row.kind is RowKind.EXTRA:
        return "vendor calls, baseline answers in text"
    if row.kind is RowKind.INVALID:
        buckets = ", ".join(bucket_name(bucket) for bucket in dict.fromkeys(row.vendor.buckets))
        return visible(f"vendor's call is invalid: {buckets}".rstrip(": "))
    if row.kind is RowKind.TOOL:
        return "another tool, or another number of calls"
    parameters = [parameter for call in calls for parameter in call.parameters]
    differing = sum(not parameter.same for parameter in parameters)
    return f"{differing} of {len(parameters)} parameters differ" if parameters else "arguments differ"


def _answer(answer: GivenAnswer) -> AnswerView:
    how = "not measured" if answer.called is None else "called" if answer.called else "answered in text"
    return AnswerView(
        how=how,
        text=cut(visible_lines(answer.text), LONGEST_TEXT),
        finish=visible(answer.finish or "none"),
    )
