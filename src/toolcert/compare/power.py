"""How many rows a comparison needs to find a given difference."""

from __future__ import annotations

import math

from toolcert.compare.significance import binomial_tail
from toolcert.core.errors import UsageError
from toolcert.core.statistics import normal_quantile
from toolcert.core.values import Value

USUAL_NOISE = 0.05
"""Share of rows on which two runs of one deployment decide differently, where nobody measured it."""
FAMILY = 4
"""Tests of one vendor that share alpha: decision, payload, call rate, validity; the plan takes the strictest share."""
_WINDOW = 5.0
"""Standard deviations of the number of discordant rows that are summed over."""
_POINTS = 400
_EXACT_UP_TO = 1000
"""Discordant rows beyond which the approximation has the power asked for within 0.005, and the search takes long."""


class Plan(Value):
    """The rows needed, and what was assumed."""

    rows: int
    effect: float
    """Share of all rows on which the vendor additionally differs."""
    noise: float
    """Share of rows on which two runs of the baseline differ."""
    alpha: float
    power: float
    tests: int
    """Tests that share alpha."""
    measured: bool = False
    """The noise was measured on two runs, not assumed."""


def plan(
    effect: float, *, noise: float = USUAL_NOISE, alpha: float = 0.05, power: float = 0.8, tests: int = FAMILY
) -> Plan:
    """The smallest number of rows that finds `effect` with probability `power`."""
    if not 0 < effect < 1:
        raise UsageError(
            f"--effect {effect:g} is not a share of rows.", remedy="Give one between 0 and 1, such as 0.03."
        )
    if not 0 < power < 1:
        raise UsageError(
            f"--power {power:g} is never reached for sure, and 0 asks for nothing.",
            remedy="Give one between 0 and 1, such as 0.8.",
        )
    rows = _smallest(effect, noise, alpha / tests, power)
    return Plan(rows=rows, effect=effect, noise=noise, alpha=alpha, power=power, tests=tests)


def _smallest(effect: float, noise: float, alpha: float, power: float) -> int:
    """Near the normal approximation; the exact search starts below it."""
    near = _normal_rows(effect, noise, alpha, power)
    if near * (noise + effect) > _EXACT_UP_TO:
        return math.ceil(near)
    rows = max(5, int(0.9 * near))
    while chance_to_find(rows, effect, noise, alpha) < power:
        rows = math.ceil(rows * 1.01) + 1
    return rows


def _normal_rows(effect: float, noise: float, alpha: float, power: float) -> float:
    """The normal approximation with the rows that whole counts cost."""
    discordant = noise + effect
    needed = normal_quantile(1 - alpha) * math.sqrt(discordant)
    needed += normal_quantile(power) * math.sqrt(max(1e-9, discordant - effect * effect))
    return (needed / effect) ** 2 + 1 / effect


def chance_to_find(rows: int, effect: float, noise: float, alpha: float) -> float:
    """Power of the exact test: over the number of discordant rows that may come, how often it rejects.

    Two runs of one deployment differ on a share `noise` of the rows; on half of these the third run
    sides with one of them. A vendor that additionally differs on `effect` adds to its own half only.
    """
    discordant = noise + effect
    share = (noise / 2 + effect) / discordant
    middle, spread = rows * discordant, math.sqrt(rows * discordant * (1 - min(discordant, 1)))
    first, last = max(0, int(middle - _WINDOW * spread)), min(rows, int(middle + _WINDOW * spread) + 1)
    step = max(1, (last - first) // _POINTS)
    total = found = 0.0
    for m in range(first, last + 1, step):
        weight = _binomial_pmf(m, rows, discordant)
        total += weight
        found += weight * binomial_tail(_critical(m, alpha), m, share)
    return found / total if total else 0.0


def _critical(m: int, alpha: float) -> int:
    """The smallest count out of m that a fair coin reaches with probability below alpha."""
    low, high = m // 2, m + 1
    while low < high:
        middle = (low + high) // 2
        if binomial_tail(middle, m, 0.5) < alpha:
            high = middle
        else:
            low = middle + 1
    return low


def _binomial_pmf(k: int, n: int, p: float) -> float:
    if p >= 1:
        return float(k == n)
    log = math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)
    return math.exp(log + k * math.log(p) + (n - k) * math.log1p(-p))
