"""A probe run as JUnit: a suite per model, with a case for its verdict and one for each probe."""

from __future__ import annotations

from toolcert.core.statistics.rates import reaches
from toolcert.core.text.number_text import plural
from toolcert.core.verdict import Word
from toolcert.probes.summary.scorecard import Cell, CellState, ModelSummary, ProbeSummary
from toolcert.reports.formats import NOTHING, Extras
from toolcert.reports.junit import Case, Tag, junit
from toolcert.reports.probe.phrases import label_of


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
