"""The daily run: probe, remember, publish pages, forget what is too old. Twice on a day is the same as once."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection
from hashlib import blake2b
from pathlib import Path

import msgspec

from toolcert.api.probing import ProbeOptions, ProbeRun, summary_of
from toolcert.api.publishing import INDEX, Forgotten, Publication, publish
from toolcert.api.remembering import remember
from toolcert.api.running import RUNS
from toolcert.core.errors import NothingMeasuredError
from toolcert.core.values import Value
from toolcert.history.observation import Observation, StoredRun
from toolcert.history.recording import day_that_came
from toolcert.history.store import HistoryStore
from toolcert.probes.scorecard import ProbeSummary
from toolcert.reports.readme import check_markers
from toolcert.runs.files import check_writable
from toolcert.runs.reader import is_run, read_manifest

Ask = Callable[[ProbeOptions], ProbeRun | None]
"""Does the probing; None where it was only planned."""
Tell = Callable[[Forgotten], None]
"""Is told what was deleted because it was too old."""


class DailyOptions(Value):
    """Where the daily run keeps what; the names are those of the command's options."""

    history: str
    endpoints: tuple[str, ...] = ()
    """Names of what is probed; a history may hold other endpoints too."""
    date: str = ""
    """The day it counts for; empty is today (UTC)."""
    runs: str = str(RUNS)
    """Folder of the runs, one of each day in it."""
    report_dir: str = "reports"
    readme: str | None = None
    retention: int = 90
    days: int = 90


def daily(probing: ProbeOptions, options: DailyOptions, ask: Ask, tell: Tell) -> ProbeRun | None:
    """One day: what is already measured is not asked again; an outage is remembered and told, then raised."""
    day = day_that_came(options.date)
    if options.readme is not None:
        check_markers(Path(options.readme))
    check_writable(Path(options.report_dir) / INDEX)
    HistoryStore(options.history).close()  # an unusable one must be known before anything is paid for
    folder = Path(options.runs) / f"daily-{day}"
    publication = _publication(options, day, folder)
    try:
        result = _complete(folder, probing) or ask(msgspec.structs.replace(probing, output=str(folder)))
    except NothingMeasuredError as error:
        if _remember_outage(options, day, error.message):
            tell(publish(publication, summary_of(folder, probing.prices) if is_run(folder) else None))
        raise
    if result is not None and not result.interrupted:
        # One name a day: a later run of the day replaces an earlier one, also that of another machine.
        remember(msgspec.structs.replace(result.summary, run=_run_id(options, day)), options.history, day=day)
        tell(publish(publication, result.summary))
    return result


def _publication(options: DailyOptions, day: str, folder: Path) -> Publication:
    return Publication(
        history=options.history,
        day=day,
        run=str(folder),
        runs=options.runs,
        report_dir=options.report_dir,
        readme=options.readme,
        retention=options.retention,
        days=options.days,
    )


def _complete(folder: Path, probing: ProbeOptions) -> ProbeRun | None:
    """The day's run, if it ended and everything in it was measured."""
    if probing.fresh or not is_run(folder):
        return None
    manifest = read_manifest(folder)
    if manifest.finished_at is None or manifest.interrupted:
        return None
    summary = summary_of(folder, probing.prices)
    return None if _lacks_something(summary) else ProbeRun(folder=str(folder), summary=summary)


def _lacks_something(summary: ProbeSummary) -> bool:
    return summary.nothing_measured or summary.totals.counts.not_measured > 0


def _run_id(options: DailyOptions, day: str) -> str:
    endpoints = blake2b("\n".join(sorted(options.endpoints)).encode(), digest_size=4).hexdigest()
    return f"daily-{day}-{endpoints}"


def _remember_outage(options: DailyOptions, day: str, reason: str) -> bool:
    """No model could even be listed: those of the last run are not measured today, which is no word on them.

    Says whether the history knows anything about the day.
    """
    name = _run_id(options, day)
    with HistoryStore(options.history) as store:
        known = _last_asked(store, options.endpoints)
        if any(run.run == name for run in store.runs(since=day)):
            return True  # what was measured earlier on the day stands
        if not known:
            return False
        now = time.time()
        run = StoredRun(run=name, day=day, started_at=now, finished_at=now, source="probe")
        store.add(
            run,
            [
                Observation(
                    run=run.run,
                    endpoint=endpoint,
                    model=model,
                    probe=probe,
                    day=day,
                    at=now,
                    not_measured=1,
                    reason=reason,
                )
                for endpoint, model, probe in sorted(known)
            ],
        )
    return True


def _last_asked(store: HistoryStore, endpoints: Collection[str]) -> set[tuple[str, str, str]]:
    """Endpoint, model and probe of everything asked on the last day of these endpoints."""
    return {
        (one.endpoint, one.model, one.probe)
        for endpoint in endpoints
        if (last := store.last_day(endpoint)) is not None
        for one in store.observations(endpoint=endpoint, since=last)
    }
