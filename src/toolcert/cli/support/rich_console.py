"""The rich consoles of a command: results on stdout, progress on stderr. Importing this module loads rich."""

from __future__ import annotations

import sys
from collections.abc import Callable

from rich.console import Console


class HonestConsole(Console):
    """A console that tells when its reader has gone, instead of ending the program as if a check had failed."""

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError


def stdout_console() -> Console:
    """For results; plain when piped, and never wrapped by us then."""
    return HonestConsole(file=sys.stdout, highlight=False, emoji=False)


def stderr_console() -> Console:
    """For progress."""
    return HonestConsole(file=sys.stderr, highlight=False, emoji=False)


def say_on(console: Console) -> Callable[[str], None]:
    """Says lines on a console, also while something is drawn there."""
    return lambda line: console.print(line, soft_wrap=True, markup=False)
