"""A comparison as Markdown: the leaderboard to paste, then the figures of each vendor."""

from __future__ import annotations

from toolcert.comparison.result import Comparison, MarginTest, VendorComparison
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
from toolcert.reports.display_text import NO_VALUE, count, percent
from toolcert.reports.formats import NOTHING, Extras
from toolcert.reports.markdown import SIGNS, document, escape, prose, table


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
