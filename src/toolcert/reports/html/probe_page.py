"""The page of a probe run: what the template shows, worked out from the summary."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from markupsafe import Markup

from toolcert.diagnose import kind_of
from toolcert.probes.scorecard import Cause, Cell, CellState, ModelSummary, ProbeSummary
from toolcert.reports.extras import NOTHING, Extras
from toolcert.reports.html.page import render
from toolcert.reports.labels import label_of, reproduce
from toolcert.reports.text import count, duration, percent, plural, shorten, visible
from toolcert.reports.verdicts import verdict_of

LONGEST_REASON = 140
LONGEST_EVIDENCE = 2000
_SIGNS = {
    CellState.PASSED: "passed",
    CellState.FAILED: "failed",
    CellState.UNSUPPORTED: "unsupported",
    CellState.SKIPPED: "skipped",
}


def probe_html(summary: ProbeSummary, extras: Extras = NOTHING) -> str:
    """The whole page."""
    return render("probe.html.j2", page=_page(summary), history=extras.history)


def _page(summary: ProbeSummary) -> dict[str, Any]:
    anchors = _anchors(summary)
    models = [_model(summary, model, anchors[label_of(summary, model)]) for model in summary.models]
    return {
        "kind": f"Tool-calling certificate for {plural(len(summary.endpoints), 'endpoint')}",
        "place": ", ".join(visible(line.base_url or line.name) for line in summary.endpoints),
        "run": summary.run,
        "toolcert": summary.toolcert,
        "headline": visible(summary.headline),
        "lines": [visible(line) for line in summary.lines],
        "threshold": summary.threshold,
        "tally": _tally(summary),
        "facts": _facts(summary),
        "models": models,
        "several_probes": len(summary.probes) > 1,
        "states": [state.value for state in CellState],
        "codes": sorted({cause.code for cause in summary.causes}),
        "groups": _groups(summary),
        "probes": _probes(summary),
        "causes": [_cause(summary, cause, anchors) for cause in summary.causes],
        "causes_note": _causes_note(summary),
        "ranking_note": _ranking_note(summary),
        "matrix_note": f"{plural(len(summary.probes), 'probe')}, {plural(summary.iterations, 'run')} each. "
        "Point at a cell, tap it, or move with the arrow keys for counts, interval and reason.",
        "verdict_note": _verdict_note(summary),
    }


def _anchors(summary: ProbeSummary) -> dict[str, str]:
    """A stable address per model, made of harmless characters."""
    used: Counter[str] = Counter()
    anchors = {}
    for label in (label_of(summary, model) for model in summary.models):
        slug = "m-" + (re.sub(r"[^A-Za-z0-9._-]+", "-", label).strip("-") or "model")
        used[slug] += 1
        anchors[label] = slug if used[slug] == 1 else f"{slug}-{used[slug]}"
    return anchors


def _tally(summary: ProbeSummary) -> list[tuple[str, str, int]]:
    counted = Counter(verdict_of(model) for model in summary.models)
    order = ["good", "half", "bad", "cannot", "unknown"]
    return sorted(((role, word, n) for (role, word), n in counted.items()), key=lambda entry: order.index(entry[0]))


def _facts(summary: ProbeSummary) -> list[tuple[str, str]]:
    totals = summary.totals
    missing = totals.counts.not_measured
    cases = max(1, totals.counts.total)
    return [
        ("Endpoint", ", ".join(visible(line.base_url or line.name) for line in summary.endpoints)),
        ("Measured", datetime.fromtimestamp(summary.started_at, UTC).strftime("%Y-%m-%d %H:%M UTC")),
        ("Suite", summary.suite or "own choice"),
        ("Runs per probe", str(summary.iterations)),
        ("Requests sent", count(totals.usage.requests)),
        ("Tokens", f"{count(totals.usage.tokens_in)} in, {count(totals.usage.tokens_out)} out"),
        ("Cost", "" if totals.usage.cost is None else f"{totals.usage.cost:.4f}"),
        ("Not measured", f"{count(missing)} ({percent(missing / cases)})"),
        ("Wall time", "" if totals.seconds is None else duration(totals.seconds)),
    ]


def _model(summary: ProbeSummary, model: ModelSummary, anchor: str) -> dict[str, Any]:
    role, word = verdict_of(model)
    label = label_of(summary, model)
    cells = [_cell(cell, first) for cell, first in _with_first(model.cells)]
    rate = model.reliability.rate
    works = [cell for cell in model.cells if cell.state is CellState.PASSED]
    return {
        "rank": model.rank,
        "label": label,
        "anchor": anchor,
        "data": _data(label, word, model),
        "score": model.score,
        "role": role,
        "word": word,
        "reliability": rate,
        "rate": str(rate) if rate.n else "–",
        "rate_value": "" if rate.value is None else rate.value,
        "call": model.seconds("call"),
        "answer": model.seconds("answer"),
        "reason": visible(model.reason),
        "cells": cells,
        "works": works,
        "works_by_group": _by_group(works),
        "faults": [_fault(cell) for cell in model.cells if cell.state is not CellState.PASSED],
        "latency": [line for line in model.latency if line.count],
        "usage": _usage(model),
    }


def _data(label: str, word: str, model: ModelSummary) -> Markup:
    """What the filters look at."""
    states = " ".join(sorted({cell.state.value for cell in model.cells}))
    codes = " ".join(sorted({found.code for found in model.findings}))
    return Markup('data-name="{}" data-verdict="{}" data-states="{}" data-codes="{}"').format(
        label.lower(), word, states, codes
    )


def _with_first(cells: tuple[Cell, ...]) -> Iterator[tuple[Cell, bool]]:
    """Each cell, and whether it opens a group other than the first."""
    before = None
    for cell in cells:
        yield cell, before is not None and cell.group != before
        before = cell.group


def _cell(cell: Cell, first: bool) -> dict[str, Any]:
    flaky = cell.state is CellState.FLAKY
    style = cell.state.value
    if flaky and cell.rate.value is not None:
        style += f" tenths-{min(9, max(1, round(10 * cell.rate.value)))}"
    return {
        "style": style,
        "first": first,
        "sign": _SIGNS.get(cell.state, ""),
        "mark": str(cell.rate) if flaky else "?",
        "words": _words(cell),
        "reason": "" if cell.state is CellState.PASSED else shorten(visible(cell.reason), LONGEST_REASON),
    }


def _words(cell: Cell) -> str:
    words = cell.state.value.replace("_", " ")
    rate = cell.rate
    if not rate.n or rate.low is None or rate.high is None:
        return words
    return f"{words} {rate.k} of {rate.n}, {rate.low:.2f} to {rate.high:.2f}"


def _fault(cell: Cell) -> dict[str, Any]:
    state = cell.state.value.replace("_", " ")
    return {
        "probe": cell.probe,
        "words": f"{state} {cell.rate}" if cell.rate.n else state,
        "reason": shorten(visible(cell.reason), LONGEST_REASON),
        "codes": [found.code for found in cell.findings],
    }


def _by_group(cells: list[Cell]) -> list[tuple[str, list[str]]]:
    groups: dict[str, list[str]] = {}
    for cell in cells:
        groups.setdefault(cell.group.capitalize(), []).append(cell.probe)
    return list(groups.items())


def _usage(model: ModelSummary) -> str:
    usage = model.usage
    parts = [plural(usage.requests, "request"), f"{count(usage.tokens_in)} tokens in", f"{count(usage.tokens_out)} out"]
    if usage.retried:
        parts.append(f"{plural(usage.retried, 'case')} retried")
    if usage.cost is not None:
        parts.append(f"cost {usage.cost:.4f}")
    return ", ".join(parts)


def _groups(summary: ProbeSummary) -> list[tuple[str, int]]:
    counted = Counter(probe.group for probe in summary.probes)
    return [(group.capitalize(), number) for group, number in counted.items()]


def _probes(summary: ProbeSummary) -> list[dict[str, Any]]:
    passed = Counter(cell.probe for model in summary.models for cell in model.cells if cell.state is CellState.PASSED)
    before = summary.probes[0].group if summary.probes else ""
    entries = []
    for probe in summary.probes:
        first = probe.group != before
        entries.append({"name": probe.name, "title": probe.title, "first": first, "passed": passed[probe.name]})
        before = probe.group
    return entries


def _cause(summary: ProbeSummary, cause: Cause, anchors: dict[str, str]) -> dict[str, Any]:
    kind = kind_of(cause.code)
    example = cause.example
    return {
        "code": cause.code,
        "severity": cause.severity.value,
        "title": cause.title,
        "meaning": kind.meaning,
        "cause": kind.cause,
        "remedy": kind.remedy,
        "count": count(cause.count),
        "models": [(name, anchors.get(visible(name), "models")) for name in cause.models],
        "where": visible(example.case),
        "evidence": shorten(visible(example.evidence), LONGEST_EVIDENCE),
        "curl": reproduce(summary, example),
    }


def _causes_note(summary: ProbeSummary) -> str:
    severe = sum(cause.severity.value == "error" for cause in summary.causes)
    return f"{plural(len(summary.causes), 'cause')}, {severe} of them errors: an agent breaks."


def _ranking_note(summary: ProbeSummary) -> str:
    probe = next((model.reliability.probe for model in summary.models if model.reliability.probe), "")
    shown = f"Reliability is measured by {probe}: " if probe else "Reliability: "
    return (
        f"{shown}call made, arguments checked, result used. Whisker: 95 % Wilson interval. Dashed line: the threshold."
    )


def _verdict_note(summary: ProbeSummary) -> str:
    weights = next((model.score.weights for model in summary.models if model.score.weights), {})
    parts = ", ".join(f"{name} {points:g}" for name, points in weights.items() if points)
    shown = f" Points: {parts}." if parts and len(weights) <= 8 else ""
    return (
        f"Recommended: 90 points or more of 100, however what was not measured turns out. Partial: 50 or more.{shown}"
    )
