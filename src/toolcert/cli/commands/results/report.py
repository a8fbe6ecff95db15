"""`toolcert report`: a finished run in any format, at any time. `toolcert view`: runs in the browser."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from toolcert.cli.support.click_options import SettingsCommand, use
from toolcert.cli.support.exit import echo, warn
from toolcert.core.errors import ExitCode, OutputError
from toolcert.settings import Settings
from toolcert.settings.options import names
from toolcert.settings.options.output import REPORTS, SERVE

if TYPE_CHECKING:
    from toolcert.api.report import LoadedRun
    from toolcert.probes.summary.scorecard import ProbeSummary


@click.command(cls=SettingsCommand, short_help="Write reports about a finished run, in any format.")
@click.argument("run", metavar="RUN")
@use("sort", "slice", "known", *names(REPORTS), "history", "days")
def report(run: str, settings: Settings) -> int:
    """Write reports about a finished run, in any format; nothing is sent.

    RUN is the folder or s3:// URL of a probe or verify run, `latest` for the newest below toolcert-runs, or a
    results.jsonl of the older verifiers. Without a format the result is printed as it was at the end of the run. With
    --history the page of a probe run shows what was before.

    \b
    toolcert report toolcert-runs/20260624-0647-7f3a21c9 --html page.html
    toolcert report run --json - | jq .summary.headline
    toolcert report run --junit results.xml --markdown summary.md --badge badge.json
    """  # noqa: D301 - click reads the backspace as "keep these lines as they are"
    return report_run(run, settings)


def report_run(folder: str, settings: Settings) -> int:
    """Read the run, write what was asked for, or print the result."""
    from toolcert.api.report import load_run
    from toolcert.cli.support import report_options
    from toolcert.probes.summary.scorecard import ProbeSummary
    from toolcert.reports.probe.phrases import in_order

    loaded = load_run(folder, prices=settings.config.prices, known=settings.known)
    wanted = report_options.destinations(settings, loaded.job, folder)
    summary = in_order(loaded.summary, settings.sort) if isinstance(loaded.summary, ProbeSummary) else loaded.summary
    if not wanted:
        _print(loaded, settings)
    report_options.write_all(loaded.job, summary, settings, loaded.folder)
    return ExitCode.OK


def _print(loaded: LoadedRun, settings: Settings) -> None:
    from toolcert.probes.summary.scorecard import ProbeSummary
    from toolcert.reports.console.style import Screen
    from toolcert.reports.probe.phrases import in_order
    from toolcert.runs.location import run_name
    from toolcert.verification.summary.figures import VerifySummary

    if isinstance(loaded.summary, ProbeSummary):
        from toolcert.reports.probe.console import print_probe

        summary = in_order(loaded.summary, settings.sort)
        print_probe(summary, Screen(), run=run_name(loaded.folder), examples=_examples(loaded.folder, summary))
    elif isinstance(loaded.summary, VerifySummary):
        from toolcert.reports.verify.console import print_verify

        print_verify(loaded.summary, Screen(), slices=settings.slice, run=run_name(loaded.folder))
    else:
        from toolcert.reports.load.console import print_load

        print_load(loaded.summary, Screen(), run=run_name(loaded.folder))


def _examples(folder: str, summary: ProbeSummary) -> Mapping[str, str]:
    from toolcert.reports.probe.phrases import write_examples

    try:
        return write_examples(Path(folder), summary)
    except OutputError:  # a read-only run can still be reported; its curl lines hold the bodies themselves
        return {}


@click.command(cls=SettingsCommand, short_help="Look at runs in the browser: live, searchable, case by case.")
@click.argument("places", nargs=-1, metavar="[FOLDER|RUN|URL]...")
@use(*names(SERVE))
def view(places: tuple[str, ...], settings: Settings) -> int:
    """Look at runs in the browser: live, searchable, case by case.

    Each place is a run, a folder of runs, `latest`, or the address of a run; without one it is toolcert-runs. The
    viewer serves this machine alone, opens the browser, and writes nothing but the marks that you set. Ctrl-C ends it.

    \b
    toolcert view                                        all runs below toolcert-runs
    toolcert view corvid kestrel                         two runs, side by side
    toolcert view --no-browser --port 8230               print the address, for a tunnel
    """  # noqa: D301 - click reads the backspace as "keep these lines as they are"
    from toolcert.view.guard import is_loopback_host
    from toolcert.view.viewer import Viewer

    viewer = Viewer(
        *places,
        host=settings.host,
        port=settings.port,
        password=settings.view_password,
        prices=settings.config.prices,
    )
    with viewer:
        if not is_loopback_host(settings.host):
            warn("other machines can reach the viewer, and nothing on the way is encrypted; a tunnel is safer.")
        echo(f"The viewer is open: {viewer.first_address}")
        echo("Ctrl-C ends it.", err=True)
        if settings.browser:
            import webbrowser

            webbrowser.open(viewer.first_address)
        with contextlib.suppress(KeyboardInterrupt):
            while True:
                time.sleep(3600)
    return ExitCode.OK
