"""Options of a load run: how many requests at a time, and for how long."""

from __future__ import annotations

from toolcert.settings.option import Duration, Option, Switch, Whole

_WHAT = "Load"
LEVEL = 16
"""Requests at a time by default: reports of calls that break under load begin there."""
PAIRS = 750
"""Enough to find 2 % corrupted calls in 98 of 100 runs."""

LOAD: tuple[Option, ...] = (
    Option(
        name="at-load",
        group=_WHAT,
        kind=Whole(2, 4096),
        help="Ask the same questions alone and this many at a time, to see whether calls break under load; "
        f"load does so with {LEVEL} by default, probe only with this option.",
    ),
    Option(
        name="pairs",
        group=_WHAT,
        kind=Whole(1, 100_000),
        default=PAIRS,
        help="Number of questions that are asked both alone and under load.",
    ),
    Option(
        name="for",
        group=_WHAT,
        kind=Duration(0.1),
        in_file=False,
        help="Then keep up the load for this long (90s, 10m, 1h), and compare its first third with its last.",
    ),
    Option(
        name="bisect",
        group=_WHAT,
        kind=Switch(),
        default=True,
        help="Where calls break, find the number of requests at a time from which on they do.",
    ),
)
