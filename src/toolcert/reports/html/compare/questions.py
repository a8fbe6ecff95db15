"""What chance and the margin say: every test with its answer in words."""

from __future__ import annotations

from toolcert.compare.comparison import ChanceTest, MarginTest
from toolcert.compare.paired import MarginOutcome
from toolcert.core.statistics import Interval
from toolcert.core.values import Value
from toolcert.reports.compare_words import p_value, points
from toolcert.reports.text import count, plural

_OUTCOMES = {
    MarginOutcome.PASSED: ("good", "yes", "ok"),
    MarginOutcome.FAILED: ("bad", "no", "bad"),
    MarginOutcome.INCONCLUSIVE: ("half", "not decided", "warn"),
}


class ChanceRow(Value):
    """A question to chance."""

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
    needed = f", needs about {plural(test.rows_needed, 'row')}" if test.rows_needed else ""
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
