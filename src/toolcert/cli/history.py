"""`toolcert history`: what was measured before, and what changed since."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from toolcert.cli.options import SettingsCommand, use
from toolcert.settings import Settings
from toolcert.settings.options import names
from toolcert.settings.options.remembering import LOOKING_BACK


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
        with_options = use(*names(LOOKING_BACK), "threshold", *options, "json")(callback)
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
    from toolcert.cli import looking_back

    return looking_back.add(runs, settings)


@history.command("import", cls=SettingsCommand, short_help="Take over the CSV files of the older tool.")
@click.argument("path")
@click.option("--as", "endpoint", metavar="NAME", help="Endpoint under which the rows stand.  [default: imported]")
@use("history")
def take_over(path: str, endpoint: str | None, settings: Settings) -> int:
    """Take over the CSV files of the older tool.

    PATH is a test_results.csv or the folder that holds it; a models_registry.csv beside it is taken too.
    """
    from toolcert.cli import looking_back

    return looking_back.take_over(path, endpoint, settings)


@history.command(cls=SettingsCommand, short_help="Write the history as CSV, JSONL or Parquet.")
@click.argument("destination")
@use("history", "export-format", "days")
def export(destination: str, settings: Settings) -> int:
    """Write the history as CSV, JSONL or Parquet; all of it, unless --days is given.

    DESTINATION is a folder for csv (the three files of the older tool), else a file.
    """
    from toolcert.cli import looking_back

    return looking_back.export(destination, settings)


@_view("show", "Each model's status per day, and what changed.", "html")
def show(model: str | None, settings: Settings) -> int:
    """Each model's status per day, and what changed on the last one.

    MODEL is an id, its last part, a pattern such as '*llama*' or a piece of the name.

    \b
    toolcert history show --days 30
    toolcert history show llama-3-3-70b --html history.html
    """  # noqa: D301 - click reads the backspace as "keep these lines as they are"
    from toolcert.cli import looking_back

    return looking_back.show(model, settings)


@_view("trend", "Rates and times per week, with their intervals.")
def trend(model: str | None, settings: Settings) -> int:
    """Rates and times per week, with their intervals; without MODEL all models together."""
    from toolcert.cli import looking_back

    return looking_back.trend(model, settings)


@_view("outages", "When models stopped working, or could not be measured.")
def outages(model: str | None, settings: Settings) -> int:
    """When models that worked stopped working, and when nothing could be measured; the two are told apart."""
    from toolcert.cli import looking_back

    return looking_back.outages(model, settings)


@_view("drift", "Changes of rates and times that chance does not explain.")
def drift(model: str | None, settings: Settings) -> int:
    """Changes of rates and times that chance does not explain, at a stated chance of a false alarm.

    Days on which nothing could be measured have no say: an outage of the transport is no regression of the model.
    """
    from toolcert.cli import looking_back

    return looking_back.drift(model, settings)


@history.command(cls=SettingsCommand, short_help="Write the page of the history.")
@click.argument("file")
@click.argument("model", required=False)
@use(*names(LOOKING_BACK), "threshold")
def html(file: str, model: str | None, settings: Settings) -> int:
    """Write the page of the history: timeline, trends, outages, drift. FILE may be - for standard output."""
    from toolcert.cli import looking_back

    return looking_back.page(file, model, settings)
