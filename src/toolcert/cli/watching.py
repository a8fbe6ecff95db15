"""What `toolcert daily` does once its options are read."""

from __future__ import annotations

from collections.abc import Sequence

from toolcert.api.daily import DailyOptions, daily
from toolcert.api.probing import ProbeOptions, ProbeRun
from toolcert.api.running import RUNS, wait_for
from toolcert.cli import probing
from toolcert.core.errors import ExitCode
from toolcert.settings import Settings


def run(names: Sequence[str], settings: Settings) -> int:
    """One day; the exit code is that of the probing."""
    endpoints, options = probing.prepare(names, settings)

    def ask(with_folder: ProbeOptions) -> ProbeRun | None:
        return wait_for(probing.ask(endpoints, with_folder, settings))

    names_of_all = tuple(endpoint.spec.name for endpoint in endpoints)
    result = daily(options, _options(settings, names_of_all), ask)
    return ExitCode.OK if result is None else probing.conclude(result, settings)


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
