"""A verify run, its dataset and its plan on the console."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from toolcert.core.statistics import Rate
from toolcert.reports.console.style import SEVERITY_STYLES, Line, Screen, print_blocks, prose
from toolcert.reports.display_text import (
    NO_VALUE,
    count,
    duration,
    fit,
    listed,
    percent,
    plural,
    seconds,
    shorten,
    visible,
    whereabouts,
)
from toolcert.verification.dataset.inspection import DatasetReport
from toolcert.verification.run.job import DryRun
from toolcert.verification.summary.figures import FindingLine, SliceLine, Times, VerifySummary
from toolcert.verification.summary.headline import interval

if TYPE_CHECKING:
    from toolcert.verification.rejudgement import Difference


WIDE = 110
"""From this width on rates, times and the worst tools have room."""
BAR = 38
_SHORTEST_BAR = 8
_BESIDE_BAR = 42
"""Columns that the words and counts beside a bar take."""
SHOWN_FINDINGS = 12
SHOWN_SLICES = 20
SHOWN_DIFFERENCES = 50
_EIGHTHS = " ▏▎▍▌▋▊▉"
_DATASET_WORDS = {
    "dataset.not_json": "not JSON",
    "dataset.not_object": "no object",
    "dataset.no_messages": "without messages",
    "dataset.not_rendered": "not for this chat template",
    "dataset.bad_schema": "with a bad schema",
    "dataset.schema_too_complex": "with a schema too complex to judge by",
    "dataset.duplicate_tool": "with a tool twice",
    "dataset.wrong_type": "with a wrong type",
    "dataset.duplicate": "repeated",
    "args.empty": "empty arguments where none are needed",
}


def print_verify(summary: VerifySummary, screen: Screen, *, slices: Sequence[str] = (), run: str = "") -> None:
    """Print the whole result."""
    wide = screen.width >= WIDE
    blocks = [
        [
            *prose(visible(summary.headline), screen, "bold"),
            *(part for line in summary.lines for part in prose(visible(line), screen)),
        ],
        list(_funnel(summary, screen, wide=wide)),
        [*_vendor(summary, screen.width), *_dataset(summary)],
        list(_figures(summary, wide=wide)),
        *(list(_slice(summary, kind)) for kind in slices),
        prose(f"{_sum(summary)}  {whereabouts(run)}".rstrip(), screen, "dim"),
    ]
    print_blocks(blocks, screen)


def _funnel(summary: VerifySummary, screen: Screen, *, wide: bool) -> Iterator[Line]:
    rows = summary.rows
    invalid = f"{count(rows.invalid)} invalid" + (f", {count(rows.unjudged)} not judged" if rows.unjudged else "")
    unreadable = f", {count(rows.unreadable)} unreadable" if rows.unreadable else ""
    refused = f", {count(rows.unsupported)} unsupported" if rows.unsupported else ""
    steps = [
        ("sent", rows.sent, f"{count(rows.skipped)} skipped" if rows.skipped else "", None),
        ("answered", rows.answered, f"{count(rows.not_measured)} not measured{refused}", summary.answered),
        ("called", rows.called, f"{count(rows.in_text)} in text{unreadable}", summary.called),
        ("valid", rows.valid, invalid, summary.valid),
    ]
    beside = _beside(summary) if wide else []
    unicode = screen.encoding.lower().startswith("utf")
    length = max(_SHORTEST_BAR, min(BAR, screen.width - _BESIDE_BAR))
    for number, (word, rows_left, lost, share) in enumerate(steps):
        line = f"{word:<9}{count(rows_left):>6} {bar(rows_left, rows.sent, length, unicode=unicode)} {lost:<24}"
        if wide:
            line += f"{percent(share.value) if share else '':>8}   {beside[number] if number < len(beside) else ''}"
        yield Line(visible(line.rstrip()))


def bar(part: int, whole: int, width: int, *, unicode: bool = True) -> str:
    """A bar of so many columns, to an eighth of a column."""
    eighths = round(8 * width * part / whole) if whole else 0
    full, rest = divmod(eighths, 8)
    if not unicode:
        return ("#" * round(eighths / 8)).ljust(width)
    return ("█" * full + (_EIGHTHS[rest] if rest else "")).ljust(width)


def _beside(summary: VerifySummary) -> list[str]:
    """What a wide console shows right of the funnel: times, then the worst tools."""
    times = {line.label: line for line in summary.times}
    lines = [_time_text(times[label]) for label in ("first token", "whole answer") if label in times]
    faulty = [tool for tool in summary.tools if tool.valid.k < tool.valid.n]
    worst = sorted(faulty, key=lambda tool: tool.valid.k - tool.valid.n)[:2]
    heads = ["worst tool   ", "             "]
    lines += [
        f"{head} {fit(tool.name, 24)} {tool.valid.k}/{tool.valid.n}" for head, tool in zip(heads, worst, strict=False)
    ]
    return lines


def _time_text(times: Times) -> str:
    return f"{times.label:<13} p50 {seconds(times.p50)} s   p95 {seconds(times.p95)} s"


def _vendor(summary: VerifySummary, width: int) -> Iterator[Line]:
    for number, found in enumerate(summary.vendor[:SHOWN_FINDINGS]):
        yield _finding(found, "vendor" if number == 0 else "", width)
    hidden = len(summary.vendor) - SHOWN_FINDINGS
    if hidden > 0:
        yield Line(f"          and {plural(hidden, 'more kind')}; the JSON report lists all.", "dim")


def _finding(found: FindingLine, head: str, width: int) -> Line:
    line = Line(f"{head:<9} ")
    line.append(f"{found.severity.value:<8}", SEVERITY_STYLES[found.severity])
    line.append(f"{found.code:<26} {count(found.rows):>5}   ")
    line.append(_which(found, max(20, width - len(line.plain))), "dim")
    return line


def _which(found: FindingLine, columns: int) -> str:
    if not found.examples:
        return shorten(found.title, columns)
    head = "row " if found.rows == 1 else "rows "
    return head + listed([example.row for example in found.examples], found.rows, columns - len(head))


def _dataset(summary: VerifySummary) -> Iterator[Line]:
    if summary.of_dataset:
        parts = [f"{count(line.rows)} {_DATASET_WORDS.get(line.code, line.code)}" for line in summary.of_dataset]
        yield Line(f"dataset   {', '.join(parts)} (not charged)")


def _figures(summary: VerifySummary, *, wide: bool) -> Iterator[Line]:
    """The figures the funnel has no room for, one a line."""
    yield from _share("valid, per call", summary.valid_calls)
    yield from _share("trigger as expected", summary.trigger)
    yield from _share("as expected", summary.correct)
    if summary.finish:
        reasons = ", ".join(f"{visible(reason)} {count(rows)}" for reason, rows in summary.finish.items())
        yield Line(f"{'finish reasons':<20} {reasons}", "dim")
    if summary.not_measured_by:
        causes = ", ".join(f"{count(rows)} {cause}" for cause, rows in summary.not_measured_by.items())
        yield Line(f"{'not measured':<20} {causes}", "dim")
    if not wide:
        for times in summary.times[:2]:
            yield Line(f"{times.label:<20} p50 {seconds(times.p50)} s   p95 {seconds(times.p95)} s", "dim")


def _share(label: str, share: Rate) -> Iterator[Line]:
    if share.n:
        yield Line(f"{label:<20} {percent(share.value)} ({interval(share)})", "dim")


def _slice(summary: VerifySummary, kind: str) -> Iterator[Line]:
    lines = [line for line in summary.slices if line.slice == kind]
    if kind == "tool":
        lines = sorted(lines, key=lambda line: -line.answered)
    yield Line(f"{kind:<28}{'answered':>9}{'called':>9}{'valid':>22}{'passed':>9}", "dim")
    yield from (_slice_line(line) for line in lines[:SHOWN_SLICES])
    hidden = len(lines) - SHOWN_SLICES
    if hidden > 0:
        yield Line(f"and {count(hidden)} more; the JSON report lists all.", "dim")


def _slice_line(line: SliceLine) -> Line:
    valid = f"{percent(line.valid.value)} ({line.valid.k}/{line.valid.n})" if line.valid.n else NO_VALUE
    called, passed = percent(line.called.value), percent(line.passed.value)
    return Line(f"{fit(line.value, 28)}{count(line.answered):>9}{called:>9}{valid:>22}{passed:>9}")


def _sum(summary: VerifySummary) -> str:
    traffic = summary.traffic
    parts = [plural(traffic.requests, "request"), f"{count(traffic.retried)} rows retried"]
    if traffic.prompt_tokens or traffic.completion_tokens:
        parts.append(f"{count(traffic.prompt_tokens)} tokens in, {count(traffic.completion_tokens)} out")
    if traffic.seconds:
        parts.append(duration(traffic.seconds))
    if traffic.per_second:
        parts.append(f"{traffic.per_second:.1f}/s")
    return ", ".join(parts) + "."


def print_differences(differences: Sequence[Difference], screen: Screen) -> None:
    """Every row whose verdict changed, with the reason."""
    lines = [Line(shorten(_difference(change), screen.width)) for change in differences[:SHOWN_DIFFERENCES]]
    hidden = len(differences) - SHOWN_DIFFERENCES
    if hidden > 0:
        lines.append(Line(f"and {plural(hidden, 'more row')}", "dim"))
    print_blocks([lines or [Line("No verdict changed.")]], screen)


def _difference(change: Difference) -> str:
    words = {True: "valid", False: "invalid", None: "left out"}
    return f"row {change.row:<6} {words[change.before]} -> {words[change.after]}  {visible(change.reason)}"


SHOWN = 12
"""Entries of a list shown; JSON has all."""


def dry_run_lines(planned: DryRun) -> list[list[str]]:
    """What would be sent, then what is wrong with the rows."""
    where = visible(f"{planned.model} at {planned.url or planned.endpoint}")
    head = [
        f"{plural(planned.requests, 'request')} to {where}; none was sent",
        f"about {count(planned.tokens)} prompt tokens",
        f"adapter {planned.adapter}",
    ]
    if planned.settled:
        head.append(f"{plural(planned.settled, 'row')} measured by the run in --output would not be asked again")
    longest = [f"  line {row.row}: about {count(row.tokens)} tokens" for row in planned.dataset.longest]
    return [head, ["longest rows", *longest] if longest else [], list(problem_lines(planned.dataset))]


def problem_lines(report: DatasetReport) -> Iterator[str]:
    """The problems by kind, with their first lines."""
    if not report.problems:
        yield f"no problem in {plural(report.lines, 'line')}"
    for problem in report.problems:
        lines = list(dict.fromkeys(str(example.row) for example in problem.examples))
        more = ", …" if problem.rows > len(lines) else ""
        where = f"{'line' if problem.rows == 1 else 'lines'} {', '.join(lines)}{more}"
        yield f"{problem.severity.value:<8} {problem.code:<24} {count(problem.rows):>6}   {where}"


def stats_lines(report: DatasetReport) -> list[list[str]]:
    """A dataset described."""
    rough = f"about {count(report.tokens)} prompt tokens"
    if report.tokens_p50 is not None and report.tokens_p95 is not None:
        rough += f" (a row: median {count(round(report.tokens_p50))}, p95 {count(round(report.tokens_p95))})"
    head = [
        f"{visible(report.name)}: {plural(report.lines, 'line')}, {plural(report.rows, 'row')} to ask",
        rough,
        f"{plural(report.tools, 'distinct tool')} in {plural(report.toolsets, 'distinct list')}",
        f"{plural(report.duplicates, 'duplicate')}, {count(report.streamed)} streamed",
        f"{plural(report.expecting, 'row')} with expectations",
    ]
    blocks = [
        head,
        [f"line {row.row}: about {count(row.tokens)} tokens" for row in report.longest],
        _listed("tools offered", report.tool_names),
        _listed("tools per row", report.tools_per_row),
        _listed("user turns", report.turns),
        _listed("schema features", report.schema_features),
        _listed("tags", report.tags),
        _listed("models", report.models),
        list(problem_lines(report)),
    ]
    return [block for block in blocks if block]


def _listed(title: str, counts: Mapping[str, int]) -> list[str]:
    if not counts:
        return []
    shown = [f"{visible(name)} {count(number)}" for name, number in list(counts.items())[:SHOWN]]
    hidden = len(counts) - SHOWN
    return [f"{title:<16} {', '.join(shown)}" + (f" and {count(hidden)} more" if hidden > 0 else "")]
