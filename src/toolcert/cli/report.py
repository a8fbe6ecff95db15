"""`toolcert report`: a finished run in any format, at any time."""

from __future__ import annotations

import click

from toolcert.cli.options import SettingsCommand, use
from toolcert.settings import Settings
from toolcert.settings.options import REPORTS, names


@click.command(cls=SettingsCommand, short_help="Write reports about a finished run, in any format.")
@click.argument("run", metavar="RUN")
@use("sort", "slice", *names(REPORTS), "history", "days")
def report(run: str, settings: Settings) -> int:
    """Write reports about a finished run, in any format; nothing is sent.

    RUN is the folder of a probe or verify run, or a results.jsonl of the older verifiers. Without a format the
    result is printed as it was at the end of the run. With --history the page of a probe run shows what was before.

    \b
    toolcert report toolcert-runs/20260624-0647-7f3a21c9 --html page.html
    toolcert report run --json - | jq .summary.headline
    toolcert report run --junit results.xml --markdown summary.md --badge badge.json
    """  # noqa: D301 - click reads the backspace as "keep these lines as they are"
    from toolcert.cli import rendering

    return rendering.run(run, settings)
