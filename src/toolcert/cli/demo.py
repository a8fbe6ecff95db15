"""`toolcert demo`: the whole way from an endpoint to a report, without anything of yours."""

from __future__ import annotations

import click

from toolcert.cli.options import SettingsCommand, use
from toolcert.settings import Settings
from toolcert.settings.options import REPORTS, names


@click.command(cls=SettingsCommand)
@click.option("--local/--no-local", default=True, help="Also probe a real small model, where one is installed.")
@use("suite", "iterations", "sort", "output", "quiet", *names(REPORTS))
def demo(*, local: bool, settings: Settings) -> int:
    """Probe simulated models, and a real small one, on this machine.

    Eight simulated models serve on a loopback port and differ visibly: one does everything right, the others
    break in ways seen in the field. With the extra `local`, SmolLM2 answers beside them.
    """
    from toolcert.cli import demonstrating

    return demonstrating.run(settings, local=local)
