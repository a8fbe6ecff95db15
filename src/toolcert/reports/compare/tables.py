"""A comparison as CSV, JUnit and Markdown."""

from __future__ import annotations

import time
from collections.abc import Iterator

from toolcert.comparison.result import ChanceTest, CompareVerdict, Comparison, Figure, MarginTest, VendorComparison
from toolcert.comparison.stats.significance import MarginOutcome
from toolcert.core.statistics.p_values import p_words
from toolcert.core.statistics.rates import Interval
from toolcert.core.text.number_text import about_rows
from toolcert.reports.compare.phrases import (
    MARGIN_NAMES,
    ORDER,
    VERDICT_ROLES,
    callers_line,
    confidence,
    counted_by,
    decimal,
    figure_name,
    group_title,
    matching_line,
    missing_line,
    p_after_holm,
    points,
    span,
)
from toolcert.reports.display_text import NO_VALUE, cell_figure, count, csv_text, percent, plural, visible
from toolcert.reports.formats import NOTHING, Extras
from toolcert.reports.junit import Case, Tag, junit
from toolcert.reports.markdown import SIGNS, document, escape, prose, table

COLUMNS = (
    "vendor",
    "verdict",
    "family",
    "figure",
    "value",
    "low",
    "high",
    "k",
    "n",
    "ceiling",
    "ceiling_low",
    "ceiling_high",
    "always_calling",
    "calling_at_random",
    "standing",
    "best_at_these_rates",
)


def compare_csv(comparison: Comparison, extras: Extras = NOTHING) -> str:  # noqa: ARG001 - signature of renderers
    """The report of a comparison."""
    return csv_text(COLUMNS, (_csv_line(vendor, one) for vendor in comparison.vendors for one in vendor.figures))


def _csv_line(vendor: VendorComparison, one: Figure) -> tuple[object, ...]:
    return (
        vendor.side.label,
        vendor.verdict.value,
        one.family,
        one.name,
        cell_figure(one.value),
        *_ends(one.interval),
        "" if one.rate is None else one.rate.k,
        "" if one.rate is None else one.rate.n,
        cell_figure(one.ceiling),
        *_ends(one.ceiling_interval),
        cell_figure(one.always),
        cell_figure(one.blind),
        one.standing.value,
        cell_figure(one.best),
    )


def _ends(interval: Interval | None) -> tuple[object, object]:
    return (None, None) if interval is None else (cell_figure(interval.lower), cell_figure(interval.upper))


_VERDICTS = {
    CompareVerdict.DEGRADED: Tag.FAILURE,
    CompareVerdict.DIFFERENT: Tag.FAILURE,
    CompareVerdict.INCONCLUSIVE: Tag.SKIPPED,
}
_OUTCOMES = {MarginOutcome.FAILED: Tag.FAILURE, MarginOutcome.INCONCLUSIVE: Tag.SKIPPED}


def compare_junit(comparison: Comparison, extras: Extras = NOTHING) -> bytes:
    """The report of a comparison."""
    return junit(
        (visible(vendor.side.label), vendor.side.started_at or time.time(), list(_cases(vendor, extras)))
        for vendor in comparison.vendors
    )


def _cases(vendor: VendorComparison, extras: Extras) -> Iterator[Case]:
    name = visible(vendor.side.label)
    owed = vendor.missing.rows
    yield Case(
        classname=name,
        name="every row is answered",
        tag=Tag(extras.not_measured.value) if owed else None,
        message=f"{plural(owed, 'row')} without an answer",
    )
    yield Case(
        classname=name,
        name="neither degraded nor different",
        tag=_VERDICTS.get(vendor.verdict),
        message=visible(vendor.headline),
    )
    yield from (_chance(name, test) for test in vendor.tests)
    yield from (_margin(name, test) for test in vendor.margins)


def _chance(vendor: str, test: ChanceTest) -> Case:
    return Case(
        classname=f"{vendor}.chance",
        name=f"not shown that it {test.question}",
        tag=Tag.FAILURE if test.detected else None,
        message=f"{test.more} rows against {test.less}, p {p_words(test.adjusted)} after Holm",
    )


def _margin(vendor: str, test: MarginTest) -> Case:
    needed = f"; {about_rows(test.rows_needed)} would tell" if test.rows_needed else ""
    interval = "" if test.interval is None else f"difference {test.interval.lower:+.3f} to {test.interval.upper:+.3f}"
    return Case(
        classname=f"{vendor}.margin",
        name=test.question,
        tag=_OUTCOMES.get(test.outcome),
        message=f"{test.outcome.value}: {interval}{needed}",
    )


def compare_markdown(comparison: Comparison, extras: Extras = NOTHING) -> str:  # noqa: ARG001 - signature of renderers
    """The whole comparison."""
    blocks: list[list[str]] = [[f"## Vendors against {escape(comparison.baseline.label)}"], _leaderboard(comparison)]
    blocks.insert(1, [f"> {escape(warning)}" for warning in comparison.warnings])
    for vendor in comparison.vendors:
        blocks += _vendor(vendor, comparison)
    blocks.append([*(f"- {escape(note)}" for note in comparison.notes), _method(comparison)])
    return document(*blocks)


def _leaderboard(comparison: Comparison) -> list[str]:
    heads = (
        "Vendor",
        "Verdict",
        ">Agrees at least",
        ">Agreement",
        ">F1",
        ">Kappa",
        ">All arguments",
        ">Valid calls",
        ">Missing",
    )
    return table(heads, [_line(vendor) for vendor in comparison.vendors])


def _line(vendor: VendorComparison) -> tuple[object, ...]:
    names = ("agreement", "f1", "kappa", "arguments")
    accuracy = vendor.schema.accuracy
    valid = f"{count(accuracy.k)}/{count(accuracy.n)}" if accuracy.n else NO_VALUE
    return (
        escape(vendor.side.label),
        f"{SIGNS[VERDICT_ROLES[vendor.verdict]]} {vendor.verdict}",
        f"{vendor.score:.3f}",
        *(decimal(vendor.figure(name).value) for name in names),
        valid,
        count(vendor.missing.rows),
    )


def _vendor(vendor: VendorComparison, comparison: Comparison) -> list[list[str]]:
    cells = vendor.cells
    lines = [f"**{escape(vendor.headline)}**", prose(vendor.meaning)]
    who = f"Both call {cells.tp:.0f}, missed {cells.fn:.0f}, extra {cells.fp:.0f}, neither {cells.tn:.0f}."
    facts = [matching_line(vendor), missing_line(vendor.missing), who, callers_line(vendor)]
    figures = [
        (
            figure_name(figure),
            decimal(figure.value),
            span(figure.interval),
            decimal(figure.ceiling),
            span(figure.ceiling_interval),
            NO_VALUE if figure.share is None else percent(figure.share, 0),
        )
        for figure in vendor.figures
    ]
    sure = f">{confidence(comparison)}"
    return [
        [f"### {escape(vendor.side.label)}"],
        ["  \n".join(lines)],
        ["  \n".join(escape(fact) for fact in facts if fact)],
        table(("Measure", ">Vendor", sure, ">Ceiling", sure, ">Share"), figures),
        _margins(vendor, comparison),
        [f"- {escape(reason)}" for reason in vendor.reasons],
        _groups(vendor, comparison),
        [f"- {escape(note)}" for note in vendor.notes],
    ]


def _margins(vendor: VendorComparison, comparison: Comparison) -> list[str]:
    heads = (
        f"At most {100 * comparison.margin:g} points worse",
        ">Worse",
        ">Better",
        f">{confidence(comparison)} of the difference",
        ">p after Holm",
        "Answer",
    )
    lines = [
        (
            MARGIN_NAMES.get(test.name, test.name),
            count(test.rows.lost),
            count(test.rows.gained),
            points(test.interval),
            p_after_holm(vendor, test),
            _answer(test),
        )
        for test in vendor.margins
    ]
    return table(heads, lines)


def _groups(vendor: VendorComparison, comparison: Comparison) -> list[str]:
    """The figures of each part of the rows, if they are split."""
    heads = (group_title(comparison.by), ">Rows", ">Agrees", f">{confidence(comparison)}", ">Ceiling", ">Arguments")
    lines = [
        (
            escape(group.name),
            count(round(group.cells.n)),
            decimal(group.agreement.value),
            span(group.agreement.interval),
            NO_VALUE if group.ceiling is None else decimal(group.ceiling.value),
            decimal(group.arguments.value),
        )
        for group in vendor.groups
    ]
    return table(heads, lines) if lines else []


def _answer(test: MarginTest) -> str:
    needed = f"; {about_rows(test.rows_needed)} would tell" if test.rows_needed else ""
    return f"{test.outcome}{needed}"


def _method(comparison: Comparison) -> str:
    rules = (
        f"calls counted by {counted_by(comparison)}",
        f"rows are matched by {comparison.match}",
        f"margin {comparison.margin:g}",
        f"alpha {comparison.alpha:g}, Holm over all vendors and tests",
        f"bootstrap seeded with {comparison.seed}",
        f"ordered by {ORDER}",
    )
    return f"- Rules: {'; '.join(rules)}."
