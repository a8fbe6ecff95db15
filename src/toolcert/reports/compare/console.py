"""A comparison on the console: the verdict, tables within 80 columns, and the first rows that differ."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterator
from typing import Any

import click

from toolcert.comparison.result import Comparison, Figure, GivenAnswer, MarginTest, TellingRow, VendorComparison
from toolcert.comparison.stats.significance import MarginOutcome
from toolcert.core.statistics import Rate
from toolcert.reports.compare.phrases import (
    FAMILY_NAMES,
    MARGIN_NAMES,
    ORDER,
    VERDICT_ROLES,
    bucket_name,
    callers_line,
    decimal,
    figure_name,
    group_title,
    matching_line,
    missing_line,
    missing_reasons,
    p_after_holm,
    points,
    span,
)
from toolcert.reports.display_text import NO_VALUE, count, fit, listed, shorten, visible

_ANSWERS = {MarginOutcome.PASSED: "yes", MarginOutcome.FAILED: "no", MarginOutcome.INCONCLUSIVE: "undecided"}
_ROWS_COLUMNS = 12
"""Left beside the counts for row numbers."""


def matrix(vendor: VendorComparison) -> Iterator[str]:
    """Who called."""
    cells, ceiling = vendor.cells, vendor.ceiling_cells
    head = f"{fit('WHO CALLED', 20)} VENDOR CALLED  VENDOR DID NOT     ALL"
    yield click.style(f"{head}   CEILING" if ceiling else head, dim=True)
    lines = [
        ("baseline called", cells.tp, cells.fn, ceiling and (ceiling.tp, ceiling.fn)),
        ("baseline did not", cells.fp, cells.tn, ceiling and (ceiling.fp, ceiling.tn)),
    ]
    for name, yes, no, own in lines:
        usual = f"   {own[0]:.0f} / {own[1]:.0f}" if own else ""
        yield f"{fit(name, 20)} {yes:>13.0f} {no:>15.0f} {yes + no:>7.0f}{usual}"


def figures(vendor: VendorComparison) -> Iterator[str]:
    """Every figure beside its ceiling."""
    yield click.style(f"{fit('MEASURE', 19)} VENDOR INTERVAL        CEILING INTERVAL       SHARE", dim=True)
    family = ""
    for figure in vendor.figures:
        if figure.family != family:
            family = figure.family
            yield click.style(FAMILY_NAMES[family], dim=True)
        yield _figure(figure)


def _figure(figure: Figure) -> str:
    share = NO_VALUE if figure.share is None else f"{100 * figure.share:.0f} %"
    standing = figure.standing if figure.ceiling is not None else ""
    return (
        f"{fit(figure_name(figure), 19)} {decimal(figure.value):<6} {span(figure.interval):<15} "
        f"{decimal(figure.ceiling):<6} {span(figure.ceiling_interval):<15} {share:<5} {standing}"
    ).rstrip()


def margins(vendor: VendorComparison, margin: float) -> Iterator[str]:
    """Whether each rate is at most the margin worse, and what chance says."""
    head = f"AT MOST {100 * margin:g} POINTS WORSE"
    yield click.style(f"{fit(head, 27)} WORSE  BETTER  DIFFERENCE      P        ANSWER", dim=True)
    for test in vendor.margins:
        yield _margin(test, p_after_holm(vendor, test))


def _margin(test: MarginTest, p: str) -> str:
    rows = test.rows
    return (
        f"{fit(MARGIN_NAMES.get(test.name, test.name), 27)} {rows.lost:>5}  {rows.gained:>6}  "
        f"{points(test.interval):<14}  {p:<7}  {_ANSWERS[test.outcome]}"
    )


def evidence(vendor: VendorComparison) -> Iterator[str]:
    """Traces of the serving stack."""
    yield click.style(f"{fit('SIGN', 31)} {fit('VENDOR', 18)} BASELINE", dim=True)
    for sign in vendor.signs:
        word = "" if sign.same is None else "same" if sign.same else "different"
        yield f"{fit(sign.name, 31)} {fit(sign.vendor, 18)} {fit(sign.baseline, 18)} {word}".rstrip()


def schema(vendor: VendorComparison) -> Iterator[str]:
    """How the calls of both stand to their schemas."""
    own, theirs = vendor.schema, vendor.baseline_schema
    yield click.style(f"{fit('SCHEMA OF THE CALLS', 31)} {fit('VENDOR', 18)} BASELINE", dim=True)
    yield _judged("Valid calls", _of(own.accuracy), _of(theirs.accuracy))
    yield _judged("Answers with only valid calls", _of(own.valid_responses), _of(theirs.valid_responses))
    for bucket in dict.fromkeys((*own.buckets, *theirs.buckets)):
        found = sorted({*own.rows.get(bucket, ()), *theirs.rows.get(bucket, ())})
        shown = listed(found, len(found), _ROWS_COLUMNS)
        counts = count(own.buckets.get(bucket, 0)), count(theirs.buckets.get(bucket, 0))
        yield f"{_judged(bucket_name(bucket), *counts):<60} rows {shown}"
    if own.coercible.n:
        yield _judged("Invalid, mended by coercion", _of(own.coercible), "")


def _judged(name: str, vendor: str, baseline: str) -> str:
    return f"{fit(name, 31)} {fit(vendor, 18)} {baseline}".rstrip()


def groups(vendor: VendorComparison, title: str) -> Iterator[str]:
    """The figures of each part of the rows."""
    if not vendor.groups:
        return
    yield click.style(f"{fit(title.upper(), 31)} {'ROWS':>7}  AGREES INTERVAL        CEILING ARGUMENTS", dim=True)
    for group in vendor.groups:
        ceiling = decimal(group.ceiling.value) if group.ceiling is not None else NO_VALUE
        yield (
            f"{fit(group.name, 31)} {round(group.cells.n):>7}  {decimal(group.agreement.value):<6} "
            f"{span(group.agreement.interval):<15} {ceiling:<7} {decimal(group.arguments.value)}"
        )


def _of(rate: Rate) -> str:
    return f"{count(rate.k)} of {count(rate.n)}" if rate.n else NO_VALUE


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
