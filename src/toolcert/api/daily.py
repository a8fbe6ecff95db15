"""The daily run: probe, remember, publish pages, forget what is too old. Twice on a day is the same as once."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import msgspec

from toolcert.api.probing import ProbeOptions, ProbeRun, summary_of
from toolcert.api.publishing import Publication, publish
from toolcert.api.remembering import remember
from toolcert.api.running import RUNS
from toolcert.core.errors import NothingMeasuredError
from toolcert.core.values import Value
from toolcert.history.observation import Observation, StoredRun
from toolcert.history.recording import day_of
from toolcert.history.store import HistoryStore
from toolcert.probes.scorecard import ProbeSummary
from toolcert.reports.readme import check_markers
from toolcert.runs.reader import is_run, read_manifest

Ask = Callable[[ProbeOptions], ProbeRun | None]
"""Does the probing; None where it was only planned."""


class DailyOptions(Value):
    """Where the daily run keeps what; the names are those of the command's options."""

    history: str
    date: str = ""
    """The day it counts for; empty is today (UTC)."""
    runs: str = str(RUNS)
    """Folder of the runs, one of each day in it."""
    report_dir: str = "reports"
    readme: str | None = None
    retention: int = 90
    days: int = 90


def daily(probing: ProbeOptions, options: DailyOptions, ask: Ask) -> ProbeRun | None:
    """One day: what is already measured is not asked again; an outage is remembered and told, then raised."""
    if options.readme is not None:
        check_markers(Path(options.readme))
    HistoryStore(options.history).close()  # an unusable one must be known before anything is paid for
    day = options.date or day_of(time.time())
    folder = Path(options.runs) / f"daily-{day}"
    publication = _publication(options, day, folder)
    try:
        result = _complete(folder, probing) or ask(msgspec.structs.replace(probing, output=str(folder)))
    except NothingMeasuredError as error:
        _remember_outage(options.history, day, error.message)
        publish(publication, None)
        raise
    if result is not None and not result.interrupted:
        with HistoryStore(options.history) as store:
            store.forget(_outage_id(day))
        remember(result.summary, options.history, day=day)
        publish(publication, result.summary)
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


def _outage_id(day: str) -> str:
    return f"outage-{day}"


def _remember_outage(history: str, day: str, reason: str) -> None:
    """No model could even be listed: those of the last run are not measured today, which is no word on them."""
    with HistoryStore(history) as store:
        last = store.last_day()
        if last is None:
            return
        known = {(one.endpoint, one.model, one.probe) for one in store.observations(since=last, until=last)}
        now = time.time()
        run = StoredRun(run=_outage_id(day), day=day, started_at=now, finished_at=now, source="probe")
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
