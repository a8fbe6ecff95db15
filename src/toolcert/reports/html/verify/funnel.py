"""From rows to valid calls, and what was lost on the way."""

from __future__ import annotations

from collections.abc import Mapping

from toolcert.core.values import Value
from toolcert.reports.text import count, percent, plural, visible
from toolcert.verify.figures import Share, VerifySummary

SHOWN = 4
"""Causes named in a line; the rest are counted."""


class Step(Value):
    """One step of the funnel."""

    name: str
    left: int
    before: int
    lost: str
    share: str
    interval: str
    last: bool = False
    fault: bool = False


class RateRow(Value):
    """A rate in words and as a chart."""

    name: str
    meaning: str
    share: Share


def funnel(summary: VerifySummary) -> tuple[Step, ...]:
    """The four steps."""
    rows = summary.rows
    return (
        _step("Rows sent", rows.sent, rows.lines, _some(rows.skipped, "line that cannot be asked", "lines"), Share()),
        _step("Answered", rows.answered, rows.sent, _unanswered(summary), summary.answered),
        _step("Called a tool", rows.called, rows.answered, _uncalled(summary), summary.called),
        _step("Valid calls", rows.valid, rows.called, _invalid(summary), summary.valid, last=True, fault=True),
    )


def _step(
    name: str, left: int, before: int, lost: str, share: Share, *, last: bool = False, fault: bool = False
) -> Step:
    known = share.low is not None and share.high is not None
    return Step(
        name=name,
        left=left,
        before=before,
        lost=lost,
        share=percent(share.value) if known else "",
        interval=interval(share),
        last=last,
        fault=fault,
    )


def interval(share: Share) -> str:
    """`96.2 to 97.8`."""
    if share.low is None or share.high is None:
        return ""
    return f"{100 * share.low:.1f} to {100 * share.high:.1f}"


def _some(number: int, noun: str, many: str) -> str:
    return f"{count(number)} {noun if number == 1 else many + ' that cannot be asked'}" if number else ""


def _unanswered(summary: VerifySummary) -> str:
    rows = summary.rows
    parts = [f"{count(rows.not_measured)} not measured{_listed(summary.not_measured_by)}"] if rows.not_measured else []
    if rows.unsupported:
        parts.append(f"{count(rows.unsupported)} refused as unsupported")
    return "; ".join(parts)


def _uncalled(summary: VerifySummary) -> str:
    rows = summary.rows
    parts = [f"{count(rows.in_text)} answered in text"] if rows.in_text else []
    if rows.unreadable:
        parts.append(f"{count(rows.unreadable)} not of the protocol")
    return "; ".join(parts)


def _invalid(summary: VerifySummary) -> str:
    rows = summary.rows
    parts = [f"{count(rows.invalid)} invalid{_listed(summary.buckets, 'call')}"] if rows.invalid else []
    if rows.unjudged:
        parts.append(f"{count(rows.unjudged)} not judged, the tool's own schema is broken")
    return "; ".join(parts)


def _listed(counts: Mapping[str, int], noun: str = "") -> str:
    if not counts:
        return ""
    shown = [f"{count(number)} {visible(name).replace('_', ' ')}" for name, number in list(counts.items())[:SHOWN]]
    hidden = len(counts) - SHOWN
    more = f" and {plural(hidden, 'more cause')}" if hidden > 0 else ""
    return f" ({'calls: ' if noun else ''}{', '.join(shown)}{more})"


def rate_rows(summary: VerifySummary) -> tuple[RateRow, ...]:
    """Every rate that was measured."""
    rates = (
        ("Valid, per answer", "all calls of the answer satisfy their schemas", summary.valid),
        ("Valid, per call", "each call on its own", summary.valid_calls),
        ("Called as expected", "of the rows that say whether they expect a call", summary.trigger),
        ("As expected", "of the rows that say what they expect", summary.correct),
        ("Valid at worst", "if every row that was not measured were invalid", summary.if_missing_were_wrong),
    )
    return tuple(RateRow(name=name, meaning=meaning, share=share) for name, meaning, share in rates if share.n)
