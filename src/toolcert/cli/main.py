"""The command `toolcert`."""

from __future__ import annotations

import sys
from io import TextIOWrapper

import click

from toolcert.cli.errors import wants_color
from toolcert.cli.lazy import LazyGroup
from toolcert.cli.table import SECTIONS
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
    _survive_narrow_encodings()
    cli(prog_name="toolcert")


def _survive_narrow_encodings() -> None:
    """A terminal that cannot show a character gets a placeholder instead of ending the program."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")
