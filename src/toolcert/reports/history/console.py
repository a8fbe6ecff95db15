"""The history on the console: timeline, totals, trends, outages and drift."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from toolcert.history.changes import Outage
from toolcert.history.daily_status import Day, DayStatus, ModelHistory, Stretch, size_for, stretches
from toolcert.history.last_good import Standing
from toolcert.history.overview import DailyTotals, Overview
from toolcert.reports.console.style import STYLES, UNICODE, Glyphs, Line, Screen, axis, whisker
from toolcert.reports.display_text import fit, plural, seconds, visible, width_of
from toolcert.reports.history import phrases as words

NAME = 22
BESIDE = 27
"""Columns beside the timeline: gaps, status and working days."""
TIME = 8
WIDE = 100
"""Narrowest screen that shows the last call time."""
SIGNS = {
    DayStatus.WORKING: ("█", "#", "green"),
    DayStatus.PARTIAL: ("▇", "+", "yellow"),
    DayStatus.UNRELIABLE: ("▅", "=", "yellow"),
    DayStatus.CALLS_ONLY: ("▂", "-", "magenta"),
    DayStatus.BROKEN: ("✗", "x", "red"),
    DayStatus.NOT_SUPPORTED: ("_", "_", "dim"),
    DayStatus.NOT_MEASURED: ("░", "?", "dim"),
    DayStatus.NOT_TESTED: ("·", ".", "dim"),
}
_UNITS = {1: "a day", 7: "a week", 28: "four weeks", 91: "a quarter", 364: "a year"}


def timeline(found: Overview, screen: Screen) -> Iterator[Line]:
    """Every model's days, and what changed on the last one."""
    yield from screen.prose(words.headline(found), "bold")
    for line in words.standing_lines(found):
        yield from screen.prose(line)
    yield Line()
    yield from _changes(found, screen)
    calling = [history for history in words.ranked(found) if words.ever_called(history)]
    if calling:
        yield from _table(found, calling, screen)
    yield from _never_called(found, calling, screen)


def _changes(found: Overview, screen: Screen) -> Iterator[Line]:
    glyphs = screen.glyphs
    for change in found.changes:
        role = words.CHANGE_ROLES[change.kind]
        line = Line(f"{getattr(glyphs, role)} {change.kind.word:<22} ", STYLES[role])
        line.append(f"{words.short_name(visible(change.model)):<{NAME}}")
        sentence = _arrow(words.change_sentence(change), glyphs)
        if len(line) + 2 + width_of(sentence) <= screen.width:
            yield line.append(f"  {sentence}", "dim")
        else:
            yield line
            yield from screen.prose(sentence, "dim", indent=2)
    if found.changes:
        yield Line()


def _arrow(text: str, glyphs: Glyphs) -> str:
    return text if glyphs is UNICODE else text.replace("→", "->")


def _table(found: Overview, models: Sequence[ModelHistory], screen: Screen) -> Iterator[Line]:
    days, width, glyphs = len(models[0].days), screen.width, screen.glyphs
    wide = width >= WIDE
    longest = max(width_of(_name(history)) for history in models)
    # A timeline of all days comes first; names get the room that is left, but never less than NAME.
    beside = BESIDE + (TIME if wide else 0)
    name = max(NAME, min(longest, width - beside - max(10, days)))
    size = size_for(days, max(10, width - name - beside))
    columns = len(stretches(models[0].days, size))
    head = f"{fit('MODEL', name)}  {_dates(found, columns)}  {'NOW':<15} {'GOOD':>7}"
    yield Line(f"{head}  CALL s" if wide else head, "dim")
    for history in models:
        line = _line(found, history, size, glyphs, (name, max(columns, 10)))
        yield line.append(f"  {seconds(_last_time(history.days)):>6}") if wide else line
    yield Line(f"  one symbol is {_UNITS[size]}{', the worst day of it' if size > 1 else ''}", "dim")
    yield from _legend(glyphs)


def _name(history: ModelHistory) -> str:
    return visible(words.short_name(history.model))


def _dates(found: Overview, columns: int) -> str:
    first, last = found.first[5:], found.last[5:]
    return f"{first}{last:>{columns - len(first)}}" if columns >= 12 else f"{found.first:<10}"


def _line(found: Overview, history: ModelHistory, size: int, glyphs: Glyphs, columns: tuple[int, int]) -> Line:
    """Name, timeline, the status now and the working days; `columns` are those of the first two."""
    line = Line(fit(_name(history), columns[0]) + "  ")
    signs = stretches(history.days, size)
    for one in signs:
        line.append(_sign(one.status, glyphs), SIGNS[one.status][2])
    line.append(" " * (columns[1] - len(signs)))
    now = words.latest_sign(history, found.last)
    line.append(f"  {_sign(now, glyphs)} {words.latest_word(history, found.last):<13}", SIGNS[now][2])
    working = sum(day.status is DayStatus.WORKING for day in history.measured)
    return line.append(f" {f'{working}/{len(history.measured)}':>7}")


def _sign(status: DayStatus, glyphs: Glyphs) -> str:
    return SIGNS[status][0 if glyphs is UNICODE else 1]


def _last_time(days: Sequence[Day]) -> float | None:
    return next((day.call_p50 for day in reversed(days) if day.call_p50 is not None), None)


def _legend(glyphs: Glyphs) -> Iterator[Line]:
    every = list(DayStatus)
    for part in (every[:3], every[3:6], every[6:]):
        legend = Line("  ")
        for status in part:
            legend.append(_sign(status, glyphs), SIGNS[status][2])
            legend.append(f" {words.WORDS[status]}  ", "dim")
        yield legend


def _never_called(found: Overview, calling: Sequence[ModelHistory], screen: Screen) -> Iterator[Line]:
    never = [words.short_name(history.model) for history in found.models if history not in calling]
    if never:
        yield Line()
        yield from screen.prose(f"{plural(len(never), 'model')} never called a tool: {', '.join(never)}", hanging=2)


def totals(found: Overview, _: Screen) -> Iterator[Line]:
    """All models together, day by day."""
    yield Line(f"{'DAY':<12} MODELS  CALLING  USING RESULTS  RELIABLE  CALL s  ANSWER s", "dim")
    for line in found.totals:
        yield Line(_total(line))
    yield Line("  times are means over the models that were measured", "dim")


def _total(line: DailyTotals) -> str:
    return (
        f"{line.day:<12} {line.models:>6}  {line.working:>7}  {line.handling:>13}  {line.reliable:>8}"
        f"  {seconds(line.call_time):>6}  {seconds(line.answer_time):>8}"
    )


def trends(found: Overview, screen: Screen) -> Iterator[Line]:
    """Each chosen model week by week, with intervals."""
    glyphs = screen.glyphs
    for number, history in enumerate(found.models):
        if number:
            yield Line()
        yield Line(visible(history.model), "bold")
        scale = axis(found.threshold)
        yield Line(f"{'WEEK FROM':<11} {'CALLS':>9} {scale}  {'USED':>9} {scale}  CALL s  ANSWER s", "dim")
        for week in stretches(history.days, 7):
            if week.tested:
                yield _week(week, found.threshold, glyphs)


def _week(week: Stretch, threshold: float, glyphs: Glyphs) -> Line:
    line = Line(f"{week.first:<11} ")
    for rate in (week.calling, week.handling):
        shown = words.ratio(rate) if rate.n else glyphs.cannot
        line.append(f"{shown:>9} {whisker(rate, threshold, glyphs)}  ")
    return line.append(f"{seconds(week.call_time):>6}  {seconds(week.answer_time):>8}")


def outages(found: Overview, screen: Screen) -> Iterator[Line]:
    """When models stopped working, and when nothing could be measured."""
    if not found.outages:
        preposition = "on" if found.first == found.last else "from"
        yield Line(f"No outage {preposition} {words.window_text(found.first, found.last)}.")
        return
    glyphs = screen.glyphs
    yield Line(f"{fit('MODEL', NAME)}  {'':<17} FROM        TO             DAYS", "dim")
    for outage in found.outages:
        yield _outage(outage, found.last, glyphs)
        if outage.reason:
            yield from screen.prose(outage.reason, "dim", indent=2)
    yield Line("  stopped calling: it answers and does not call", "dim")
    yield Line("  not measured: no answer to judge, which says nothing about the model", "dim")


def _outage(outage: Outage, last: str, glyphs: Glyphs) -> Line:
    status = DayStatus.BROKEN if outage.broken else DayStatus.NOT_MEASURED
    line = Line(fit(words.short_name(outage.model), NAME) + "  ")
    line.append(f"{_sign(status, glyphs)} {words.WORDS[status]:<15} ", SIGNS[status][2])
    end = outage.last if outage.over else "goes on" if outage.last == last else "not recovered"
    return line.append(f"{outage.first}  {end:<13}  {outage.days:>4}")


def drift(found: Overview, screen: Screen) -> Iterator[Line]:
    """Change points, and the newest run beside the last good one."""
    glyphs = screen.glyphs
    yield from screen.prose(words.budget_sentence(found.drift))
    if found.drift.series and not found.drift.changes:
        yield Line("No change point found.")
    for change in found.drift.changes:
        role = "bad" if change.worse else "good"
        head = Line(f"{getattr(glyphs, role)} ", STYLES[role]).append(
            f"{words.short_name(visible(change.model)):<{NAME}} "
        )
        sentence = _arrow(words.drift_sentence(change), glyphs)
        yield from screen.entry(head, f"{sentence} ({words.chance(change.p)})")
    yield Line()
    yield from _last_good(found, screen)


def _last_good(found: Overview, screen: Screen) -> Iterator[Line]:
    glyphs = screen.glyphs
    told = [one for one in found.against_last_good if one.standing is not Standing.NOT_SHOWN]
    quiet = len(found.against_last_good) - len(told)
    budget = f"chance of any false alarm at most {100 * found.drift.budget:g} %"
    yield from screen.prose(f"Newest run against the last good one; {budget}:")
    for one in told:
        role = "bad" if one.standing is Standing.WORSE else "unknown"
        yield from screen.prose(f"{getattr(glyphs, role)} {words.last_good_sentence(one)}", STYLES[role], hanging=2)
    if quiet:
        yield Line(f"{glyphs.good} {plural(quiet, 'model')}: no loss shown", STYLES["good"])
    if not found.against_last_good:
        yield Line("No model of the last run was working before.")
