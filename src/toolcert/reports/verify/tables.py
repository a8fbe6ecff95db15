"""A verify run as CSV, JUnit and Markdown."""

from __future__ import annotations

from toolcert.core.cases import Outcome
from toolcert.core.records import Record, RowFacts
from toolcert.core.statistics.rates import Rate
from toolcert.core.verdict import Word
from toolcert.reports.display_text import MOST_MARKS, NO_VALUE, cell_figure, count, csv_text, mark_text, percent, plural
from toolcert.reports.formats import NOTHING, Extras
from toolcert.reports.junit import Case, Tag, junit
from toolcert.reports.markdown import code, document, escape, prose, short, table
from toolcert.reports.verify.rows import every_row
from toolcert.runs.marks import MarkBook
from toolcert.verification.summary.figures import FindingLine, VerifySummary
from toolcert.verification.summary.run_verdict import target_text

COLUMNS = (
    "row",
    "outcome",
    "called",
    "valid",
    "correct",
    "finish_reason",
    "tools_called",
    "tools_offered",
    "turns",
    "streamed",
    "findings",
    "buckets",
    "seconds",
    "first_token_s",
    "attempts",
    "prompt_tokens",
    "completion_tokens",
    "tags",
    "reason",
)


def verify_csv(summary: VerifySummary, extras: Extras = NOTHING) -> str:  # noqa: ARG001 - signature of renderers
    """The report of a verify run; its rows come from the log."""
    return csv_text(COLUMNS, (_line(record, row) for record, row in every_row(extras)))


def _line(record: Record, row: RowFacts) -> tuple[object, ...]:
    return (
        row.index,
        record.outcome.value,
        row.called,
        row.valid,
        row.correct,
        row.finish,
        " ".join(row.names),
        row.tools,
        row.turns,
        row.streamed,
        " ".join(record.codes),
        " ".join(row.buckets),
        cell_figure(row.seconds),
        cell_figure(row.first_token),
        row.attempts,
        row.prompt_tokens,
        row.completion_tokens,
        " ".join(row.tags),
        record.reason,
    )


_TAGS = {Outcome.FAILED: Tag.FAILURE, Outcome.UNSUPPORTED: Tag.SKIPPED, Outcome.SKIPPED: Tag.SKIPPED}


def verify_junit(summary: VerifySummary, extras: Extras = NOTHING) -> bytes:
    """The report of a verify run; its rows come from the log."""
    known = MarkBook(extras.known)
    cases = [_case(summary.model, record, row, extras, known) for record, row in every_row(extras)]
    if not summary.verdict.good and not summary.rows.failed:
        cases.append(_verdict(summary, extras))
    return junit([(f"{summary.model} at {summary.endpoint}".strip(), summary.started_at, cases)])


def _verdict(summary: VerifySummary, extras: Extras) -> Case:
    """The verdict as a case if no row fails: without it, a run that stopped early would look well."""
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


SHOWN_TOOLS = 20


def verify_markdown(summary: VerifySummary, extras: Extras = NOTHING) -> str:  # noqa: ARG001 - signature of renderers
    """The report of a verify run."""
    return document(
        [f"### {escape(summary.headline)}"],
        [escape(" ".join(summary.lines))] if summary.lines else [],
        _funnel(summary),
        _findings("Problems of the vendor", summary.vendor),
        _findings("Problems of the dataset, not charged to the vendor", summary.of_dataset),
        [f"- {escape(mark_text(mark))}" for mark in summary.marks[:MOST_MARKS]],
        _tools(summary),
        [_sum(summary)],
    )


def _funnel(summary: VerifySummary) -> list[str]:
    rows = summary.rows
    steps = [
        ("sent", rows.sent, None),
        ("answered", rows.answered, summary.answered),
        ("called a tool", rows.called, summary.called),
        *([("with a lost call", rows.lost, None)] if rows.lost else []),
        ("valid calls", rows.valid, summary.valid),
    ]
    return table(["Rows", ">Count", ">Of those before", "95 % interval"], [_step(*step) for step in steps])


def _step(word: str, number: int, share: Rate | None) -> tuple[object, ...]:
    if share is None or share.low is None or share.high is None:
        return word, count(number), NO_VALUE, NO_VALUE
    return word, count(number), percent(share.value), f"{100 * share.low:.1f} to {100 * share.high:.1f}"


def _findings(title: str, lines: tuple[FindingLine, ...]) -> list[str]:
    if not lines:
        return []
    return table([title, "Severity", ">Rows", "What", "Such as"], [_finding(line) for line in lines])


def _finding(line: FindingLine) -> tuple[object, ...]:
    which = ", ".join(str(example.row) for example in line.examples[:3]) or NO_VALUE
    follows = f" From it follows: {', '.join(line.follows)}" if line.follows else ""
    return code(line.code), line.severity.value, count(line.rows), prose(line.title + follows), which


def _tools(summary: VerifySummary) -> list[str]:
    faulty = [tool for tool in summary.tools if tool.valid.k < tool.valid.n]
    worst = sorted(faulty, key=lambda tool: tool.valid.k - tool.valid.n)[:SHOWN_TOOLS]
    rows = [(short(tool.name), f"{tool.valid.k}/{tool.valid.n}", short(tool.main)) for tool in worst]
    return table(["Tools with invalid calls", ">Valid", "Most often"], rows) if rows else []


def _sum(summary: VerifySummary) -> str:
    missing = count(summary.rows.not_measured)
    asked = plural(summary.traffic.requests, "request")
    target = escape(target_text(summary))
    return f"{target}: {asked}, {missing} rows not measured. Run `{summary.run}`, toolcert {summary.toolcert}."
