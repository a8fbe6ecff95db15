"""A comparison on the console: the verdict, who called, the figures beside their ceiling, the evidence, three rows."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterator
from typing import Any

import click

from toolcert.compare.comparison import Comparison, GivenAnswer, TellingRow, VendorComparison
from toolcert.reports.compare_words import (
    ORDER,
    VERDICT_ROLES,
    callers_line,
    decimal,
    group_title,
    matching_line,
    missing_line,
    missing_reasons,
)
from toolcert.reports.console_compare_tables import evidence, figures, groups, margins, matrix, schema
from toolcert.reports.text import count, fit, shorten, visible

_COLORS = {"good": "green", "half": "yellow", "bad": "red", "unknown": None}
_SHOWN_ROWS = 3
_WIDTH = 78
"""What tables and excerpts keep to."""
_NARROWEST = 40
_LONGEST_CURL = 1000
"""A real request has pages of tools; such a command would push all else off the screen."""


def compare_lines(comparison: Comparison, width: int | None = None) -> Iterator[str]:
    """Everything, styled; the caller's terminal decides about colour. Sentences are wrapped where a width is given."""
    page = _Page(comparison, width)
    for warning in comparison.warnings:
        yield from page.prose(f"Warning: {warning}", fg="yellow")
    if page.several:
        yield from page.leaderboard()
    for vendor in comparison.vendors:
        if page.several:
            yield ""
            yield click.style(visible(vendor.side.label), bold=True)
        yield from page.vendor(vendor)
    for note in comparison.notes:
        yield from page.prose(note, dim=True)


class _Page:
    """The lines of a comparison at one width."""

    def __init__(self, comparison: Comparison, width: int | None) -> None:
        self._comparison = comparison
        self._width = width
        self.several = len(comparison.vendors) > 1

    def prose(self, text: str, indent: str = "", **style: Any) -> Iterator[str]:
        """A sentence, wrapped where somebody looks at it and in one line elsewhere; nothing of an empty one."""
        text = visible(text)
        room = max(_NARROWEST, self._width or len(text))
        return (click.style(line, **style) for line in textwrap.wrap(text, room, subsequent_indent=indent))

    def leaderboard(self) -> Iterator[str]:
        """One line per vendor, the best first."""
        yield click.style(f"{fit('VENDOR', 24)} VERDICT        AT LEAST  AGREES  F1     KAPPA  MISSING", dim=True)
        for vendor in self._comparison.vendors:
            word = click.style(f"{vendor.verdict:<13}", fg=_COLORS[VERDICT_ROLES[vendor.verdict]])
            agrees, f1, kappa = (decimal(vendor.figure(name).value) for name in ("agreement", "f1", "kappa"))
            yield (
                f"{fit(vendor.side.label, 24)} {word}  {vendor.score:<8.3f}  {agrees:<6}  {f1:<5}  {kappa:<5}  "
                f"{count(vendor.missing.rows)}"
            )
        yield from self.prose(f"AT LEAST, which orders the list, is {ORDER}.", dim=True)

    def vendor(self, vendor: VendorComparison) -> Iterator[str]:
        """Everything about one vendor."""
        yield from self.prose(vendor.headline, bold=True, fg=_COLORS[VERDICT_ROLES[vendor.verdict]])
        for reason in vendor.reasons:
            yield from self.prose(reason)
        yield ""
        yield from self._heads(vendor)
        for table in (
            matrix(vendor),
            [*figures(vendor), *self.prose(callers_line(vendor))],
            margins(vendor, self._comparison.margin),
            [*evidence(vendor), *self._findings(vendor)],
            schema(vendor),
            groups(vendor, group_title(self._comparison.by)),
            self._rows(vendor),
        ):
            yield from _after_a_gap(list(table))
        for note in vendor.notes:
            yield from self.prose(note, dim=True)

    def _heads(self, vendor: VendorComparison) -> Iterator[str]:
        further = ", ".join(side.label for side in self._comparison.further)
        ceiling = f"noise ceiling from {further}" if further else "no noise ceiling"
        yield from self.prose(f"{vendor.side.label} against {self._comparison.baseline.label}, {ceiling}")
        yield from self.prose(matching_line(vendor))
        left_out = missing_line(vendor.missing)
        if left_out:
            yield from self.prose(left_out)
            yield from (f"  {shorten(reason, _WIDTH)}" for reason in missing_reasons(vendor.missing))

    def _findings(self, vendor: VendorComparison) -> Iterator[str]:
        histogram = vendor.tokens.histogram
        if set(histogram) - {0}:
            bars = ", ".join(f"{difference:+d} on {count(rows)}" for difference, rows in histogram.items())
            yield from self.prose(shorten(f"Prompt tokens, vendor minus baseline: {bars}", 4 * _WIDTH), indent="  ")
        for finding in vendor.findings:
            lead = f"{finding.severity} {finding.code} {count(finding.rows)}x"
            yield from self.prose(f"{lead}: {finding.evidence}", indent="  ")

    def _rows(self, vendor: VendorComparison) -> Iterator[str]:
        if not vendor.rows:
            return
        kinds = ", ".join(f"{count(rows)} {kind}" for kind, rows in vendor.differing.items())
        yield click.style(f"ROWS THAT DIFFER  {kinds}", dim=True)
        for row in vendor.rows[:_SHOWN_ROWS]:
            yield from _row(row)


def _after_a_gap(lines: list[str]) -> list[str]:
    return ["", *lines] if lines else []


def _row(row: TellingRow) -> Iterator[str]:
    noisy = ", the baseline differs from itself here too" if row.noisy else ""
    yield f"{click.style(f'row {row.index}', bold=True)} {row.kind}{noisy}: {_cut(row.asked)}"
    yield f"  baseline  {_answer(row.baseline)}"
    yield f"  vendor    {_answer(row.vendor)}"
    if row.curl:
        long = f"curl: {count(len(row.curl))} characters; the HTML and JSON reports have it"
        yield click.style(f"  {visible(row.curl) if len(row.curl) <= _LONGEST_CURL else long}", dim=True)


def _answer(answer: GivenAnswer) -> str:
    if answer.called is None:
        return "not kept"
    if answer.calls:
        return _cut(" ".join(f"{call.name}({_readable(call.arguments)})" for call in answer.calls))
    return f"says: {_cut(answer.text)}" if answer.text.strip() else "says nothing"


def _readable(arguments: str) -> str:
    """Escaped characters as the letters they stand for."""
    try:
        return json.dumps(json.loads(arguments), ensure_ascii=False)
    except (ValueError, RecursionError):
        return arguments


def _cut(text: str) -> str:
    return shorten(visible(text.strip()), _WIDTH - 18)
