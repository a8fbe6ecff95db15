"""`toolcert daily`: the run that watches."""

from __future__ import annotations

import click

from toolcert.cli.connecting import endpoint_arguments
from toolcert.cli.options import SettingsCommand, use
from toolcert.settings import Settings
from toolcert.settings.options import ASKING, CONNECTION, OUTPUT, PROBING, names
from toolcert.settings.options.remembering import DAILY

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
    from toolcert.cli import watching

    return watching.run(endpoints, settings)
