"""A load run on the console: verdict, findings, and the times at each level."""

from __future__ import annotations

from collections.abc import Iterator

from toolcert.core.statistics.p_values import p_words
from toolcert.load_test.summary import LevelFigures, LoadFinding, LoadSummary
from toolcert.reports.console.style import SEVERITY_STYLES, STYLES, Line, Screen
from toolcert.reports.display_text import count, duration, plural, seconds, shorten, whereabouts
from toolcert.reports.probe.phrases import ROLES

WIDE = 110
_INDENT = 9
_TIMES = ("first token", "whole call")


def print_load(summary: LoadSummary, screen: Screen, *, run: str = "") -> None:
    """Print the whole result."""
    screen.print(
        [*_verdict(summary, screen), *(part for line in summary.lines for part in screen.prose(line))],
        _findings(summary, screen),
        _levels(summary, screen),
        [*screen.prose(_sum(summary), "dim"), *screen.prose(whereabouts(run), "dim")],
    )


def _verdict(summary: LoadSummary, screen: Screen) -> Iterator[Line]:
    role = ROLES[summary.verdict.word]
    yield from screen.entry(Line(getattr(screen.glyphs, role), STYLES[role]), summary.headline, "bold")


def _findings(summary: LoadSummary, screen: Screen) -> Iterator[Line]:
    for found in summary.findings:
        head = Line(f"{found.severity.value:<8} ", SEVERITY_STYLES[found.severity])
        yield from screen.entry(head.append(f"{found.code:<17} {counts(found)} "), found.title)
        yield from screen.prose(found.evidence, "dim", indent=_INDENT)
        for example in found.examples[:2]:
            yield from _answers(example.alone, example.loaded, screen)
    if summary.findings:
        yield Line("toolcert findings CODE explains a code.", "dim")


def _answers(alone: str, loaded: str, screen: Screen) -> Iterator[Line]:
    """Both answers of a pair, one below the other, cut to a line each."""
    for head, text in (("alone", alone), ("loaded", loaded)):
        if text:
            yield Line(f"{'':{_INDENT}}{head:<7}{shorten(text, screen.width - _INDENT - 7)}", "dim")


def counts(found: LoadFinding) -> str:
    """How often, and how likely without the fault."""
    chance = "" if found.p is None else f", p {p_words(found.p)}"
    return f"{count(found.count)} of {count(found.of)}{chance}"


def _levels(summary: LoadSummary, screen: Screen) -> Iterator[Line]:
    if not summary.levels:
        return
    wide = screen.width >= WIDE
    more = "  TOKENS/s  IN FLIGHT  RETRIED" if wide else ""
    yield Line(f"{'AT A TIME':>9}  {'RIGHT':>9}  NO ANSWER  FIRST TOKEN p50   p95  WHOLE CALL p50   p95{more}", "dim")
    for figures in summary.levels:
        yield Line(_level(figures, wide=wide))


def _level(figures: LevelFigures, *, wide: bool) -> str:
    first, call = figures.timings.first_token, figures.timings.call
    line = (
        f"{figures.level:>9}  {figures.right!s:>9}  {figures.unanswered:>9}  "
        f"{seconds(first.p50):>15} {seconds(first.p95):>5}  {seconds(call.p50):>14} {seconds(call.p95):>5}"
    )
    if wide:
        speed = figures.timings.tokens_per_second.p50
        line += f"  {'–' if speed is None else f'{speed:.0f}':>8}  {_busy(figures):>9}  {figures.retried:>7}"
    return line


def _busy(figures: LevelFigures) -> str:
    return "–" if figures.busy is None else f"{figures.busy:.1f}"


def _sum(summary: LoadSummary) -> str:
    parts = [plural(summary.requests, "request")]
    if summary.search is not None:
        parts.append(f"{count(summary.search.requests)} of them to find where it breaks")
    parts.append(f"{count(sum(one.unanswered for one in summary.levels))} not measured")
    if summary.retried:
        parts.append(f"{count(summary.retried)} retried")
    if summary.seconds is not None:
        parts.append(duration(summary.seconds))
    return ", ".join(parts) + "."
