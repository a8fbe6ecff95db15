"""The answer to Ctrl-C."""

from __future__ import annotations

from collections.abc import Callable

from toolcert.core.events import Event, Handler, RunStopping


def announce_stop(say: Callable[[str], object]) -> Handler:
    """A handler that answers the first Ctrl-C: otherwise nobody would know that it was heard."""

    def announce(event: Event) -> None:
        if isinstance(event, RunStopping):
            say(f"Stopping; answers under way have {event.grace:g} s to arrive. Ctrl-C again stops at once.")

    return announce
