"""A test that decides as early as the evidence allows, with an error bound that holds at every moment.

Two bets run side by side: one against "the rate is at most the threshold", one against "it is at
least the threshold". Each is a mixture of likelihood ratios, a non-negative supermartingale under
what it bets against, so by Ville's inequality its wealth ever reaches 1/alpha with probability at
most alpha: looking after every run costs nothing.
"""

from __future__ import annotations

import math

from toolcert.core.statistics.p_values import binomial_tail
from toolcert.core.statistics.rates import PROBE_THRESHOLD, Certainty
from toolcert.core.statistics.rates import certainty as by_interval
from toolcert.core.values import Value

ERROR_BOUND = 0.05
"""The highest probability that a decision is wrong."""
_GRID = 24
"""Alternatives on each side of the threshold; more change the time to a decision by under one run."""
_SHARE_OF_PROOF = 0.6
"""Of the error bound, for a proof that stops a run early; the rest is for the interval of a run that is not stopped."""
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
        self._threshold = threshold
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
        k, n = self.passed, self.passed + self.failed
        if self._below.log_wealth(self.passed, self.failed) >= self._needed:
            return Decision(certainty=Certainty.UNRELIABLE, k=k, n=n)
        # A bet may be won before the interval clears the threshold: a run that stopped then would not certify.
        won = self._above.log_wealth(self.passed, self.failed) >= self._needed - math.log(_SHARE_OF_PROOF)
        if won and by_interval(k, n, self._threshold) is Certainty.PROVEN:
            return Decision(certainty=Certainty.PROVEN, k=k, n=n)
        return None


def _log_ratio(rate: float, base: float) -> float:
    return math.log(rate / base) if rate > 0 else -math.inf


class PairedTest:
    """Asks the same cases in two ways and bets that the second way fails more often than the first.

    Only pairs that differ count. If the two ways are equal, such a pair is worse or better with the same chance, and
    the wealth of the bet ever reaches 1/alpha with probability at most alpha, however often one looks.
    """

    def __init__(self, alpha: float) -> None:
        weights = [_EXTREME_SHARE] + [(1 - _EXTREME_SHARE) / _GRID] * _GRID
        self._bet = _Bet(0.5, [1.0, *(0.5 + 0.5 * (step + 0.5) / _GRID for step in range(_GRID))], weights)
        self.alpha = alpha
        self.worse = 0
        self.better = 0
        self.p = 1.0
        """Valid at every moment: the smallest so far, whenever the run was stopped."""

    def update(self, *, worse: bool) -> None:
        """Count one more pair that differs."""
        self.worse += worse
        self.better += not worse
        self.p = min(self.p, math.exp(-self._bet.log_wealth(self.worse, self.better)))

    @property
    def decided(self) -> bool:
        return self.p <= self.alpha

    @property
    def exact(self) -> float:
        """The one-sided p of McNemar's exact test for these counts, for those who did not look in between."""
        return binomial_tail(self.worse, self.worse + self.better)

    def needed(self) -> int:
        """How many worse pairs decide where no pair is better."""
        return next(count for count in range(1, 1000) if -self._bet.log_wealth(count, 0) <= math.log(self.alpha))
