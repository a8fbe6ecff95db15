"""Timings: how soon a first token, how soon a whole call, and how many tokens a second."""

from __future__ import annotations

from toolcert.core.statistics.quantiles import Quantiles
from toolcert.core.values import Value

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
