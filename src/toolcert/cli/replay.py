"""`toolcert replay`: one row sent again."""

from __future__ import annotations

import click

from toolcert.cli.options import SettingsCommand, use
from toolcert.settings import Settings
from toolcert.settings.options import CONNECTION, names


@click.command(cls=SettingsCommand, short_help="Send one row of a run again and show both answers.")
@click.argument("run", metavar="RUN")
@click.argument("row", metavar="ROW")
@use(
    *names(CONNECTION),
    "model",
    "concurrency",
    "rpm",
    "timeout",
    "connect-timeout",
    "read-timeout",
    "chunk-timeout",
    "retries",
)
def replay(run: str, row: str, settings: Settings) -> int:
    """Send one row of a run again and show both answers.

    It goes to the endpoint the run names, with the key its variable holds; --base-url or --endpoint send it elsewhere,
    and --model to another model.
    """
    from toolcert.cli import replaying

    return replaying.run(run, row, settings)
