"""A probe run on the console: verdict, models, matrix, causes, and the same model at several endpoints."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from toolcert.core.findings import Severity
from toolcert.probes.summary.scorecard import Cause, Cell, CellState, ModelSummary, ProbeSummary
from toolcert.reports.console.style import SEVERITY_STYLES, STYLES, WHISKER_WIDTH, Glyphs, Line, Screen, axis, whisker
from toolcert.reports.display_text import (
    count,
    dollars,
    duration,
    fit,
    plural,
    seconds,
    shorten,
    speed_of,
    visible,
    whereabouts,
    width_of,
)
from toolcert.reports.probe.phrases import (
    caveat_of,
    cost_of,
    errors_of,
    label_of,
    models_of,
    reproduce,
    same_models,
    score_of,
    still_open,
    verdict_of,
)

SHORTEST_MODEL = 20
FIXED_COLUMNS = 54
"""Columns that the figures of a model take beside its name."""
WIDE = 110
"""Narrowest screen that shows the answer time."""
_ANSWER_COLUMNS = 12
SHOWN_CAUSES = 12
CAVEAT = " !"
"""Marks a good verdict of a model that has an error."""
_INDENT = 9
"""Indent of the details of a cause."""
CELL_ROLES = {
    CellState.PASSED: "good",
    CellState.FLAKY: "half",
    CellState.FAILED: "bad",
    CellState.UNSUPPORTED: "cannot",
    CellState.NOT_MEASURED: "unknown",
    CellState.SKIPPED: "skipped",
}


def print_probe(
    summary: ProbeSummary,
    screen: Screen,
    *,
    run: str = "",
    examples: Mapping[str, str] | None = None,
) -> None:
    """Print the whole result; `examples` are the files of the requests behind the findings, by code."""
    screen.print(
        [*screen.prose(summary.headline, "bold"), *(part for line in summary.lines for part in screen.prose(line))],
        _models(summary, screen),
        _matrix(summary, screen) if len(summary.probes) > 1 else (),
        _timings(summary, screen),
        vendors_side_by_side(summary, screen.width),
        _causes(summary, screen, examples or {}),
        screen.marks(summary.marks),
        [*screen.prose(_sum(summary), "dim"), *screen.prose(whereabouts(run), "dim")],
    )


def _models(summary: ProbeSummary, screen: Screen) -> Iterator[Line]:
    wide = screen.width >= WIDE
    column = _name_column(summary, screen.width - FIXED_COLUMNS - (_ANSWER_COLUMNS if wide else 0))
    head = f"{fit('MODEL', column)}  SCORE VERDICT          RELIABLE {axis(summary.threshold)}  CALL s"
    room = screen.width - len(head) - _ANSWER_COLUMNS
    # All reasons are beside their models or all below: a column with holes is hard to read.
    beside = wide and all(width_of(visible(model.reason)) <= room for model in summary.models)
    yield Line(head + ("  ANSWER s" if wide else "") + ("  MAIN REASON" if beside else ""), "dim")
    for model in summary.models:
        name = label_of(summary, model)
        if width_of(name) > column:
            yield Line(name)
            name = ""
        line = _model_line(summary, model, fit(name, column), screen.glyphs)
        if wide:
            line.append(f"  {_in_column(model.seconds('answer')):>8}")
        yield line.append(f"  {visible(model.reason)}") if beside else line
        if not beside:
            yield from screen.prose(model.reason, "dim", indent=2)
    if excused := [model for model in summary.models if caveat_of(model)]:
        once = all(found.count == 1 for model in excused for found in errors_of(model))
        told = "an error was seen once" if once else "the verdict leaves errors out"
        yield Line(f" {CAVEAT} {told}, see below", "dim")
    yield from screen.prose(still_open(summary), "dim", indent=2)


def _model_line(summary: ProbeSummary, model: ModelSummary, name: str, glyphs: Glyphs) -> Line:
    role, word = verdict_of(model)
    caveat = CAVEAT if caveat_of(model) else ""
    line = Line(f"{name} {score_of(model).replace(' to ', '-'):>6} ")
    line.append(f"{getattr(glyphs, role)} {word}", STYLES[role]).append(caveat, "red")
    line.append(" " * (15 - len(word + caveat)))
    rate = model.reliability.rate
    line.append(f"{rate!s:>7} " if rate.n else f"{glyphs.cannot:>7} ")
    line.append(whisker(rate, summary.threshold, glyphs) if rate.n else " " * WHISKER_WIDTH)
    return line.append(f"  {_in_column(model.seconds('call')):>6}")


def _in_column(value: float | None) -> str:
    """Seconds with two digits throughout, so that the points of a column stand below each other."""
    return "<0.01" if value is not None and value < 0.005 else seconds(value if value is None else max(0.01, value))


def _name_column(summary: ProbeSummary, room: int) -> int:
    longest = max((width_of(label_of(summary, model)) for model in summary.models), default=0)
    return max(SHORTEST_MODEL, min(longest, room))


def _matrix(summary: ProbeSummary, screen: Screen) -> Iterator[Line]:
    glyphs = screen.glyphs
    groups = list(dict.fromkeys(probe.group for probe in summary.probes))
    widths = {g: max(len(g), sum(probe.group == g for probe in summary.probes)) for g in groups}
    column = _name_column(summary, screen.width - sum(2 + width for width in widths.values()))
    yield Line(fit("", column) + "".join(f"  {g.capitalize():<{widths[g]}}" for g in groups), "dim")
    for model in summary.models:
        line = Line(fit(label_of(summary, model), column))
        for group in groups:
            cells = [cell for cell in model.cells if cell.group == group]
            line.append("  ")
            for cell in cells:
                line.append(*_cell(cell, glyphs))
            line.append(" " * (widths[group] - len(cells)))
        yield line
    for group in groups:
        names = " ".join(probe.name for probe in summary.probes if probe.group == group)
        yield from screen.prose(f"{group}: {names}", "dim", indent=2, hanging=4)
    yield Line(f"  {glyphs.good} passed  1-9 tenths of the runs passed  {glyphs.bad} failed", "dim")
    yield Line(f"  {glyphs.cannot} unsupported  {glyphs.unknown} not measured  {glyphs.skipped} skipped", "dim")


def _cell(cell: Cell, glyphs: Glyphs) -> tuple[str, str]:
    role = CELL_ROLES[cell.state]
    if cell.state is CellState.FLAKY and cell.rate.value is not None:
        return str(min(9, max(1, int(10 * cell.rate.value)))), STYLES[role]
    return getattr(glyphs, role), STYLES[role]


def _timings(summary: ProbeSummary, screen: Screen) -> Iterator[Line]:
    """First token, whole call, tokens per second and cost of each model that was timed."""
    timed = [model for model in summary.models if model.timings]
    if not timed:
        return
    priced = any(model.usage.cost is not None for model in timed)
    head = "  TOKEN p50    p95  CALL p50    p95    p99    TOK/s" + ("      COST" if priced else "")
    column = _name_column(summary, screen.width - len(head))
    yield Line(fit("SECONDS", column) + head, "dim")
    for model in timed:
        first, call, speed = model.timings.first_token, model.timings.call, model.timings.tokens_per_second
        line = Line(fit(label_of(summary, model), column))
        line.append(f"  {seconds(first.p50):>9} {seconds(first.p95):>6}")
        line.append(f"  {seconds(call.p50):>8} {seconds(call.p95):>6} {seconds(call.p99):>6}  {speed_of(speed.p50):>7}")
        if priced:
            line.append(f"  {dollars(model.usage.cost):>8}")
        yield line


def _causes(summary: ProbeSummary, screen: Screen, examples: Mapping[str, str]) -> Iterator[Line]:
    for cause in summary.causes[:SHOWN_CAUSES]:
        head = Line(f"{cause.severity.value:<8} ", SEVERITY_STYLES[cause.severity])
        yield from screen.entry(head.append(f"{cause.code:<24} {cause.count:>4}x "), models_of(summary, cause), "dim")
        yield from screen.prose(cause.title, indent=_INDENT)
        if cause.follows:
            yield from screen.prose(f"From it follows: {', '.join(cause.follows)}", "dim", indent=_INDENT)
        yield from _example(summary, cause, screen, examples.get(cause.code))
    hidden = len(summary.causes) - SHOWN_CAUSES
    if hidden > 0:
        yield Line(f"and {plural(hidden, 'more cause')}; the JSON and HTML reports list all.", "dim")
    if summary.causes:
        yield Line("toolcert findings CODE explains a code.", "dim")


def _example(summary: ProbeSummary, cause: Cause, screen: Screen, body_file: str | None) -> Iterator[Line]:
    room = screen.width - _INDENT
    evidence = shorten(visible(cause.example.evidence), 2 * room)
    lines = screen.prose(evidence, "dim", indent=_INDENT)
    if any(len(line) > screen.width for line in lines):  # JSON without spaces cannot be wrapped
        lines = [Line(" " * _INDENT + shorten(evidence, room), "dim")]
    yield from lines
    if cause.severity is not Severity.NOTE and (curl := reproduce(summary, cause.example, body_file)):
        yield Line(" " * _INDENT + curl, "dim")  # whole, because it is copied


def _sum(summary: ProbeSummary) -> str:
    totals = summary.totals
    parts = [plural(totals.usage.requests, "request")]
    parts.append(f"{count(totals.counts.not_measured)} not measured")
    if totals.usage.tokens_in or totals.usage.tokens_out:
        parts.append(f"{count(totals.usage.tokens_in)} tokens in, {count(totals.usage.tokens_out)} out")
    if totals.usage.cost is not None:
        parts.append(f"cost {cost_of(summary)}")
    if totals.seconds is not None:
        parts.append(duration(totals.seconds))
    return ", ".join(parts) + "."


def vendors_side_by_side(summary: ProbeSummary, width: int = 80) -> Iterator[Line]:
    """One line per model that several endpoints serve, one column per endpoint; blocks of as many as fit."""
    names = [line.name for line in summary.endpoints]
    shared = {name: {model.endpoint: model for model in row} for name, row in same_models(summary).items()}
    if not shared:
        return
    cells = {name: [_standing(row.get(vendor)) for vendor in names] for name, row in shared.items()}
    column = max(width_of(cell) for row in [names, *cells.values()] for cell in row)
    column = min(column, width - SHORTEST_MODEL - 2)
    first = max(SHORTEST_MODEL, min(max(map(width_of, shared)), width - column - 2))
    most = max(1, (width - first) // (column + 2))
    for start in range(0, len(names), most):
        yield Line(_endpoints_line("SAME MODEL", names[start : start + most], first, column), "dim")
        for name, row in cells.items():
            yield Line(_endpoints_line(name, row[start : start + most], first, column))


def _endpoints_line(name: str, cells: Sequence[str], first: int, column: int) -> str:
    return fit(name, first) + "".join(f"  {fit(cell, column)}" for cell in cells)


def _standing(model: ModelSummary | None) -> str:
    if model is None:
        return "–"
    return f"{score_of(model)} {verdict_of(model)[1]}"
