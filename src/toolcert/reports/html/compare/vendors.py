"""Everything about one vendor."""

from __future__ import annotations

import re
from collections import Counter

import msgspec

from toolcert.compare.comparison import (
    CompareFinding,
    Comparison,
    SchemaFigures,
    Sign,
    TokenDifferences,
    VendorComparison,
)
from toolcert.compare.confusion import Confusion
from toolcert.core.statistics import Rate
from toolcert.core.values import Value
from toolcert.diagnose import kind_of
from toolcert.reports.compare_words import VERDICT_ROLES, bucket_name, callers_line, decimal, missing_reasons
from toolcert.reports.html.charts.forest import ForestLine
from toolcert.reports.html.compare.figures import Family, families, forest_line
from toolcert.reports.html.compare.questions import ChanceRow, MarginRow, chance_rows, margin_rows, reach
from toolcert.reports.html.compare.rows import RowView, row_views
from toolcert.reports.text import count, percent, shorten, visible

MOST_ROWS = 100
"""Rows shown over all vendors of a page; every figure counts all of them."""


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
    kinds: tuple[tuple[str, int], ...]
    differing: int


def vendor_views(comparison: Comparison) -> tuple[VendorView, ...]:
    """The vendors, best first."""
    share = max(10, MOST_ROWS // max(1, len(comparison.vendors)))
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
        reasons=tuple(visible(reason) for reason in vendor.reasons),
        notes=tuple(visible(note) for note in vendor.notes),
        facts=_facts(vendor),
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
        rows=row_views(vendor.rows[:share]),
        kinds=tuple((kind.value, rows) for kind, rows in vendor.differing.items()),
        differing=sum(vendor.differing.values()),
    )


def _without_trivial(line: ForestLine | None) -> ForestLine | None:
    return None if line is None else msgspec.structs.replace(line, always=None, blind=None)


def _facts(vendor: VendorComparison) -> tuple[tuple[str, str], ...]:
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
