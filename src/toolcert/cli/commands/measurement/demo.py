"""`toolcert demo`: eight simulated models and, if one is installed, a real one, from endpoint to report."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from toolcert.cli.support.click_options import SettingsCommand, use
from toolcert.cli.support.exit import echo
from toolcert.cli.support.run_console import ProbeConsole, print_probe_result
from toolcert.core.errors import ExitCode
from toolcert.settings import Settings
from toolcert.settings.options import names
from toolcert.settings.options.output import REPORTS

if TYPE_CHECKING:
    from toolcert.api.endpoint import Endpoint


@click.command(cls=SettingsCommand)
@click.option("--local/--no-local", default=True, help="Also probe a real small model if one is installed.")
@use("suite", "iterations", "sort", "output", "quiet", *names(REPORTS))
def demo(*, local: bool, settings: Settings) -> int:
    """Probe simulated models, and a real small one, on this machine.

    Eight simulated models serve on a loopback port and differ visibly: one does everything right, the others
    break in ways seen in the field. With the extra `local`, SmolLM2 answers beside them.
    """
    return run_demo(settings, local=local)


_MAX_TOKENS = 256
"""Enough for every answer here. The small real model sometimes does not stop, and takes a minute for 1,000 tokens."""


def run_demo(settings: Settings, *, local: bool) -> int:
    """Probe the demo's endpoints and write a page about it."""
    from toolcert.api.probe import ProbeOptions, probe
    from toolcert.cli.support import report_options
    from toolcert.reports.formats import write_reports
    from toolcert.reports.probe.phrases import in_order
    from toolcert.simulate.local_model import missing_part

    report_options.check_reports(settings, "probe")
    if local and (missing := missing_part()) is not None:
        echo(f"Without a real model: {missing}.", err=True)
    options = ProbeOptions(
        suite=settings.suite, iterations=settings.iterations, output=settings.output, max_tokens=_MAX_TOKENS
    )
    with demo_endpoints(local=local) as endpoints, ProbeConsole("demo") as console:
        handlers = [] if settings.quiet else [console]
        result = probe(*endpoints, options=options, handlers=handlers, confirm=console.confirm)
    page = settings.html or str(Path(result.folder) / "report.html")
    summary = in_order(result.summary, settings.sort)
    shows = report_options.shows_result(settings, "probe")
    if shows:
        print_probe_result(result.folder, summary)
    report_options.write_all("probe", summary, settings, result.folder)
    if settings.html is None:
        write_reports("probe", summary, {"html": page})
    if shows:
        report_options.print_page_path(page)
    return ExitCode.INTERRUPTED if result.interrupted else ExitCode.OK


_LATENCY = "0.02-0.12"
"""Seconds; enough for the progress display and the latency charts to have something to show."""
_LOCAL_TIMEOUT = 60.0


@contextlib.contextmanager
def demo_endpoints(*, local: bool = True) -> Iterator[list[Endpoint]]:
    """The endpoints of the demo, served inside the context; the real model is left out if it is not installed."""
    from toolcert.api.endpoint import Endpoint
    from toolcert.simulate import Vendor
    from toolcert.simulate.local_model import local_model, missing_part
    from toolcert.simulate.persona import DEMO

    with contextlib.ExitStack() as stack:
        vendor = stack.enter_context(Vendor(models=DEMO, latency=_LATENCY))
        endpoints = [Endpoint(vendor.url, name="simulated", concurrency=16)]
        if local and missing_part() is None:
            url = stack.enter_context(local_model())
            endpoints.append(Endpoint(url, name="local", concurrency=2, timeout=_LOCAL_TIMEOUT))
        yield endpoints
