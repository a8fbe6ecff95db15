"""What `toolcert demo` does once its options are read."""

from __future__ import annotations

from pathlib import Path

import click
from rich.console import Console

from toolcert.api.demo import demo_endpoints
from toolcert.api.probing import DEFAULT_SUITE, ProbeOptions, ProbeRun, probe_job
from toolcert.api.running import wait_for
from toolcert.cli import reporting
from toolcert.cli.consoles import say_on, stderr_console, stdout_console
from toolcert.cli.probing import models_done
from toolcert.cli.stopping import announce_stop
from toolcert.core.errors import ExitCode
from toolcert.reports.console_probe import print_probe
from toolcert.reports.examples import write_examples
from toolcert.reports.formats import write_reports
from toolcert.reports.ordering import in_order
from toolcert.reports.progress import progress
from toolcert.settings import Settings
from toolcert.simulate.local_model import missing_part

_MAX_TOKENS = 256
"""Enough for every answer here; the small real model sometimes goes on without end, a minute for a thousand tokens."""


def run(settings: Settings, *, local: bool) -> int:
    """Probe the demo's endpoints and write a page about it."""
    reporting.prepare(settings, "probe")
    if local and (missing := missing_part()) is not None:
        click.echo(f"Without a real model: {missing}.", err=True)
    result = wait_for(_run(settings, local=local))
    page = settings.html or str(Path(result.folder) / "report.html")
    summary = in_order(result.summary, settings.sort)
    speaks = reporting.speaks(settings, "probe")
    if speaks:
        examples = write_examples(Path(result.folder), summary)
        print_probe(summary, stdout_console(), run=result.folder, examples=examples)
    reporting.write("probe", summary, settings, result.folder)
    if settings.html is None:
        write_reports("probe", summary, {"html": page})
    if speaks:
        reporting.tell_page(page)
    return ExitCode.INTERRUPTED if result.interrupted else ExitCode.OK


async def _run(settings: Settings, *, local: bool) -> ProbeRun:
    options = ProbeOptions(
        suite=settings.suite or DEFAULT_SUITE,
        iterations=settings.iterations,
        output=settings.output,
        max_tokens=_MAX_TOKENS,
    )
    with demo_endpoints(local=local) as endpoints:
        async with probe_job(endpoints, options) as job:
            console = Console(quiet=True) if settings.quiet else stderr_console()
            title = f"demo  run {job.manifest.run}"
            with progress(title, console, extra=lambda: models_done(job)) as display:
                return await job.run([display, announce_stop(say_on(console))])
