"""Ctrl-C or SIGTERM: the first lets work in flight end within a moment, the second stops at once."""

from __future__ import annotations

import asyncio
import contextlib
import signal
from collections.abc import Callable, Iterator

GRACE_SECONDS = 5.0
"""Long enough for most answers under way, short enough for a person who pressed a key."""


@contextlib.contextmanager
def on_interrupt(first: Callable[[], None], second: Callable[[], None]) -> Iterator[None]:
    """Call `first` at the first Ctrl-C or SIGTERM and `second` at every later one."""
    loop = asyncio.get_running_loop()
    calls = iter([first])

    def pressed() -> None:
        next(calls, second)()

    signals = [signal.SIGINT]
    if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:  # a program that uses us as a library may have its own way
        signals.append(signal.SIGTERM)
    try:
        for one in signals:
            loop.add_signal_handler(one, pressed)
    except (NotImplementedError, RuntimeError, ValueError):
        # Windows' loop and loops outside the main thread have no signal handlers:
        # there KeyboardInterrupt reaches the caller, and every reported record is on disk already.
        yield
        return
    try:
        yield
    finally:
        for one in signals:
            loop.remove_signal_handler(one)
