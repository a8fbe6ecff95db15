"""What every report of a history says: days, changes, drift and the last good run in words."""

from __future__ import annotations

from datetime import date

from toolcert.core.statistics.p_values import p_words
from toolcert.core.statistics.rates import Rate
from toolcert.core.verdict import Word
from toolcert.history.changes import Change, ChangeKind
from toolcert.history.daily_status import Day, DayStatus, ModelHistory
from toolcert.history.drift import SHORTEST_SIDE, ChangePoint, DriftReport, Metric
from toolcert.history.last_good import AgainstLastGood, Standing
from toolcert.history.overview import Overview
from toolcert.reports.display_text import count, percent, plural, seconds

WORDS = {
    DayStatus.WORKING: "passes",
    DayStatus.PARTIAL: "partial",
    DayStatus.UNRELIABLE: "below the threshold",
    DayStatus.CALLS_ONLY: "results not used",
    DayStatus.BROKEN: "stopped calling",
    DayStatus.NOT_SUPPORTED: "does not call",
    DayStatus.NOT_MEASURED: "not measured",
    DayStatus.NOT_TESTED: "not tested",
}
"""What the symbol of a day means; the verdict of a day is its word."""
CHANGE_ROLES = {
    ChangeKind.NEWLY_BROKEN: "bad",
    ChangeKind.NEWLY_WORKING: "good",
    ChangeKind.RECOVERED: "good",
    ChangeKind.BECAME_PARTIAL: "half",
    ChangeKind.BECAME_UNRELIABLE: "half",
    ChangeKind.STOPPED_HANDLING: "half",
    ChangeKind.BECAME_RELIABLE: "good",
    ChangeKind.BEGAN_HANDLING: "good",
    ChangeKind.NEW_MODEL: "unknown",
    ChangeKind.GONE: "cannot",
    ChangeKind.NOT_TESTED: "unknown",
}
_NAMES = "January February March April May June July August September October November December"
MONTHS = tuple(_NAMES.split())


def day_text(day: str, *, year: bool = False) -> str:
    """`24 June`, with the year if it is wanted."""
    at = date.fromisoformat(day)
    return f"{at.day} {MONTHS[at.month - 1]}{f' {at.year}' if year else ''}"


def span_text(first: str, last: str) -> str:
    """`18 to 23 April`, `28 April to 3 May`."""
    if first == last:
        return day_text(first)
    same_month = first[:7] == last[:7]
    return f"{int(first[8:]) if same_month else day_text(first)} to {day_text(last)}"


def window_text(first: str, last: str) -> str:
    """The days a page is about, with the year: `27 March to 24 June 2026`."""
    if first == last:
        return day_text(last, year=True)
    return f"{day_text(first, year=first[:4] != last[:4])} to {day_text(last, year=True)}"


def short_name(model: str) -> str:
    """The id without its publisher."""
    return model.rpartition("/")[2] or model


def latest_status(history: ModelHistory, last: str) -> DayStatus:
    """What a model is on the last day with a run."""
    if history.standing is not None:
        return history.standing
    return next((day.status for day in reversed(history.days) if day.day == last), DayStatus.NOT_TESTED)


def latest_sign(history: ModelHistory, last: str) -> DayStatus:
    """The status whose symbol is shown beside the verdict; a failing model never gets a partly good one."""
    fails = latest_word(history, last) == Word.FAILS.text
    return DayStatus.BROKEN if fails else latest_status(history, last)


def latest_word(history: ModelHistory, last: str) -> str:
    """The verdict of a model on the last day with a run."""
    day = next((day for day in reversed(history.days) if day.day == last), None)
    word = history.word if day is None else history.word or day.word
    return WORDS[DayStatus.NOT_TESTED] if word is None else word.text


def ranked(found: Overview) -> list[ModelHistory]:
    """The models sorted by their status now, then by their good days."""
    order = list(DayStatus)

    def place(history: ModelHistory) -> tuple[int, int, str]:
        working = sum(day.status is DayStatus.WORKING for day in history.days)
        return order.index(latest_status(history, found.last)), -working, history.model

    return sorted(found.models, key=place)


def ever_called(history: ModelHistory) -> bool:
    """Whether a model called a tool in the window, or did before it."""
    return any(day.calling.k or day.status is DayStatus.BROKEN for day in history.days)


def headline(found: Overview) -> str:
    """One sentence that decides: what changed, and how many models are fit."""
    now = [latest_status(history, found.last) for history in found.models]
    asked = sum(status is not DayStatus.NOT_TESTED for status in now)
    working = now.count(DayStatus.WORKING)
    return f"{_what_changed(found)}; {working} of {plural(asked, 'model')} {_fit(found, one=working == 1)}."


def _fit(found: Overview, *, one: bool) -> str:
    """That models pass; a probe that asks for a call alone says nothing about results."""
    tested = any(day.handling.n for history in found.models for day in history.days)
    return ("passes" if one else "pass") + ("" if tested else " (the use of results was not tested)")


def _what_changed(found: Overview) -> str:
    standing = (ChangeKind.NEW_MODEL, ChangeKind.GONE, ChangeKind.NOT_TESTED)
    moved = [change for change in found.changes if change.kind not in standing]
    broken = [change.model for change in moved if change.kind is ChangeKind.NEWLY_BROKEN]
    if broken:
        names = ", ".join(short_name(model) for model in broken[:3])
        return f"{names} stopped calling tools" if len(broken) <= 3 else f"{len(broken)} models stopped calling tools"
    if is_beginning(found):
        return f"First measured on {day_text(found.last)}"
    if not moved:
        return f"No status changed on {day_text(found.last)}"
    return f"{plural(len(moved), 'status', 'statuses')} changed on {day_text(found.last)}"


def is_beginning(found: Overview) -> bool:
    """Whether there is no earlier day to compare with."""
    return all(history.first_seen == found.last for history in found.models)


def unchanged(found: Overview) -> str:
    """The sentence shown if nothing changed."""
    if is_beginning(found):
        return "This is the first day with a run: there is nothing to compare it with."
    return f"No model changed its status on {day_text(found.last)}."


def standing_lines(found: Overview) -> list[str]:
    """How many models have each status, and which are certainly worse than before."""
    now = [latest_word(history, found.last) for history in found.models]
    words = [*(word.text for word in Word), WORDS[DayStatus.NOT_TESTED]]
    counted = [(word, now.count(word)) for word in words if word in now]
    lines = [f"{', '.join(f'{count(number)} {word}' for word, number in counted)}.".capitalize()]
    worse = [one for one in found.against_last_good if one.standing is Standing.WORSE]
    lines += [last_good_sentence(one) for one in worse[:2]]
    if out := [history for history in found.models if latest_status(history, found.last) is DayStatus.NOT_MEASURED]:
        lines.append(f"{plural(len(out), 'model')} could not be measured: an outage, not a regression.")
    return lines


def change_sentence(change: Change) -> str:
    """What a model did before and after."""
    if change.before is None or change.after is None:
        day = change.after or change.before
        return "" if day is None else figures(day)
    return f"{figures(change.before)} → {figures(change.after)}"


def figures(day: Day) -> str:
    """`50/50 calls, 48/50 used`."""
    if not day.calling.n:
        return "nothing measured"
    used = f", {ratio(day.handling)} used" if day.handling.n else ""
    return f"{ratio(day.calling)} calls{used}"


def ratio(rate: Rate) -> str:
    """Counts, never only a rate."""
    return f"{count(rate.k)}/{count(rate.n)}"


def level(change: ChangePoint, value: float) -> str:
    """A rate in percent, a time in seconds."""
    return f"{seconds(value)} s" if change.metric is Metric.CALL_TIME else percent(value)


def drift_sentence(change: ChangePoint) -> str:
    """`call rate 99.4 % → 96.2 % from 11 April on`."""
    return (
        f"{change.metric} {level(change, change.before)} → {level(change, change.after)} from {day_text(change.day)} on"
    )


def chance(p: float) -> str:
    """A p-value as comparisons write it."""
    return f"p {p_words(p)}"


def budget_sentence(drift: DriftReport) -> str:
    """How many series were searched, and the chance of a false alarm."""
    if not drift.series:
        return f"No model was measured on {2 * SHORTEST_SIDE} days yet, and finding a change takes that many."
    return (
        f"{plural(drift.series, 'series', 'series')} of daily values searched; if nothing had changed, the chance of "
        f"any alarm below would be at most {100 * drift.budget:g} %."
    )


def last_good_sentence(one: AgainstLastGood) -> str:
    """The newest run beside the last good one."""
    name = short_name(one.model)
    if one.standing is Standing.NOT_MEASURED:
        return f"{name}: nothing could be measured on {day_text(one.day)}; that is no regression."
    return (
        f"{name}: {ratio(one.after)} passed on {day_text(one.day)}, {ratio(one.before)} in the last good run on "
        f"{day_text(one.good_day)} ({chance(one.p)}, {plural(one.probes, 'probe')})."
    )
