"""How many connections this process may open: each takes a file descriptor, and systems allow few of them."""

from __future__ import annotations

import sys

_OWN = 64
"""Descriptors for everything else: logs, the history, libraries, the event loop."""


def allow_connections(wanted: int) -> int:
    """Raise the soft limit where needed and possible; how many connections may be open, at most `wanted`."""
    if sys.platform == "win32":
        return wanted  # sockets are no files there
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    unlimited = resource.RLIM_INFINITY
    needed = wanted + _OWN
    if soft != unlimited and soft < needed:
        raised = needed if hard == unlimited else min(needed, hard)
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, raised), hard))
        except (OSError, ValueError):  # some systems refuse even what they announce
            raised = soft
        soft = max(soft, raised)
    return wanted if soft == unlimited else max(1, min(wanted, soft - _OWN))
