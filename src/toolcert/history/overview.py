"""The history prepared for reports: the days of every model, changes, outages, drift and frequent errors."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import date, timedelta

import msgspec

from toolcert.core.errors import InputError
from toolcert.core.findings import Severity
from toolcert.core.statistics.rates import PROBE_THRESHOLD
from toolcert.core.values import Value
from toolcert.history.changes import Change, Outage, latest_changes, outages, recent_changes, standing, verdict_now
from toolcert.history.daily_status import DayStatus, ModelHistory, histories
from toolcert.history.drift import BUDGET, DriftReport, find_drift
from toolcert.history.last_good import AgainstLastGood, against_last_good
from toolcert.history.observation import HELLO, StoredRun
from toolcert.history.store import HistoryStore


def matching(names: Iterable[str], wanted: str | None) -> list[str]:
    """The names that match `wanted`: as id or pattern, as last part of an id, or as part of the name, in this order."""
    known = sorted(set(names))
    if wanted is None:
        return known
    from toolcert.endpoints.model_selection import Patterns  # imports the HTTP client

    patterns = Patterns([wanted])
    tries = (
        [name for name in known if patterns.match(name)],
        [name for name in known if patterns.match(name.rpartition("/")[2])],
        [name for name in known if wanted.casefold() in name.casefold()],
    )
    found = next((names for names in tries if names), [])
    if not found:
        raise InputError(
            f"the history has no model {wanted!r} in this period.", remedy="`toolcert history show` lists its models."
        )
    return found


_PREFERRED = (HELLO, "result_use", "basic")
"""Probes that measure calling and handling separately, the best first."""
RECENT = 14
"""Number of days with a run whose changes are listed."""


class DailyTotals(Value):
    """Totals over all models on one day; times are means of the measured values."""

    day: str
    models: int
    """Models that were asked, including those that could not be measured."""
    working: int
    handling: int
    reliable: int
    call_time: float | None = None
    answer_time: float | None = None
    not_measured: int = 0


class ErrorPattern(Value):
    """How often one finding was seen, by day."""

    code: str
    severity: Severity
    count: int
    models: tuple[str, ...]
    first: str
    last: str
    by_day: dict[str, int]


class Overview(Value):
    """The history between two dates."""

    probe: str
    first: str
    last: str
    threshold: float
    models: tuple[ModelHistory, ...]
    totals: tuple[DailyTotals, ...]
    changes: tuple[Change, ...]
    """What changed on the last day with a run."""
    outages: tuple[Outage, ...]
    drift: DriftReport
    patterns: tuple[ErrorPattern, ...] = ()
    runs: int = 0
    against_last_good: tuple[AgainstLastGood, ...] = ()
    recent: tuple[Change, ...] = ()
    """Changes on the last 14 days with a run, newest first."""
    last_run_at: float | None = None
    partial_days: tuple[str, ...] = ()
    """Days on which only some of the listed models were asked."""


def overview(
    store: HistoryStore,
    *,
    days: int = 90,
    model: str | None = None,
    probe: str | None = None,
    threshold: float = PROBE_THRESHOLD,
    budget: float = BUDGET,
    until: str | None = None,
) -> Overview:
    """Sum up the `days` days before the last day with a run, or before `until`."""
    last = until or store.last_day()
    if last is None:
        raise InputError("the history is empty.", remedy="Add runs with --save-history or `toolcert history add RUN`.")
    first = (date.fromisoformat(last) - timedelta(days=days - 1)).isoformat()
    only, probe = probe, probe or store.best_probe(_PREFERRED, last)
    spans = store.spans(probe)
    names = matching((name for _, name in spans), model)
    found = list(store.observations(models=names, probe=probe, since=first, until=last))
    if not found:
        raise InputError(
            f"the history has nothing on {model or probe} from {first} to {last}.",
            remedy="Look further back with --days.",
        )
    first = max(first, min(one.day for one in found))
    partial = _partial_days(store.runs(since=first))
    rest = store.shortcomings(models=names, since=first, until=last, probe=only)
    inside = [
        msgspec.structs.replace(
            history, standing=standing(history, last, threshold), word=verdict_now(history, last, threshold)
        )
        for history in histories(found, first=first, last=last, threshold=threshold, spans=spans, shortcomings=rest)
    ]
    return Overview(
        probe=probe,
        first=first,
        last=last,
        threshold=threshold,
        models=tuple(inside),
        totals=tuple(daily_totals(inside)),
        changes=tuple(latest_changes(inside, last, partial)),
        outages=tuple(sorted((one for history in inside for one in outages(history)), key=lambda one: one.first)),
        drift=find_drift(inside, budget),
        patterns=tuple(_patterns(store.sightings(models=names, since=first, until=last))),
        runs=len({one.run for one in found}),
        against_last_good=tuple(against_last_good(store, inside, last, budget)),
        recent=tuple(recent_changes(inside, last, RECENT, partial)),
        last_run_at=max(one.at for one in found),
        partial_days=partial,
    )


def _partial_days(runs: Iterable[StoredRun]) -> tuple[str, ...]:
    """The days without any run that asked all listed models."""
    known = list(runs)
    whole = {run.day for run in known if not run.partial}
    return tuple(sorted({run.day for run in known} - whole))


def daily_totals(models: Sequence[ModelHistory]) -> list[DailyTotals]:
    """One line per day with a run."""
    if not models:
        return []
    lines = []
    for number, head in enumerate(models[0].days):
        tested = [history.days[number] for history in models if history.days[number].status is not DayStatus.NOT_TESTED]
        if not tested:
            continue
        good = [day for day in tested if day.calling.k]
        lines.append(
            DailyTotals(
                day=head.day,
                models=len(tested),
                working=len(good),
                handling=sum(bool(day.handling.k) for day in good),
                reliable=sum(day.status is DayStatus.WORKING for day in good),
                call_time=_mean(day.call_p50 for day in tested),
                answer_time=_mean(day.answer_p50 for day in tested),
                not_measured=sum(day.status is DayStatus.NOT_MEASURED for day in tested),
            )
        )
    return lines


def _mean(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


def _patterns(sightings: Iterable[tuple[str, Severity, str, str, int]]) -> list[ErrorPattern]:
    by_day: dict[str, Counter[str]] = {}
    models: dict[str, set[str]] = {}
    severities: dict[str, Severity] = {}
    for code, severity, day, model, number in sightings:
        by_day.setdefault(code, Counter())[day] += number
        models.setdefault(code, set()).add(model)
        severities[code] = severity
    patterns = [
        ErrorPattern(
            code=code,
            severity=severities[code],
            count=sum(days.values()),
            models=tuple(sorted(models[code])),
            first=min(days),
            last=max(days),
            by_day=dict(days),
        )
        for code, days in by_day.items()
    ]
    return sorted(patterns, key=lambda pattern: (list(Severity).index(pattern.severity), -pattern.count))
