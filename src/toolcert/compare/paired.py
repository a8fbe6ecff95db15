"""The difference of two rates measured on the same rows, with an interval that stays honest at the ends."""

from __future__ import annotations

import math
from collections.abc import Callable
from enum import StrEnum

from toolcert.compare.significance import mcnemar
from toolcert.core.statistics import Interval, normal_quantile
from toolcert.core.values import Value

_STEPS = 50
"""Halvings of the search for a bound: a millionth of a millionth, more than any count carries."""
_MOST_ROWS = 100_000_000
"""Where even so many rows would not decide, no number is named."""


class MarginOutcome(StrEnum):
    """Whether a rate is at most the margin worse."""

    PASSED = "pass"
    FAILED = "fail"
    INCONCLUSIVE = "inconclusive"


class Discordance(Value):
    """Rows on which two answers to the same question differ in one fact, out of n."""

    gained: int
    """Rows on which only the vendor has it."""
    lost: int
    """Rows on which only the baseline has it."""
    n: int

    @property
    def difference(self) -> float | None:
        return (self.gained - self.lost) / self.n if self.n else None


def tango(rows: Discordance, confidence: float) -> Interval | None:
    """Tango's score interval of the paired difference; None without rows.

    Unlike the usual one it does not shrink to nothing when no row differs.
    """
    if rows.n == 0:
        return None
    z = normal_quantile((1 + confidence) / 2)
    difference = (rows.gained - rows.lost) / rows.n
    return Interval(lower=_bound(rows, z, difference, -1.0), upper=_bound(rows, -z, difference, 1.0))


def _bound(rows: Discordance, z: float, inside: float, outside: float) -> float:
    """Where the score statistic, which falls as the assumed difference grows, meets z."""
    for _ in range(_STEPS):
        middle = (inside + outside) / 2
        if (score(rows, middle) < z) == (z > 0):
            inside = middle
        else:
            outside = middle
    return (inside + outside) / 2


def score(rows: Discordance, difference: float) -> float:
    """How many standard errors the counts lie above an assumed difference (Tango 1998)."""
    gained, lost, n = rows.gained, rows.lost, rows.n
    a = 2 * n
    b = -gained - lost + (2 * n - gained + lost) * difference
    c = -lost * difference * (1 - difference)
    rate = (math.sqrt(max(0.0, b * b - 4 * a * c)) - b) / (2 * a)
    variance = n * (2 * rate + difference * (1 - difference))
    distance = gained - lost - n * difference
    if variance <= 0:
        return 0.0 if distance == 0 else math.copysign(math.inf, distance)
    return distance / math.sqrt(variance)


def judge_margin(interval: Interval | None, margin: float) -> MarginOutcome:
    """Passed when a loss beyond the margin is excluded, failed when anything better is."""
    if interval is None:
        return MarginOutcome.INCONCLUSIVE
    if interval.lower > -margin:
        return MarginOutcome.PASSED
    return MarginOutcome.FAILED if interval.upper < -margin else MarginOutcome.INCONCLUSIVE


def rows_to_decide(rows: Discordance, margin: float, confidence: float) -> int | None:
    """How many rows would decide if the rates stay as they are; None where no sensible number would."""
    undecided = MarginOutcome.INCONCLUSIVE
    return _fewest(rows, lambda scaled: judge_margin(tango(scaled, confidence), margin) is not undecided)


def rows_to_show(rows: Discordance, level: float) -> int | None:
    """How many rows would show at that level that the loss is no chance, if the rates stay as they are."""
    return _fewest(rows, lambda scaled: mcnemar(scaled.lost, scaled.gained) < level)


def _fewest(rows: Discordance, enough: Callable[[Discordance], bool]) -> int | None:
    """The number of rows, to a hundredth, at which counts in these proportions are enough."""
    if rows.n == 0:
        return None
    low, high = rows.n, rows.n
    while not enough(_scaled(rows, high)):
        low, high = high, high * 2
        if high > _MOST_ROWS:
            return None
    while high - low > max(1, high // 100):
        middle = (low + high) // 2
        if enough(_scaled(rows, middle)):
            high = middle
        else:
            low = middle
    return high


def _scaled(rows: Discordance, n: int) -> Discordance:
    return Discordance(gained=round(rows.gained * n / rows.n), lost=round(rows.lost * n / rows.n), n=n)
