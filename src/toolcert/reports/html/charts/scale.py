"""Scales: where a value stands between the ends of an axis."""

from __future__ import annotations

import math
from collections.abc import Iterable

from toolcert.core.values import Value


class LogScale(Value):
    """A logarithmic axis between two positive values; what lies outside stands at its end."""

    low: float = 0.01
    high: float = 100.0

    @classmethod
    def around(cls, values: Iterable[float | None]) -> LogScale:
        """The decade steps (1, 3, 10, ...) that hold all values."""
        known = [value for value in values if value is not None and value > 0]
        if not known:
            return cls(low=0.1, high=10.0)
        low, high = _step_below(min(known)), _step_above(max(known))
        return cls(low=low, high=high if high > low else low * 10)

    def place(self, value: float) -> float:
        """0 at the low end, 1 at the high end."""
        inside = min(self.high, max(self.low, value))
        return math.log(inside / self.low) / math.log(self.high / self.low)

    def ticks(self) -> list[float]:
        """The steps between the ends, both included; every other one where they are many."""
        steps = [value for value in _steps() if self.low * 0.999 <= value <= self.high * 1.001]
        decades = [value for value in steps if math.isclose(math.log10(value), round(math.log10(value)))]
        return decades if len(steps) > 7 and len(decades) > 1 else steps


def _steps() -> list[float]:
    return [digit * 10.0**power for power in range(-4, 5) for digit in (1, 3)]


def _step_below(value: float) -> float:
    return max((step for step in _steps() if step <= value * 1.001), default=1e-4)


def _step_above(value: float) -> float:
    return min((step for step in _steps() if step >= value * 0.999), default=3e4)


def nice_top(value: float) -> float:
    """The next round number (1, 1.2, 1.5, 2, 3, 4, 5, 6 or 8 of a power of ten) at or above a value."""
    if value <= 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(value))
    return next(digit * power for digit in (1, 1.2, 1.5, 2, 3, 4, 5, 6, 8, 10) if digit * power >= value * 0.999)
