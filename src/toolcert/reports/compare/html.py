"""The page of a comparison: the leaderboard, and each vendor's figures, tests and groups."""

from __future__ import annotations

import re
import shlex
from collections import Counter
from itertools import groupby
from pathlib import PurePath

import msgspec

from toolcert.comparison.result import (
    ChanceTest,
    CompareFinding,
    CompareVerdict,
    Comparison,
    Figure,
    MarginTest,
    SchemaFigures,
    Side,
    Sign,
    Standing,
    TokenDifferences,
    VendorComparison,
)
from toolcert.comparison.stats.confusion import Confusion
from toolcert.comparison.stats.significance import MarginOutcome
from toolcert.core.statistics.rates import Interval, Rate
from toolcert.core.text.number_text import about_rows
from toolcert.core.values import Value
from toolcert.diagnose import kind_of
from toolcert.reports.compare.differences import RowView, row_views
from toolcert.reports.compare.phrases import (
    FAMILY_NAMES,
    FIGURE_NAMES,
    ORDER,
    VERDICT_ROLES,
    bucket_name,
    callers_line,
    confidence,
    counted_by,
    decimal,
    further_lines,
    group_title,
    headline,
    missing_reasons,
    p_value,
    points,
    span,
)
from toolcert.reports.display_text import count, percent, plural, shorten, visible
from toolcert.reports.formats import NOTHING, Extras
from toolcert.reports.html.charts.agreement import ForestLine
from toolcert.reports.html.page import render

STANDINGS = {
    Standing.WITHIN: ("good", "within"),
    Standing.OVERLAPS: ("half", "overlaps"),
    Standing.BELOW: ("bad", "below"),
    Standing.UNKNOWN: ("unknown", "no ceiling"),
}


class FigureRow(Value):
    """One figure."""

    name: str
    note: str
    value: str
    interval: str
    ceiling: str
    ceiling_interval: str
    trivial: str
    role: str
    word: str
    line: ForestLine | None
    """None without a ceiling: a figure alone says nothing, so it is not drawn."""


class Family(Value):
    """Figures of one kind."""

    title: str
    rows: tuple[FigureRow, ...]


def families(figures: tuple[Figure, ...]) -> tuple[Family, ...]:
    """All figures by kind."""
    return tuple(
        Family(title=FAMILY_NAMES.get(family, family.capitalize()), rows=tuple(_row(figure) for figure in members))
        for family, members in groupby(figures, lambda figure: figure.family)
    )


def _row(figure: Figure) -> FigureRow:
    role, word = STANDINGS[figure.standing]
    return FigureRow(
        name=FIGURE_NAMES.get(figure.name, figure.name),
        note="from a sample of the rows" if figure.sampled else "",
        value=decimal(figure.value),
        interval=_span(figure.interval),
        ceiling=decimal(figure.ceiling),
        ceiling_interval=_span(figure.ceiling_interval),
        trivial="" if figure.always is None else decimal(figure.always),
        role=role,
        word=word,
        line=forest_line(figure),
    )


def forest_line(figure: Figure) -> ForestLine | None:
    """What is drawn of a figure."""
    if figure.value is None or figure.interval is None or figure.ceiling is None or figure.ceiling_interval is None:
        return None
    return ForestLine(
        value=figure.value,
        interval=figure.interval,
        ceiling=figure.ceiling,
        band=figure.ceiling_interval,
        below=figure.standing is Standing.BELOW,
        always=figure.always,
        blind=figure.blind,
    )


def _span(interval: Interval | None) -> str:
    return "" if interval is None else span(interval)


_OUTCOMES = {
    MarginOutcome.PASSED: ("good", "yes", "ok"),
    MarginOutcome.FAILED: ("bad", "no", "bad"),
    MarginOutcome.INCONCLUSIVE: ("half", "undecided", "warn"),
}


class ChanceRow(Value):
    """A significance test."""

    question: str
    rows: str
    p: str
    adjusted: str
    role: str
    answer: str


class MarginRow(Value):
    """Whether a rate is at most the margin worse."""

    question: str
    difference: str
    span: str
    interval: Interval | None
    tone: str
    role: str
    answer: str


def chance_rows(tests: tuple[ChanceTest, ...]) -> tuple[ChanceRow, ...]:
    """The tests."""
    return tuple(
        ChanceRow(
            question=test.question[:1].upper() + test.question[1:],
            rows=f"{count(test.more)} against {count(test.less)}",
            p=p_value(test.p),
            adjusted=p_value(test.adjusted),
            role="bad" if test.detected else "unknown",
            answer="more than chance" if test.detected else "not shown",
        )
        for test in tests
    )


def margin_rows(margins: tuple[MarginTest, ...]) -> tuple[MarginRow, ...]:
    """The margins."""
    return tuple(_margin(test) for test in margins)


def _margin(test: MarginTest) -> MarginRow:
    role, answer, tone = _OUTCOMES[test.outcome]
    needed = f"; {about_rows(test.rows_needed)} would tell" if test.rows_needed else ""
    difference = test.rows.difference
    return MarginRow(
        question=test.question[:1].upper() + test.question[1:],
        difference="–" if difference is None else f"{100 * difference:+.1f}".replace("+0.0", "0.0"),
        span=points(test.interval),
        interval=test.interval,
        tone=tone,
        role=role,
        answer=answer + needed,
    )


def reach(rows: tuple[MarginRow, ...], margin: float) -> float:
    """How far the shared axis of differences goes to either side."""
    ends = [abs(end) for row in rows if row.interval for end in (row.interval.lower, row.interval.upper)]
    return max(3 * margin, *ends, 0.01) * 1.05


BUDGET = 2_000_000
"""Bytes of the rows of all vendors on a page; every figure counts all rows."""


class SchemaRow(Value):
    """One kind of judgement of calls, on both sides."""

    name: str
    vendor: str
    baseline: str
    rows: str


class FindingRow(Value):
    """A finding that only a comparison can see."""

    severity: str
    code: str
    title: str
    evidence: str
    rows: str


class GroupRow(Value):
    """The same comparison on a part of the rows."""

    name: str
    rows: str
    agreement: str
    ceiling: str
    arguments: str


class VendorView(Value):
    """One vendor."""

    label: str
    anchor: str
    role: str
    verdict: str
    headline: str
    sentence: str
    meaning: str
    reasons: tuple[str, ...]
    notes: tuple[str, ...]
    facts: tuple[tuple[str, str], ...]
    score: str
    agreement: str
    agreement_line: ForestLine | None
    arguments: str
    missing: str
    families: tuple[Family, ...]
    callers: str
    cells: Confusion
    ceiling_cells: Confusion | None
    tokens: TokenDifferences
    tokens_note: str
    signs: tuple[Sign, ...]
    findings: tuple[FindingRow, ...]
    schema: tuple[SchemaRow, ...]
    tests: tuple[ChanceRow, ...]
    margins: tuple[MarginRow, ...]
    reach: float
    groups: tuple[GroupRow, ...]
    rows: tuple[RowView, ...]
    view: str
    """The command that shows all rows of both runs; empty for results of other programs."""
    kinds: tuple[tuple[str, int], ...]
    differing: int


def vendor_views(comparison: Comparison) -> tuple[VendorView, ...]:
    """The vendors, best first."""
    share = BUDGET // max(1, len(comparison.vendors))
    used: Counter[str] = Counter()
    return tuple(_view(vendor, comparison, share, _anchor(vendor.side.label, used)) for vendor in comparison.vendors)


def _anchor(label: str, used: Counter[str]) -> str:
    slug = "v-" + (re.sub(r"[^A-Za-z0-9._-]+", "-", label).strip("-")[:80] or "vendor")
    used[slug] += 1
    return slug if used[slug] == 1 else f"{slug}-{used[slug]}"


def _view(vendor: VendorComparison, comparison: Comparison, share: int, anchor: str) -> VendorView:
    figures = {figure.name: figure for figure in vendor.figures}
    margins = margin_rows(vendor.margins)
    agreement = figures.get("agreement")
    return VendorView(
        label=shorten(visible(vendor.side.label), 120),
        anchor=anchor,
        role=VERDICT_ROLES[vendor.verdict],
        verdict=vendor.verdict.value,
        headline=visible(vendor.headline),
        sentence=_said(vendor),
        meaning=visible(vendor.meaning),
        reasons=tuple(visible(reason) for reason in vendor.reasons),
        notes=tuple(visible(note) for note in vendor.notes),
        facts=_vendor_facts(vendor),
        score=decimal(vendor.score),
        agreement=decimal(agreement.value) if agreement else "–",
        agreement_line=_without_trivial(forest_line(agreement)) if agreement else None,
        arguments=decimal(figures["arguments"].value) if "arguments" in figures else "–",
        missing=count(vendor.missing.rows),
        families=families(vendor.figures),
        callers=callers_line(vendor),
        cells=vendor.cells,
        ceiling_cells=vendor.ceiling_cells,
        tokens=vendor.tokens,
        tokens_note=_tokens_note(vendor.tokens),
        signs=tuple(_harmless(sign) for sign in vendor.signs),
        findings=tuple(_finding(found) for found in vendor.findings),
        schema=_schema_rows(vendor.schema, vendor.baseline_schema),
        tests=chance_rows(vendor.tests),
        margins=margins,
        reach=reach(margins, comparison.margin),
        groups=tuple(
            _group(group.name, group.cells, group.agreement, group.ceiling, group.arguments) for group in vendor.groups
        ),
        rows=row_views(vendor.rows, share),
        view=_view_command(comparison.baseline, vendor.side),
        kinds=tuple((kind.value, rows) for kind, rows in vendor.differing.items()),
        differing=sum(vendor.differing.values()),
    )


def _said(vendor: VendorComparison) -> str:
    label = shorten(visible(vendor.side.label), 120)
    return f"{label} {vendor.sentence}." if vendor.sentence else visible(vendor.headline)


def _view_command(baseline: Side, vendor: Side) -> str:
    if baseline.foreign or vendor.foreign:
        return ""
    return visible(f"toolcert view {shlex.quote(baseline.path)} {shlex.quote(vendor.path)}")


def _without_trivial(line: ForestLine | None) -> ForestLine | None:
    return None if line is None else msgspec.structs.replace(line, always=None, blind=None)


def _vendor_facts(vendor: VendorComparison) -> tuple[tuple[str, str], ...]:
    missing = vendor.missing
    reasons = ", ".join(missing_reasons(missing)[:3])
    pairs = (
        ("Model", shorten(visible(vendor.side.model), 80)),
        ("Rows compared", count(vendor.compared)),
        ("Matched", count(vendor.matching.matched)),
        ("Only in the baseline", count(vendor.matching.baseline_only)),
        ("Only at the vendor", count(vendor.matching.vendor_only)),
        ("Repeated questions", count(max(vendor.matching.baseline_repeats, vendor.matching.vendor_repeats))),
        ("Baseline gave no answer", count(missing.baseline_failed)),
        ("Vendor gave no answer", f"{count(missing.vendor_failed)}: {reasons}" if reasons else "0"),
        ("Agreement at worst", "" if missing.worst_agreement is None else f"{missing.worst_agreement:.3f}"),
    )
    return tuple((name, value) for name, value in pairs if value)


def _tokens_note(tokens: TokenDifferences) -> str:
    if not tokens.equal.n:
        return "Neither side says how many tokens its prompts have."
    if tokens.equal.k == tokens.equal.n:
        return f"Equal on all {count(tokens.equal.n)} rows: the same prompt reached the model."
    equal = f"{count(tokens.equal.k)} of {count(tokens.equal.n)} rows"
    return f"Equal on {equal}. Another count is another prompt, not chance."


def _harmless(sign: Sign) -> Sign:
    return msgspec.structs.replace(
        sign, vendor=shorten(visible(sign.vendor), 80), baseline=shorten(visible(sign.baseline), 80)
    )


def _finding(found: CompareFinding) -> FindingRow:
    return FindingRow(
        severity=found.severity.value,
        code=found.code,
        title=kind_of(found.code).title,
        evidence=shorten(visible(found.evidence), 200),
        rows=count(found.rows),
    )


def _schema_rows(vendor: SchemaFigures, baseline: SchemaFigures) -> tuple[SchemaRow, ...]:
    rates = [
        ("Valid calls", vendor.accuracy, baseline.accuracy),
        ("Answers with only valid calls", vendor.valid_responses, baseline.valid_responses),
    ]
    rows = [SchemaRow(name=name, vendor=_of(own), baseline=_of(theirs), rows="") for name, own, theirs in rates]
    rows += [_bucket(name, vendor, baseline) for name in sorted({*vendor.buckets, *baseline.buckets})]
    if vendor.coercible.n:
        mended = "Invalid calls, of those looked at, that the usual coercion would mend"
        rows.append(SchemaRow(name=mended, vendor=_of(vendor.coercible), baseline="", rows=""))
    return tuple(rows)


def _bucket(name: str, vendor: SchemaFigures, baseline: SchemaFigures) -> SchemaRow:
    rows = [
        f"{side} {', '.join(map(str, figures.rows[name]))}"
        for side, figures in (("vendor", vendor), ("baseline", baseline))
        if figures.rows.get(name)
    ]
    return SchemaRow(
        name=visible(bucket_name(name)),
        vendor=count(vendor.buckets.get(name, 0)),
        baseline=count(baseline.buckets.get(name, 0)),
        rows="; ".join(rows),
    )


def _of(rate: Rate) -> str:
    return f"{count(rate.k)} of {count(rate.n)}"


def _group(name: str, cells: Confusion, agreement: Rate, ceiling: Rate | None, arguments: Rate) -> GroupRow:
    return GroupRow(
        name=shorten(visible(name), 80),
        rows=count(round(cells.n)),
        agreement=percent(agreement.value),
        ceiling=percent(ceiling.value) if ceiling else "–",
        arguments=percent(arguments.value),
    )


class ComparePage(Value):
    """Everything the template shows."""

    title: str
    toolcert: str
    headline: str
    todo: str
    """What it means and what to do, if there is one vendor."""
    lines: tuple[str, ...]
    role: str
    word: str
    tally: tuple[tuple[str, str, int], ...]
    facts: tuple[tuple[str, str], ...]
    warnings: tuple[str, ...]
    notes: tuple[str, ...]
    vendors: tuple[VendorView, ...]
    several: bool
    order: str
    ceiling: bool
    by: str
    margin: float
    confidence: str


def compare_html(comparison: Comparison, extras: Extras = NOTHING) -> str:
    """The whole page."""
    return render("compare.html.j2", page=_page(comparison), history=extras.history)


def _page(comparison: Comparison) -> ComparePage:
    vendors = vendor_views(comparison)
    one = comparison.vendors[0] if len(comparison.vendors) == 1 else None
    return ComparePage(
        title=visible(", ".join(vendor.side.label for vendor in comparison.vendors)),
        toolcert=comparison.toolcert,
        headline=_said(one) if one else visible(headline(comparison)),
        todo=visible(one.meaning) if one else "",
        lines=tuple(visible(line) for line in ([one.headline] if one else further_lines(comparison))),
        role=VERDICT_ROLES[one.verdict] if one else "",
        word=one.verdict.value if one else "",
        tally=_tally(comparison),
        facts=_facts(comparison),
        warnings=tuple(visible(warning) for warning in comparison.warnings),
        notes=tuple(visible(note) for note in (*comparison.notes, *(one.notes if one else ()))),
        vendors=vendors,
        several=len(vendors) > 1,
        order=ORDER,
        ceiling=bool(comparison.further),
        by=group_title(comparison.by),
        margin=comparison.margin,
        confidence=confidence(comparison),
    )


def _tally(comparison: Comparison) -> tuple[tuple[str, str, int], ...]:
    counted = Counter(vendor.verdict for vendor in comparison.vendors)
    return tuple(
        (VERDICT_ROLES[verdict], verdict.value, counted[verdict]) for verdict in CompareVerdict if counted[verdict]
    )


def _facts(comparison: Comparison) -> tuple[tuple[str, str], ...]:
    pairs = (
        ("Baseline", _side(comparison.baseline)),
        ("Ceiling", ", ".join(_side(side) for side in comparison.further) or "none: one baseline run"),
        ("Vendor" if len(comparison.vendors) == 1 else "Vendors", _vendors(comparison)),
        ("Dataset", _dataset(comparison.baseline)),
        ("Baseline rows", count(comparison.baseline.rows)),
        ("Calls counted by", counted_by(comparison)),
        ("Margin, alpha", f"{comparison.margin:g}, {comparison.alpha:g}"),
    )
    return tuple((name, value) for name, value in pairs if value)


def _side(side: Side) -> str:
    return shorten(visible(side.blessed_as or side.label), 60)


def _vendors(comparison: Comparison) -> str:
    if len(comparison.vendors) > 3:
        return plural(len(comparison.vendors), "vendor")
    return ", ".join(_side(vendor.side) for vendor in comparison.vendors)


def _dataset(side: Side) -> str:
    name = visible(PurePath(side.dataset).name) if side.dataset else ""
    digest = (side.dataset_digest or "").rpartition(":")[2][:7]
    return ", ".join(part for part in (name, digest) if part)
