"""The pages of a daily run: one a day, the latest, the history, an index; and what is too old goes."""

from __future__ import annotations

import os
import re
import shutil
from datetime import date, timedelta
from pathlib import Path, PurePath

from toolcert.core.values import Value
from toolcert.history.overview import Overview, overview
from toolcert.history.recording import today
from toolcert.history.store import HistoryStore
from toolcert.probes.scorecard import ProbeSummary
from toolcert.reports.extras import Extras
from toolcert.reports.formats import render
from toolcert.reports.html.history_page import history_html, history_section
from toolcert.reports.html.index_page import index_html
from toolcert.reports.readme import section, update_section
from toolcert.runs.files import output_errors, write_whole
from toolcert.runs.reader import is_run

LATEST = "latest_report.html"
HISTORY = "history.html"
INDEX = "index.html"
_REPORT = re.compile(r"report_(\d{4}-\d{2}-\d{2})\.html")
_RUN = re.compile(r"daily-(\d{4}-\d{2}-\d{2})")


class Publication(Value):
    """What is published where."""

    history: str
    day: str
    run: str
    runs: str
    report_dir: str
    readme: str | None
    retention: int
    days: int


class Forgotten(Value):
    """How much was deleted because it was older than the retention."""

    before: str
    """The first day that is kept."""
    pages: int = 0
    runs: int = 0
    rows: int = 0
    """Runs that the history no longer knows."""

    def __bool__(self) -> bool:
        return bool(self.pages or self.runs or self.rows)


def publish(what: Publication, summary: ProbeSummary | None) -> Forgotten:
    """Forget what is too old and write the day's pages.

    Without a summary (nothing could be asked) a day's page is its history, if it has none.
    """
    forgotten = prune(what)
    _write_pages(what, summary)
    return forgotten


def _write_pages(what: Publication, summary: ProbeSummary | None) -> None:
    folder = Path(what.report_dir)
    with HistoryStore(what.history) as store:
        if store.last_day() is None:
            return  # nothing was ever measured, so there is nothing to tell
        that_day = _look_back(store, what, until=what.day)
        newest = _look_back(store, what)
    page = folder / f"report_{what.day}.html"
    if summary is not None or not page.exists():
        _write(page, _day_page(summary, that_day, what))
    reports = sorted(_dated(folder, _REPORT))
    write_whole(folder / LATEST, [reports[-1][1].read_bytes()])
    _write(folder / HISTORY, history_html(newest))
    _write(folder / INDEX, index_html(newest, [(day, path.name) for day, path in reversed(reports)]))
    if what.readme is not None:
        readme = Path(what.readme)
        update_section(readme, section(newest, _link(folder / LATEST, readme)))


def _look_back(store: HistoryStore, what: Publication, until: str | None = None) -> Overview:
    return overview(store, days=what.days, until=until)


def _day_page(summary: ProbeSummary | None, found: Overview, what: Publication) -> str | bytes:
    if summary is None:
        return history_html(found)
    return render("probe", "html", summary, Extras(run=what.run, history=history_section(found)))


def _write(path: Path, page: str | bytes) -> None:
    write_whole(path, [page.encode("utf-8", "backslashreplace") if isinstance(page, str) else page])


def _link(target: Path, page: Path) -> str:
    return PurePath(os.path.relpath(target, page.parent)).as_posix()


def prune(what: Publication) -> Forgotten:
    """Forget pages, runs and history of days before the retention; the date in the name counts, not the file's."""
    last = date.fromisoformat(min(what.day, today()))  # a day that is yet to come makes nothing old
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
        return Forgotten(before=first, pages=len(pages), runs=len(runs), rows=store.forget_before(first))


def _dated(folder: Path, name: re.Pattern[str]) -> list[tuple[str, Path]]:
    """What in a folder has a date in its name."""
    if not folder.is_dir():
        return []
    found = [(name.fullmatch(path.name), path) for path in folder.iterdir()]
    return [(match.group(1), path) for match, path in found if match is not None]
