"""`toolcert history`: what was measured before, and what changed since."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import date, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import click

from toolcert.cli.support.click_options import SettingsCommand, use
from toolcert.cli.support.exit import echo, warn
from toolcert.core.errors import ExitCode
from toolcert.history.overview import Overview
from toolcert.reports.display_text import plural
from toolcert.settings import Settings
from toolcert.settings.options import names
from toolcert.settings.options.history import LOOKBACK

if TYPE_CHECKING:
    from toolcert.history.store import HistoryStore
    from toolcert.reports.console.style import Line, Screen


@click.group(short_help="What was measured before, what changed, what drifts.")
def history() -> None:
    """What was measured before, what changed, what drifts; nothing is sent.

    The history is a file of its own, or a PostgreSQL database for teams (--history, TOOLCERT_HISTORY). Finished
    probe runs go in with `toolcert history add`, with `toolcert probe --save-history`, or every day with
    `toolcert daily`.
    """


def _view(name: str, short_help: str, *options: str) -> Callable[[Callable[..., Any]], click.Command]:
    """A command that looks back over all models or those of one name."""

    def decorate(callback: Callable[..., Any]) -> click.Command:
        with_options = use(*names(LOOKBACK), "threshold", *options, "json")(callback)
        with_model = click.argument("model", required=False)(with_options)
        return history.command(name, cls=SettingsCommand, short_help=short_help)(with_model)

    return decorate


@history.command(cls=SettingsCommand, short_help="Add finished probe runs.")
@click.argument("runs", nargs=-1, required=True, metavar="RUN...")
@use("history", "date")
def add(runs: tuple[str, ...], settings: Settings) -> int:
    """Add finished probe runs; the same run again replaces itself.

    A run counts for the day it was started on (UTC), or for --date.
    """
    return add_runs(runs, settings)


@history.command("import", cls=SettingsCommand, short_help="Take over the CSV files of the older tool.")
@click.argument("path")
@click.option("--as", "endpoint", metavar="NAME", help="Endpoint under which the rows stand.  [default: imported]")
@use("history")
def take_over(path: str, endpoint: str | None, settings: Settings) -> int:
    """Take over the CSV files of the older tool.

    PATH is a test_results.csv or the folder that holds it; a models_registry.csv beside it is taken too.
    """
    return import_older_files(path, endpoint, settings)


@history.command(cls=SettingsCommand, short_help="Write the history as CSV, JSONL or Parquet.")
@click.argument("destination")
@use("history", "export-format", "days")
def export(destination: str, settings: Settings) -> int:
    """Write the history as CSV, JSONL or Parquet; all of it, unless --days is given.

    DESTINATION is a folder for csv (the three files of the older tool), else a file.
    """
    return export_history(destination, settings)


@_view("show", "Each model's status per day, and what changed.", "html")
def show(model: str | None, settings: Settings) -> int:
    """Each model's status per day, and what changed on the last one.

    MODEL is an id, its last part, a pattern such as '*llama*' or a piece of the name.

    \b
    toolcert history show --days 30
    toolcert history show llama-3-3-70b --html history.html
    """  # noqa: D301 - click reads the backspace as "keep these lines as they are"
    return print_timeline(model, settings)


@_view("trend", "Rates and times per week, with their intervals.")
def trend(model: str | None, settings: Settings) -> int:
    """Rates and times per week, with their intervals; without MODEL all models together."""
    return print_trend(model, settings)


@_view("outages", "When models stopped working, or could not be measured.")
def outages(model: str | None, settings: Settings) -> int:
    """When models stopped working, and when nothing could be measured; these are two different things."""
    return print_outages(model, settings)


@_view("drift", "Changes of rates and times that chance does not explain.")
def drift(model: str | None, settings: Settings) -> int:
    """Changes of rates and times that chance does not explain, at a stated chance of a false alarm.

    Days on which nothing could be measured have no say: an outage of the transport is no regression of the model.
    """
    return print_drift(model, settings)


@history.command(cls=SettingsCommand, short_help="Write the page of the history.")
@click.argument("file")
@click.argument("model", required=False)
@use(*names(LOOKBACK), "threshold")
def html(file: str, model: str | None, settings: Settings) -> int:
    """Write the page of the history: timeline, trends, outages, drift. FILE may be - for standard output."""
    return write_page(file, model, settings)


class Exporter(Protocol):
    """Writes the history and says how many rows that were."""

    def __call__(self, store: HistoryStore, path: Path, /, *, since: str | None = None) -> int: ...


def add_runs(runs: Iterable[str], settings: Settings) -> int:
    """Add finished runs."""
    from toolcert.api.history import add_run

    for run in runs:
        summary = add_run(run, settings.history, day=settings.date)
        echo(f"{summary.run}: {plural(len(summary.models), 'model')} added.", err=True)
    return ExitCode.OK


def import_older_files(path: str, endpoint: str | None, settings: Settings) -> int:
    """Import the older tool's files."""
    from toolcert.history.csv_import import ENDPOINT, import_csv
    from toolcert.history.store import HistoryStore

    if endpoint is None:
        warn(
            f"the rows stand under the endpoint '{ENDPOINT}', so later runs do not continue them. "
            "Give --as NAME with the name of the endpoint that these models are probed at."
        )
    with HistoryStore(settings.history) as store:
        done = import_csv(store, Path(path), endpoint=endpoint or ENDPOINT)
    echo(
        f"{plural(done.rows, 'row')}, {plural(done.models, 'model')}, {plural(done.days, 'day')}; "
        f"{plural(done.replaced, 'row')} replaced by a later one of the day, {plural(done.registry, 'registry row')}.",
        err=True,
    )
    return ExitCode.OK


def export_history(destination: str, settings: Settings) -> int:
    """Write all of the history, or its last days."""
    from toolcert.history.export import export_csv, export_jsonl, export_parquet
    from toolcert.history.store import HistoryStore

    writers: dict[str, Exporter] = {"csv": export_csv, "jsonl": export_jsonl, "parquet": export_parquet}
    with HistoryStore.existing(settings.history) as store:
        since = _first_day(store, settings.days) if settings.given("days") else None
        number = writers[settings.export_format](store, Path(destination), since=since)
    echo(f"{plural(number, 'row')} written to {destination}.", err=True)
    return ExitCode.OK


def _first_day(store: HistoryStore, days: int) -> str | None:
    last = store.last_day()
    return last and (date.fromisoformat(last) - timedelta(days=days - 1)).isoformat()


def print_timeline(model: str | None, settings: Settings) -> int:
    """The timeline."""
    from toolcert.reports.destinations import STDOUT, place
    from toolcert.reports.history import console as console_history

    found = _overview(model, settings)
    if settings.html is not None:
        _write_page(found, settings.html)
    if settings.html is None or place(settings.html) != STDOUT:
        _deliver(found, settings, console_history.timeline)
    return ExitCode.OK


def print_trend(model: str | None, settings: Settings) -> int:
    """Weeks."""
    from toolcert.reports.history import console as console_history

    view = console_history.totals if model is None else console_history.trends
    return _deliver(_overview(model, settings), settings, view)


def print_outages(model: str | None, settings: Settings) -> int:
    """Outages."""
    from toolcert.reports.history import console as console_history

    return _deliver(_overview(model, settings), settings, console_history.outages)


def print_drift(model: str | None, settings: Settings) -> int:
    """Drift."""
    from toolcert.reports.history import console as console_history

    return _deliver(_overview(model, settings), settings, console_history.drift)


def write_page(file: str, model: str | None, settings: Settings) -> int:
    """The page."""
    _write_page(_overview(model, settings), file)
    return ExitCode.OK


def _overview(model: str | None, settings: Settings) -> Overview:
    from toolcert.api.history import look_back

    return look_back(
        settings.history,
        days=settings.days,
        model=model,
        probe=settings.history_probe,
        threshold=settings.threshold,
        budget=settings.budget,
    )


def _write_page(found: Overview, destination: str) -> None:
    from toolcert.api.daily import reports_beside
    from toolcert.reports.destinations import STDOUT, deliver, place
    from toolcert.reports.history.html import history_html

    beside = {} if place(destination) == STDOUT else reports_beside(Path(destination))
    deliver(history_html(found, beside), destination)


def _deliver(found: Overview, settings: Settings, view: Callable[[Overview, Screen], Iterable[Line]]) -> int:
    from toolcert.reports.console.style import Screen
    from toolcert.reports.destinations import STDOUT, deliver, place
    from toolcert.reports.history.json import history_json

    if settings.json is not None:
        deliver(history_json(found), settings.json)
    if settings.json is None or place(settings.json) != STDOUT:
        screen = Screen()
        screen.print(view(found, screen))
    return ExitCode.OK
