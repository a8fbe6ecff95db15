"""What a command says to the person at the terminal: the question before many requests, and the answer to Ctrl-C."""

from __future__ import annotations

import contextlib
import signal
import sys
from collections.abc import Callable, Iterator, Sequence

import click

from toolcert.core.errors import UsageError
from toolcert.core.events import Event, Handler, RunStopping
from toolcert.core.targets import EndpointSpec
from toolcert.reports.display_text import plural
from toolcert.settings.web_address import is_loopback

MANY_REQUESTS = 500
"""From here on a run against somebody else's machine is worth a question: it costs money."""


def confirm_requests(planned: int, endpoints: Sequence[EndpointSpec], *, yes: bool) -> None:
    """Ask before many requests go to somebody else's machine."""
    elsewhere = [spec for spec in endpoints if not is_loopback(spec.base_url)]
    if yes or not elsewhere or planned <= MANY_REQUESTS:
        return
    question = f"This sends up to {plural(planned, 'request')} to {elsewhere[0].base_url or elsewhere[0].name}"
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise UsageError(f"{question}.", remedy="Add --yes if that is meant, or set --max-requests.")
    with _interruptible():
        if not click.confirm(f"{question}. Go on?", err=True):
            raise click.Abort


@contextlib.contextmanager
def _interruptible() -> Iterator[None]:
    """Let Ctrl-C end a question at once: the event loop's own handler would wait for the answer first."""
    former = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, former)


def announce_stop(say: Callable[[str], object]) -> Handler:
    """A handler that answers the first Ctrl-C: otherwise nobody would know that it was heard."""

    def announce(event: Event) -> None:
        if isinstance(event, RunStopping):
            say(f"Stopping; answers under way have {event.grace:g} s to arrive. Ctrl-C again stops at once.")

    return announce
