"""The tables of a comparison on the console, each within 80 columns."""

from __future__ import annotations

from collections.abc import Iterator

import click

from toolcert.compare.comparison import Figure, MarginTest, VendorComparison
from toolcert.compare.paired import MarginOutcome
from toolcert.core.statistics import Rate
from toolcert.reports.compare_words import (
    FAMILY_NAMES,
    MARGIN_NAMES,
    bucket_name,
    decimal,
    figure_name,
    p_after_holm,
    points,
    span,
)
from toolcert.reports.text import NO_VALUE, count, fit, listed

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
