"""A probe run on the console: verdict, models, matrix, causes, and the same model at several endpoints."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence

from rich.console import Console
from rich.text import Text

from toolcert.core.findings import Severity
from toolcert.probes.summary.scorecard import Cause, Cell, CellState, ModelSummary, ProbeSummary
from toolcert.reports.console.style import (
    CELL_ROLES,
    SEVERITY_STYLES,
    STYLES,
    UNICODE,
    WHISKER_WIDTH,
    Glyphs,
    axis,
    glyphs_for,
    whisker,
)
from toolcert.reports.display_text import (
    as_ascii,
    count,
    duration,
    fit,
    plural,
    seconds,
    shorten,
    visible,
    whereabouts,
    width_of,
)
from toolcert.reports.probe.phrases import caveat_of, label_of, reproduce, score_of, still_open, verdict_of

SHORTEST_MODEL = 20
LONGEST_MODEL = 40
FIXED_COLUMNS = 54
"""What stands beside the model's name in its line."""
WIDE = 110
"""From this width on the answer time and the main reason have room."""
SHOWN_CAUSES = 12
CAVEAT = " !"
"""Beside a good verdict where an error was found."""


def print_probe(
    summary: ProbeSummary,
    console: Console,
    *,
    run: str = "",
    examples: Mapping[str, str] | None = None,
) -> None:
    """Print the whole result; `examples` are the files of the requests behind the findings, by code."""
    glyphs = glyphs_for(console.file)
    blocks = [
        [Text(visible(summary.headline), "bold"), *(Text(visible(line)) for line in summary.lines)],
        list(_models(summary, glyphs, console.width)),
        list(_matrix(summary, glyphs, console.width)) if len(summary.probes) > 1 else [],
        list(vendors_side_by_side(summary, console.width)),
        list(_causes(summary, console.width, examples or {})),
        [Text(f"{_sum(summary)}  {whereabouts(run)}".rstrip(), "dim")],
    ]
    for number, block in enumerate(block for block in blocks if block):
        if number:
            console.print()
        for line in block:
            console.print(line if glyphs is UNICODE else _as_ascii(line), soft_wrap=True, highlight=False)


def _as_ascii(line: Text) -> Text:
    return Text(as_ascii(line.plain), line.style, spans=line.spans)


def _models(summary: ProbeSummary, glyphs: Glyphs, width: int) -> Iterator[Text]:
    column = _model_column(summary, width)
    head = f"{fit('MODEL', column)}  SCORE VERDICT          RELIABLE {axis(summary.threshold)}  CALL s"
    wide = width >= WIDE
    yield Text(head + ("  ANSWER s  MAIN REASON" if wide else ""), "dim")
    room = width - len(head) - 12
    for model in summary.models:
        line = _model_line(summary, model, column, glyphs)
        if wide:
            line.append(f"  {seconds(model.seconds('answer')):>8}  {shorten(visible(model.reason), max(20, room))}")
        yield line
        if not wide and model.reason:
            yield Text(f"  {shorten(visible(model.reason), width - 2)}", "dim")
    if any(caveat_of(model) for model in summary.models):
        yield Text(f" {CAVEAT} a finding that breaks agents stands beside the verdict; it is listed below", "dim")
    for part in textwrap.wrap(still_open(summary), width - 2):
        yield Text(f"  {part}", "dim")


def _model_line(summary: ProbeSummary, model: ModelSummary, column: int, glyphs: Glyphs) -> Text:
    role, word = verdict_of(model)
    line = Text(fit(label_of(summary, model), column))
    line.append(f" {_score(model):>6} ")
    caveat = CAVEAT if caveat_of(model) else ""
    line.append(f"{getattr(glyphs, role)} {word}", STYLES[role])
    line.append(caveat, "red")
    line.append(" " * (15 - len(word + caveat)))
    rate = model.reliability.rate
    line.append(f"{rate!s:>7} " if rate.n else f"{glyphs.cannot:>7} ")
    line.append(whisker(rate, summary.threshold, glyphs) if rate.n else " " * WHISKER_WIDTH)
    line.append(f"  {seconds(model.seconds('call')):>6}")
    return line


def _score(model: ModelSummary) -> str:
    return score_of(model).replace(" to ", "-")


def _model_column(summary: ProbeSummary, width: int) -> int:
    longest = max((width_of(label_of(summary, model)) for model in summary.models), default=0)
    return max(SHORTEST_MODEL, min(LONGEST_MODEL, longest, width - FIXED_COLUMNS))


def _matrix(summary: ProbeSummary, glyphs: Glyphs, width: int) -> Iterator[Text]:
    groups = list(dict.fromkeys(probe.group for probe in summary.probes))
    widths = {g: max(len(g), sum(probe.group == g for probe in summary.probes)) for g in groups}
    column = min(_model_column(summary, width), SHORTEST_MODEL + 4)
    yield Text(fit("", column) + "  " + "  ".join(f"{g.capitalize():<{widths[g]}}" for g in groups), "dim")
    for model in summary.models:
        line = Text(fit(label_of(summary, model), column))
        for group in groups:
            cells = [cell for cell in model.cells if cell.group == group]
            line.append("  ")
            for cell in cells:
                line.append(*_cell(cell, glyphs))
            line.append(" " * (widths[group] - len(cells)))
        line.rstrip()
        yield line
    for group in groups:
        names = " ".join(probe.name for probe in summary.probes if probe.group == group)
        for part in textwrap.wrap(f"{group}: {names}", width - 2, initial_indent="  ", subsequent_indent="    "):
            yield Text(part, "dim")
    yield Text(f"  {glyphs.good} passed  1-9 tenths of the runs passed  {glyphs.bad} failed", "dim")
    yield Text(f"  {glyphs.cannot} unsupported  {glyphs.unknown} not measured  {glyphs.skipped} skipped", "dim")


def _cell(cell: Cell, glyphs: Glyphs) -> tuple[str, str]:
    role = CELL_ROLES[cell.state]
    if cell.state is CellState.FLAKY and cell.rate.value is not None:
        return str(min(9, max(1, int(10 * cell.rate.value)))), STYLES[role]
    return getattr(glyphs, role), STYLES[role]


def _causes(summary: ProbeSummary, width: int, examples: Mapping[str, str]) -> Iterator[Text]:
    for cause in summary.causes[:SHOWN_CAUSES]:
        line = Text(f"{cause.severity.value:<8} ", SEVERITY_STYLES[cause.severity])
        line.append(f"{cause.code:<24} ")
        line.append(f"{plural(len(cause.models), 'model'):<10} {cause.count:>4}x  ", "dim")
        if len(line) + len(cause.title) <= width:
            yield line.append(cause.title)
        else:
            line.rstrip()
            yield line
            yield Text(f"         {cause.title}")
        yield from _example(summary, cause, width, examples.get(cause.code))
    hidden = len(summary.causes) - SHOWN_CAUSES
    if hidden > 0:
        yield Text(f"and {plural(hidden, 'more cause')}; the JSON and HTML reports list all.", "dim")
    if summary.causes:
        yield Text("toolcert findings CODE explains a code.", "dim")


def _example(summary: ProbeSummary, cause: Cause, width: int, body_file: str | None) -> Iterator[Text]:
    example = cause.example
    if example.evidence:
        yield Text(f"         {shorten(visible(example.evidence), width - 9)}", "dim")
    if cause.severity is not Severity.NOTE and (curl := reproduce(summary, example, body_file)):
        yield Text(f"         {curl}", "dim")


def _sum(summary: ProbeSummary) -> str:
    totals = summary.totals
    parts = [plural(totals.usage.requests, "request")]
    parts.append(f"{count(totals.counts.not_measured)} not measured")
    if totals.usage.tokens_in or totals.usage.tokens_out:
        parts.append(f"{count(totals.usage.tokens_in)} tokens in, {count(totals.usage.tokens_out)} out")
    if totals.usage.cost is not None:
        unpriced = any(model.usage.cost is None and model.usage.requests for model in summary.models)
        parts.append(f"cost {'of priced models ' if unpriced else ''}{totals.usage.cost:.4f}")
    if totals.seconds is not None:
        parts.append(duration(totals.seconds))
    return ", ".join(parts) + "."


_SHARED_MODEL, _NARROWEST_ENDPOINT, _WIDEST_ENDPOINT = 24, 15, 20
"""Columns of the models' names and of each endpoint; the narrowest holds `100 recommended`."""


def vendors_side_by_side(summary: ProbeSummary, width: int = 80) -> Iterator[Text]:
    """One line per model that several endpoints serve, one column per endpoint; blocks of as many as fit."""
    names = [line.name for line in summary.endpoints]
    by_model: dict[str, dict[str, ModelSummary]] = {}
    for model in summary.models:
        by_model.setdefault(model.model, {})[model.endpoint] = model
    shared = {name: row for name, row in by_model.items() if len(row) > 1}
    if not shared:
        return
    most = max(1, (width - _SHARED_MODEL) // (_NARROWEST_ENDPOINT + 2))
    column = min(_WIDEST_ENDPOINT, (width - _SHARED_MODEL) // min(most, len(names)) - 2)
    for first in range(0, len(names), most):
        block = names[first : first + most]
        yield Text(_endpoints_line("SAME MODEL", block, column), "dim")
        for name, row in shared.items():
            yield Text(_endpoints_line(name, [_standing(row.get(vendor)) for vendor in block], column))


def _endpoints_line(first: str, cells: Sequence[str], column: int) -> str:
    return (fit(first, _SHARED_MODEL) + "".join(f"  {fit(cell, column)}" for cell in cells)).rstrip()


def _standing(model: ModelSummary | None) -> str:
    if model is None:
        return "–"
    return f"{score_of(model)} {verdict_of(model)[1]}"
