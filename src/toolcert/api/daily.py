"""The daily run: probe, add to the history, publish pages, delete what is older than the retention.

Two runs on one day leave what one leaves.
"""

from __future__ import annotations

import os
import re
import shutil
import time
from collections.abc import Callable, Collection, Sequence
from datetime import date, timedelta
from hashlib import blake2b
from pathlib import Path, PurePath

import msgspec

from toolcert.api.endpoint import Endpoint
from toolcert.api.history import add_summary
from toolcert.api.probe import ConfirmProbe, ProbeOptions, ProbeRun, probe
from toolcert.core.errors import NothingMeasuredError, UsageError
from toolcert.core.events import Handler
from toolcert.core.values import Value
from toolcert.history.observation import Observation, StoredRun, past_day, today
from toolcert.history.overview import Overview, overview
from toolcert.history.store import HistoryStore
from toolcert.probes.summary.scorecard import ProbeSummary
from toolcert.probes.summary.summariser import summarise_run
from toolcert.reports.formats import Extras, render
from toolcert.reports.history.html import history_html, history_section, index_html
from toolcert.reports.history.readme import check_markers, section, update_section
from toolcert.runs.files import check_writable, output_errors, write_whole
from toolcert.runs.provenance import RUNS
from toolcert.runs.reader import is_run, read_manifest
from toolcert.settings.keyword_options import KeywordOptions
from toolcert.stores.object_url import is_url

LATEST = "latest_report.html"
HISTORY = "history.html"
INDEX = "index.html"
_REPORT = re.compile(r"report_(\d{4}-\d{2}-\d{2})\.html")
_RUN = re.compile(r"daily-(\d{4}-\d{2}-\d{2})")


class Publication(Value):
    """Where the results of a day come from and go to."""

    history: str
    day: str
    run: str
    runs: str
    report_dir: str
    readme: str | None
    retention: int
    days: int


class Deleted(Value):
    """How much was deleted because it was older than the retention."""

    before: str
    """The first day that is kept."""
    pages: int = 0
    runs: int = 0
    rows: int = 0
    """Runs deleted from the history."""

    def __bool__(self) -> bool:
        return bool(self.pages or self.runs or self.rows)


def publish(what: Publication, summary: ProbeSummary | None) -> Deleted:
    """Delete what is older than the retention and write the pages of the day.

    Without a summary, because nothing could be asked, the page of the day shows the history, unless it exists already.
    """
    forgotten = prune(what)
    _write_pages(what, summary)
    return forgotten


def _write_pages(what: Publication, summary: ProbeSummary | None) -> None:
    folder = Path(what.report_dir)
    with HistoryStore(what.history) as store:
        if store.last_day() is None:
            return  # nothing was ever measured, so there is nothing to publish
        that_day = _overview_until(store, what, until=what.day)
        newest = _overview_until(store, what)
    page = folder / f"report_{what.day}.html"
    if summary is not None or not page.exists():
        _write(page, _day_page(summary, that_day, what))
    reports = sorted(_dated(folder, _REPORT))
    # A copy and not a link, so that any static host can serve the folder.
    write_whole(folder / LATEST, [reports[-1][1].read_bytes()])
    _write(folder / HISTORY, history_html(newest, reports_beside(folder / HISTORY)))
    _write(folder / INDEX, index_html(newest, [(day, path.name) for day, path in reversed(reports)]))
    if what.readme is not None:
        readme = Path(what.readme)
        links = (_link(folder / LATEST, readme), _link(folder / INDEX, readme))
        iterations = None if summary is None else summary.iterations
        update_section(readme, section(newest, links[0], index=links[1], iterations=iterations))


def _overview_until(store: HistoryStore, what: Publication, until: str | None = None) -> Overview:
    return overview(store, days=what.days, until=until)


def _day_page(summary: ProbeSummary | None, found: Overview, what: Publication) -> str | bytes:
    if summary is None:
        return history_html(found)
    return render("probe", "html", summary, Extras(run=what.run, history=history_section(found)))


def _write(path: Path, page: str | bytes) -> None:
    write_whole(path, [page.encode("utf-8", "backslashreplace") if isinstance(page, str) else page])


def _link(target: Path, page: Path) -> str:
    return PurePath(os.path.relpath(target, page.parent)).as_posix()


def prune(what: Publication) -> Deleted:
    """Delete pages, runs and history older than the retention, by the date in their names, not that of the file."""
    last = date.fromisoformat(min(what.day, today()))  # a day in the future must not make today's results old
    first = (last - timedelta(days=what.retention - 1)).isoformat()
    pages = [page for day, page in _dated(Path(what.report_dir), _REPORT) if day < first]
    runs = [run for day, run in _dated(Path(what.runs), _RUN) if day < first and is_run(run)]
    for page in pages:
        with output_errors(page):
            page.unlink()
    for run in runs:
        with output_errors(run):
            shutil.rmtree(run)
    with HistoryStore(what.history) as store:
        return Deleted(before=first, pages=len(pages), runs=len(runs), rows=store.forget_before(first))


def reports_beside(page: Path) -> dict[str, str]:
    """The pages of single days in the folder of a page, by date."""
    return {day: path.name for day, path in _dated(page.parent, _REPORT)}


def _dated(folder: Path, name: re.Pattern[str]) -> list[tuple[str, Path]]:
    """The entries of a folder that have a date in their names."""
    if not folder.is_dir():
        return []
    found = [(name.fullmatch(path.name), path) for path in folder.iterdir()]
    return [(match.group(1), path) for match, path in found if match is not None]


class DailyOptions(KeywordOptions, kw_only=True):
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

    def __post_init__(self) -> None:
        super().__post_init__()
        if is_url(self.runs) or is_url(self.report_dir):
            raise UsageError("the daily run keeps its runs and pages in local folders.", remedy="Name folders.")


def daily(
    endpoints: Sequence[Endpoint],
    probing: ProbeOptions,
    options: DailyOptions,
    *,
    handlers: Sequence[Handler] = (),
    confirm: ConfirmProbe | None = None,
    deleted: Callable[[Deleted], None],
) -> ProbeRun:
    """Run one day: what is already measured is not asked again; an outage is stored and published, then raised.

    `deleted` is called with what was removed because it was older than the retention.
    """
    day = past_day(options.date)
    if options.readme is not None:
        check_markers(Path(options.readme))
    check_writable(Path(options.report_dir) / INDEX)
    HistoryStore(options.history).close()  # one that cannot be used is refused before any request is paid for
    names = [endpoint.spec.name for endpoint in endpoints]
    folder = Path(options.runs) / f"daily-{day}"
    publication = _publication(options, day, folder)
    try:
        result = _complete(folder, probing) or probe(
            *endpoints,
            options=msgspec.structs.replace(probing, output=str(folder)),
            handlers=handlers,
            confirm=confirm,
        )
    except NothingMeasuredError as error:
        if _remember_outage(options.history, names, day, error.message):
            deleted(publish(publication, summarise_run(folder, probing.prices) if is_run(folder) else None))
        raise
    if not result.interrupted:
        # One name a day: a later run of the day replaces an earlier one, also that of another machine.
        add_summary(msgspec.structs.replace(result.summary, run=_run_id(names, day)), options.history, day=day)
        deleted(publish(publication, result.summary))
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
    """The run of the day, if it has ended and everything in it was measured."""
    if probing.fresh or not is_run(folder):
        return None
    manifest = read_manifest(folder)
    if manifest.finished_at is None or manifest.interrupted:
        return None
    summary = summarise_run(folder, probing.prices)
    return None if _has_gaps(summary) else ProbeRun(folder=str(folder), summary=summary)


def _has_gaps(summary: ProbeSummary) -> bool:
    return summary.nothing_measured or summary.totals.counts.not_measured > 0


def _run_id(endpoints: Collection[str], day: str) -> str:
    digest = blake2b("\n".join(sorted(endpoints)).encode(), digest_size=4).hexdigest()
    return f"daily-{day}-{digest}"


def _remember_outage(history: str, endpoints: Collection[str], day: str, reason: str) -> bool:
    """Store the models of the last run as not measured on a day on which none could be listed.

    Returns whether the history has anything about the day.
    """
    name = _run_id(endpoints, day)
    with HistoryStore(history) as store:
        known = _last_asked(store, endpoints)
        if any(run.run == name for run in store.runs(since=day)):
            return True  # an earlier run of the day measured something, and that stays
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
    """Endpoint, model and probe of all that was asked on the last day of each of these endpoints."""
    return {
        (one.endpoint, one.model, one.probe)
        for endpoint in endpoints
        if (last := store.last_day(endpoint)) is not None
        for one in store.observations(endpoint=endpoint, since=last)
    }
