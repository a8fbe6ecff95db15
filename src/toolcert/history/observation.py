"""What the store keeps of one model and one probe in one run: counts, times, a reason; no conversation."""

from __future__ import annotations

from toolcert.core.findings import Severity
from toolcert.core.statistics import Rate
from toolcert.core.values import JsonObject, Value

HELLO = "hello_world"
"""The probe of the older tool, whose history is imported under this name."""


class SeenFinding(Value, gc=False):
    """A finding with how often it was seen and one excerpt."""

    code: str
    severity: Severity
    count: int
    evidence: str = ""


class Observation(Value, gc=False):
    """One model and one probe in one run.

    It can be in no cycle, so the garbage collector need not look at the many there are; the same of `Day` and `Rate`.
    """

    run: str
    endpoint: str
    model: str
    probe: str
    day: str
    """ISO date of the run (UTC)."""
    at: float
    passed: int = 0
    failed: int = 0
    unsupported: int = 0
    not_measured: int = 0
    skipped: int = 0
    called: int = 0
    callable: int = 0
    """Iterations in which a call could be judged."""
    handled: int = 0
    handleable: int = 0
    """Calls whose result could be used."""
    low: float | None = None
    high: float | None = None
    call_p50: float | None = None
    call_p95: float | None = None
    answer_p50: float | None = None
    answer_p95: float | None = None
    first_token_p50: float | None = None
    reason: str = ""
    fingerprint: str | None = None
    original: JsonObject | None = None
    """The row of an imported file as it was written, so that it can be given back unchanged."""
    findings: tuple[SeenFinding, ...] = ()

    @property
    def measured(self) -> int:
        return self.passed + self.failed

    @property
    def answered(self) -> bool:
        """Whether it says anything about the model; a refusal does, silence does not."""
        return bool(self.measured or self.unsupported)

    @property
    def calling(self) -> Rate:
        return Rate(k=self.called, n=self.callable)

    @property
    def handling(self) -> Rate:
        return Rate(k=self.handled, n=self.handleable)


class StoredRun(Value):
    """A run as the store knows it."""

    run: str
    day: str
    started_at: float
    source: str
    """`probe`, or `csv` for imported history."""
    finished_at: float | None = None
    interrupted: bool = False
    toolcert: str = ""
    suite: str | None = None
    iterations: int | None = None
    threshold: float = 0.9
    versions: dict[str, str] = {}


class Span(Value):
    """The days between which a model was seen."""

    first_seen: str
    last_seen: str
    first_called: str | None = None
