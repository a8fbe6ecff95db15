"""A probe run as CSV, JUnit and Markdown."""

from __future__ import annotations

from toolcert.core.statistics.rates import reaches
from toolcert.core.verdict import Word
from toolcert.probes.summary.scorecard import Cause, Cell, CellState, ModelSummary, ProbeSummary
from toolcert.reports.display_text import MOST_MARKS, cell_figure, count, csv_text, mark_text, plural, seconds
from toolcert.reports.formats import NOTHING, Extras
from toolcert.reports.junit import Case, Tag, junit
from toolcert.reports.markdown import SIGNS, code, document, escape, prose, short, table
from toolcert.reports.probe.phrases import caveat_of, label_of, score_of, still_open, verdict_of

COLUMNS = (
    "endpoint",
    "model",
    "verdict",
    "probe",
    "group",
    "state",
    "passed",
    "measured",
    "rate",
    "low",
    "high",
    "first_try_passed",
    "first_try_measured",
    "called",
    "handled",
    "not_measured",
    "skipped",
    "reliable",
    "certainty",
    "call_p50_s",
    "findings",
    "reason",
)


def probe_csv(summary: ProbeSummary, extras: Extras = NOTHING) -> str:  # noqa: ARG001 - signature of renderers
    """The report of a probe run."""
    return csv_text(COLUMNS, (_line(model, cell) for model in summary.models for cell in model.cells))


def _line(model: ModelSummary, cell: Cell) -> tuple[object, ...]:
    rate = cell.rate
    return (
        model.endpoint,
        model.model,
        model.verdict.word.value,
        cell.probe,
        cell.group,
        cell.state.value,
        rate.k,
        rate.n,
        cell_figure(rate.value),
        cell_figure(rate.low),
        cell_figure(rate.high),
        cell.first_try.k,
        cell.first_try.n,
        str(cell.called) if cell.called.n else "",
        str(cell.handled) if cell.handled.n else "",
        cell.counts.not_measured,
        cell.counts.skipped,
        cell.reliable,
        cell.certainty.value if rate.n else "",
        cell_figure(cell.latency[0].p50 if cell.latency else None),
        " ".join(found.code for found in cell.findings),
        cell.reason,
    )


def probe_junit(summary: ProbeSummary, extras: Extras = NOTHING) -> bytes:
    """The report of a probe run."""
    suites = [(label_of(summary, model), _cases(summary, model, extras)) for model in summary.models]
    suites += [(name, [_unreachable(name, reason, extras)]) for name, reason in summary.unreachable.items()]
    return junit((name, summary.started_at, cases) for name, cases in suites)


def _unreachable(name: str, reason: str, extras: Extras) -> Case:
    """A case for each endpoint that listed no models; without it the endpoint would be missing silently."""
    return Case(classname=name, name="models", tag=Tag(extras.not_measured.value), message=reason)


def _cases(summary: ProbeSummary, model: ModelSummary, extras: Extras) -> list[Case]:
    label = label_of(summary, model)
    return [_verdict(label, model, extras), *(_case(label, cell, summary.threshold, extras) for cell in model.cells)]


def _verdict(label: str, model: ModelSummary, extras: Extras) -> Case:
    """A case for the verdict: every probe may pass while a reproduced error keeps the verdict from being good."""
    tag = None if model.verdict.good else _verdict_tag(model, extras)
    message = "" if tag is None else model.verdict.sentence
    return Case(classname=label, name="verdict", tag=tag, message=message)


def _verdict_tag(model: ModelSummary, extras: Extras) -> Tag:
    if not model.asked and model.verdict.word is Word.UNSUPPORTED:
        return Tag.SKIPPED  # a model that cannot chat was not asked
    uncovered = model.verdict.word is Word.UNDECIDED and not model.verdict.coverage.enough
    if uncovered or model.verdict.word is Word.NOT_MEASURED:
        return Tag(extras.not_measured.value)
    return Tag.FAILURE


def _case(label: str, cell: Cell, threshold: float, extras: Extras) -> Case:
    tag = _tag(cell, threshold, extras)
    message = f"{cell.rate} {cell.reason}" if cell.rate.n else cell.reason or cell.state.value.replace("_", " ")
    if cell.known:
        message = f"{plural(cell.known, 'known case')} left out: {message}"
    return Case(
        classname=f"{label}.{cell.group}",
        name=cell.probe,
        seconds=sum(latency.p50 or 0.0 for latency in cell.latency),
        tag=tag,
        message="" if tag is None else message,
        text="" if tag in (None, Tag.SKIPPED) else _evidence(cell),
    )


def _tag(cell: Cell, threshold: float, extras: Extras) -> Tag | None:
    """A flaky cell fails if its rate is below the threshold, as in all reports."""
    if cell.state is CellState.NOT_MEASURED:
        return Tag(extras.not_measured.value)
    if cell.state in (CellState.UNSUPPORTED, CellState.SKIPPED):
        return Tag.SKIPPED
    rest = cell.rate.n - cell.known
    if cell.known and not rest:
        return Tag.SKIPPED  # all that fails is known
    return None if reaches(cell.rate.k, rest, threshold) else Tag.FAILURE


def _evidence(cell: Cell) -> str:
    lines = [cell.reason]
    lines += [f"{found.severity.value} {found.code}: {found.example.evidence}" for found in cell.findings]
    return "\n".join(line for line in lines if line)


SHOWN_CAUSES = 30


def probe_markdown(summary: ProbeSummary, extras: Extras = NOTHING) -> str:  # noqa: ARG001 - signature of renderers
    """The report of a probe run; what does not fit is counted."""
    models = [_row(summary, model) for model in summary.models]
    causes = [_cause(cause) for cause in summary.causes[:SHOWN_CAUSES]]
    return document(
        [f"### {escape(summary.headline)}"],
        [escape(" ".join(summary.lines))] if summary.lines else [],
        table(["Model", ">Score", "Verdict", ">Reliable", ">Call, s", "Main reason"], models),
        [escape(still_open(summary))] if still_open(summary) else [],
        table(["Finding", "Severity", ">Models", "What"], causes) if causes else [],
        [f"- {escape(mark_text(mark))}" for mark in summary.marks[:MOST_MARKS]],
        [_sum(summary)],
        noun="model",
    )


def _row(summary: ProbeSummary, model: ModelSummary) -> tuple[object, ...]:
    role, word = verdict_of(model)
    caveat = caveat_of(model)
    rate = str(model.reliability.rate) if model.reliability.rate.n else "–"
    verdict = f"{SIGNS[role]} {word}" + (f", {caveat}" if caveat else "")
    call = seconds(model.seconds("call"))
    return short(label_of(summary, model)), score_of(model), verdict, rate, call, short(model.reason)


def _cause(cause: Cause) -> tuple[object, ...]:
    follows = f" From it follows: {', '.join(cause.follows)}" if cause.follows else ""
    return code(cause.code), cause.severity.value, len(cause.models), prose(cause.title + follows)


def _sum(summary: ProbeSummary) -> str:
    totals = summary.totals
    missing = count(totals.counts.not_measured)
    asked = plural(totals.usage.requests, "request")
    run = f"Run `{summary.run}`, " if summary.run else ""
    return f"{asked}, {missing} not measured. {run}toolcert {summary.toolcert}."
