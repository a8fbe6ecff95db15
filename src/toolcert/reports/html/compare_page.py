"""The page of a comparison."""

from __future__ import annotations

from collections import Counter
from pathlib import PurePath

from toolcert.compare.comparison import Comparison, Side, Verdict
from toolcert.core.values import Value
from toolcert.reports.compare_words import ORDER, VERDICT_ROLES, confidence, further_lines, group_title, headline
from toolcert.reports.extras import NOTHING, Extras
from toolcert.reports.html.compare.vendors import VendorView, vendor_views
from toolcert.reports.html.page import render
from toolcert.reports.text import count, plural, shorten, visible


class ComparePage(Value):
    """Everything the template shows."""

    title: str
    toolcert: str
    headline: str
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
        headline=visible(headline(comparison)),
        lines=tuple(visible(line) for line in further_lines(comparison)),
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
    return tuple((VERDICT_ROLES[verdict], verdict.value, counted[verdict]) for verdict in Verdict if counted[verdict])


def _facts(comparison: Comparison) -> tuple[tuple[str, str], ...]:
    pairs = (
        ("Baseline", _side(comparison.baseline)),
        ("Ceiling", ", ".join(_side(side) for side in comparison.further) or "none: one baseline run"),
        ("Vendor" if len(comparison.vendors) == 1 else "Vendors", _vendors(comparison)),
        ("Dataset", _dataset(comparison.baseline)),
        ("Baseline rows", count(comparison.baseline.rows)),
        ("A call is", "in the payload" if comparison.trigger == "payload" else "what the finish reason says"),
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
