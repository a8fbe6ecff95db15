"""Intervals for figures that are no proportions: resample the prompts, repeats of a prompt together."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from random import Random

from toolcert.core.statistics import Interval

RESAMPLES = 2000
_EXACT_MEAN = 200.0
"""Binomial draws with a smaller mean are exact; above, the normal distribution is indistinguishable."""
_MOST_DRAWS = 1_000_000
"""Bounds the time where very many prompts are repeated in different ways; still hundreds of resamples."""


def bootstrap(
    clusters: Sequence[tuple[Sequence[float], int]],
    figures: Callable[[Sequence[float]], Sequence[float | None]],
    *,
    confidence: float,
    seed: int,
) -> list[Interval | None]:
    """Percentile intervals of the figures computed from summed vectors; None for those that never exist.

    A cluster is a prompt's vector (its share of the sums) and how many prompts have the same one. Drawing
    as many prompts as there are, with replacement, is one multinomial draw over the distinct vectors.
    """
    rng = Random(seed)  # noqa: S311 - resampling, not secrecy
    total = sum(count for _, count in clusters)
    if not total:
        return [None] * len(figures([0.0] * 4))
    resamples = max(200, min(RESAMPLES, _MOST_DRAWS // len(clusters)))
    drawn = [figures(_resampled(clusters, total, rng)) for _ in range(resamples)]
    return [
        _percentiles([value for value in values if value is not None], confidence)
        for values in zip(*drawn, strict=True)
    ]


def _resampled(clusters: Sequence[tuple[Sequence[float], int]], total: int, rng: Random) -> list[float]:
    sums = [0.0] * len(clusters[0][0])
    left, mass = total, total
    for vector, count in clusters:
        if not left:
            break
        times = left if count == mass else binomial(left, count / mass, rng)
        left -= times
        mass -= count
        if times:
            for place, part in enumerate(vector):
                sums[place] += times * part
    return sums


def binomial(n: int, p: float, rng: Random) -> int:
    """One draw of the number of successes in n trials."""
    if p > 0.5:
        return n - binomial(n, 1 - p, rng)
    mean = n * p
    if mean > _EXACT_MEAN:
        return min(n, max(0, round(rng.gauss(mean, math.sqrt(mean * (1 - p))))))
    odds, point, chance, successes = p / (1 - p), rng.random(), math.exp(n * math.log1p(-p)), 0
    while point > chance and successes < n:
        point -= chance
        chance *= odds * (n - successes) / (successes + 1)
        successes += 1
    return successes


def _percentiles(drawn: Sequence[float], confidence: float) -> Interval | None:
    values = sorted(drawn)
    if not values:
        return None
    tail = (1 - confidence) / 2
    return Interval(lower=_at(values, tail), upper=_at(values, 1 - tail))


def _at(values: Sequence[float], share: float) -> float:
    """The quantile by linear interpolation between order statistics."""
    place = share * (len(values) - 1)
    low = int(place)
    high = min(low + 1, len(values) - 1)
    return values[low] + (place - low) * (values[high] - values[low])
