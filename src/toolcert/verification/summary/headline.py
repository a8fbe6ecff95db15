"""The level a verify run reaches, and the sentences that say so."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum

from toolcert.core.findings import Severity
from toolcert.core.number_text import count, plural
from toolcert.core.statistics import Rate
from toolcert.verification.summary.figures import VerifySummary

GOOD = 0.99
"""An agent that makes ten calls in a row then meets an invalid one in less than a tenth of its runs."""
USABLE = 0.9
"""Below this, every other run of ten calls fails: no retry logic makes that an agent."""


class Level(StrEnum):
    """The level of a run."""

    FIT = "Fit for agents"
    CARE = "Usable with care"
    UNFIT = "Not fit for agents"


def headline(summary: VerifySummary) -> str:
    """The verdict in one sentence; an incomplete run is called so."""
    if not summary.incomplete:
        return _decision(summary)
    return f"{incomplete_words(summary)} So far: {_decision(summary)}"


def incomplete_words(summary: VerifySummary) -> str:
    """How many rows of an incomplete run were asked."""
    rows = summary.rows
    whole = f"{count(rows.sent)} of {_rows(summary.planned)}" if summary.planned else f"only {_rows(rows.sent)}"
    return f"Incomplete: {whole} {'was' if (summary.planned or rows.sent) == 1 else 'were'} asked."


def _decision(summary: VerifySummary) -> str:
    rows = summary.rows
    if summary.nothing_measured:
        return f"Nothing could be measured: {_why_nothing(summary)}."
    if not rows.called:
        how = f"{count(rows.unreadable)} unreadably" if rows.unreadable else "all in text"
        return f"No tool was called: {_rows(rows.answered)} answered, {how}."
    if not summary.valid.n:
        return (
            f"Nothing can be said about validity: {count(rows.called)} answers call tools, none with a usable schema."
        )
    return f"{_reached(summary)}: {_deciding_words(summary)}."


def _why_nothing(summary: VerifySummary) -> str:
    rows = summary.rows
    if not rows.lines:
        return "there was no row to ask"
    if rows.unsupported == rows.sent > 0:
        return f"the server refuses {_rows(rows.sent)} of {count(rows.sent)} as not supported"
    if not rows.sent and not summary.not_asked:
        return f"none of {plural(rows.lines, 'line')} can be asked"
    return f"none of {_rows(rows.lines)} got an answer"


def deciding(summary: VerifySummary) -> tuple[str, Rate]:
    """The rate that decides, in words: valid calls, unless other errors are more frequent."""
    if _level(summary.valid) is _reached(summary):
        return "valid", summary.valid
    return "without error", _sound(summary)


def _deciding_words(summary: VerifySummary) -> str:
    valid = summary.valid
    word, share = deciding(summary)
    if share is valid:
        return f"{_percent(valid)} of the answers with calls are {word} ({interval(valid)})"
    return (
        f"{_percent(share)} of the answers are {word} ({interval(share)}), "
        f"though {_percent(valid)} of those with calls are valid"
    )


def _sound(summary: VerifySummary) -> Rate:
    return Rate(k=summary.rows.passed, n=summary.rows.answered)


def next_lines(summary: VerifySummary) -> tuple[str, ...]:
    """Further sentences for people."""
    return tuple(_next_lines(summary))


def interval(share: Rate) -> str:
    """`1691/1742, 96.2 to 97.8` for a share."""
    if share.low is None or share.high is None:
        return f"{share.k}/{share.n}"
    return f"{share.k}/{share.n}, {100 * share.low:.1f} to {100 * share.high:.1f}"


def level(summary: VerifySummary) -> Level | None:
    """The level of a run; None if it is incomplete or nothing can be judged."""
    if summary.incomplete or summary.nothing_measured or not summary.valid.n:
        return None
    return _reached(summary)


def _reached(summary: VerifySummary) -> Level:
    """The level of the lower of two rates: valid calls, and answers without any error."""
    return _level(min(summary.valid, _sound(summary), key=lambda share: share.value or 0.0))


def _level(share: Rate) -> Level:
    value = share.value or 0.0
    if value >= GOOD:
        return Level.FIT
    return Level.CARE if value >= USABLE else Level.UNFIT


def _next_lines(summary: VerifySummary) -> Iterator[str]:
    rows = summary.rows
    errors = [line for line in summary.vendor if line.severity is Severity.ERROR]
    if errors:
        worst = errors[0]
        yield f"{_rows(rows.failed)} of {count(rows.answered)} failed; most often {worst.code} ({_rows(worst.rows)})."
    if summary.correct.n:
        yield f"{_percent(summary.correct)} of the rows that say what they expect got it ({interval(summary.correct)})."
    if rows.unsupported:
        reason, alike = next(iter(summary.unsupported_by.items()))
        yield f"{_rows(rows.unsupported)} refused as not supported; most often ({count(alike)}): {reason}"
    if rows.not_measured:
        worst_case = _percent(summary.if_missing_were_wrong)
        unmeasured = f"{_rows(rows.not_measured)} could not be measured and {'is' if rows.not_measured == 1 else 'are'}"
        yield f"{unmeasured} in no rate; {worst_case} valid if every unmeasured row failed."
    for reason, unasked in summary.not_asked.items():
        yield f"{_rows(unasked)} {'was' if unasked == 1 else 'were'} not asked: {reason.rstrip('.')}."
    faults = sum(line.rows for line in summary.of_dataset)
    if faults:
        yield f"The dataset itself has {plural(faults, 'problem')}, not charged to the vendor."


def _percent(share: Rate) -> str:
    return "–" if share.value is None else f"{100 * share.value:.1f} %"


def _rows(number: int) -> str:
    return plural(number, "row")
