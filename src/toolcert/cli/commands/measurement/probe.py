"""`toolcert probe`: short conversations with every model at one or more endpoints."""

from __future__ import annotations

from collections.abc import Sequence

import click

from toolcert.cli.support import run_console
from toolcert.cli.support.click_options import SettingsCommand, chosen_endpoints, endpoint_arguments, use
from toolcert.core.errors import ExitCode
from toolcert.core.events import Handler
from toolcert.reports.display_text import plural
from toolcert.settings import Settings
from toolcert.settings.options import names
from toolcert.settings.options.endpoint import CONNECTION, REQUESTS
from toolcert.settings.options.output import OUTPUT
from toolcert.settings.options.probe import LOAD, PROBE


@click.command(cls=SettingsCommand)
@endpoint_arguments
@use(
    *names(CONNECTION, REQUESTS, PROBE, LOAD[:2], OUTPUT),
    "known",
    "history",
    "save-history",
    "view",
    "browser",
    "days",
    "shard",
)
def probe(endpoints: tuple[str, ...], settings: Settings) -> int:
    """Probe models: do they call tools correctly, and how reliably?

    ENDPOINT is an address, a preset (see `toolcert endpoints`) or a name from toolcert.toml.

    \b
    toolcert probe http://localhost:8000                 every model of a local server
    toolcert probe my-vllm -m 'qwen*' -n 20              some models, twenty times each
    toolcert probe openrouter groq -m '*llama*' --html r.html   the same model at two vendors
    """  # noqa: D301 - click reads the backspace as "keep these lines as they are"
    if settings.list_probes:
        return list_probes()
    return probe_endpoints(endpoints, settings)


def probe_endpoints(names: Sequence[str], settings: Settings) -> int:
    """Plan, ask, report; the exit code of the command."""
    options = run_console.probe_options(settings)
    if settings.save_history:
        from toolcert.history.store import HistoryStore

        HistoryStore(settings.history).close()  # one that cannot be used is refused before any request is paid for
    endpoints = chosen_endpoints(settings, names)
    if settings.dry_run:
        run_console.print_probe_plan(endpoints, options)
        return ExitCode.OK
    from toolcert.api.probe import probe as probe_models

    run_console.print_upload_note(settings)
    reporting = run_console.reporting_nothing(endpoints, settings)
    with run_console.viewer(settings) as views:
        with reporting, run_console.ProbeConsole("probe", yes=settings.yes) as console:
            handlers: list[Handler] = views if settings.quiet else [*views, console]
            result = probe_models(*endpoints, options=options, handlers=handlers, confirm=console.confirm)
        return run_console.conclude_probe(result, settings)


def list_probes() -> int:
    """Suites and probes with what they cost and mean."""
    from toolcert.probes.base import all_probes
    from toolcert.probes.suites import SUITES
    from toolcert.reports.console.style import Line, Screen

    screen = Screen()
    blocks = [[line for suite in SUITES.values() for line in screen.entry(f"suite {suite.name:<8}", suite.title)]]
    group = ""
    for entry in all_probes():
        if entry.group != group:
            group = entry.group
            blocks.append([Line(group, "bold")])
        needs = f" (needs {', '.join(entry.needs)})" if entry.needs else ""
        text = f"{entry.title}; {plural(entry.requests, 'request')}{needs}"
        blocks[-1] += screen.entry(f"  {entry.name:<20}", text)
    screen.print(*blocks)
    return ExitCode.OK
