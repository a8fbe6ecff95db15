"""The two consoles of a command: results on stdout, progress on stderr."""

from __future__ import annotations

import sys
from collections.abc import Callable

import click
from rich.console import Console


def stdout_console() -> Console:
    """For results; plain when piped, and never wrapped by us then."""
    return Console(file=sys.stdout, highlight=False, emoji=False)


def stderr_console() -> Console:
    """For progress."""
    return Console(file=sys.stderr, highlight=False, emoji=False)


def ask_key() -> Callable[[str], str] | None:
    """A hidden prompt for a key, where there is a terminal to show it on."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return None
    return lambda name: str(click.prompt(f"Key for {name}", hide_input=True, err=True))
