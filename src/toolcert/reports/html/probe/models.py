"""The models of the page: a line in the ranking and a section of their own."""

from __future__ import annotations

import re
from collections import Counter

from markupsafe import Markup

from toolcert.core.values import Value
from toolcert.probes.scorecard import Category, Cell, CellState, Latency, ModelSummary, ProbeSummary, Rate, Score
from toolcert.reports.labels import label_of
from toolcert.reports.text import count, plural, shorten, visible
from toolcert.reports.verdicts import caveat_of, errors_of, score_of, verdict_of

LONGEST_LABEL = 200
LONGEST_REASON = 160
_DATA = Markup('data-f-text="{}" data-f-verdict="{}" data-f-state="{}" data-f-finding="{}"')


class FaultRow(Value):
    """A probe that a model does not pass."""

    probe: str
    words: str
    reason: str
    codes: tuple[str, ...]


class ModelRow(Value):
    """One model."""

    rank: int
    label: str
    anchor: str
    data: Markup
    """What the filters look at."""
    score: str
    points: Score | None
    """None where a model has no score."""
    role: str
    word: str
    caveat: str
    caveat_code: str
    rate: Rate
    call: float | None
    answer: float | None
    reason: str
    works: int
    probes: int
    works_by_group: tuple[tuple[str, str], ...]
    faults: tuple[FaultRow, ...]
    latency: tuple[Latency, ...]
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


def model_rows(summary: ProbeSummary, addresses: dict[str, str]) -> tuple[ModelRow, ...]:
    """All models, in the order of the summary."""
    return tuple(_row(label_of(summary, model), model, addresses[label_of(summary, model)]) for model in summary.models)


def _row(label: str, model: ModelSummary, anchor: str) -> ModelRow:
    role, word = verdict_of(model)
    works = [cell for cell in model.cells if cell.state is CellState.PASSED]
    errors = errors_of(model)
    return ModelRow(
        rank=model.rank,
        label=shorten(label, LONGEST_LABEL),
        anchor=anchor,
        data=_data(label, word, model),
        score=score_of(model),
        points=None if model.category is Category.UNSUPPORTED else model.score,
        role=role,
        word=word,
        caveat=caveat_of(model),
        caveat_code=errors[0].code if errors else "",
        rate=model.reliability.rate,
        call=model.seconds("call"),
        answer=model.seconds("answer"),
        reason=shorten(visible(model.reason), LONGEST_REASON),
        works=len(works),
        probes=len(model.cells),
        works_by_group=_by_group(works),
        faults=tuple(_fault(cell) for cell in model.cells if cell.state is not CellState.PASSED),
        latency=tuple(line for line in model.latency if line.count),
        usage=_usage(model),
    )


def _data(label: str, word: str, model: ModelSummary) -> Markup:
    states = "|".join(sorted({cell.state.value for cell in model.cells}))
    codes = "|".join(sorted({found.code for found in model.findings}))
    return _DATA.format(shorten(label, LONGEST_LABEL).lower(), word, states, codes)


def _fault(cell: Cell) -> FaultRow:
    state = cell.state.value.replace("_", " ")
    return FaultRow(
        probe=cell.probe,
        words=f"{state} {cell.rate}" if cell.rate.n else state,
        reason=shorten(visible(cell.reason), LONGEST_REASON),
        codes=tuple(found.code for found in cell.findings),
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
        parts.append(f"cost {usage.cost:.4f}")
    return ", ".join(parts)
