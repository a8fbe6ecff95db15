"""The command `toolcert`."""

from __future__ import annotations

import os
import sys
from io import TextIOWrapper
from pathlib import Path

import click

from toolcert.cli.errors import show_error, wants_color
from toolcert.cli.lazy import LazyGroup
from toolcert.cli.table import SECTIONS
from toolcert.core.errors import ExitCode, UsageError
from toolcert.version import __version__

CONTEXT = {"help_option_names": ["-h", "--help"], "max_content_width": 110}


@click.group(cls=LazyGroup, sections=SECTIONS, context_settings=CONTEXT)
@click.version_option(__version__, prog_name="toolcert")
@click.pass_context
def cli(ctx: click.Context) -> None:
    """Can I trust this model, at this endpoint, to call tools?"""
    ctx.color = wants_color()


def main() -> None:
    """Entry point of the console script."""
    _need_output()
    _survive_narrow_encodings()
    cli(prog_name="toolcert")


def _need_output() -> None:
    """Refuse to work for nobody: a shell can close our output (`>&-`), and what was measured would be lost."""
    if sys.stderr is None:
        sys.stderr = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 - for as long as we run
    if sys.stdout is None:
        show_error(UsageError("standard output is closed.", remedy="Where it is not wanted, write `> /dev/null`."))
        sys.exit(int(ExitCode.USAGE))


def _survive_narrow_encodings() -> None:
    """A terminal that cannot show a character gets a placeholder instead of ending the program."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")
