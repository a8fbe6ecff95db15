"""A comparison on the console: the verdict, tables, and the first rows that differ."""

from __future__ import annotations

import json
from collections.abc import Iterator

from toolcert.comparison.result import Comparison, Figure, GivenAnswer, MarginTest, TellingRow, VendorComparison
from toolcert.comparison.stats.significance import MarginOutcome
from toolcert.core.statistics.rates import Rate
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
from toolcert.reports.console.style import STYLES, Line, Screen
from toolcert.reports.display_text import NO_VALUE, count, fit, listed, shorten, visible, width_of

_ANSWERS = {MarginOutcome.PASSED: "yes", MarginOutcome.FAILED: "no", MarginOutcome.INCONCLUSIVE: "undecided"}


_ASKED_COLUMNS = 18
"""Columns before the text of an answer."""
_SHOWN_ROWS = 3
_LONGEST_HISTOGRAM = 312
_LONGEST_CURL = 1000
"""A real request has pages of tools; such a command would push all else off the screen."""


def print_comparison(comparison: Comparison, screen: Screen) -> None:
    """Print everything: warnings, the leaderboard of several vendors, then each vendor."""
    several = len(comparison.vendors) > 1
    blocks = [[line for text in comparison.warnings for line in screen.prose(f"Warning: {text}", "yellow")]]
    if several:
        blocks.append(list(_leaderboard(comparison, screen)))
    for vendor in comparison.vendors:
        name = [Line(visible(vendor.side.label), "bold")] if several else []
        verdict = screen.prose(vendor.headline, f"bold {STYLES[VERDICT_ROLES[vendor.verdict]]}")
        blocks.append([*name, *verdict, *screen.prose(vendor.meaning)])
        blocks.extend(_vendor(comparison, vendor, screen))
    blocks.append([line for note in comparison.notes for line in screen.prose(note, "dim")])
    screen.print(*blocks)


def _leaderboard(comparison: Comparison, screen: Screen) -> Iterator[Line]:
    """One line per vendor, the best first."""
    column = _column([vendor.side.label for vendor in comparison.vendors], 24, screen.width - 56)
    yield Line(f"{fit('VENDOR', column)} VERDICT        AT LEAST  AGREES  F1     KAPPA  MISSING", "dim")
    for vendor in comparison.vendors:
        agrees, f1, kappa = (decimal(vendor.figure(name).value) for name in ("agreement", "f1", "kappa"))
        line = Line(f"{fit(vendor.side.label, column)} ")
        line.append(f"{vendor.verdict:<13}", STYLES[VERDICT_ROLES[vendor.verdict]])
        yield line.append(f"  {vendor.score:<8.3f}  {agrees:<6}  {f1:<5}  {kappa:<5}  {count(vendor.missing.rows)}")
    yield from screen.prose(f"AT LEAST, which orders the list, is {ORDER}.", "dim")


def _vendor(comparison: Comparison, vendor: VendorComparison, screen: Screen) -> Iterator[list[Line]]:
    """The blocks of one vendor."""
    yield list(_heads(comparison, vendor, screen))
    yield list(_matrix(vendor))
    yield [*_figures(vendor, screen.width), *screen.prose(callers_line(vendor))]
    reasons = [line for reason in vendor.reasons for line in screen.prose(reason)]
    yield [*_margins(vendor, comparison.margin), *reasons]
    yield [*_evidence(vendor, screen.width), *_findings(vendor, screen)]
    yield list(_schema(vendor, screen.width))
    yield list(_groups(vendor, group_title(comparison.by), screen.width))
    notes = [line for note in vendor.notes for line in screen.prose(note, "dim")]
    yield [*_rows(vendor, screen), *notes]


def _heads(comparison: Comparison, vendor: VendorComparison, screen: Screen) -> Iterator[Line]:
    further = ", ".join(side.label for side in comparison.further)
    ceiling = f"noise ceiling from {further}" if further else "no noise ceiling"
    yield from screen.prose(f"{vendor.side.label} against {comparison.baseline.label}, {ceiling}")
    yield from screen.prose(matching_line(vendor))
    yield from screen.prose(missing_line(vendor.missing))
    for reason in missing_reasons(vendor.missing):
        yield from screen.prose(reason, indent=2)


def _matrix(vendor: VendorComparison) -> Iterator[Line]:
    """Who called."""
    cells, ceiling = vendor.cells, vendor.ceiling_cells
    head = f"{fit('WHO CALLED', 20)} VENDOR CALLED  VENDOR DID NOT     ALL"
    yield Line(f"{head}   CEILING" if ceiling else head, "dim")
    lines = [
        ("baseline called", cells.tp, cells.fn, ceiling and (ceiling.tp, ceiling.fn)),
        ("baseline did not", cells.fp, cells.tn, ceiling and (ceiling.fp, ceiling.tn)),
    ]
    for name, yes, no, own in lines:
        usual = f"   {own[0]:.0f} / {own[1]:.0f}" if own else ""
        yield Line(f"{fit(name, 20)} {yes:>13.0f} {no:>15.0f} {yes + no:>7.0f}{usual}")


def _figures(vendor: VendorComparison, width: int) -> Iterator[Line]:
    """Every figure beside its ceiling."""
    column = _column([figure_name(figure) for figure in vendor.figures], 19, width - 65)
    yield Line(f"{fit('MEASURE', column)} VENDOR INTERVAL        CEILING INTERVAL       SHARE", "dim")
    family = ""
    for figure in vendor.figures:
        if figure.family != family:
            family = figure.family
            yield Line(FAMILY_NAMES[family], "dim")
        yield Line(_figure(figure, column))


def _figure(figure: Figure, column: int) -> str:
    share = NO_VALUE if figure.share is None else f"{100 * figure.share:.0f} %"
    standing = figure.standing if figure.ceiling is not None else ""
    return (
        f"{fit(figure_name(figure), column)} {decimal(figure.value):<6} {span(figure.interval):<15} "
        f"{decimal(figure.ceiling):<6} {span(figure.ceiling_interval):<15} {share:<5} {standing}"
    )


def _margins(vendor: VendorComparison, margin: float) -> Iterator[Line]:
    """Whether each rate is at most the margin worse, and whether chance explains the difference."""
    head = f"AT MOST {100 * margin:g} POINTS WORSE"
    yield Line(f"{fit(head, 27)} WORSE  BETTER  DIFFERENCE      P        ANSWER", "dim")
    for test in vendor.margins:
        yield Line(_margin(test, p_after_holm(vendor, test)))


def _margin(test: MarginTest, p: str) -> str:
    rows = test.rows
    return (
        f"{fit(MARGIN_NAMES.get(test.name, test.name), 27)} {rows.lost:>5}  {rows.gained:>6}  "
        f"{points(test.interval):<14}  {p:<7}  {_ANSWERS[test.outcome]}"
    )


def _evidence(vendor: VendorComparison, width: int) -> Iterator[Line]:
    """Traces of the serving stack."""
    first = _column([sign.name for sign in vendor.signs], 31, width - 49)
    values = [text for sign in vendor.signs for text in (sign.vendor, sign.baseline)]
    second = _column(values, 18, (width - first - 12) // 2)
    yield Line(f"{fit('SIGN', first)} {fit('VENDOR', second)} BASELINE", "dim")
    for sign in vendor.signs:
        word = "" if sign.same is None else "same" if sign.same else "different"
        yield Line(f"{fit(sign.name, first)} {fit(sign.vendor, second)} {fit(sign.baseline, second)} {word}")


def _findings(vendor: VendorComparison, screen: Screen) -> Iterator[Line]:
    histogram = vendor.tokens.histogram
    if set(histogram) - {0}:
        bars = ", ".join(f"{difference:+d} on {count(rows)}" for difference, rows in histogram.items())
        text = shorten(f"Prompt tokens, vendor minus baseline: {bars}", _LONGEST_HISTOGRAM)
        yield from screen.prose(text, hanging=2)
    for finding in vendor.findings:
        lead = f"{finding.severity} {finding.code} {count(finding.rows)}x"
        yield from screen.prose(f"{lead}: {finding.evidence}", hanging=2)


def _schema(vendor: VendorComparison, width: int) -> Iterator[Line]:
    """How many calls of each side satisfy their schemas."""
    own, theirs = vendor.schema, vendor.baseline_schema
    yield Line(f"{fit('SCHEMA OF THE CALLS', 31)} {fit('VENDOR', 18)} BASELINE", "dim")
    yield Line(_judged("Valid calls", _of(own.accuracy), _of(theirs.accuracy)))
    yield Line(_judged("Answers with only valid calls", _of(own.valid_responses), _of(theirs.valid_responses)))
    for bucket in dict.fromkeys((*own.buckets, *theirs.buckets)):
        found = sorted({*own.rows.get(bucket, ()), *theirs.rows.get(bucket, ())})
        counts = count(own.buckets.get(bucket, 0)), count(theirs.buckets.get(bucket, 0))
        head = f"{_judged(bucket_name(bucket), *counts):<60} rows "
        yield Line(head + listed(found, len(found), width - len(head)))
    if own.coercible.n:
        yield Line(_judged("Invalid, valid after coercion", _of(own.coercible), ""))


def _judged(name: str, vendor: str, baseline: str) -> str:
    return f"{fit(name, 31)} {fit(vendor, 18)} {baseline}"


def _groups(vendor: VendorComparison, title: str, width: int) -> Iterator[Line]:
    """The figures of each part of the rows."""
    if not vendor.groups:
        return
    column = _column([group.name for group in vendor.groups], 30, width - 50)
    yield Line(f"{fit(title.upper(), column)} {'ROWS':>7}  AGREES INTERVAL        CEILING ARGUMENTS", "dim")
    for group in vendor.groups:
        ceiling = decimal(group.ceiling.value) if group.ceiling is not None else NO_VALUE
        yield Line(
            f"{fit(group.name, column)} {round(group.cells.n):>7}  {decimal(group.agreement.value):<6} "
            f"{span(group.agreement.interval):<15} {ceiling:<7} {decimal(group.arguments.value)}"
        )


def _of(rate: Rate) -> str:
    return f"{count(rate.k)} of {count(rate.n)}" if rate.n else NO_VALUE


def _column(texts: list[str], narrowest: int, room: int) -> int:
    """The width of a column that holds all texts if there is room for them."""
    return max(narrowest, min(room, max((width_of(visible(text)) for text in texts), default=0)))


def _rows(vendor: VendorComparison, screen: Screen) -> Iterator[Line]:
    if not vendor.rows:
        return
    kinds = ", ".join(f"{count(rows)} {kind}" for kind, rows in vendor.differing.items())
    yield from screen.prose(f"ROWS THAT DIFFER: {kinds}", "dim")
    for row in vendor.rows[:_SHOWN_ROWS]:
        yield from _row(row, screen)


def _row(row: TellingRow, screen: Screen) -> Iterator[Line]:
    noisy = ", the baseline differs from itself here too" if row.noisy else ""
    head = Line(f"row {row.index}", "bold").append(f" {row.kind}{noisy}:")
    room = screen.width - _ASKED_COLUMNS
    yield from screen.entry(head, shorten(visible(row.asked.strip()), room))
    yield Line(f"  baseline  {_answer(row.baseline, room)}")
    yield Line(f"  vendor    {_answer(row.vendor, room)}")
    if row.curl:
        long = f"curl: {count(len(row.curl))} characters; the HTML and JSON reports have it"
        yield Line(f"  {visible(row.curl) if len(row.curl) <= _LONGEST_CURL else long}", "dim")


def _answer(answer: GivenAnswer, room: int) -> str:
    if answer.called is None:
        return "not kept"
    if answer.calls:
        text = " ".join(f"{call.name}({_readable(call.arguments)})" for call in answer.calls)
        return shorten(visible(text.strip()), room)
    return f"says: {shorten(visible(answer.text.strip()), room)}" if answer.text.strip() else "says nothing"


def _readable(arguments: str) -> str:
    """Escaped characters as the letters they stand for."""
    try:
        return json.dumps(json.loads(arguments), ensure_ascii=False)
    except (ValueError, RecursionError):
        return arguments
