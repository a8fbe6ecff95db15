"""`toolcert daily`: probe, add to the history, publish."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from toolcert.cli.support.click_options import SettingsCommand, use
from toolcert.cli.support.endpoint_argument import endpoint_arguments
from toolcert.core.errors import ExitCode
from toolcert.reports.display_text import plural
from toolcert.runs.provenance import RUNS
from toolcert.settings import Settings
from toolcert.settings.options import ASKING, CONNECTION, OUTPUT, PROBING, names
from toolcert.settings.options.history import DAILY

if TYPE_CHECKING:
    from toolcert.api.daily import DailyOptions, Deleted
    from toolcert.api.probe import ProbeOptions, ProbeRun


_NOT_TAKEN = ("stream", "list-probes")


@click.command(cls=SettingsCommand, short_help="Probe, remember and publish: the run for every day.")
@endpoint_arguments
@use(
    *(name for name in names(CONNECTION, ASKING, PROBING, OUTPUT) if name not in _NOT_TAKEN),
    "history",
    "days",
    *names(DAILY),
)
def daily(endpoints: tuple[str, ...], settings: Settings) -> int:
    """Probe, remember and publish: the run for every day.

    Probes the endpoints, adds the run to the history, writes report_DATE.html, latest_report.html, history.html and
    index.html into --report-dir, forgets what is older than --retention, and updates the marked section of --readme.
    Run twice on a day it asks only what could not be measured before. Exit codes are those of `toolcert probe`.

    \b
    toolcert daily --config toolcert.toml
    toolcert daily my-vendor --suite agent --fail-on error --readme README.md
    """  # noqa: D301 - click reads the backspace as "keep these lines as they are"
    return run_day(endpoints, settings)


def run_day(names: Sequence[str], settings: Settings) -> int:
    """One day; the exit code is that of the probing."""
    from toolcert.api.daily import daily as daily_run
    from toolcert.api.endpoint import wait_for
    from toolcert.cli.commands import probe

    endpoints, options = probe.prepare(names, settings)

    def ask(with_folder: ProbeOptions) -> ProbeRun | None:
        return wait_for(probe.run_probe(endpoints, with_folder, settings))

    names_of_all = tuple(endpoint.spec.name for endpoint in endpoints)
    result = daily_run(options, _options(settings, names_of_all), ask, _print_deleted)
    return ExitCode.OK if result is None else probe.conclude(result, settings)


def _print_deleted(forgotten: Deleted) -> None:
    """Data that goes is told, also where --quiet leaves out the progress."""
    if forgotten:
        gone = f"{plural(forgotten.pages, 'page')}, {plural(forgotten.runs, 'run folder')}"
        rows = f"{plural(forgotten.rows, 'run')} of the history"
        click.echo(f"Older than the retention, deleted: {gone} and {rows} from before {forgotten.before}.", err=True)


def _options(settings: Settings, endpoints: tuple[str, ...]) -> DailyOptions:
    from toolcert.api.daily import DailyOptions

    return DailyOptions(
        history=settings.history,
        endpoints=endpoints,
        date=settings.date or "",
        runs=settings.output or str(RUNS),
        report_dir=settings.report_dir,
        readme=settings.readme,
        retention=settings.retention,
        days=min(settings.days, settings.retention),
    )
