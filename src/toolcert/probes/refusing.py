"""Requests that ought to be refused."""

from __future__ import annotations

from toolcert.probes.base import Turn

_PASSING = frozenset({408, 425, 429})
"""Statuses that refuse for now and not for what was asked."""


def refuses(turn: Turn) -> bool:
    """Whether the server refused the request itself, with a 4xx that asking again would not change."""
    status = turn.exchange.status
    return status is not None and 400 <= status < 500 and status not in _PASSING
