"""A comparison as CSV: one line per vendor and figure."""

from __future__ import annotations

from toolcert.comparison.result import Comparison, Figure, VendorComparison
from toolcert.core.statistics.rates import Interval
from toolcert.reports.display_text import cell_figure, csv_text
from toolcert.reports.formats import NOTHING, Extras

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
    return csv_text(COLUMNS, (_line(vendor, one) for vendor in comparison.vendors for one in vendor.figures))


def _line(vendor: VendorComparison, one: Figure) -> tuple[object, ...]:
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
