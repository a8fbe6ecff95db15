"""The capability matrix of the page: models down, probes across in groups that fold."""

from __future__ import annotations

from collections import Counter
from itertools import groupby

from toolcert.core.values import Value
from toolcert.probes.summary.scorecard import Cell, CellState, ModelSummary, ProbeColumn, ProbeSummary
from toolcert.reports.display_text import shorten, visible

DENSE = 26
"""Most probes with wide cells; in narrow cells a flaky probe shows tenths, as on the console."""
FITS = 40
"""Most narrow columns that fit the page."""
TALL = 24
"""From this number of models on, the head stays in view."""
LONGEST_REASON = 140
_SIGNS = {
    CellState.PASSED: "passed",
    CellState.FAILED: "failed",
    CellState.UNSUPPORTED: "unsupported",
    CellState.SKIPPED: "skipped",
}


class CellView(Value):
    """One cell."""

    style: str
    sign: str
    """Name of a symbol; empty if `mark` is shown instead."""
    mark: str
    words: str
    reason: str


class GroupView(Value):
    """The cells of a model in one group, and the sum shown when the group is folded."""

    cells: tuple[CellView, ...]
    style: str
    sum: str


class ColumnView(Value):
    """A probe."""

    name: str
    title: str
    passed: int


class GroupHead(Value):
    """A group of probes."""

    group: str
    title: str
    columns: tuple[ColumnView, ...]


class Matrix(Value):
    """The whole matrix; its lines are in the order of the models."""

    heads: tuple[GroupHead, ...]
    lines: tuple[tuple[GroupView, ...], ...]
    dense: bool
    fits: bool
    tall: bool


def matrix(summary: ProbeSummary) -> Matrix:
    """The matrix of a run."""
    dense = len(summary.probes) > DENSE
    return Matrix(
        heads=tuple(_heads(summary)),
        lines=tuple(_line(model, dense=dense) for model in summary.models),
        dense=dense,
        fits=len(summary.probes) <= FITS,
        tall=len(summary.models) > TALL,
    )


def _heads(summary: ProbeSummary) -> list[GroupHead]:
    passed = Counter(cell.probe for model in summary.models for cell in model.cells if cell.state is CellState.PASSED)
    return [
        GroupHead(group=group, title=group.capitalize(), columns=tuple(_column(probe, passed) for probe in probes))
        for group, probes in groupby(summary.probes, lambda probe: probe.group)
    ]


def _column(probe: ProbeColumn, passed: Counter[str]) -> ColumnView:
    return ColumnView(name=probe.name, title=probe.title, passed=passed[probe.name])


def _line(model: ModelSummary, *, dense: bool) -> tuple[GroupView, ...]:
    return tuple(_group(list(cells), dense=dense) for _, cells in groupby(model.cells, lambda cell: cell.group))


def _group(cells: list[Cell], *, dense: bool) -> GroupView:
    passed = sum(cell.state is CellState.PASSED for cell in cells)
    return GroupView(
        cells=tuple(_cell(cell, dense=dense) for cell in cells),
        style=_sum_style(passed, cells),
        sum=f"{passed}/{len(cells)}",
    )


def _sum_style(passed: int, cells: list[Cell]) -> str:
    if passed == len(cells):
        return "passed"
    if passed:
        return f"flaky {_tenths(passed / len(cells))}"
    rates = [cell.rate.value or 0.0 for cell in cells]
    if any(rates):  # no probe passed every time, and still some runs did
        return f"flaky {_tenths(sum(rates) / len(cells))}"
    return min((cell.state for cell in cells), key=list(CellState).index).value


def _cell(cell: Cell, *, dense: bool) -> CellView:
    style, mark = cell.state.value, "?"
    if cell.state is CellState.FLAKY and cell.rate.value is not None:
        style += f" {_tenths(cell.rate.value)}"
        mark = str(min(9, max(1, int(10 * cell.rate.value)))) if dense else str(cell.rate)
    reason = "" if cell.state is CellState.PASSED else shorten(visible(cell.reason), LONGEST_REASON)
    return CellView(style=style, sign=_SIGNS.get(cell.state, ""), mark=mark, words=_words(cell), reason=reason)


def _tenths(rate: float) -> str:
    return f"tenths-{min(9, max(1, round(10 * rate)))}"


def _words(cell: Cell) -> str:
    words = cell.state.value.replace("_", " ")
    rate = cell.rate
    if not rate.n or rate.low is None or rate.high is None:
        return words
    return f"{words} {rate.k} of {rate.n}, {rate.low:.2f} to {rate.high:.2f}"
