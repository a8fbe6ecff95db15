"""`toolcert bless`: keep a run as a named baseline."""

from __future__ import annotations

from pathlib import Path

import click

from toolcert.cli.support.click_options import SettingsCommand, use
from toolcert.cli.support.exit import echo
from toolcert.settings import Settings


@click.command(cls=SettingsCommand, short_help="Keep a run as a named baseline to compare with.")
@click.argument("run", metavar="RUN", type=click.Path(path_type=Path))
@click.option("--as", "name", metavar="NAME", required=True, help="The name of the baseline.")
@use("baselines")
def bless(run: Path, name: str, settings: Settings) -> None:
    """Keep a run as a named baseline to compare with.

    Its digest, dataset and parameters are kept beside its name; an earlier baseline of that name is replaced.
    A comparison with a baseline that has changed since, or that was asked in another way, is refused unless --force
    is given.

    \b
    toolcert bless toolcert-runs/20260624-0647-7f3a21c9 --as official
    toolcert compare --baseline official --vendor toolcert-runs/20260625-0812-91d2c0aa
    """  # noqa: D301 - click reads the backspace as "keep these lines as they are"
    from toolcert.api.compare import bless as bless_run

    blessing, replaced = bless_run(run, name, settings.baselines)
    echo(f"{blessing.name} is {blessing.path} (sha256 {blessing.digest[:12]}).")
    if replaced is not None:
        echo(f"It replaces {replaced.path} (sha256 {replaced.digest[:12]}).")
