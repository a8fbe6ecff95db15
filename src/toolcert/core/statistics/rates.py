"""Rates with intervals, reliability and repeated success. No science library is loaded here."""

from __future__ import annotations

import math
from enum import StrEnum
from functools import lru_cache

from toolcert.core.values import Value

CONFIDENCE = 0.95
PROBE_THRESHOLD = 0.9
"""The rate an ability must reach in a probe run."""
_LIKELY_FROM = 10
"""With fewer runs, a rate above the threshold is not called likely."""


class Interval(Value):
    """Where the true value lies, at the confidence it was computed for."""

    lower: float
    upper: float

    def __contains__(self, value: float) -> bool:
        return self.lower <= value <= self.upper


class Rate(Value, gc=False):
    """k of n; where n is 0 there is no rate and no interval, rather than a rate of zero."""

    k: int = 0
    n: int = 0

    @property
    def value(self) -> float | None:
        return self.k / self.n if self.n else None

    @property
    def interval(self) -> Interval | None:
        return wilson(self.k, self.n)

    @property
    def low(self) -> float | None:
        """The lower end of the interval."""
        return None if (interval := self.interval) is None else interval.lower

    @property
    def high(self) -> float | None:
        """The upper end of the interval."""
        return None if (interval := self.interval) is None else interval.upper

    def __str__(self) -> str:
        return f"{self.k}/{self.n}"

    def __add__(self, other: Rate) -> Rate:
        return Rate(k=self.k + other.k, n=self.n + other.n)


class Certainty(StrEnum):
    """What the interval of a rate says about the threshold t."""

    PROVEN = "proven"
    """The lower bound reaches t."""
    LIKELY = "likely"
    """The rate reaches t over at least ten runs, the lower bound does not."""
    INCONCLUSIVE = "inconclusive"
    UNRELIABLE = "unreliable"
    """Even the upper bound is below t."""


_QUANTILES = {0.95: 1.6448536269514715, 0.975: 1.9599639845400536}


@lru_cache(maxsize=32)
def normal_quantile(p: float) -> float:
    """The value a standard normal variable stays below with probability `p`."""
    if p in _QUANTILES:  # nearly all that is asked for; `statistics` takes long to import
        return _QUANTILES[p]
    from statistics import NormalDist

    return NormalDist().inv_cdf(p)


def wilson(k: int, n: int, confidence: float = CONFIDENCE) -> Interval | None:
    """Wilson score interval of k successes in n trials; None without trials."""
    if not 0 <= k <= n:
        raise ValueError(f"{k} of {n} is not a proportion")
    if n == 0:
        return None
    z = normal_quantile((1 + confidence) / 2)
    rate, spread = k / n, z * z / n
    centre = (rate + spread / 2) / (1 + spread)
    half = z * math.sqrt(rate * (1 - rate) / n + spread / (4 * n)) / (1 + spread)
    # Exact at the ends, where rounding would leave 1e-17 instead of 0.
    return Interval(lower=0.0 if k == 0 else centre - half, upper=1.0 if k == n else centre + half)


def reaches(k: int, n: int, threshold: float) -> bool:
    """Whether the point rate reaches the threshold (inclusive); never without trials."""
    return n > 0 and k / n >= threshold


def certainty(k: int, n: int, threshold: float = PROBE_THRESHOLD, confidence: float = CONFIDENCE) -> Certainty:
    """How certain k of n makes it that the rate is at least `threshold`."""
    interval = wilson(k, n, confidence)
    if interval is None:
        return Certainty.INCONCLUSIVE
    if interval.lower >= threshold:
        return Certainty.PROVEN
    if interval.upper < threshold:
        return Certainty.UNRELIABLE
    return Certainty.LIKELY if reaches(k, n, threshold) and n >= _LIKELY_FROM else Certainty.INCONCLUSIVE


def runs_needed(threshold: float, confidence: float = CONFIDENCE) -> int:
    """How many passing runs in a row raise the lower bound to `threshold`."""
    if not 0 <= threshold < 1:
        raise ValueError(f"no number of runs proves a rate of {threshold}")
    z = normal_quantile((1 + confidence) / 2)
    runs = max(1, math.ceil(threshold * z * z / (1 - threshold) - 1e-9))
    while certainty(runs, runs, threshold, confidence) is not Certainty.PROVEN:
        runs += 1
    return runs


def pass_all(passed: int, n: int, k: int) -> float | None:
    """pass^k: the chance that k runs in a row all pass (unbiased); None with fewer than k runs."""
    if not 0 <= passed <= n or k < 1:
        raise ValueError(f"pass^{k} of {passed}/{n} is not defined")
    return None if k > n else math.comb(passed, k) / math.comb(n, k)


def pass_any(passed: int, n: int, k: int) -> float | None:
    """pass@k: the chance that at least one of k runs passes (unbiased); None with fewer than k runs."""
    if not 0 <= passed <= n or k < 1:
        raise ValueError(f"pass@{k} of {passed}/{n} is not defined")
    return None if k > n else 1 - math.comb(n - passed, k) / math.comb(n, k)
