"""The page of a probe run."""

from __future__ import annotations

from collections import Counter

from toolcert.core.findings import Severity
from toolcert.core.values import Value
from toolcert.probes.scorecard import CellState, ProbeSummary
from toolcert.reports.extras import NOTHING, Extras
from toolcert.reports.html.charts.scale import LogScale
from toolcert.reports.html.page import render
from toolcert.reports.html.probe.causes import CauseRow, cause_rows
from toolcert.reports.html.probe.facts import facts, matrix_note, ranking_note, verdict_note
from toolcert.reports.html.probe.matrix import Matrix, matrix
from toolcert.reports.html.probe.models import ModelRow, anchors, model_rows
from toolcert.reports.text import plural, visible
from toolcert.reports.verdicts import verdict_of

PRINTED_MODELS = 12
"""Up to so many models are printed with all their details."""
_ROLES = ("good", "half", "bad", "cannot", "unknown")


class Standing(Value):
    """How many models have a verdict."""

    role: str
    word: str
    number: int


class ProbePage(Value):
    """Everything the template shows."""

    place: str
    run: str
    toolcert: str
    kind: str
    headline: str
    lines: tuple[str, ...]
    threshold: float
    tally: tuple[Standing, ...]
    facts: tuple[tuple[str, str], ...]
    models: tuple[ModelRow, ...]
    matrix: Matrix | None
    causes: tuple[CauseRow, ...]
    states: tuple[str, ...]
    codes: tuple[str, ...]
    scale: LogScale
    print_models: bool
    unfinished: bool
    causes_note: str
    ranking_note: str
    matrix_note: str
    verdict_note: str


def probe_html(summary: ProbeSummary, extras: Extras = NOTHING) -> str:
    """The whole page."""
    return render("probe.html.j2", page=_page(summary), history=extras.history)


def _page(summary: ProbeSummary) -> ProbePage:
    addresses = anchors(summary)
    times = [
        value for model in summary.models for line in model.latency for value in (line.p50, line.p95, *line.samples)
    ]
    return ProbePage(
        place=", ".join(visible(line.base_url or line.name) for line in summary.endpoints),
        run=summary.run,
        toolcert=summary.toolcert,
        kind=f"Tool-calling certificate for {_endpoints(summary)}",
        headline=visible(summary.headline),
        lines=tuple(visible(line) for line in summary.lines),
        threshold=summary.threshold,
        tally=_tally(summary),
        facts=facts(summary),
        models=model_rows(summary, addresses),
        matrix=matrix(summary) if len(summary.probes) > 1 else None,
        causes=cause_rows(summary, addresses),
        states=tuple(state.value for state in CellState),
        codes=tuple(sorted({cause.code for cause in summary.causes})),
        scale=LogScale.around(times),
        print_models=len(summary.models) <= PRINTED_MODELS,
        unfinished=summary.interrupted or summary.finished_at is None,
        causes_note=_causes_note(summary),
        ranking_note=ranking_note(summary),
        matrix_note=matrix_note(summary),
        verdict_note=verdict_note(summary),
    )


def _endpoints(summary: ProbeSummary) -> str:
    return "one endpoint" if len(summary.endpoints) == 1 else plural(len(summary.endpoints), "endpoint")


def _tally(summary: ProbeSummary) -> tuple[Standing, ...]:
    counted = Counter(verdict_of(model) for model in summary.models)
    standings = [Standing(role=role, word=word, number=number) for (role, word), number in counted.items()]
    return tuple(sorted(standings, key=lambda standing: _ROLES.index(standing.role)))


def _causes_note(summary: ProbeSummary) -> str:
    errors = sum(cause.severity is Severity.ERROR for cause in summary.causes)
    return f"{plural(len(summary.causes), 'cause')}, {plural(errors, 'error')}"
