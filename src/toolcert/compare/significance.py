"""Exact tests on counts: what chance alone would do. Written out: a science library is too big to load for it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

_EXACT_CONVOLUTION = 3000
"""Up to so many informative rows the exact distribution is summed; beyond, the normal one is close enough."""


def binomial_tail(k: int, n: int, p: float) -> float:
    """P(X >= k) for X of n trials with probability p, to full relative precision."""
    if k <= 0 or p >= 1:
        return 1.0 if k <= n else 0.0
    if k > n or p <= 0:
        return 0.0
    if k <= n * p:  # sum the shorter side
        return max(0.0, 1.0 - _upper_sum(n - k + 1, n, 1 - p))
    return min(1.0, _upper_sum(k, n, p))


def _upper_sum(k: int, n: int, p: float) -> float:
    """Sum of the probabilities of k, k+1, ..., n; terms shrink fast above the mean."""
    if k > n:
        return 0.0
    log_first = _log_choose(n, k) + k * math.log(p) + (n - k) * math.log1p(-p)
    term, total, odds = 1.0, 1.0, p / (1 - p)
    for x in range(k, n):
        term *= (n - x) / (x + 1) * odds
        total += term
        if term < total * 1e-17:
            break
    return math.exp(log_first) * total


def _log_choose(n: int, k: int) -> float:
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)


def mcnemar(first: int, second: int) -> float:
    """Exact two-sided test that two kinds of discordant rows are equally likely."""
    n = first + second
    return 1.0 if n == 0 else min(1.0, 2 * binomial_tail(max(first, second), n, 0.5))


def mcnemar_more(more: int, less: int) -> float:
    """Exact one-sided test that the first kind of discordant rows is not the likelier one."""
    return binomial_tail(more, more + less, 0.5) if more + less else 1.0


def excess(vendor_differs: int, informative: Mapping[int, int], runs: int) -> float:
    """Exact one-sided test that a vendor differs from the reference no more than its further runs do.

    `runs` answers are held against the reference on every row: the vendor's and those of the further
    baseline runs. If they all come from one deployment, then on a row where s of them differ the
    vendor is among those s with probability s/runs. `informative` counts the rows by s (0 < s < runs),
    `vendor_differs` those of them on which the vendor does. With one further run this is the exact
    sign test on the discordant rows.
    """
    total = sum(informative.values())
    if total == 0:
        return 1.0
    chances = {s / runs: rows for s, rows in informative.items() if rows}
    if len(chances) == 1:
        [(chance, rows)] = chances.items()
        return binomial_tail(vendor_differs, rows, chance)
    if total > _EXACT_CONVOLUTION:
        return _normal_tail(vendor_differs, chances)
    return _sum_tail(vendor_differs, chances)


def _sum_tail(k: int, chances: Mapping[float, int]) -> float:
    """P(sum of independent binomials >= k)."""
    distribution = [1.0]
    for chance, rows in chances.items():
        distribution = _convolved(distribution, _binomial_distribution(rows, chance))
    return min(1.0, math.fsum(distribution[k:]))


def _convolved(first: Sequence[float], second: Sequence[float]) -> list[float]:
    result = [0.0] * (len(first) + len(second) - 1)
    for shift, weight in enumerate(first):
        for place, value in enumerate(second, shift):
            result[place] += weight * value
    return result


def _binomial_distribution(n: int, p: float) -> Sequence[float]:
    logs = (_log_choose(n, k) + k * math.log(p) + (n - k) * math.log1p(-p) for k in range(n + 1))
    return [math.exp(value) for value in logs]


def _normal_tail(k: int, chances: Mapping[float, int]) -> float:
    mean = sum(chance * rows for chance, rows in chances.items())
    spread = math.sqrt(sum(chance * (1 - chance) * rows for chance, rows in chances.items()))
    return 0.5 * math.erfc((k - 0.5 - mean) / (spread * math.sqrt(2)))


def holm(p_values: Sequence[float]) -> list[float]:
    """Adjusted p-values: the chance of any false alarm in the whole family stays below alpha."""
    adjusted = [0.0] * len(p_values)
    highest = 0.0
    for rank, place in enumerate(sorted(range(len(p_values)), key=lambda index: p_values[index])):
        highest = max(highest, min(1.0, (len(p_values) - rank) * p_values[place]))
        adjusted[place] = highest
    return adjusted
