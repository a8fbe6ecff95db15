"""What a probe run says, as values: the one input of every report about it."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum

from toolcert.core.cases import SkipKind
from toolcert.core.findings import Severity
from toolcert.core.statistics.quantiles import Timings
from toolcert.core.statistics.rates import PROBE_THRESHOLD, Certainty, Rate
from toolcert.core.targets import EndpointSpec
from toolcert.core.values import JsonObject, Value
from toolcert.core.verdict import CappingFinding, Verdict, Word
from toolcert.runs.marks import MarkLine


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


class CellState(StrEnum):
    """A cell of the capability matrix."""

    PASSED = "passed"
    FLAKY = "flaky"
    """Passed sometimes."""
    FAILED = "failed"
    UNSUPPORTED = "unsupported"
    NOT_MEASURED = "not_measured"
    SKIPPED = "skipped"


class Example(Value):
    """One case that shows a finding, and the request that reproduces it."""

    case: str
    """Key of the record in the run log."""
    probe: str
    evidence: str = ""
    turn: int = 0
    call: int | None = None
    url: str = ""
    body: JsonObject | None = None
    """The request as sent; only in findings of the whole run."""


class FindingCount(Value):
    """A finding of one model (and one probe, inside a cell)."""

    code: str
    severity: Severity
    count: int
    """Cases that show it."""
    example: Example
    follows: tuple[str, ...] = ()
    """Findings that were folded under it."""
    known: int = 0
    """Cases of these that a mark excuses."""


class Cell(Value):
    """One model and one probe."""

    probe: str
    group: str
    state: CellState
    counts: Counts = Counts()
    rate: Rate = Rate()
    """Passed of measured, after retries."""
    first_try: Rate = Rate()
    """Passed of measured among the cases that needed no retry."""
    called: Rate = Rate()
    handled: Rate = Rate()
    """Results used, of the calls made."""
    calls: int = 0
    """Calls that came, right or wrong."""
    certainty: Certainty = Certainty.INCONCLUSIVE
    """Whether the interval puts the rate above or below the threshold."""
    reliable: bool | None = None
    """Point rates reach the threshold (calling and, if it applies, handling); None when not measured."""
    reason: str = ""
    """The most frequent reason for not passing, in words."""
    known: int = 0
    """Failed cases that do not count in the verdict, because marks excuse all that is wrong with them."""
    known_refused: int = 0
    """The same for cases that the server refused."""
    stopped: str = ""
    """Why fewer iterations were asked than planned, in words."""
    stopped_by: SkipKind | None = None
    """The same as a value."""
    unasked: int = 0
    """Cases that were left out for a reason that has nothing to do with the model."""
    unasked_because: str = ""
    """A limit on requests, or an endpoint that is gone, in words."""
    cut_off: bool = False
    """The run ended, or was read, before it came to the unasked cases."""
    pass_power: tuple[PassPower, ...] = ()
    findings: tuple[FindingCount, ...] = ()
    latency: tuple[Latency, ...] = ()
    details: tuple[JsonObject, ...] = ()
    """Figures of one probe only, each distinct one once."""
    fingerprints: tuple[str, ...] = ()
    """Of the deployments that answered; the first few."""


class Score(Value):
    """Points of 100 and the range they could still take with what was not measured."""

    low: float = 0.0
    high: float = 100.0
    weights: dict[str, float] = {}
    """Points each probe is worth; they sum to 100."""

    @property
    def settled(self) -> bool:
        return self.high - self.low < 0.05

    def __str__(self) -> str:
        return f"{self.low:.0f}" if self.settled else f"{self.low:.0f} to {self.high:.0f}"


class Reliability(Value):
    """How reliably a model calls and uses the result, measured by one probe of the suite."""

    probe: str = ""
    rate: Rate = Rate()
    """Called and, if the probe goes on, used the result."""
    called: Rate = Rate()
    handled: Rate = Rate()
    certainty: Certainty = Certainty.INCONCLUSIVE
    """Whether the interval puts the rate above or below the threshold."""
    reliable: bool | None = None


class UnderLoad(Value):
    """The same questions alone and many at a time (`--at-load`): whether calls that work alone break."""

    level: int
    """Requests at a time."""
    busy: float | None = None
    """Requests in flight on average, where the vendor refused so much that it was less than half of the level."""
    pairs: int = 0
    """Questions that were answered both alone and under load."""
    both_right: int = 0
    worse: int = 0
    """Right alone, wrong under load."""
    better: int = 0
    """Wrong alone, right under load."""
    crosstalk: int = 0
    """Answers that carry the values of another request."""
    not_measured: int = 0
    """Pairs that lack an answer."""
    p: float = 1.0
    """That load makes no difference; valid whenever the run was stopped."""
    breaks: tuple[CappingFinding, ...] = ()
    """What was found to break."""


class ModelSummary(Value):
    """One model at one endpoint."""

    endpoint: str
    model: str
    verdict: Verdict
    score: Score
    reason: str
    """The main reason for the verdict, in words."""
    reasons: tuple[str, ...] = ()
    """The top reasons, the main one first."""
    rank: int = 0
    reliability: Reliability = Reliability()
    cells: tuple[Cell, ...] = ()
    """In the order of the run's probes."""
    counts: Counts = Counts()
    findings: tuple[FindingCount, ...] = ()
    """Worst first."""
    latency: tuple[Latency, ...] = ()
    timings: Timings = Timings()
    usage: Usage = Usage()
    declares_tools: bool | None = None
    """What the endpoint's listing says about tool calling, if anything."""
    under_load: UnderLoad | None = None
    """None if the run did not load the model."""

    @property
    def asked(self) -> bool:
        """Whether a request was sent; a model that cannot chat is listed without."""
        return self.counts.total > self.counts.skipped

    def seconds(self, label: str) -> float | None:
        """Median seconds of one kind of turn."""
        return next((latency.p50 for latency in self.latency if latency.label == label), None)


class Cause(Value):
    """A finding across the models of a run."""

    code: str
    severity: Severity
    title: str
    count: int
    """Cases that show it."""
    models: tuple[str, ...]
    """As `model`, or `endpoint: model` in a run over several endpoints; best model first."""
    probes: tuple[str, ...]
    example: Example
    follows: tuple[str, ...] = ()
    """Findings that were folded under it."""
    known: int = 0
    """Cases of these that a mark excuses."""


class ProbeColumn(Value):
    """A probe of the run, in display order."""

    name: str
    group: str
    title: str
    meaning: str = ""
    weight: float = 0.0
    requests: int = 1
    core: bool = False
    """Whether it is about a call, its arguments or the use of its result, unstreamed: without it nothing works."""


class Totals(Value):
    """The run in figures."""

    models: int = 0
    certified: int = 0
    passes: int = 0
    partial: int = 0
    undecided: int = 0
    fails: int = 0
    unsupported: int = 0
    not_measured: int = 0
    counts: Counts = Counts()
    usage: Usage = Usage()
    seconds: float | None = None


class ProbeSummary(Value):
    """Everything that reports say about a probe run."""

    run: str
    toolcert: str
    started_at: float
    headline: str
    """The main conclusion, as one sentence."""
    verdict: Word = Word.NOT_MEASURED
    """The worst of the models that were asked; an endpoint that gave no answer is not measured."""
    lines: tuple[str, ...] = ()
    """What to know next: the fault to know about, the best choice, the fastest."""
    finished_at: float | None = None
    interrupted: bool = False
    suite: str | None = None
    iterations: int = 1
    threshold: float = PROBE_THRESHOLD
    versions: dict[str, str] = {}
    """Of the software that made the run, if that can change what it says."""
    endpoints: tuple[EndpointSpec, ...] = ()
    unreachable: dict[str, str] = {}
    """Endpoints that gave no list of models, with the reason: they have no line among the models."""
    probes: tuple[ProbeColumn, ...] = ()
    models: tuple[ModelSummary, ...] = ()
    """Best first; every model of the run is here."""
    causes: tuple[Cause, ...] = ()
    """Worst and most widespread first."""
    totals: Totals = Totals()
    partial: bool = False
    """Only some of the listed models were asked."""
    marks: tuple[MarkLine, ...] = ()
    """What people said about cases of the run."""
    nothing_measured: bool = False
