"""How long a vendor takes: a fixed time, a range, or a long-tailed distribution."""

from __future__ import annotations

import random

from toolcert.core.errors import UsageError
from toolcert.core.values import Value


class Latency(Value):
    """Seconds before an answer begins."""

    low: float = 0.0
    high: float = 0.0
    """Equal to `low` for a fixed time; otherwise the time lies between."""
    tail: float = 0.0
    """Spread of a log-normal factor around it: 0.5 makes a few answers several times as slow."""

    def seconds(self, dice: random.Random) -> float:
        """The time for one answer."""
        base = self.low if self.high <= self.low else dice.uniform(self.low, self.high)
        return base * dice.lognormvariate(0.0, self.tail) if self.tail else base


def latency(given: float | str | Latency) -> Latency:
    """`0.2`, `"0.1-0.5"` (a range) or `"0.2~0.5"` (0.2 with a tail of 0.5)."""
    if isinstance(given, Latency):
        return given
    text = str(given)
    try:
        middle, _, tail = text.partition("~")
        low, _, high = middle.partition("-")
        return Latency(low=float(low), high=float(high or low), tail=float(tail or 0))
    except ValueError as problem:
        raise UsageError(
            f"{text!r} is no latency.", remedy="Write seconds (0.2), a range (0.1-0.5) or a tail (0.2~0.5)."
        ) from problem
