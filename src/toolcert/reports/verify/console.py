"""A verify run, its dataset and its plan on the console."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING

from toolcert.core.statistics.rates import Rate
from toolcert.reports.console.style import SEVERITY_STYLES, Line, Screen
from toolcert.reports.display_text import (
    NO_VALUE,
    count,
    cut,
    duration,
    fit,
    listed,
    percent,
    plural,
    seconds,
    shorten,
    speed_of,
    visible,
    whereabouts,
    width_of,
)
from toolcert.verification.dataset.inspection import DatasetReport
from toolcert.verification.run.job import DryRun
from toolcert.verification.summary.figures import FindingLine, SliceLine, Times, VerifySummary
from toolcert.verification.summary.run_verdict import interval, target_text

if TYPE_CHECKING:
    from toolcert.verification.rejudgement import Difference


BAR = 38
_SHORTEST_BAR = 8
_SHORTEST_BAR_BESIDE = 20
"""Shortest bar if rates, times and the worst tools are shown beside it."""
_LABEL = 20
_LONGEST_TOOL = 40
_SHOWN_REASONS = 12
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
}


def print_verify(summary: VerifySummary, screen: Screen, *, slices: Sequence[str] = (), run: str = "") -> None:
    """Print the whole result."""
    funnel = _Funnel(summary, screen)
    screen.print(
        [*screen.prose(summary.headline, "bold"), *(part for line in summary.lines for part in screen.prose(line))],
        funnel.lines(),
        [*_vendor(summary, screen), *_dataset(summary, screen)],
        screen.marks(summary.marks),
        _figures(summary, screen, times=not funnel.wide),
        *(_slice(summary, kind, screen.width) for kind in slices),
        [
            *screen.prose(target_text(summary), "dim"),
            *screen.prose(_sum(summary), "dim"),
            *screen.prose(whereabouts(run), "dim"),
        ],
    )


class _Funnel:
    """Bars of the rows that each step leaves; if there is room, with rates, times and the worst tools beside them."""

    def __init__(self, summary: VerifySummary, screen: Screen) -> None:
        self._sent = summary.rows.sent
        self._calls_lost = summary.rows.lost > 0
        self._unicode = screen.unicode
        self._steps = list(_steps(summary))
        lost = max(len(lost) for _, _, lost, _ in self._steps)
        self._beside = _beside(summary)
        beside = lost + 11 + max(map(width_of, self._beside), default=0)
        room = screen.width - 17
        self.wide = room - beside >= _SHORTEST_BAR_BESIDE
        self._lost = lost
        self._bar = max(_SHORTEST_BAR, min(BAR, room - (beside if self.wide else lost)))

    def lines(self) -> Iterator[Line]:
        for number, (word, rows, lost, share) in enumerate(self._steps):
            line = Line(f"{word:<9}{count(rows):>6} {bar(rows, self._sent, self._bar, unicode=self._unicode)} ")
            line.append(f"{lost:<{self._lost}}", "red" if word == "called" and self._calls_lost else "")
            if self.wide:
                line.append(f"{percent(share.value) if share else '':>8}   ")
                line.append(visible(self._beside[number]) if number < len(self._beside) else "")
            yield line


def _steps(summary: VerifySummary) -> Iterator[tuple[str, int, str, Rate | None]]:
    """Each step with the rows it leaves, those it loses in words, and its rate."""
    rows = summary.rows
    invalid = f"{count(rows.invalid)} invalid" + (f", {count(rows.unjudged)} not judged" if rows.unjudged else "")
    unreadable = f", {count(rows.unreadable)} unreadable" if rows.unreadable else ""
    refused = f", {count(rows.unsupported)} unsupported" if rows.unsupported else ""
    yield "sent", rows.sent, f"{count(rows.skipped)} skipped" if rows.skipped else "", None
    yield "answered", rows.answered, f"{count(rows.not_measured)} not measured{refused}", summary.answered
    lost = f"{count(rows.lost)} with a lost call, " if rows.lost else ""
    yield "called", rows.called, f"{lost}{count(rows.in_text - rows.lost)} without a call{unreadable}", summary.called
    yield "valid", rows.valid, invalid, summary.valid


def bar(part: int, whole: int, width: int, *, unicode: bool = True) -> str:
    """A bar of `width` columns, exact to an eighth of a column."""
    eighths = round(8 * width * part / whole) if whole else 0
    full, rest = divmod(eighths, 8)
    if not unicode:
        return ("#" * round(eighths / 8)).ljust(width)
    return ("█" * full + (_EIGHTHS[rest] if rest else "")).ljust(width)


def _beside(summary: VerifySummary) -> list[str]:
    """The text to the right of the funnel: times, then the worst tools."""
    times = {line.label: line for line in summary.times}
    lines = [_time_text(times[label]) for label in ("first token", "whole answer") if label in times]
    faulty = [tool for tool in summary.tools if tool.valid.k < tool.valid.n]
    worst = sorted(faulty, key=lambda tool: tool.valid.k - tool.valid.n)[:2]
    column = min(_LONGEST_TOOL, max((width_of(visible(tool.name)) for tool in worst), default=0))
    for head, tool in zip(("worst tool", ""), worst, strict=False):
        lines.append(f"{head:<13} {fit(tool.name, column)} {tool.valid.k}/{tool.valid.n}")
    return lines


def _time_text(times: Times) -> str:
    return f"{times.label:<13} p50 {seconds(times.p50)} s   p95 {seconds(times.p95)} s"


def _vendor(summary: VerifySummary, screen: Screen) -> Iterator[Line]:
    for number, found in enumerate(summary.vendor[:SHOWN_FINDINGS]):
        yield _finding(found, "vendor" if number == 0 else "", screen.width)
        if found.follows:
            yield from screen.prose(f"From it follows: {', '.join(found.follows)}", "dim", indent=18)
    hidden = len(summary.vendor) - SHOWN_FINDINGS
    if hidden > 0:
        yield Line(f"          and {plural(hidden, 'more kind')}; the JSON report lists all.", "dim")


def _finding(found: FindingLine, head: str, width: int) -> Line:
    line = Line(f"{head:<9} ").append(f"{found.severity.value:<8}", SEVERITY_STYLES[found.severity])
    line.append(f"{found.code:<26} {count(found.rows):>5}   ")
    return line.append(_which(found, max(20, width - len(line))), "dim")


def _which(found: FindingLine, columns: int) -> str:
    if not found.examples:
        return shorten(found.title, columns)
    head = "row " if found.rows == 1 else "rows "
    return head + listed([example.row for example in found.examples], found.rows, columns - len(head))


def _dataset(summary: VerifySummary, screen: Screen) -> list[Line]:
    parts = [f"{count(line.rows)} {_DATASET_WORDS.get(line.code, line.code)}" for line in summary.of_dataset]
    return screen.entry("dataset  ", f"{', '.join(parts)} (not charged)") if parts else []


def _figures(summary: VerifySummary, screen: Screen, *, times: bool) -> Iterator[Line]:
    """The figures that the funnel has no room for, one a line."""
    shares = {
        "valid, per call": summary.valid_calls,
        "trigger as expected": summary.trigger,
        "as expected": summary.correct,
    }
    texts = {label: f"{percent(share.value)} ({interval(share)})" for label, share in shares.items() if share.n}
    # A vendor may write anything there, and something else each time.
    finishes = [f"{cut(reason, 40)} {count(rows)}" for reason, rows in islice(summary.finish.items(), _SHOWN_REASONS)]
    texts["finish reasons"] = ", ".join(finishes) + (", …" if len(summary.finish) > _SHOWN_REASONS else "")
    texts["not measured"] = ", ".join(f"{count(rows)} {cause}" for cause, rows in summary.not_measured_by.items())
    for line in summary.times[:2] if times else ():
        texts[line.label] = f"p50 {seconds(line.p50)} s, p95 {seconds(line.p95)} s"
    call, speed = summary.timings.call, summary.timings.tokens_per_second
    if call.n:
        texts["whole call"] = f"p50 {seconds(call.p50)} s, p95 {seconds(call.p95)} s, p99 {seconds(call.p99)} s"
    if speed.n:
        texts["tokens per second"] = f"p50 {speed_of(speed.p50)}; 95 % of the answers reach {speed_of(speed.p95)}"
    for label, text in texts.items():
        if text:
            yield from screen.entry(Line(f"{label:<{_LABEL}}", "dim"), text, "dim")


def _slice(summary: VerifySummary, kind: str, width: int) -> Iterator[Line]:
    lines = [line for line in summary.slices if line.slice == kind]
    if kind == "tool":
        lines = sorted(lines, key=lambda line: -line.answered)
    longest = max((width_of(visible(line.value)) for line in lines), default=0)
    column = max(28, min(longest, width - 49))
    yield Line(f"{kind:<{column}}{'answered':>9}{'called':>9}{'valid':>22}{'passed':>9}", "dim")
    yield from (_slice_line(line, column) for line in lines[:SHOWN_SLICES])
    hidden = len(lines) - SHOWN_SLICES
    if hidden > 0:
        yield Line(f"and {count(hidden)} more; the JSON report lists all.", "dim")


def _slice_line(line: SliceLine, column: int) -> Line:
    valid = f"{percent(line.valid.value)} ({line.valid.k}/{line.valid.n})" if line.valid.n else NO_VALUE
    called, passed = percent(line.called.value), percent(line.passed.value)
    return Line(f"{fit(line.value, column)}{count(line.answered):>9}{called:>9}{valid:>22}{passed:>9}")


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
    lines = [line for change in differences[:SHOWN_DIFFERENCES] for line in _difference(change, screen)]
    hidden = len(differences) - SHOWN_DIFFERENCES
    if hidden > 0:
        lines.append(Line(f"and {plural(hidden, 'more row')}", "dim"))
    screen.print(lines or [Line("No verdict changed.")])


def _difference(change: Difference, screen: Screen) -> list[Line]:
    words = {True: "valid", False: "invalid", None: "left out"}
    return screen.entry(f"row {change.row:<6} {words[change.before]} -> {words[change.after]} ", change.reason)


SHOWN = 12
"""Entries of a list shown; JSON has all."""


def print_dry_run(planned: DryRun, screen: Screen) -> None:
    """What would be sent, then what is wrong with the rows."""
    head = [
        f"{plural(planned.requests, 'request')} to {planned.model} at {planned.url or planned.endpoint}; none was sent",
        f"about {count(planned.tokens)} prompt tokens",
        f"adapter {planned.adapter}",
    ]
    if planned.settled:
        head.append(f"{plural(planned.settled, 'row')} measured by the run in --output would not be asked again")
    longest = [Line(f"  line {row.row}: about {count(row.tokens)} tokens") for row in planned.dataset.longest]
    screen.print(
        [line for text in head for line in screen.prose(text)],
        [Line("longest rows"), *longest] if longest else [],
        problem_lines(planned.dataset, screen),
    )


def problem_lines(report: DatasetReport, screen: Screen) -> Iterator[Line]:
    """The problems by kind, with their first lines."""
    if not report.problems:
        yield Line(f"no problem in {plural(report.lines, 'line')}")
    for problem in report.problems:
        lines = list(dict.fromkeys(str(example.row) for example in problem.examples))
        more = ", …" if problem.rows > len(lines) else ""
        where = f"{'line' if problem.rows == 1 else 'lines'} {', '.join(lines)}{more}"
        yield from screen.entry(f"{problem.severity.value:<8} {problem.code:<24} {count(problem.rows):>6}  ", where)


def print_stats(report: DatasetReport, screen: Screen) -> None:
    """A dataset described."""
    rough = f"about {count(report.tokens)} prompt tokens"
    if report.tokens_p50 is not None and report.tokens_p95 is not None:
        rough += f" (a row: median {count(round(report.tokens_p50))}, p95 {count(round(report.tokens_p95))})"
    head = [
        f"{report.name}: {plural(report.lines, 'line')}, {plural(report.rows, 'row')} to ask",
        rough,
        f"{plural(report.tools, 'distinct tool')} in {plural(report.toolsets, 'distinct list')}",
        f"{plural(report.duplicates, 'duplicate')}, {count(report.streamed)} streamed",
        f"{plural(report.expecting, 'row')} with expectations",
    ]
    counted = {
        "tools offered": report.tool_names,
        "tools per row": report.tools_per_row,
        "user turns": report.turns,
        "schema features": report.schema_features,
        "tags": report.tags,
        "models": report.models,
    }
    screen.print(
        [line for text in head for line in screen.prose(text)],
        [Line(f"line {row.row}: about {count(row.tokens)} tokens") for row in report.longest],
        [line for title, counts in counted.items() for line in _listed(title, counts, screen)],
        problem_lines(report, screen),
    )


def _listed(title: str, counts: Mapping[str, int], screen: Screen) -> list[Line]:
    if not counts:
        return []
    shown = [f"{name}: {count(number)}" for name, number in list(counts.items())[:SHOWN]]
    hidden = len(counts) - SHOWN
    more = f" and {count(hidden)} more" if hidden > 0 else ""
    return screen.entry(f"{title:<16}", ", ".join(shown) + more)
