"""A comparison as JUnit: a suite per vendor, a case per question asked about it."""

from __future__ import annotations

import time
from collections.abc import Iterator

from toolcert.comparison.result import ChanceTest, CompareVerdict, Comparison, MarginTest, VendorComparison
from toolcert.comparison.stats.significance import MarginOutcome
from toolcert.core.statistics.p_values import p_words
from toolcert.core.text.number_text import about_rows
from toolcert.reports.display_text import plural, visible
from toolcert.reports.formats import NOTHING, Extras
from toolcert.reports.junit import Case, Tag, junit

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
