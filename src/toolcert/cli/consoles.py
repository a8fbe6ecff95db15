"""The two consoles of a command: results on stdout, progress on stderr."""

from __future__ import annotations

import sys

from rich.console import Console


def stdout_console() -> Console:
    """For results; plain when piped, and never wrapped by us then."""
    return Console(file=sys.stdout, highlight=False, emoji=False)


def stderr_console() -> Console:
    """For progress."""
    return Console(file=sys.stderr, highlight=False, emoji=False)
