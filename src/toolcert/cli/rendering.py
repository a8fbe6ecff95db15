"""What `toolcert report` does once its options are read."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from toolcert.api.reporting import LoadedRun, load_run
from toolcert.cli import reporting
from toolcert.cli.consoles import stdout_console
from toolcert.core.errors import ExitCode, OutputError
from toolcert.probes.scorecard import ProbeSummary
from toolcert.reports.ordering import in_order
from toolcert.settings import Settings


def run(folder: str, settings: Settings) -> int:
    """Read the run, write what was asked for, or print the result."""
    prices = {name: (price.input, price.output) for name, price in settings.config.prices.items()}
    loaded = load_run(folder, prices=prices)
    wanted = reporting.destinations(settings, loaded.job, folder)
    summary = in_order(loaded.summary, settings.sort) if isinstance(loaded.summary, ProbeSummary) else loaded.summary
    if not wanted:
        _print(loaded, settings)
    reporting.write(loaded.job, summary, settings, loaded.folder)
    return ExitCode.OK


def _print(loaded: LoadedRun, settings: Settings) -> None:
    if isinstance(loaded.summary, ProbeSummary):
        from toolcert.reports.console_probe import print_probe

        summary = in_order(loaded.summary, settings.sort)
        print_probe(summary, stdout_console(), run=loaded.folder, examples=_examples(loaded.folder, summary))
    else:
        from toolcert.reports.console_verify import print_verify

        print_verify(loaded.summary, stdout_console(), slices=settings.slice, run=loaded.folder)


def _examples(folder: str, summary: ProbeSummary) -> Mapping[str, str]:
    from toolcert.reports.examples import write_examples

    try:
        return write_examples(Path(folder), summary)
    except OutputError:  # a run that is kept read-only is reported all the same, with longer curl lines
        return {}
