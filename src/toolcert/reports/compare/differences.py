"""The rows that differ, with both answers and their calls side by side."""

from __future__ import annotations

from typing import Any

import msgspec

from toolcert.comparison.result import GivenAnswer, MadeCall, RowKind, TellingRow
from toolcert.comparison.stats.vendor_figures import pair_up
from toolcert.core.text.json_value import same_value
from toolcert.core.values import Value
from toolcert.reports.compare.phrases import bucket_name
from toolcert.reports.display_text import cut, shorten, visible, visible_lines
from toolcert.reports.html.evidence import page_size

LONGEST_VALUE = 400
MOST_PARAMETERS = 40
_ABSENT = object()


class ParameterDiff(Value):
    """One parameter on both sides; empty if a side lacks it."""

    name: str
    baseline: str
    vendor: str
    same: bool


class CallDiff(Value):
    """A call of each side; `parameters` is empty if either cannot be read as an object."""

    baseline: str
    vendor: str
    """Names of the tools."""
    parameters: tuple[ParameterDiff, ...]
    both: bool = False
    """Both sides call, so a parameter can differ."""
    baseline_raw: str = ""
    vendor_raw: str = ""


def call_diffs(baseline: GivenAnswer, vendor: GivenAnswer) -> tuple[CallDiff, ...]:
    """The calls of both sides: equal ones paired, then those of one tool, then what is left in order."""
    pairs = pair_up(baseline.calls, vendor.calls, _equal, _named_alike, _anyone)
    return tuple(_diff(own, theirs) for own, theirs in pairs)


def _equal(own: MadeCall, theirs: MadeCall) -> bool:
    return _named_alike(own, theirs) and same_value(_read(own) or own.arguments, _read(theirs) or theirs.arguments)


def _named_alike(own: MadeCall, theirs: MadeCall) -> bool:
    return own.name == theirs.name


def _anyone(_own: MadeCall, _theirs: MadeCall) -> bool:
    return True


def _diff(own: MadeCall | None, theirs: MadeCall | None) -> CallDiff:
    left, right = _read(own), _read(theirs)
    if left is None or right is None:
        return CallDiff(
            baseline=_name(own), vendor=_name(theirs), parameters=(), baseline_raw=_raw(own), vendor_raw=_raw(theirs)
        )
    both = own is not None and theirs is not None
    return CallDiff(baseline=_name(own), vendor=_name(theirs), parameters=_parameters(left, right), both=both)


def _name(call: MadeCall | None) -> str:
    return shorten(visible(call.name), 80) if call else ""


def _raw(call: MadeCall | None) -> str:
    return _short(call.arguments) if call else ""


def _read(call: MadeCall | None) -> dict[str, Any] | None:
    """The arguments; nothing for a call that was not made, None if they are not an object."""
    if call is None:
        return {}
    try:
        read = msgspec.json.decode(call.arguments or "{}")
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        return None
    return read if isinstance(read, dict) else None


def _parameters(left: dict[str, Any], right: dict[str, Any]) -> tuple[ParameterDiff, ...]:
    names = list(dict.fromkeys([*left, *right]))[:MOST_PARAMETERS]
    return tuple(
        ParameterDiff(
            name=shorten(visible(name), 80),
            baseline=_value(left.get(name, _ABSENT)),
            vendor=_value(right.get(name, _ABSENT)),
            same=name in left and name in right and same_value(left[name], right[name]),
        )
        for name in names
    )


def _value(value: Any) -> str:
    if value is _ABSENT:
        return ""
    return _short(msgspec.json.encode(value).decode("utf-8", "replace"))


def _short(text: str) -> str:
    return shorten(visible(text), LONGEST_VALUE)


LONGEST_TEXT = 900
LONGEST_CURL = 5000
ROLES = {
    RowKind.INVALID: "bad",
    RowKind.MISSED: "bad",
    RowKind.EXTRA: "extra",
    RowKind.TOOL: "bad",
    RowKind.ARGUMENTS: "bad",
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
    asked: str
    offered: str
    baseline: AnswerView
    vendor: AnswerView
    calls: tuple[CallDiff, ...]
    curl: str

    @property
    def size(self) -> int:
        """Bytes that it takes on a page, about."""
        parameters = [parameter for call in self.calls for parameter in call.parameters]
        said = [self.asked, self.offered, self.curl, self.tools, self.baseline.text, self.vendor.text]
        said += [text for one in parameters for text in (one.name, one.baseline, one.vendor)]
        said += [text for call in self.calls for text in (call.baseline_raw, call.vendor_raw)]
        return page_size(*said) + 900 + 150 * len(parameters) + 330 * len(self.calls)


def row_views(rows: tuple[TellingRow, ...], room: int) -> tuple[RowView, ...]:
    """The rows as given, the clearest differences first, as many as `room` bytes hold."""
    shown = []
    for row in map(_view, rows):
        room -= row.size
        if room < 0:
            break
        shown.append(row)
    return tuple(shown)


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
