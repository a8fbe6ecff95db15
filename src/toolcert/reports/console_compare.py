"""A comparison on the console: the verdict, who called, the figures beside their ceiling, the evidence, three rows."""

from __future__ import annotations

import json
from collections.abc import Iterator

import click

from toolcert.compare.comparison import (
    Comparison,
    Figure,
    GivenAnswer,
    SchemaFigures,
    TellingRow,
    VendorComparison,
)
from toolcert.core.statistics import Rate
from toolcert.reports.compare_words import (
    FAMILY_NAMES,
    VERDICT_ROLES,
    bucket_name,
    decimal,
    figure_name,
    matching_line,
    missing_line,
    span,
)
from toolcert.reports.text import NO_VALUE, count, fit, shorten, visible

_COLORS = {"good": "green", "half": "yellow", "bad": "red", "unknown": None}
_SHOWN_ROWS = 3
_WIDTH = 78


def compare_lines(comparison: Comparison) -> Iterator[str]:
    """Everything, styled; the caller's terminal decides about colour."""
    for warning in comparison.warnings:
        yield click.style(f"Warning: {visible(warning)}", fg="yellow")
    if len(comparison.vendors) > 1:
        yield from leaderboard(comparison)
    for number, vendor in enumerate(comparison.vendors):
        if number or len(comparison.vendors) > 1:
            yield ""
        yield from _vendor(comparison, vendor)
    for note in comparison.notes:
        yield click.style(visible(note), dim=True)


def leaderboard(comparison: Comparison) -> Iterator[str]:
    """One line per vendor, the best first."""
    yield click.style(f"{fit('VENDOR', 24)} VERDICT        AT LEAST  AGREES  F1     KAPPA  MISSING", dim=True)
    for vendor in comparison.vendors:
        word = click.style(f"{vendor.verdict:<13}", fg=_COLORS[VERDICT_ROLES[vendor.verdict]])
        figures = "  ".join(f"{decimal(vendor.figure(name).value):<5}" for name in ("agreement", "f1", "kappa"))
        yield f"{fit(vendor.side.label, 24)} {word}  {vendor.score:<8.3f}  {figures}  {count(vendor.missing.rows)}"
    yield click.style(
        "AT LEAST is the lower bound of agreement with every missing row counted as wrong; it orders the list.",
        dim=True,
    )


def _vendor(comparison: Comparison, vendor: VendorComparison) -> Iterator[str]:
    color = _COLORS[VERDICT_ROLES[vendor.verdict]]
    yield click.style(visible(vendor.headline), bold=True, fg=color)
    yield from (visible(reason) for reason in vendor.reasons)
    yield ""
    yield from _heads(comparison, vendor)
    yield ""
    yield from _matrix(vendor)
    yield ""
    yield from _figures(vendor)
    yield ""
    yield from _evidence(vendor)
    yield ""
    yield from _schema(vendor)
    yield from _groups(vendor)
    yield from _rows(vendor)
    for note in vendor.notes:
        yield click.style(visible(note), dim=True)


def _heads(comparison: Comparison, vendor: VendorComparison) -> Iterator[str]:
    ceiling = ", ".join(side.label for side in comparison.further) or "none"
    yield visible(f"{vendor.side.label} against {comparison.baseline.label}, noise ceiling from {ceiling}")
    yield matching_line(vendor)
    left_out = missing_line(vendor.missing)
    if left_out:
        yield left_out
        yield from (
            f"  {count(rows)}x {shorten(visible(why), _WIDTH - 6)}" for why, rows in vendor.missing.reasons.items()
        )


def _matrix(vendor: VendorComparison) -> Iterator[str]:
    cells, ceiling = vendor.cells, vendor.ceiling_cells
    yield click.style(f"{fit('WHO CALLED', 20)} VENDOR CALLED  VENDOR DID NOT     ALL   CEILING", dim=True)
    lines = [
        ("baseline called", cells.tp, cells.fn, ceiling and (ceiling.tp, ceiling.fn)),
        ("baseline did not", cells.fp, cells.tn, ceiling and (ceiling.fp, ceiling.tn)),
    ]
    for name, yes, no, own in lines:
        usual = f"   {own[0]:g} / {own[1]:g}" if own else ""
        yield f"{fit(name, 20)} {yes:>13g} {no:>15g} {yes + no:>7g}{usual}"


def _figures(vendor: VendorComparison) -> Iterator[str]:
    yield click.style(f"{fit('MEASURE', 20)} VENDOR  INTERVAL      CEILING  INTERVAL      SHARE  ALWAYS", dim=True)
    family = ""
    for figure in vendor.figures:
        if figure.family != family:
            family = figure.family
            yield click.style(FAMILY_NAMES[family], dim=True)
        yield _figure(figure)


def _figure(figure: Figure) -> str:
    share = NO_VALUE if figure.share is None else f"{100 * figure.share:.0f} %"
    always = f"{decimal(figure.always):<6}  {figure.standing}" if figure.ceiling is not None else decimal(figure.always)
    return (
        f"{fit(figure_name(figure), 20)} {decimal(figure.value):<6}  {span(figure.interval):<12}  "
        f"{decimal(figure.ceiling):<7}  {span(figure.ceiling_interval):<12}  {share:<5}  {always}"
    )


def _evidence(vendor: VendorComparison) -> Iterator[str]:
    yield click.style(f"{fit('SIGN', 32)} {fit('VENDOR', 20)} {fit('BASELINE', 20)}", dim=True)
    for sign in vendor.signs:
        word = "" if sign.same is None else "same" if sign.same else "different"
        yield f"{fit(sign.name, 32)} {fit(sign.vendor, 20)} {fit(sign.baseline, 20)} {word}"
    histogram = vendor.tokens.histogram
    if set(histogram) - {0}:
        bars = ", ".join(f"{difference:+d} on {count(rows)}" for difference, rows in histogram.items())
        yield shorten(f"Prompt tokens, vendor minus baseline: {bars}", 4 * _WIDTH)
    for finding in vendor.findings:
        yield f"{finding.severity:<8} {finding.code:<27} {count(finding.rows):>6}x  {visible(finding.evidence)}"


def _schema(vendor: VendorComparison) -> Iterator[str]:
    yield click.style(f"{fit('SCHEMA OF THE CALLS', 32)} {fit('VENDOR', 20)} BASELINE", dim=True)
    own, theirs = vendor.schema, vendor.baseline_schema
    yield f"{fit('Valid calls', 32)} {fit(_of(own.accuracy), 20)} {_of(theirs.accuracy)}"
    yield f"{fit('Answers with only valid calls', 32)} {fit(_answers(own), 20)} {_answers(theirs)}"
    for bucket in dict.fromkeys((*own.buckets, *theirs.buckets)):
        rows = ", ".join(map(str, (*own.rows.get(bucket, ()), *theirs.rows.get(bucket, ()))[:6]))
        name = fit(bucket_name(bucket), 32)
        yield f"{name} {own.buckets.get(bucket, 0):<20} {theirs.buckets.get(bucket, 0):<10} rows {rows}"
    if own.coercible.n:
        yield f"{fit('Invalid calls coercion would mend', 32)} {_of(own.coercible)}"


def _answers(figures: SchemaFigures) -> str:
    judged = figures.responses_valid + figures.responses_invalid
    return f"{count(figures.responses_valid)} of {count(judged)}"


def _groups(vendor: VendorComparison) -> Iterator[str]:
    if not vendor.groups:
        return
    yield ""
    yield click.style(f"{fit('GROUP', 32)} {'ROWS':>7}  AGREES            CEILING  ARGUMENTS", dim=True)
    for group in vendor.groups:
        ceiling = decimal(group.ceiling.value) if group.ceiling is not None else NO_VALUE
        yield (
            f"{fit(group.name, 32)} {round(group.cells.n):>7}  {decimal(group.agreement.value)} "
            f"{span(group.agreement.interval):<12}  {ceiling:<7}  {decimal(group.arguments.value)}"
        )


def _rows(vendor: VendorComparison) -> Iterator[str]:
    if not vendor.rows:
        return
    kinds = ", ".join(f"{count(rows)} {kind}" for kind, rows in vendor.differing.items())
    yield ""
    yield click.style(f"ROWS THAT DIFFER  {kinds}", dim=True)
    for row in vendor.rows[:_SHOWN_ROWS]:
        yield from _row(row)


def _row(row: TellingRow) -> Iterator[str]:
    noisy = ", the baseline differs from itself here too" if row.noisy else ""
    yield f"{click.style(f'row {row.index}', bold=True)} {row.kind}{noisy}: {_cut(row.asked)}"
    yield f"  baseline  {_answer(row.baseline)}"
    yield f"  vendor    {_answer(row.vendor)}"
    if row.curl:
        yield click.style(f"  {visible(row.curl)}", dim=True)


def _answer(answer: GivenAnswer) -> str:
    if answer.called is None:
        return "not kept"
    if answer.calls:
        return _cut(" ".join(f"{call.name}({_readable(call.arguments)})" for call in answer.calls))
    return f"says: {_cut(answer.text)}"


def _readable(arguments: str) -> str:
    """Escaped characters as the letters they stand for."""
    try:
        return json.dumps(json.loads(arguments), ensure_ascii=False)
    except (ValueError, RecursionError):
        return arguments


def _cut(text: str) -> str:
    return shorten(visible(text), _WIDTH - 14)


def _of(rate: Rate) -> str:
    return f"{count(rate.k)} of {count(rate.n)}" if rate.n else NO_VALUE
