"""A verify run as JUnit: a case per row of the dataset."""

from __future__ import annotations

from toolcert.core.cases import Outcome
from toolcert.core.records import Record, RowFacts
from toolcert.core.verdict import Word
from toolcert.reports.formats import NOTHING, Extras
from toolcert.reports.junit import Case, Tag, junit
from toolcert.reports.verify.rows import every_row
from toolcert.runs.marks import MarkBook
from toolcert.verification.summary.figures import VerifySummary

_TAGS = {Outcome.FAILED: Tag.FAILURE, Outcome.UNSUPPORTED: Tag.SKIPPED, Outcome.SKIPPED: Tag.SKIPPED}


def verify_junit(summary: VerifySummary, extras: Extras = NOTHING) -> bytes:
    """The report of a verify run; its rows come from the log."""
    known = MarkBook(extras.known)
    cases = [_case(summary.model, record, row, extras, known) for record, row in every_row(extras)]
    if not summary.verdict.good and not summary.rows.failed:
        cases.append(_verdict(summary, extras))
    return junit([(f"{summary.model} at {summary.endpoint}".strip(), summary.started_at, cases)])


def _verdict(summary: VerifySummary, extras: Extras) -> Case:
    """The verdict as a case where no row fails: without it, a run that stopped early would look well."""
    verdict = summary.verdict
    tag = Tag(extras.not_measured.value) if verdict.word in (Word.UNDECIDED, Word.NOT_MEASURED) else Tag.FAILURE
    return Case(classname=summary.model, name="verdict", tag=tag, message=verdict.sentence)


def _case(model: str, record: Record, row: RowFacts, extras: Extras, known: MarkBook) -> Case:
    excused = known.explains(record)
    tag = Tag(extras.not_measured.value) if record.outcome is Outcome.NOT_MEASURED else _TAGS.get(record.outcome)
    return Case(
        classname=".".join(filter(None, (model, row.names[0] if row.names else ""))),
        name=f"row {row.index}",
        seconds=row.seconds or 0.0,
        tag=Tag.SKIPPED if excused else tag,
        message=f"{known.words(record)}: {record.reason}" if excused else record.reason,
        text=" ".join(record.codes),
    )
