"""What `toolcert report` does once its options are read."""

from __future__ import annotations

from toolcert.api.reporting import LoadedRun, load_run
from toolcert.cli import reporting
from toolcert.cli.consoles import stdout_console
from toolcert.core.errors import ExitCode
from toolcert.probes.scorecard import ProbeSummary
from toolcert.reports.ordering import in_order
from toolcert.settings import Settings


def run(folder: str, settings: Settings) -> int:
    """Read the run, write what was asked for, or print the result."""
    prices = {name: (price.input, price.output) for name, price in settings.config.prices.items()}
    loaded = load_run(folder, prices=prices)
    wanted = reporting.destinations(settings, loaded.job)
    summary = in_order(loaded.summary, settings.sort) if isinstance(loaded.summary, ProbeSummary) else loaded.summary
    if not wanted:
        _print(loaded, settings)
    reporting.write(loaded.job, summary, settings, loaded.folder)
    return ExitCode.OK


def _print(loaded: LoadedRun, settings: Settings) -> None:
    if isinstance(loaded.summary, ProbeSummary):
        from toolcert.reports.console_probe import print_probe

        print_probe(in_order(loaded.summary, settings.sort), stdout_console(), report=loaded.folder)
    else:
        from toolcert.reports.console_verify import print_verify

        print_verify(loaded.summary, stdout_console(), slices=settings.slice, report=loaded.folder)
