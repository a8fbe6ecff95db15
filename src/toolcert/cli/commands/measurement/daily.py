"""`toolcert daily`: probe, add to the history, publish."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from toolcert.cli.support import run_console
from toolcert.cli.support.click_options import SettingsCommand, chosen_endpoints, endpoint_arguments, use
from toolcert.cli.support.exit import echo
from toolcert.core.errors import ExitCode
from toolcert.reports.display_text import plural
from toolcert.runs.provenance import RUNS
from toolcert.settings import Settings
from toolcert.settings.options import names
from toolcert.settings.options.endpoint import CONNECTION, REQUESTS
from toolcert.settings.options.history import DAILY
from toolcert.settings.options.output import OUTPUT
from toolcert.settings.options.probe import PROBE

if TYPE_CHECKING:
    from toolcert.api.daily import DailyOptions, Deleted

_NOT_TAKEN = ("stream", "list-probes")


@click.command(cls=SettingsCommand, short_help="Probe, add to the history and publish: the daily run.")
@endpoint_arguments
@use(
    *(name for name in names(CONNECTION, REQUESTS, PROBE, OUTPUT) if name not in _NOT_TAKEN),
    "history",
    "days",
    *names(DAILY),
)
def daily(endpoints: tuple[str, ...], settings: Settings) -> int:
    """Probe, add to the history and publish: the daily run.

    Probes the endpoints, adds the run to the history, writes report_DATE.html, latest_report.html, history.html and
    index.html into --report-dir, deletes what is older than --retention, and updates the marked section of --readme.
    Run twice on a day it asks only what could not be measured before. Exit codes are those of `toolcert probe`.

    \b
    toolcert daily --config toolcert.toml
    toolcert daily my-vendor --suite agent --fail-on error --readme README.md
    """  # noqa: D301 - click reads the backspace as "keep these lines as they are"
    return run_day(endpoints, settings)


def run_day(names: Sequence[str], settings: Settings) -> int:
    """Run one day; the exit code is that of `toolcert probe`."""
    probing = run_console.probe_options(settings)
    endpoints = chosen_endpoints(settings, names)
    if settings.dry_run:
        run_console.print_probe_plan(endpoints, probing)
        return ExitCode.OK
    from toolcert.api.daily import daily as daily_run

    reporting = run_console.reporting_nothing(endpoints, settings)
    with reporting, run_console.ProbeConsole("daily", yes=settings.yes) as console:
        result = daily_run(
            endpoints,
            probing,
            _options(settings),
            handlers=[] if settings.quiet else [console],
            confirm=console.confirm,
            deleted=_print_deleted,
        )
    return run_console.conclude_probe(result, settings)


def _print_deleted(deleted: Deleted) -> None:
    """Say what was deleted, also if --quiet leaves out the progress."""
    if deleted:
        files = f"{plural(deleted.pages, 'page')}, {plural(deleted.runs, 'run folder')}"
        rows = f"{plural(deleted.rows, 'run')} of the history"
        echo(f"Deleted, because older than the retention: {files} and {rows} before {deleted.before}.", err=True)


def _options(settings: Settings) -> DailyOptions:
    from toolcert.api.daily import DailyOptions

    return DailyOptions(
        history=settings.history,
        date=settings.date or "",
        runs=settings.output or str(RUNS),
        report_dir=settings.report_dir,
        readme=settings.readme,
        retention=settings.retention,
        days=min(settings.days, settings.retention),
    )
