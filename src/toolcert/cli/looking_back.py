"""What `toolcert history` does once its options are read."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import date, timedelta
from pathlib import Path
from typing import Protocol

import click
from rich.console import Console
from rich.text import Text

from toolcert.api.remembering import add_run, look_back
from toolcert.cli.consoles import stdout_console
from toolcert.core.errors import ExitCode
from toolcert.history.overview import Overview
from toolcert.history.store import HistoryStore
from toolcert.reports import console_history
from toolcert.reports.destinations import STDOUT, deliver, place
from toolcert.reports.json_history import document
from toolcert.reports.text import plural
from toolcert.settings import Settings

View = Callable[[Overview, Console], Iterable[Text]]


class Exporter(Protocol):
    """Writes the history and says how many rows that were."""

    def __call__(self, store: HistoryStore, path: Path, /, *, since: str | None = None) -> int: ...


def add(runs: Iterable[str], settings: Settings) -> int:
    """Add finished runs."""
    for run in runs:
        summary = add_run(run, settings.history, day=settings.date)
        click.echo(f"{summary.run}: {plural(len(summary.models), 'model')} added.", err=True)
    return ExitCode.OK


def take_over(path: str, endpoint: str | None, settings: Settings) -> int:
    """Import the older tool's files."""
    from toolcert.history.csv_import import ENDPOINT, import_csv

    with HistoryStore(settings.history) as store:
        done = import_csv(store, Path(path), endpoint=endpoint or ENDPOINT)
    click.echo(
        f"{plural(done.rows, 'row')}, {plural(done.models, 'model')}, {plural(done.days, 'day')}; "
        f"{plural(done.replaced, 'row')} replaced by a later one of the day, {plural(done.registry, 'registry row')}.",
        err=True,
    )
    return ExitCode.OK


def export(destination: str, settings: Settings) -> int:
    """Write all of the history, or its last days."""
    from toolcert.history.csv_export import export_csv
    from toolcert.history.exporting import export_jsonl, export_parquet

    writers: dict[str, Exporter] = {"csv": export_csv, "jsonl": export_jsonl, "parquet": export_parquet}
    with HistoryStore.existing(settings.history) as store:
        since = _first_day(store, settings.days) if settings.given("days") else None
        number = writers[settings.export_format](store, Path(destination), since=since)
    click.echo(f"{plural(number, 'row')} written to {destination}.", err=True)
    return ExitCode.OK


def _first_day(store: HistoryStore, days: int) -> str | None:
    last = store.last_day()
    return last and (date.fromisoformat(last) - timedelta(days=days - 1)).isoformat()


def show(model: str | None, settings: Settings) -> int:
    """The timeline."""
    found = _overview(model, settings)
    if settings.html is not None:
        _write_page(found, settings.html)
    if settings.html is None or place(settings.html) != STDOUT:
        _deliver(found, settings, console_history.timeline)
    return ExitCode.OK


def trend(model: str | None, settings: Settings) -> int:
    """Weeks."""
    view = console_history.totals if model is None else console_history.trends
    return _deliver(_overview(model, settings), settings, view)


def outages(model: str | None, settings: Settings) -> int:
    """Outages."""
    return _deliver(_overview(model, settings), settings, console_history.outages)


def drift(model: str | None, settings: Settings) -> int:
    """Drift."""
    return _deliver(_overview(model, settings), settings, console_history.drift)


def page(file: str, model: str | None, settings: Settings) -> int:
    """The page."""
    _write_page(_overview(model, settings), file)
    return ExitCode.OK


def _overview(model: str | None, settings: Settings) -> Overview:
    return look_back(
        settings.history,
        days=settings.days,
        model=model,
        probe=settings.history_probe,
        threshold=settings.threshold,
        budget=settings.budget,
    )


def _write_page(found: Overview, destination: str) -> None:
    from toolcert.reports.html.history_page import history_html

    deliver(history_html(found), destination)


def _deliver(found: Overview, settings: Settings, view: View) -> int:
    if settings.json is not None:
        deliver(document(found), settings.json)
    if settings.json is None or place(settings.json) != STDOUT:
        console = stdout_console()
        for line in view(found, console):
            console.print(line, soft_wrap=True, highlight=False)
    return ExitCode.OK
