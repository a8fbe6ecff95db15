"""Percentiles of any number of measurements in constant memory, and the timings of a model as percentiles."""

from __future__ import annotations

import math
from collections.abc import Iterable

from toolcert.core.values import Value

ACCURACY = 0.005
"""Relative error of every percentile, for values between SMALLEST and LARGEST."""
SMALLEST = 1e-6
LARGEST = 1e7

_LOG_STEP = math.log((1 + ACCURACY) / (1 - ACCURACY))


class Quantiles:
    """A histogram with at most about 3,000 logarithmic buckets."""

    __slots__ = ("_buckets", "count", "largest", "smallest", "total")

    def __init__(self, values: Iterable[float] = ()) -> None:
        self._buckets: dict[int, int] = {}
        self.count = 0
        self.total = 0.0
        self.smallest = math.inf
        self.largest = -math.inf
        for value in values:
            self.add(value)

    def add(self, value: float) -> None:
        """Count one measurement; raises ValueError for negative numbers, infinity and NaN."""
        if not 0 <= value < math.inf:
            raise ValueError(f"{value} is not a measurement")
        known = value if SMALLEST <= value <= LARGEST else min(max(value, SMALLEST), LARGEST)
        bucket = math.ceil(math.log(known) / _LOG_STEP)
        buckets = self._buckets
        buckets[bucket] = buckets.get(bucket, 0) + 1
        self.count += 1
        self.total += value
        # Comparisons, because this runs several times for every row and function calls would double the time.
        if value < self.smallest:  # noqa: PLR1730 - see above
            self.smallest = value
        if value > self.largest:  # noqa: PLR1730 - see above
            self.largest = value

    def merge(self, other: Quantiles) -> None:
        """Add all measurements of `other`."""
        for bucket, count in other._buckets.items():
            self._buckets[bucket] = self._buckets.get(bucket, 0) + count
        self.count += other.count
        self.total += other.total
        self.smallest = min(self.smallest, other.smallest)
        self.largest = max(self.largest, other.largest)

    def quantile(self, q: float) -> float | None:
        """The value that a share `q` of the measurements does not exceed; None without any."""
        if not 0 <= q <= 1:
            raise ValueError(f"{q} is not a share")
        if not self.count:
            return None
        rank = max(1, math.ceil(q * self.count))
        if rank in (1, self.count):
            return self.smallest if rank == 1 else self.largest
        return min(max(self._value_at(rank), self.smallest), self.largest)

    def _value_at(self, rank: int) -> float:
        seen = 0
        for bucket in sorted(self._buckets):
            seen += self._buckets[bucket]
            if seen >= rank:
                break
        # The middle of the bucket in the sense of relative error.
        return math.exp(bucket * _LOG_STEP) * (1 - ACCURACY)

    @property
    def mean(self) -> float | None:
        return self.total / self.count if self.count else None

    def __len__(self) -> int:
        return self.count


MOST_TOKENS = 10**9
"""A server that claims to have written more counts wrongly."""


class Percentiles(Value):
    """Percentiles of one measure, each within half a percent; None without a measurement.

    p95 is what 95 % of the answers keep: a time that they do not exceed, or a speed that they reach.
    """

    n: int = 0
    p50: float | None = None
    p95: float | None = None
    p99: float | None = None

    @classmethod
    def of(cls, measured: Quantiles, *, speed: bool = False) -> Percentiles:
        """What was measured."""

        def at(share: float) -> float | None:
            return measured.quantile(round(1 - share, 2) if speed else share)

        return cls(n=measured.count, p50=at(0.5), p95=at(0.95), p99=at(0.99))


class Timings(Value):
    """How fast one model at one endpoint answers. Per attempt, without queueing or back-off."""

    first_token: Percentiles = Percentiles()
    """Seconds to the first token of streamed answers."""
    call: Percentiles = Percentiles()
    """Seconds until an answer with a call was there as a whole."""
    tokens_per_second: Percentiles = Percentiles()
    """Tokens that the server says it wrote, divided by the time of the whole answer."""

    def __bool__(self) -> bool:
        return bool(self.first_token.n or self.call.n or self.tokens_per_second.n)


def add_speed(speeds: Quantiles, tokens: int | None, seconds: float | None) -> None:
    """Count the speed of one answer, where both of its figures are known."""
    if tokens is not None and tokens > 0 and seconds is not None and seconds > 0:
        speeds.add(min(tokens, MOST_TOKENS) / seconds)
