"""The capability matrix of the page: models down, probes across in groups that fold, a case behind each cell."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import groupby
from pathlib import Path
from types import MappingProxyType

from toolcert.core.cases import Outcome
from toolcert.core.findings import INTERNAL
from toolcert.core.records import Record
from toolcert.core.values import Value
from toolcert.probes.summary.scorecard import Cell, CellState, ModelSummary, ProbeColumn, ProbeSummary
from toolcert.reports.display_text import shorten, visible
from toolcert.reports.html.evidence import Said, conversation
from toolcert.reports.probe.phrases import label_of
from toolcert.runs.encoding import decode_head, decode_record, decode_replies
from toolcert.runs.reader import RunReader, is_run

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


CellKey = tuple[str, str, str]
"""Endpoint, model and probe."""


class CellView(Value):
    """One cell."""

    style: str
    sign: str
    """Name of a symbol; empty if `mark` is shown instead."""
    mark: str
    words: str
    reason: str
    case: str
    """Address of the conversation on the page; empty if it is not there."""


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


def matrix(summary: ProbeSummary, cases: Mapping[CellKey, CaseView] = MappingProxyType({})) -> Matrix:
    """The matrix of a run."""
    dense = len(summary.probes) > DENSE
    return Matrix(
        heads=tuple(_heads(summary)),
        lines=tuple(_line(model, cases, dense=dense) for model in summary.models),
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


def _line(model: ModelSummary, cases: Mapping[CellKey, CaseView], *, dense: bool) -> tuple[GroupView, ...]:
    addresses = {
        cell.probe: cases[key].anchor if (key := (model.endpoint, model.model, cell.probe)) in cases else ""
        for cell in model.cells
    }
    groups = groupby(model.cells, lambda cell: cell.group)
    return tuple(_group(list(cells), addresses, dense=dense) for _, cells in groups)


def _group(cells: list[Cell], addresses: Mapping[str, str], *, dense: bool) -> GroupView:
    passed = sum(cell.state is CellState.PASSED for cell in cells)
    return GroupView(
        cells=tuple(_cell(cell, addresses[cell.probe], dense=dense) for cell in cells),
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


def _cell(cell: Cell, case: str, *, dense: bool) -> CellView:
    style, mark = cell.state.value, "?"
    if cell.state is CellState.FLAKY and cell.rate.value is not None:
        style += f" {_tenths(cell.rate.value)}"
        mark = str(min(9, max(1, int(10 * cell.rate.value)))) if dense else str(cell.rate)
    reason = "" if cell.state is CellState.PASSED else shorten(visible(cell.reason), LONGEST_REASON)
    sign = _SIGNS.get(cell.state, "")
    return CellView(style=style, sign=sign, mark=mark, words=_words(cell), reason=reason, case=case)


def _tenths(rate: float) -> str:
    return f"tenths-{min(9, max(1, round(10 * rate)))}"


def _words(cell: Cell) -> str:
    words = cell.state.value.replace("_", " ")
    rate = cell.rate
    if not rate.n or rate.low is None or rate.high is None:
        return words
    return f"{words} {rate.k} of {rate.n}, {rate.low:.2f} to {rate.high:.2f}"


BUDGET = 1_200_000
"""Bytes of all conversations on a page."""
LONGEST_CASE_REASON = 400
_TELLING = (Outcome.FAILED, Outcome.UNSUPPORTED, Outcome.NOT_MEASURED, Outcome.PASSED)
"""The outcomes of a case that shows a cell, the most telling first."""


class CaseView(Value):
    """One case as a conversation."""

    anchor: str
    key: str
    label: str
    probe: str
    words: str
    reason: str
    codes: tuple[str, ...]
    said: tuple[Said, ...]

    @property
    def size(self) -> int:
        return 900 + sum(one.size for one in self.said)


def cell_cases(summary: ProbeSummary, run: str, addresses: Mapping[str, str]) -> dict[CellKey, CaseView]:
    """One telling case of each cell, as many as the page has room for: first what fails, by rank, then what passes."""
    if not run or not is_run(Path(run)):
        return {}
    reader = RunReader(Path(run))
    chosen = _chosen(summary, reader)
    anchors = _case_anchors(summary, addresses)
    made: dict[CellKey, CaseView] = {}
    room = BUDGET

    def wanted(line: bytes) -> Record | None:
        head = decode_head(line)
        return head if head.probe is not None and chosen.get(_key(head)) == head.case else None

    found = {}
    for line in reader.lines():
        head = wanted(line)
        if head is not None:
            found[_key(head)] = _case(line, anchors)
    for key in _by_need(summary):
        case = found.get(key)
        if case is not None and case.size <= room:
            made[key] = case
            room -= case.size
    return made


def _key(record: Record) -> CellKey:
    return record.endpoint, record.model, "" if record.probe is None else record.probe.probe


def _chosen(summary: ProbeSummary, reader: RunReader) -> dict[CellKey, str]:
    """The case that shows each cell: an example of a finding, else the first that fails."""
    cells = {(model.endpoint, model.model, cell.probe) for model in summary.models for cell in model.cells}
    examples = {cause.example.case for cause in summary.causes}
    best: dict[CellKey, tuple[tuple[int, int], str]] = {}
    for head in reader.heads():
        key = _key(head)
        if head.probe is None or key not in cells or head.outcome not in _TELLING or INTERNAL in head.codes:
            continue
        telling = -1 if head.case in examples else _TELLING.index(head.outcome)
        place = (telling, head.probe.iteration)
        if key not in best or place < best[key][0]:
            best[key] = (place, head.case)
    return {key: case for key, (_, case) in best.items()}


def _case_anchors(summary: ProbeSummary, addresses: Mapping[str, str]) -> dict[CellKey, tuple[str, str]]:
    """The address and the name of the model of each cell."""
    used: Counter[str] = Counter()
    anchors = {}
    for model in summary.models:
        label = label_of(summary, model)
        for cell in model.cells:
            slug = f"c{addresses[label][1:]}." + re.sub(r"[^A-Za-z0-9._-]+", "-", cell.probe)[:80]
            used[slug] += 1
            anchor = slug if used[slug] == 1 else f"{slug}-{used[slug]}"
            anchors[model.endpoint, model.model, cell.probe] = (anchor, shorten(label, 120))
    return anchors


def _case(line: bytes, anchors: Mapping[CellKey, tuple[str, str]]) -> CaseView | None:
    record = decode_record(line)
    exchanges = record.detail.exchanges
    if not exchanges:
        return None
    replies = decode_replies(line) if all(exchange.fault is None for exchange in exchanges) else ()
    anchor, label = anchors[_key(record)]
    iteration = record.probe.iteration if record.probe else 1
    return CaseView(
        anchor=anchor,
        key=visible(record.case),
        label=label,
        probe=_key(record)[2],
        words=f"{record.outcome.value.replace('_', ' ')}, run {iteration}",
        reason=shorten(visible(record.reason), LONGEST_CASE_REASON),
        codes=record.codes,
        said=conversation(record, replies),
    )


def _by_need(summary: ProbeSummary) -> Iterator[CellKey]:
    """The cells that do not pass, then the others, each in the order of the models."""
    for passing in (False, True):
        for model in summary.models:
            for cell in model.cells:
                if (cell.state is CellState.PASSED) is passing:
                    yield model.endpoint, model.model, cell.probe
