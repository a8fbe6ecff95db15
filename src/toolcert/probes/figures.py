"""The figures of a probe summary: counts, rates, times, tokens."""

from __future__ import annotations

from collections.abc import Iterable

from toolcert.core.statistics import wilson
from toolcert.core.values import Value


class Rate(Value):
    """A proportion as counts, with its 95 % Wilson interval; n = 0 has neither rate nor interval."""

    k: int = 0
    n: int = 0
    low: float | None = None
    high: float | None = None

    @classmethod
    def of(cls, k: int, n: int) -> Rate:
        """The counts with their interval."""
        interval = wilson(k, n)
        return cls(k=k, n=n) if interval is None else cls(k=k, n=n, low=interval.lower, high=interval.upper)

    @property
    def value(self) -> float | None:
        return self.k / self.n if self.n else None

    def __str__(self) -> str:
        return f"{self.k}/{self.n}"


class Counts(Value):
    """Cases by outcome; only passed and failed are measurements."""

    passed: int = 0
    failed: int = 0
    unsupported: int = 0
    not_measured: int = 0
    skipped: int = 0

    @property
    def measured(self) -> int:
        return self.passed + self.failed

    @property
    def total(self) -> int:
        return self.measured + self.unsupported + self.not_measured + self.skipped


def sum_counts(parts: Iterable[Counts]) -> Counts:
    """All of them together."""
    every = list(parts)
    return Counts(**{field: sum(getattr(part, field) for part in every) for field in Counts.__struct_fields__})


class Latency(Value):
    """Seconds of one kind of turn: exact count, percentiles and a bounded sample to draw."""

    label: str
    """`first token`, `call`, `answer`, or `turn N` within a probe."""
    count: int = 0
    p50: float | None = None
    p95: float | None = None
    longest: float | None = None
    samples: tuple[float, ...] = ()


class PassPower(Value):
    """Chance that all of k tries pass (`all`) and that one of k passes (`any`)."""

    k: int
    all: float
    any: float


class Usage(Value):
    """What a model was asked and what it cost."""

    requests: int = 0
    retried: int = 0
    """Cases that needed a retry."""
    tokens_in: int = 0
    tokens_out: int = 0
    cost: float | None = None
    """In the currency of the prices; None without prices."""
