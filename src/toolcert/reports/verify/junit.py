"""A verify run as JUnit: a case per row of the dataset."""

from __future__ import annotations

from toolcert.core.cases import Outcome
from toolcert.core.records import Record, RowFacts
from toolcert.reports.formats import NOTHING, Extras
from toolcert.reports.junit import Case, Tag, junit
from toolcert.reports.verify.rows import every_row
from toolcert.verification.summary.figures import VerifySummary
from toolcert.verification.summary.headline import incomplete_words

_TAGS = {Outcome.FAILED: Tag.FAILURE, Outcome.UNSUPPORTED: Tag.SKIPPED, Outcome.SKIPPED: Tag.SKIPPED}


def verify_junit(summary: VerifySummary, extras: Extras = NOTHING) -> bytes:
    """The report of a verify run; its rows come from the log."""
    cases = [_case(summary.model, record, row, extras) for record, row in every_row(extras)]
    if summary.incomplete:
        cases.append(_rest(summary, extras))
    return junit([(f"{summary.model} at {summary.endpoint}".strip(), summary.started_at, cases)])


def _rest(summary: VerifySummary, extras: Extras) -> Case:
    """A case for the rows that an unfinished run did not reach; without it they would seem to have passed."""
    tag = Tag(extras.not_measured.value)
    return Case(classname=summary.model, name="all rows asked", tag=tag, message=incomplete_words(summary))


def _case(model: str, record: Record, row: RowFacts, extras: Extras) -> Case:
    return Case(
        classname=".".join(filter(None, (model, row.names[0] if row.names else ""))),
        name=f"row {row.index}",
        seconds=row.seconds or 0.0,
        tag=Tag(extras.not_measured.value) if record.outcome is Outcome.NOT_MEASURED else _TAGS.get(record.outcome),
        message=record.reason,
        text=" ".join(record.codes),
    )
