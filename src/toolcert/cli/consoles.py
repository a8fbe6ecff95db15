"""The two consoles of a command: results on stdout, progress on stderr."""

from __future__ import annotations

import sys

from rich.console import Console

from toolcert.core.events import Event, Handler, RunStopping


def stdout_console() -> Console:
    """For results; plain when piped, and never wrapped by us then."""
    return Console(file=sys.stdout, highlight=False, emoji=False)


def stderr_console() -> Console:
    """For progress."""
    return Console(file=sys.stderr, highlight=False, emoji=False)


def announce_stop(console: Console) -> Handler:
    """A handler that answers the first Ctrl-C: otherwise nobody would know that it was heard."""

    def announce(event: Event) -> None:
        if isinstance(event, RunStopping):
            console.print(
                f"Stopping; answers under way have {event.grace:g} s to arrive. Ctrl-C again stops at once.",
                soft_wrap=True,
            )

    return announce
