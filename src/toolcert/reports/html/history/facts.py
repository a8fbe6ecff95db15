"""The certificate of a history, and what changed."""

from __future__ import annotations

from datetime import UTC, datetime
from statistics import median

from toolcert.core.values import Value
from toolcert.history.changes import Change
from toolcert.history.days import Day, DayStatus, ModelHistory
from toolcert.history.last_good import Standing
from toolcert.history.overview import Overview
from toolcert.reports.history_words import (
    CHANGE_ROLES,
    chance,
    change_sentence,
    day_text,
    ratio,
    short_name,
)
from toolcert.reports.text import count, plural, seconds, visible

USUAL_DAYS = 14
SLOWER = 1.5
"""Times the usual from which on a day is worth a line."""


class ChangeRow(Value):
    """One line of what changed."""

    day: str
    role: str
    word: str
    model: str
    text: str


def facts(found: Overview) -> tuple[tuple[str, str], ...]:
    """What stands at the foot of the certificate."""
    tested = [day for history in found.models for day in history.days if day.status is not DayStatus.NOT_TESTED]
    lost = sum(day.status is DayStatus.NOT_MEASURED for day in tested)
    run_days = len({day.day for day in tested})
    now = sum(day.day == found.last for day in tested)
    endpoints = sorted({history.endpoint for history in found.models})
    at = datetime.fromtimestamp(found.last_run_at, UTC).strftime("%Y-%m-%d %H:%M") if found.last_run_at else "–"
    return (
        ("Endpoint", visible(", ".join(endpoints) if len(endpoints) < 4 else plural(len(endpoints), "endpoint"))),
        ("Last run, UTC", at),
        ("Days", f"{run_days} of {len(found.models[0].days)} tested"),
        ("Models", f"{count(len(found.models))} seen, {count(now)} on the last day"),
        ("Probe", found.probe),
        ("Rows", count(len(tested))),
        ("Not measured", count(lost)),
        ("Threshold", f"{found.threshold:g}, inclusive"),
    )


def change_rows(found: Overview) -> tuple[ChangeRow, ...]:
    """What is different on the last day: status, then sure losses, then unusual times."""
    rows = [_status(change) for change in found.changes]
    rows += [
        ChangeRow(
            day=day_text(one.day),
            role="bad",
            word="worse than the last good run",
            model=visible(short_name(one.model)),
            text=f"{ratio(one.before)} passed on {day_text(one.good_day)} → {ratio(one.after)} ({chance(one.p)})",
        )
        for one in found.against_last_good
        if one.standing is Standing.WORSE
    ]
    return (*rows, *(row for history in found.models if (row := _slower(history, found.last)) is not None))


def earlier_rows(found: Overview) -> tuple[ChangeRow, ...]:
    """The status changes of the days before."""
    return tuple(_status(change) for change in found.recent if change not in found.changes)


def _status(change: Change) -> ChangeRow:
    return ChangeRow(
        day=day_text(change.day),
        role=CHANGE_ROLES[change.kind],
        word=change.kind.value,
        model=visible(short_name(change.model)),
        text=change_sentence(change),
    )


def _slower(history: ModelHistory, last: str) -> ChangeRow | None:
    """A last day slower than each of the fortnight before, and clearly so."""
    timed = [(day, total) for day in history.days if (total := _total(day)) is not None]
    if len(timed) <= USUAL_DAYS or timed[-1][0].day != last:
        return None
    now, before = timed[-1][1], [total for _, total in timed[-1 - USUAL_DAYS : -1]]
    usual = median(before)
    if now < max(before) or now < SLOWER * usual:
        return None
    text = (
        f"{seconds(now)} s for call and answer, usually {seconds(usual)} s; the {USUAL_DAYS} tested days before lay "
        f"between {seconds(min(before))} and {seconds(max(before))} s"
    )
    return ChangeRow(
        day=day_text(last), role="warning", word="slower", model=visible(short_name(history.model)), text=text
    )


def _total(day: Day) -> float | None:
    return None if day.call_p50 is None else day.call_p50 + (day.answer_p50 or 0.0)
