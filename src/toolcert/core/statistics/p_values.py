"""P-values: exact tests on counts, the rank test, Holm's correction for many tests, and how a p-value is written.

Written out: a science library is too big to load for it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

_SMALLEST = 1e-300


def binomial_tail(k: int, n: int, p: float = 0.5) -> float:
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
    term, total, odds = 1.0, 1.0, p / (1 - p)
    for x in range(k, n):
        term *= (n - x) / (x + 1) * odds
        total += term
        if term < total * 1e-17:
            break
    return binomial_point(k, n, p) * total


def binomial_point(k: int, n: int, p: float) -> float:
    """P(X = k) for X of n trials with probability p, neither 0 nor 1."""
    return math.exp(log_choose(n, k) + k * math.log(p) + (n - k) * math.log1p(-p))


def log_choose(n: int, k: int) -> float:
    """Logarithm of the binomial coefficient; minus infinity outside its range."""
    return -math.inf if not 0 <= k <= n else math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)


def mcnemar(first: int, second: int) -> float:
    """Exact two-sided test that two kinds of discordant rows are equally likely."""
    n = first + second
    return 1.0 if n == 0 else min(1.0, 2 * binomial_tail(max(first, second), n))


def mcnemar_more(more: int, less: int) -> float:
    """Exact one-sided test that the first kind of discordant rows is not the likelier one."""
    return binomial_tail(more, more + less) if more + less else 1.0


def fisher_tail(k: int, n: int, k_before: int, n_before: int) -> float:
    """Fisher's exact one-sided p that k of n is more than k_before of n_before only by chance."""
    every, hits = n + n_before, k + k_before
    whole = log_choose(every, hits)
    terms = (
        math.exp(log_choose(n, some) + log_choose(n_before, hits - some) - whole) for some in range(k, min(n, hits) + 1)
    )
    return min(1.0, math.fsum(terms))


def rank_sum(before: Sequence[float], after: Sequence[float]) -> float:
    """One-sided p that `after` is not larger: the rank test of Mann and Whitney with ties; 1 without values."""
    n, m = len(before), len(after)
    if not n or not m:
        return 1.0
    order = sorted([(value, 0) for value in before] + [(value, 1) for value in after])
    ranks, tied, start = 0.0, 0.0, 0
    while start < n + m:
        end = start
        while end < n + m and order[end][0] == order[start][0]:
            end += 1
        ranks += sum(side for _, side in order[start:end]) * (start + 1 + end) / 2
        tied += (end - start) ** 3 - (end - start)
        start = end
    total = n + m
    variance = n * m / 12 * (total + 1 - tied / (total * (total - 1)))
    if variance <= 0:
        return 1.0
    above = ranks - m * (m + 1) / 2 - n * m / 2
    return 0.5 * math.erfc((above - 0.5) / math.sqrt(2 * variance))


def holm(p_values: Sequence[float]) -> list[float]:
    """Adjusted p-values: the chance of any false alarm in the whole family stays below alpha."""
    adjusted = [0.0] * len(p_values)
    highest = 0.0
    for rank, place in enumerate(sorted(range(len(p_values)), key=lambda index: p_values[index])):
        highest = max(highest, min(1.0, (len(p_values) - rank) * p_values[place]))
        adjusted[place] = highest
    return adjusted


def p_words(value: float) -> str:
    """`= 0.029`, `= 2.2e-07`; no p-value is zero."""
    if value < _SMALLEST:
        return f"< {_SMALLEST:.0e}"
    return f"= {value:.3f}" if value >= 0.001 else f"= {value:.1e}"
