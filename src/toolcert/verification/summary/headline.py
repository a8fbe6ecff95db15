"""The sentences below the verdict of a verify run."""

from __future__ import annotations

from collections.abc import Iterator

from toolcert.core.errors import ISSUES
from toolcert.core.findings import Severity
from toolcert.core.statistics.rates import Rate
from toolcert.core.text.excerpt import with_stop
from toolcert.core.text.number_text import count, plural
from toolcert.core.verdict import Word
from toolcert.verification.summary.figures import VerifySummary


def next_lines(summary: VerifySummary) -> tuple[str, ...]:
    """Further sentences for people."""
    return tuple(_next_lines(summary))


def interval(share: Rate) -> str:
    """`1691/1742, 96.2 to 97.8` for a share."""
    if share.low is None or share.high is None:
        return f"{share.k}/{share.n}"
    return f"{share.k}/{share.n}, {100 * share.low:.1f} to {100 * share.high:.1f}"


def _next_lines(summary: VerifySummary) -> Iterator[str]:
    rows = summary.rows
    errors = [line for line in summary.vendor if line.severity is Severity.ERROR]
    if errors and summary.verdict.word not in (Word.FAILS, Word.UNDECIDED):  # there the headline says so
        worst = errors[0]
        yield f"{_rows(rows.failed)} of {count(rows.answered)} failed; most often {worst.code} ({_rows(worst.rows)})."
    if summary.valid.n:
        yield f"{_percent(summary.valid)} of the answers with calls are valid ({interval(summary.valid)})."
    if rows.lost:
        yield f"{plural(rows.lost, 'call')} left in the text or lost: no agent sees them."
    if summary.correct.n:
        yield f"{_percent(summary.correct)} of the rows that say what they expect got it ({interval(summary.correct)})."
    yield from _missing(summary)
    if rows.unsupported:
        reason, alike = next(iter(summary.unsupported_by.items()))
        yield f"{_rows(rows.unsupported)} refused as not supported; most often ({count(alike)}): {reason}"
    if rows.not_measured:
        worst_case = _percent(summary.if_missing_were_wrong)
        unmeasured = f"{_rows(rows.not_measured)} could not be measured and {'is' if rows.not_measured == 1 else 'are'}"
        yield f"{unmeasured} in no rate; {worst_case} valid if every unmeasured row failed."
    if summary.bugs:
        yield f"{_rows(summary.bugs)} met a bug in toolcert, not in the vendor. Please report it: {ISSUES}"
    for reason, unasked in summary.not_asked.items():
        yield f"{_rows(unasked)} {'was' if unasked == 1 else 'were'} not asked: {with_stop(reason)}"
    faults = sum(line.rows for line in summary.of_dataset)
    if faults:
        yield f"The dataset itself has {plural(faults, 'problem')}, not charged to the vendor."


def _missing(summary: VerifySummary) -> Iterator[str]:
    left = (summary.planned or 0) - summary.rows.lines if summary.incomplete else 0
    if left > 0 and summary.verdict.word is not Word.UNDECIDED:  # there the headline says so
        yield f"{_rows(left)} of {count(summary.planned or 0)} {'is' if left == 1 else 'are'} not in this run."


def _percent(share: Rate) -> str:
    return "–" if share.value is None else f"{100 * share.value:.1f} %"


def _rows(number: int) -> str:
    return plural(number, "row")


def target_text(summary: VerifySummary) -> str:
    """Which model was asked, at which endpoint, and with which dataset."""
    target = " at ".join(filter(None, (summary.model, summary.endpoint)))
    dataset = summary.dataset.path.rpartition("/")[2] if summary.dataset is not None else ""
    return ", ".join(filter(None, (target, dataset)))
