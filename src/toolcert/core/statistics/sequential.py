"""A test that decides as early as the evidence allows, with an error bound that holds at every moment.

Two bets run side by side: one against "the rate is at most the threshold", one against "it is at
least the threshold". Each is a mixture of likelihood ratios, a non-negative supermartingale under
what it bets against, so by Ville's inequality its wealth ever reaches 1/alpha with probability at
most alpha: looking after every run costs nothing.
"""

from __future__ import annotations

import math

from toolcert.core.statistics.rates import PROBE_THRESHOLD, Certainty
from toolcert.core.values import Value

ERROR_BOUND = 0.05
"""The highest probability that a decision is wrong."""
_GRID = 24
"""Alternatives on each side of the threshold; more change the time to a decision by under one run."""
_EXTREME_SHARE = 0.5
"""Weight of "always" and "never": most models do one of the two."""


class Decision(Value):
    """A decision that further runs do not change."""

    certainty: Certainty
    """`proven` or `unreliable`."""
    k: int
    n: int


class _Bet:
    """Wealth of a bet that the rate is one of `alternatives` rather than on the other side of `threshold`."""

    def __init__(self, threshold: float, alternatives: list[float], weights: list[float]) -> None:
        self._log_weights = [math.log(weight) for weight in weights]
        self._on_pass = [_log_ratio(rate, threshold) for rate in alternatives]
        self._on_fail = [_log_ratio(1 - rate, 1 - threshold) for rate in alternatives]

    def log_wealth(self, passed: int, failed: int) -> float:
        terms = [
            weight + (passed * win if passed else 0.0) + (failed * loss if failed else 0.0)
            for weight, win, loss in zip(self._log_weights, self._on_pass, self._on_fail, strict=True)
        ]
        top = max(terms)
        return top + math.log(sum(math.exp(term - top) for term in terms)) if top > -math.inf else top


class SequentialTest:
    """Counts runs of one model and decides whether it is reliable.

    However often it is asked: a rate below the threshold is called proven with probability at most
    `alpha`, and a rate at or above it is called unreliable with probability at most `alpha`.
    """

    def __init__(self, threshold: float = PROBE_THRESHOLD, alpha: float = ERROR_BOUND) -> None:
        if not 0 < threshold < 1 or not 0 < alpha < 1:
            raise ValueError(f"threshold {threshold} and alpha {alpha} must lie between 0 and 1")
        self._needed = -math.log(alpha)
        weights = [_EXTREME_SHARE] + [(1 - _EXTREME_SHARE) / _GRID] * _GRID
        steps = [(step + 0.5) / _GRID for step in range(_GRID)]
        self._above = _Bet(threshold, [1.0, *(threshold + (1 - threshold) * step for step in steps)], weights)
        self._below = _Bet(threshold, [0.0, *(threshold * step for step in steps)], weights)
        self.passed = 0
        self.failed = 0
        self.decision: Decision | None = None

    def update(self, passed: bool) -> Decision | None:
        """Count one more measured run; the decision, once there is one."""
        if passed:
            self.passed += 1
        else:
            self.failed += 1
        if self.decision is None:
            self.decision = self._decide()
        return self.decision

    def _decide(self) -> Decision | None:
        for bet, certainty in ((self._above, Certainty.PROVEN), (self._below, Certainty.UNRELIABLE)):
            if bet.log_wealth(self.passed, self.failed) >= self._needed:
                return Decision(certainty=certainty, k=self.passed, n=self.passed + self.failed)
        return None


def _log_ratio(rate: float, base: float) -> float:
    return math.log(rate / base) if rate > 0 else -math.inf
