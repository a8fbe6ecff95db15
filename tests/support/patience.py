"""Waits for a state and not for a time: a slow machine gets minutes, a fast one loses nothing."""

from __future__ import annotations

import random
import socket
import time
from collections.abc import Callable
from typing import TypeVar

from toolcert.simulate import Vendor
from toolcert.simulate.backend import Latency

T = TypeVar("T")
PATIENCE = 180.0
"""Seconds; what takes longer hangs."""


def until(true: Callable[[], T], what: str = "what is waited for comes") -> T:
    """Wait until something is so, and give what was found."""
    deadline = time.monotonic() + PATIENCE
    while not (found := true()):
        assert time.monotonic() < deadline, f"{what} within {PATIENCE:.0f} s"
        time.sleep(0.02)
    return found


def hurry(vendor: Vendor) -> None:
    """Let a slow vendor answer at once from now on."""
    vendor.backend._latency = Latency()


def free_port() -> int:
    """A port to be named beforehand, from below those that systems give away and above those of Ray's workers."""
    while True:
        port = random.SystemRandom().randrange(20_000, 32_000)
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                continue
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
        return port
