"""The two consoles of a command: results on stdout, progress on stderr."""

from __future__ import annotations

import sys

from rich.console import Console

from toolcert.core.events import Event, Handler, RunStopping


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


def announce_stop(console: Console) -> Handler:
    """A handler that answers the first Ctrl-C: otherwise nobody would know that it was heard."""

    def announce(event: Event) -> None:
        if isinstance(event, RunStopping):
            console.print(
                f"Stopping; answers under way have {event.grace:g} s to arrive. Ctrl-C again stops at once.",
                soft_wrap=True,
            )

    return announce
