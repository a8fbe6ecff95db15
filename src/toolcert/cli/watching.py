"""What `toolcert daily` does once its options are read."""

from __future__ import annotations

from collections.abc import Sequence

import click

from toolcert.api.daily import DailyOptions, daily
from toolcert.api.probing import ProbeOptions, ProbeRun
from toolcert.api.publishing import Forgotten
from toolcert.api.running import RUNS, wait_for
from toolcert.cli import probing
from toolcert.core.errors import ExitCode
from toolcert.reports.text import plural
from toolcert.settings import Settings


def run(names: Sequence[str], settings: Settings) -> int:
    """One day; the exit code is that of the probing."""
    endpoints, options = probing.prepare(names, settings)

    def ask(with_folder: ProbeOptions) -> ProbeRun | None:
        return wait_for(probing.ask(endpoints, with_folder, settings))

    names_of_all = tuple(endpoint.spec.name for endpoint in endpoints)
    result = daily(options, _options(settings, names_of_all), ask, _tell)
    return ExitCode.OK if result is None else probing.conclude(result, settings)


def _tell(forgotten: Forgotten) -> None:
    """Data that goes is told, also where --quiet leaves out the progress."""
    if forgotten:
        gone = f"{plural(forgotten.pages, 'page')}, {plural(forgotten.runs, 'run folder')}"
        rows = f"{plural(forgotten.rows, 'run')} of the history"
        click.echo(f"Older than the retention, deleted: {gone} and {rows} from before {forgotten.before}.", err=True)


def _options(settings: Settings, endpoints: tuple[str, ...]) -> DailyOptions:
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
