"""Tests of a change that hold for small counts, and many of them together without more false alarms.

Of many tests on counts most cannot reject at all: a probe that passes every time in both runs has nothing to show.
What a test can reach at best depends on its margins alone, so those that cannot reach the level are left out before
Holm's method shares alpha among the others (Tarone 1990). The chance of any false alarm stays below alpha.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeAlias

from toolcert.core.statistics.p_values import holm, mcnemar_more
from toolcert.core.statistics.rates import Rate
from toolcert.history.last_good import loss_p, passes_if_unchanged

Table: TypeAlias = tuple[Rate, Rate]
"""One ability before and after."""
_EXACT_UP_TO = 2000
"""Cases of both runs; beyond, the normal distribution is close and much faster."""


class OneSided(NamedTuple):
    """A one-sided test and the smallest p-value that its margins allow."""

    p: float
    least: float


def both_sides(tables: Sequence[Table]) -> tuple[OneSided, OneSided]:
    """Whether the second run passes less often, and whether more often, by the exact test that the history uses."""
    tables = [(before, after) for before, after in tables if before.n and after.n]
    passed = sum(after.k for _, after in tables)
    lowest = sum(max(0, before.k + after.k - before.n) for before, after in tables)
    highest = sum(min(after.n, before.k + after.k) for before, after in tables)
    if sum(before.n + after.n for before, after in tables) > _EXACT_UP_TO:
        below = _normal(tables)
        return (
            OneSided(below(passed + 0.5), below(lowest + 0.5)),
            OneSided(1 - below(passed - 0.5), 1 - below(highest - 0.5)),
        )
    chances = passes_if_unchanged(tables)
    return (
        OneSided(min(1.0, math.fsum(chances[: passed + 1])), chances[lowest]),
        OneSided(min(1.0, math.fsum(chances[passed:])), chances[highest]),
    )


def paired_loss_test(lost: int, gained: int) -> OneSided:
    """The same for pairs: McNemar's exact test, one-sided."""
    return OneSided(mcnemar_more(lost, gained), math.ldexp(1.0, -min(1000, lost + gained)))


def adjusted(tests: Sequence[OneSided], alpha: float) -> list[float | None]:
    """P-values adjusted for each other; None for a test that could not reject whatever was seen."""
    able = _able(tests, alpha)
    values = iter(holm([test.p for test, shows in zip(tests, able, strict=True) if shows]))
    return [next(values) if shows else None for shows in able]


def _able(tests: Sequence[OneSided], alpha: float) -> list[bool]:
    for shared in range(1, len(tests) + 1):
        able = [test.least <= alpha / shared for test in tests]
        if sum(able) <= shared:
            return able
    return [False] * len(tests)


def _normal(tables: Sequence[Table]) -> Callable[[float], float]:
    """The chance of at most this many passes, by the normal distribution."""
    mean = variance = 0.0
    for before, after in tables:
        tries, share = before.n + after.n, (before.k + after.k) / (before.n + after.n)
        mean += after.n * share
        variance += after.n * before.n * share * (1 - share) / max(1, tries - 1)
    return lambda value: _below(value, mean, variance) if variance > 0 else 1.0


def _below(value: float, mean: float, variance: float) -> float:
    return 0.5 * math.erfc((mean - value) / math.sqrt(2 * variance))


def failures_shown(n: int, alpha: float) -> int | None:
    """The fewest failures of n that show a loss if all n passed before; None if no number does."""
    if alpha <= 0:
        return None
    if n > _EXACT_UP_TO // 2:
        return _fewest_of_many(alpha)
    return next((bad for bad in range(1, n + 1) if loss_p([(Rate(k=n, n=n), Rate(k=n - bad, n=n))]) <= alpha), None)


def _fewest_of_many(alpha: float) -> int:
    """With equal sides each failure falls on the later one with probability one half."""
    return math.ceil(-math.log2(alpha))
