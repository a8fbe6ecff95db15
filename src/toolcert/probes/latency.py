"""Times of many turns in constant memory: percentiles and a sample to draw."""

from __future__ import annotations

from toolcert.core.statistics_quantiles import Quantiles
from toolcert.probes.scorecard import Latency

MOST_SAMPLES = 256
"""More points cannot be told apart in a strip plot."""


class Times:
    """Seconds of one kind of turn."""

    def __init__(self) -> None:
        self._quantiles = Quantiles()
        self._samples: list[float] = []
        self._stride = 1

    def add(self, seconds: float) -> None:
        """Count one measurement; the sample keeps every so many, evenly over the run."""
        if self._quantiles.count % self._stride == 0:
            if len(self._samples) == MOST_SAMPLES:
                self._samples = self._samples[::2]
                self._stride *= 2
            self._samples.append(round(seconds, 4))
        self._quantiles.add(seconds)

    def latency(self, label: str, *, samples: bool = True) -> Latency | None:
        """What was measured; None without a measurement."""
        if not self._quantiles.count:
            return None
        return Latency(
            label=label,
            count=self._quantiles.count,
            p50=self._quantiles.quantile(0.5),
            p95=self._quantiles.quantile(0.95),
            longest=self._quantiles.largest,
            samples=tuple(self._samples) if samples else (),
        )
