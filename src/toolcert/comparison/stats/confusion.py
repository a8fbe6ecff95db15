"""Who called: the four counts, what follows from them, and what trivial baselines would reach."""

from __future__ import annotations

import math
from collections.abc import Callable
from enum import StrEnum
from operator import attrgetter

from toolcert.core.values import Value


class Trigger(StrEnum):
    """What counts as a call."""

    PAYLOAD = "payload"
    """Structured calls in the answer."""
    FINISH_REASON = "finish-reason"
    """The server's finish reason `tool_calls`: the older definition."""


class Confusion(Value):
    """Rows by whether the baseline and the vendor call; the baseline is taken as right."""

    tp: float = 0
    fp: float = 0
    fn: float = 0
    tn: float = 0

    @property
    def n(self) -> float:
        return self.tp + self.fp + self.fn + self.tn

    @property
    def baseline_rate(self) -> float | None:
        return _ratio(self.tp + self.fn, self.n)

    @property
    def vendor_rate(self) -> float | None:
        return _ratio(self.tp + self.fp, self.n)

    @property
    def agreement(self) -> float | None:
        return _ratio(self.tp + self.tn, self.n)

    @property
    def precision(self) -> float | None:
        return _ratio(self.tp, self.tp + self.fp)

    @property
    def recall(self) -> float | None:
        return _ratio(self.tp, self.tp + self.fn)

    @property
    def f1(self) -> float | None:
        return _ratio(2 * self.tp, 2 * self.tp + self.fp + self.fn)

    @property
    def kappa(self) -> float | None:
        """Cohen's kappa: agreement beyond what the two call rates alone would give."""
        n = self.n
        if not n:
            return None
        baseline, vendor = (self.tp + self.fn) / n, (self.tp + self.fp) / n
        chance = baseline * vendor + (1 - baseline) * (1 - vendor)
        return _ratio((self.tp + self.tn) / n - chance, 1 - chance)

    @property
    def mcc(self) -> float | None:
        """Matthews correlation coefficient."""
        product = (self.tp + self.fp) * (self.tp + self.fn) * (self.tn + self.fp) * (self.tn + self.fn)
        return _ratio(self.tp * self.tn - self.fp * self.fn, math.sqrt(product))

    def plus(self, other: Confusion) -> Confusion:
        return Confusion(tp=self.tp + other.tp, fp=self.fp + other.fp, fn=self.fn + other.fn, tn=self.tn + other.tn)


METRICS: dict[str, Callable[[Confusion], float | None]] = {
    name: attrgetter(name) for name in ("agreement", "precision", "recall", "f1", "kappa", "mcc")
}


def cell(baseline: bool, vendor: bool) -> Confusion:
    """The confusion of a single row."""
    return Confusion(
        tp=baseline and vendor,
        fp=vendor and not baseline,
        fn=baseline and not vendor,
        tn=not baseline and not vendor,
    )


def always_calling(cells: Confusion) -> Confusion:
    """What a vendor that calls on every row would get."""
    return Confusion(tp=cells.tp + cells.fn, fp=cells.fp + cells.tn)


def calling_at_random(cells: Confusion) -> Confusion:
    """What is expected of a vendor that calls as often as this one, but blindly."""
    if not cells.n:
        return Confusion()
    rate = (cells.tp + cells.fp) / cells.n
    positive, negative = cells.tp + cells.fn, cells.fp + cells.tn
    return Confusion(tp=positive * rate, fp=negative * rate, fn=positive * (1 - rate), tn=negative * (1 - rate))


def best_at_these_rates(cells: Confusion) -> Confusion:
    """The most that a vendor which calls as often as this one could reach."""
    baseline, vendor = cells.tp + cells.fn, cells.tp + cells.fp
    both = min(baseline, vendor)
    return Confusion(tp=both, fp=vendor - both, fn=baseline - both, tn=cells.n - max(baseline, vendor))


def with_errors(cells: Confusion, share: float) -> Confusion:
    """The counts if a share of the rows that agree, called or not, were decided the other way."""
    missed, extra = cells.tp * share, cells.tn * share
    return Confusion(tp=cells.tp - missed, fp=cells.fp + extra, fn=cells.fn + missed, tn=cells.tn - extra)


def _ratio(part: float, whole: float) -> float | None:
    return part / whole if whole else None
