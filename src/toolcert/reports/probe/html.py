"""The page of a probe run: certificate, ranking, models and causes."""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

import msgspec
from markupsafe import Markup

from toolcert.core.findings import Severity
from toolcert.core.statistics.quantiles import Timings
from toolcert.core.statistics.rates import Rate
from toolcert.core.values import Value
from toolcert.core.verdict import Word
from toolcert.diagnose import kind_of
from toolcert.probes.summary.scorecard import (
    Cause,
    Cell,
    CellState,
    Latency,
    ModelSummary,
    ProbeSummary,
    Score,
)
from toolcert.reports.display_text import (
    MOST_MARKS,
    count,
    dollars,
    duration,
    mark_text,
    percent,
    plural,
    shorten,
    visible,
)
from toolcert.reports.formats import NOTHING, Extras, OwnWords
from toolcert.reports.html.charts.svg import LogScale
from toolcert.reports.html.page import TONES, full_title, render
from toolcert.reports.probe.capability_matrix import CaseView, CellKey, Matrix, cell_cases, matrix
from toolcert.reports.probe.phrases import (
    VerdictCount,
    caveat_of,
    cost_of,
    errors_of,
    label_of,
    place_of,
    reproduce,
    same_models,
    score_of,
    still_open,
    total_seconds,
    verdict_counts,
    verdict_of,
)


def facts(summary: ProbeSummary) -> tuple[tuple[str, str], ...]:
    """Name and value of each figure; an empty one is left out."""
    totals = summary.totals
    missing = totals.counts.not_measured
    cases = max(1, totals.counts.total)
    coverage = [model.verdict.coverage for model in summary.models]
    planned = sum(one.planned for one in coverage)
    pairs = (
        ("Endpoint", ", ".join(visible(line.base_url or line.name) for line in summary.endpoints)),
        ("Measured", datetime.fromtimestamp(summary.started_at, UTC).strftime("%Y-%m-%d %H:%M UTC")),
        ("Suite", summary.suite or "own choice"),
        ("Runs per probe", str(summary.iterations)),
        ("Requests recorded", count(totals.usage.requests)),
        ("Tokens in, out", f"{count(totals.usage.tokens_in)}, {count(totals.usage.tokens_out)}"),
        ("Cost", cost_of(summary)),
        ("Coverage", f"{count(sum(one.measured for one in coverage))} of {count(planned)} cases" if planned else ""),
        ("Not measured", f"{count(missing)} ({percent(missing / cases)})"),
        ("Wall time", "" if totals.seconds is None else duration(totals.seconds)),
    )
    return tuple((name, value) for name, value in pairs if value)


def ranking_note(summary: ProbeSummary) -> str:
    """What the reliability column measures, and how many runs would decide it."""
    probe = next((model.reliability.probe for model in summary.models if model.reliability.probe), "")
    where = f" in {probe}" if probe else ""
    measured = f"Reliable: called, arguments right, result used{where}."
    return f"{measured} Whisker: 95 % interval; dashed: the threshold. {still_open(summary)}".rstrip()


def matrix_note(summary: ProbeSummary) -> str:
    """How to read the matrix."""
    size = f"{plural(len(summary.probes), 'probe')}, {plural(summary.iterations, 'run')} each."
    return f"{size} A cell opens the conversation behind it. Point at it, or move with the arrow keys, for the counts."


def verdict_note(summary: ProbeSummary) -> str:
    """The rule behind the verdicts, with the points if they are few."""
    weights = next((model.score.weights for model in summary.models if model.score.weights), {})
    parts = ", ".join(f"{name} {points:g}" for name, points in weights.items() if points)
    shown = f" Points: {parts}." if parts and len(weights) <= 8 else ""
    return (
        "Certified: every probe is proven to reach the threshold. Passes: every probe reaches it, in too few runs "
        "for a proof. Partial: works, except for what is named; an error that was seen twice is never outvoted. "
        "Undecided: more runs are needed, or fewer than 95 % of the cases were measured. "
        f"Fails: a core probe is below the threshold. The score stands beside the verdict.{shown}"
    )


LONGEST_EVIDENCE = 2000
LONGEST_CURL = 6000


class CauseRow(Value):
    """One kind of finding."""

    code: str
    severity: str
    tone: str
    title: str
    meaning: str
    cause: str
    remedy: str
    seen: str
    models: tuple[tuple[str, str], ...]
    """Label and address of each model that shows it."""
    named: str
    """The models in a few words, for the closed row."""
    affected: tuple[bool, ...]
    """For each model of the run, in order, whether it shows it."""
    where: str
    evidence: str
    case: str
    """Address of the whole conversation if it is on the page."""
    curl: str


NAMED = 3
"""Models named in a closed row."""


def cause_rows(
    summary: ProbeSummary, addresses: dict[str, str], cases: Mapping[CellKey, CaseView], *, kept: bool = True
) -> tuple[CauseRow, ...]:
    """All causes, worst first as in the summary."""
    labels = [label_of(summary, model) for model in summary.models]
    shown = {case.key: case.anchor for case in cases.values()}
    rows = (_cause_row(summary, cause, addresses, labels, kept=kept) for cause in summary.causes)
    return tuple(
        msgspec.structs.replace(row, case=shown.get(visible(cause.example.case), ""))
        for row, cause in zip(rows, summary.causes, strict=True)
    )


def _cause_row(
    summary: ProbeSummary, cause: Cause, addresses: dict[str, str], labels: list[str], *, kept: bool
) -> CauseRow:
    kind = kind_of(cause.code)
    names = [visible(name) for name in cause.models]
    hit = set(names)
    example = cause.example
    return CauseRow(
        code=cause.code,
        severity=cause.severity.value,
        tone=TONES[cause.severity],
        title=full_title(cause.code, cause.title),
        meaning=kind.meaning,
        cause=kind.cause,
        remedy=kind.remedy,
        seen=f"{plural(cause.count, 'time')}, in probes {', '.join(cause.probes)}"
        + (f"; from it follows {', '.join(cause.follows)}" if cause.follows else ""),
        models=tuple((shorten(name, 80), addresses.get(name, "models")) for name in names),
        named=_named(names),
        affected=tuple(label in hit for label in labels),
        where=visible(f"{example.case}, turn {example.turn + 1}"),
        evidence=shorten(visible(example.evidence), LONGEST_EVIDENCE),
        case="",
        curl=_curl(summary, cause, kept=kept),
    )


def _named(names: Sequence[str]) -> str:
    more = len(names) - NAMED
    shown = ", ".join(shorten(name, 40) for name in names[:NAMED])
    return f"{shown} and {more} more" if more > 0 else shown


def _curl(summary: ProbeSummary, cause: Cause, *, kept: bool) -> str:
    """The curl line that repeats the example; if it is too long, the command that prints it."""
    line = reproduce(summary, cause.example)
    if len(line) <= LONGEST_CURL:
        return line
    if not kept:
        return ""
    return (
        f"toolcert show RUN {shlex.quote(visible(cause.example.case))}  # {count(len(line))} characters as a curl line"
    )


LONGEST_LABEL = 200
LONGEST_REASON = 160
_DATA = Markup('data-f-text="{}" data-f-verdict="{}" data-f-state="{}" data-f-finding="{}"')


class FaultRow(Value):
    """A probe that a model does not pass."""

    probe: str
    words: str
    reason: str
    codes: tuple[str, ...]
    case: str
    """Address of a case that shows it, if it is on the page."""


class ModelRow(Value):
    """One model."""

    rank: int
    label: str
    anchor: str
    data: Markup
    """What the filters look at."""
    score: str
    points: Score | None
    """None if a model has no score."""
    role: str
    word: str
    caveat: str
    caveat_code: str
    rate: Rate
    call: float | None
    answer: float | None
    total: float | None
    reason: str
    exemptions: tuple[str, ...]
    """What does not work, or keeps the verdict from being better."""
    coverage: str
    works: int
    probes: int
    works_by_group: tuple[tuple[str, str], ...]
    faults: tuple[FaultRow, ...]
    latency: tuple[Latency, ...]
    timings: Timings
    cost: float | None
    usage: str


def anchors(summary: ProbeSummary) -> dict[str, str]:
    """A stable address per model, made of harmless characters."""
    used: Counter[str] = Counter()
    addresses = {}
    for label in (label_of(summary, model) for model in summary.models):
        slug = "m-" + (re.sub(r"[^A-Za-z0-9._-]+", "-", label).strip("-")[:LONGEST_LABEL] or "model")
        used[slug] += 1
        addresses[label] = slug if used[slug] == 1 else f"{slug}-{used[slug]}"
    return addresses


def model_rows(
    summary: ProbeSummary, addresses: dict[str, str], cases: Mapping[CellKey, CaseView]
) -> tuple[ModelRow, ...]:
    """All models, in the order of the summary."""
    labels = [label_of(summary, model) for model in summary.models]
    return tuple(
        _model_row(label, model, addresses[label], cases) for label, model in zip(labels, summary.models, strict=True)
    )


def _model_row(label: str, model: ModelSummary, anchor: str, cases: Mapping[CellKey, CaseView]) -> ModelRow:
    role, word = verdict_of(model)
    works = [cell for cell in model.cells if cell.state is CellState.PASSED]
    errors = errors_of(model)
    return ModelRow(
        rank=model.rank,
        label=shorten(label, LONGEST_LABEL),
        anchor=anchor,
        data=_data(label, word, model),
        score=score_of(model),
        points=None if model.verdict.word is Word.UNSUPPORTED else model.score,
        role=role,
        word=word,
        caveat=caveat_of(model),
        caveat_code=errors[0].code if errors else "",
        rate=model.reliability.rate,
        call=model.seconds("call"),
        answer=model.seconds("answer"),
        total=total_seconds(model),
        reason=shorten(visible(model.reason), LONGEST_REASON),
        exemptions=tuple(shorten(visible(one.text), LONGEST_REASON) for one in model.verdict.exemptions),
        coverage=_coverage(model),
        works=len(works),
        probes=len(model.cells),
        works_by_group=_by_group(works),
        faults=tuple(_fault(model, cell, cases) for cell in model.cells if cell.state is not CellState.PASSED),
        latency=tuple(line for line in model.latency if line.count),
        timings=model.timings,
        cost=model.usage.cost,
        usage=_usage(model),
    )


def _coverage(model: ModelSummary) -> str:
    coverage = model.verdict.coverage
    return f"{count(coverage.measured)} of {count(coverage.planned)} cases measured" if coverage.planned else ""


def _data(label: str, word: str, model: ModelSummary) -> Markup:
    states = "|".join(sorted({cell.state.value for cell in model.cells}))
    codes = "|".join(sorted({found.code for found in model.findings}))
    return _DATA.format(shorten(label, LONGEST_LABEL).lower(), word, states, codes)


def _fault(model: ModelSummary, cell: Cell, cases: Mapping[CellKey, CaseView]) -> FaultRow:
    case = cases.get((model.endpoint, model.model, cell.probe))
    state = cell.state.value.replace("_", " ")
    return FaultRow(
        probe=cell.probe,
        words=f"{state} {cell.rate}" if cell.rate.n else state,
        reason=shorten(visible(cell.reason), LONGEST_REASON),
        codes=tuple(found.code for found in cell.findings),
        case="" if case is None else case.anchor,
    )


def _by_group(cells: list[Cell]) -> tuple[tuple[str, str], ...]:
    groups: dict[str, list[str]] = {}
    for cell in cells:
        groups.setdefault(cell.group.capitalize(), []).append(cell.probe)
    return tuple((group, ", ".join(names)) for group, names in groups.items())


def _usage(model: ModelSummary) -> str:
    usage = model.usage
    parts = [plural(usage.requests, "request"), f"{count(usage.tokens_in)} tokens in", f"{count(usage.tokens_out)} out"]
    if usage.retried:
        parts.append(f"{plural(usage.retried, 'case')} retried")
    if usage.cost is not None:
        parts.append(f"cost {dollars(usage.cost)}")
    return ", ".join(parts)


PRINTED_MODELS = 12
"""Most models that are printed on paper with all their details."""
_TITLES = {
    "score": "Models, best first",
    "name": "Models by name",
    "call-time": "Models, fastest call first",
    "response-time": "Models, fastest answer first",
    "total-time": "Models, fastest first",
}


class VendorRow(Value):
    """One model at one of the endpoints that serve it."""

    endpoint: str
    model: ModelRow
    differs: str
    """The probes in which the endpoints differ, as they went here."""


class SharedModel(Value):
    """A model that several endpoints serve."""

    name: str
    rows: tuple[VendorRow, ...]


def shared_models(summary: ProbeSummary, rows: Sequence[ModelRow]) -> tuple[SharedModel, ...]:
    """The models that several endpoints serve, each at all of them; the best endpoint first."""
    by_model = {(model.endpoint, model.model): (model, row) for model, row in zip(summary.models, rows, strict=True)}
    return tuple(
        _shared(name, [by_model[one.endpoint, one.model] for one in served])
        for name, served in same_models(summary).items()
    )


def _shared(name: str, served: list[tuple[ModelSummary, ModelRow]]) -> SharedModel:
    states = [{cell.probe: cell for cell in model.cells} for model, _ in served]
    telling = [probe for probe in states[0] if len({cells[probe].state for cells in states if probe in cells}) > 1]
    return SharedModel(
        name=shorten(visible(name), LONGEST_LABEL),
        rows=tuple(
            VendorRow(endpoint=shorten(visible(model.endpoint), 60), model=row, differs=_differs(cells, telling))
            for (model, row), cells in zip(served, states, strict=True)
        ),
    )


def _differs(cells: Mapping[str, Cell], telling: Sequence[str]) -> str:
    """What fails here and not everywhere."""
    worse = [cells[probe] for probe in telling if probe in cells and cells[probe].state is not CellState.PASSED]
    words = [f"{cell.probe} {cell.rate if cell.rate.n else cell.state.value.replace('_', ' ')}" for cell in worse]
    more = len(words) - MOST_DIFFERENCES
    shown = ", ".join(words[:MOST_DIFFERENCES])
    return f"{shown} and {more} more" if more > 0 else shown


MOST_DIFFERENCES = 6


class ProbePage(Value):
    """Everything the template shows."""

    place: str
    run: str
    toolcert: str
    kind: str
    headline: str
    lines: tuple[str, ...]
    threshold: float
    tally: tuple[VerdictCount, ...]
    facts: tuple[tuple[str, str], ...]
    models: tuple[ModelRow, ...]
    matrix: Matrix | None
    cases: tuple[CaseView, ...]
    shared: tuple[SharedModel, ...]
    timed: bool
    """Whether any model has timings."""
    priced: bool
    view: str
    """The command that shows what the page has no room for; empty if the run is not kept."""
    causes: tuple[CauseRow, ...]
    states: tuple[str, ...]
    codes: tuple[str, ...]
    scale: LogScale
    print_models: bool
    unfinished: bool
    causes_note: str
    marks: tuple[str, ...]
    ranking_note: str
    matrix_note: str
    verdict_note: str
    order: str
    """How the models are sorted; the heading and the arrow say so."""
    title: str
    total_label: str
    """Heading of the column of both turns together; empty if it is not shown."""
    kept: bool
    """The run can be read again."""


def probe_html(summary: ProbeSummary, extras: Extras = NOTHING) -> str:
    """The whole page."""
    return render("probe.html.j2", page=_page(summary, extras), history=extras.history)


def _page(summary: ProbeSummary, extras: Extras) -> ProbePage:
    addresses = anchors(summary)
    own = extras.own_words
    cases = cell_cases(summary, extras.run, addresses)
    rows = model_rows(summary, addresses, cases)
    if own is not None:
        rows = tuple(_in_own_words(row, model, own) for row, model in zip(rows, summary.models, strict=True))
    times = [
        value for model in summary.models for line in model.latency for value in (line.p50, line.p95, *line.samples)
    ]
    return ProbePage(
        place=", ".join(visible(line.base_url or line.name) for line in summary.endpoints),
        run=summary.run,
        toolcert=summary.toolcert,
        kind=f"Tool-calling certificate for {place_of(summary)}",
        headline=visible(own.headline if own else summary.headline),
        lines=tuple(visible(line) for line in (own.lines if own else summary.lines)),
        threshold=summary.threshold,
        tally=verdict_counts(row.word for row in rows),
        facts=facts(summary),
        models=rows,
        matrix=matrix(summary, cases) if len(summary.probes) > 1 else None,
        cases=tuple(cases.values()),
        shared=shared_models(summary, rows),
        timed=any(row.timings for row in rows),
        priced=any(row.cost is not None for row in rows),
        view=visible(f"toolcert view {shlex.quote(extras.run)}") if extras.run and not extras.temporary else "",
        causes=cause_rows(summary, addresses, cases, kept=not extras.temporary),
        states=tuple(state.value for state in CellState),
        codes=tuple(sorted({cause.code for cause in summary.causes})),
        scale=LogScale.around(times),
        print_models=len(summary.models) <= PRINTED_MODELS,
        unfinished=summary.interrupted or summary.finished_at is None,
        causes_note=_causes_note(summary),
        marks=tuple(mark_text(mark) for mark in summary.marks[:MOST_MARKS]),
        ranking_note=ranking_note(summary),
        matrix_note=matrix_note(summary),
        verdict_note=own.rule if own else verdict_note(summary),
        order=extras.order,
        title=_TITLES[extras.order],
        total_label="Total, s" if own else "Call + answer, s" if extras.order == "total-time" else "",
        kept=not extras.temporary,
    )


def _in_own_words(row: ModelRow, model: ModelSummary, own: OwnWords) -> ModelRow:
    """The row in the words of an older tool; the caveat belongs to toolcert's verdict and is left out."""
    role, word = own.verdicts[model.model]
    return msgspec.structs.replace(
        row,
        role=role,
        word=word,
        caveat="",
        data=_data(row.label, word, model),
        reason=shorten(visible(own.reasons[model.model]), LONGEST_REASON),
        total=own.totals[model.model],
    )


def _causes_note(summary: ProbeSummary) -> str:
    errors = sum(cause.severity is Severity.ERROR for cause in summary.causes)
    return f"{plural(len(summary.causes), 'cause')}, {plural(errors, 'error')}"
