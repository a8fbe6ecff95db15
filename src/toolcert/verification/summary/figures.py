"""What a verify run says, as values: the one input of every report about it."""

from __future__ import annotations

from toolcert.core.findings import Severity
from toolcert.core.manifest import Dataset
from toolcert.core.statistics import Rate
from toolcert.core.values import Value


class Rows(Value):
    """Rows by what became of them; each line of the dataset is in `lines`, each answer in `answered`."""

    lines: int = 0
    sent: int = 0
    """Asked at least once."""
    answered: int = 0
    called: int = 0
    """Answers with structured calls, whatever their finish reason says."""
    in_text: int = 0
    unreadable: int = 0
    """Answers that are not of the protocol."""
    valid: int = 0
    """Answers whose calls all satisfy their schemas."""
    invalid: int = 0
    unjudged: int = 0
    """Answers with calls of tools whose own schema is broken."""
    passed: int = 0
    failed: int = 0
    unsupported: int = 0
    not_measured: int = 0
    skipped: int = 0
    """Lines that cannot be asked, or were not reached."""


class Example(Value):
    """One row that shows a finding."""

    row: int
    tool: str = ""
    evidence: str = ""


class FindingLine(Value):
    """One kind of finding over all rows."""

    code: str
    severity: Severity
    title: str
    rows: int
    examples: tuple[Example, ...] = ()
    """The first rows of the dataset that show it."""


class Times(Value):
    """Seconds of one kind, each percentile within half a percent."""

    label: str
    count: int
    p5: float
    p25: float
    p50: float
    p75: float
    p90: float
    p95: float
    p99: float
    longest: float


class Moment(Value):
    """A stretch of the run."""

    start: float
    """Seconds after the first record."""
    width: float = 1.0
    """Seconds it lasts."""
    answered: int = 0
    retried: int = 0
    not_measured: int = 0
    first_token: float | None = None
    """Mean over the stretch."""
    seconds: float | None = None
    """Mean time of a whole answer."""


class ToolLine(Value):
    """One tool: how often it was offered and called, and how well."""

    name: str
    rows: int
    """Rows that offered it."""
    called: int
    """Rows that called it."""
    valid: Rate
    """Of its calls, those that satisfy the schema."""
    p50: float | None = None
    main: str = ""
    """The reason most of its invalid calls have."""


class SliceLine(Value):
    """The same figures for a part of the rows."""

    slice: str
    """tool, n_tools, turns, stream or tag."""
    value: str
    answered: int
    called: Rate
    valid: Rate
    passed: Rate
    correct: Rate = Rate()


class Traffic(Value):
    """What the run cost."""

    requests: int = 0
    retried: int = 0
    """Rows that needed more than one attempt."""
    prompt_tokens: int = 0
    completion_tokens: int = 0
    seconds: float | None = None
    """From the first request to the last answer, pauses between taken-up runs included."""
    per_second: float | None = None


class VerifySummary(Value):
    """All that is said about a verify run."""

    run: str
    toolcert: str
    started_at: float
    headline: str
    """The sentence that decides."""
    lines: tuple[str, ...] = ()
    """What to know next."""
    finished_at: float | None = None
    interrupted: bool = False
    planned: int | None = None
    """Rows the run set out to ask, where that is known."""
    incomplete: bool = False
    """Interrupted, killed, or still going on: rows are missing in every figure."""
    endpoint: str = ""
    base_url: str = ""
    key_env: str | None = None
    dialect: str = "openai"
    model: str = ""
    dataset: Dataset | None = None
    rows: Rows = Rows()
    answered: Rate = Rate()
    """Of the rows sent."""
    called: Rate = Rate()
    """Of the readable answers."""
    valid: Rate = Rate()
    """Of the answers with calls that can be judged: schema accuracy per response."""
    valid_calls: Rate = Rate()
    """Of all calls that can be judged: schema accuracy per call."""
    trigger: Rate = Rate()
    """Of the answered rows that say whether they expect a call, those where it is so."""
    correct: Rate = Rate()
    """Of the answered rows that say what they expect, those that got it."""
    if_missing_were_wrong: Rate = Rate()
    """Schema accuracy per response in the worst case: every row not measured counted as invalid."""
    finish: dict[str, int] = {}
    """Answers by finish reason; `none` where there was none."""
    finish_with_calls: dict[str, int] = {}
    """The same, of answers with calls only: payload and reason are two facts."""
    failed_by: dict[str, int] = {}
    """Failed rows by their first error, `expectation` where only the row's own was missed."""
    not_measured_by: dict[str, int] = {}
    """Rows without a measurement by cause."""
    unsupported_by: dict[str, int] = {}
    """Rows that the server says it cannot answer, by its words."""
    not_asked: dict[str, int] = {}
    """Rows that were not reached, by reason; asked when the run is taken up."""
    buckets: dict[str, int] = {}
    """Calls that are not simply valid, by reason."""
    vendor: tuple[FindingLine, ...] = ()
    """Worst and most frequent first."""
    of_dataset: tuple[FindingLine, ...] = ()
    """The dataset's own faults, never charged to the vendor."""
    answered_as: dict[str, int] = {}
    """Model names in the answers."""
    fingerprints: dict[str, int] = {}
    times: tuple[Times, ...] = ()
    moments: tuple[Moment, ...] = ()
    tools: tuple[ToolLine, ...] = ()
    """Most offered first."""
    slices: tuple[SliceLine, ...] = ()
    traffic: Traffic = Traffic()
    expects: bool = False
    """Whether any row says what it expects."""
    nothing_measured: bool = False
