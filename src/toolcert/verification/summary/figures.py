"""The summary of a verify run as values; every report is made from it alone."""

from __future__ import annotations

from toolcert.core.findings import Severity
from toolcert.core.records import Dataset
from toolcert.core.statistics.quantiles import Timings
from toolcert.core.statistics.rates import Rate
from toolcert.core.values import Value
from toolcert.core.verdict import Verdict, Word
from toolcert.runs.marks import MarkLine

BUGS = "internal error"
"""The cause of rows that are not measured because of a bug of ours."""


class Rows(Value):
    """Rows by outcome; `lines` counts every line of the dataset, `answered` every answer."""

    lines: int = 0
    sent: int = 0
    """Asked at least once."""
    answered: int = 0
    called: int = 0
    """Answers with structured calls, whatever their finish reason says."""
    in_text: int = 0
    """Answers without structured calls."""
    lost: int = 0
    """Of those, the ones with a call that the server left in the text or lost."""
    unreadable: int = 0
    """Answers that do not follow the protocol."""
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


class UnsoundRows(Value):
    """Answers that an agent cannot use, by all their errors."""

    codes: tuple[str, ...]
    """Errors of the vendor; empty where only the rules of the older verifiers call the calls invalid."""
    rows: int


class AnswerMode(Value):
    """The answers that were asked for as a stream, or those that were not."""

    streamed: bool
    sound: Rate = Rate()
    """Answers without an error of the vendor and with valid calls; those that no schema can judge are left out."""
    called: Rate = Rate()
    """Answers with a call, of those that could have one: tools were offered."""
    refused: int = 0
    """Rows that the server refuses as not supported."""
    unsound: tuple[UnsoundRows, ...] = ()
    """Most frequent first."""
    known: int = 0
    """Answers and refusals left out of these counts, because marks excuse all that is wrong with them."""


class Example(Value):
    """One row that shows a finding."""

    row: int
    tool: str = ""
    evidence: str = ""
    follows: tuple[str, ...] = ()
    """Findings of the row that were folded under it."""


class FindingLine(Value):
    """One kind of finding over all rows."""

    code: str
    severity: Severity
    title: str
    rows: int
    examples: tuple[Example, ...] = ()
    """The first rows of the dataset that show it."""
    known: int = 0
    """Rows of these that a mark excuses."""

    @property
    def follows(self) -> tuple[str, ...]:
        """Findings that follow from it in these rows, and are counted nowhere."""
        return tuple(sorted({code for example in self.examples for code in example.follows}))


class Times(Value):
    """Percentiles of a time in seconds, each within half a percent."""

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
    """An interval of the run."""

    start: float
    """Seconds after the first record."""
    width: float = 1.0
    """Its length in seconds."""
    answered: int = 0
    retried: int = 0
    not_measured: int = 0
    first_token: float | None = None
    """Mean over the interval."""
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
    lost: int = 0
    """Rows in which a call of it was left in the text or lost; counted since version 0.2."""
    p50: float | None = None
    main: str = ""
    """The most frequent reason of its invalid calls."""


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
    """Requests, tokens and time of the run."""

    requests: int = 0
    retried: int = 0
    """Rows that needed more than one attempt."""
    prompt_tokens: int = 0
    completion_tokens: int = 0
    seconds: float | None = None
    """From the first request to the last answer, including pauses before the run was resumed."""
    per_second: float | None = None


class VerifySummary(Value):
    """The summary of a verify run."""

    run: str
    toolcert: str
    started_at: float
    headline: str
    """The verdict in one sentence."""
    verdict: Verdict = Verdict(word=Word.NOT_MEASURED, reason="")
    lines: tuple[str, ...] = ()
    """Further sentences for people."""
    finished_at: float | None = None
    interrupted: bool = False
    planned: int | None = None
    """Rows that the run was to ask, if known."""
    incomplete: bool = False
    """Interrupted, killed or still running: rows are missing from every figure."""
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
    """Of the answered rows that expect a call or none, those that got it."""
    correct: Rate = Rate()
    """Of the answered rows with an expectation, those that meet it."""
    sound: Rate = Rate()
    """Of the answers, those without an error of the vendor and with valid calls."""
    modes: tuple[AnswerMode, ...] = ()
    """The same, unstreamed and streamed."""
    if_missing_were_wrong: Rate = Rate()
    """Schema accuracy per response in the worst case: every row not measured counted as invalid."""
    finish: dict[str, int] = {}
    """Answers by finish reason; `none` where there was none."""
    finish_with_calls: dict[str, int] = {}
    """The same for answers with calls only: a server may send calls with another finish reason."""
    failed_by: dict[str, int] = {}
    """Failed rows by their first error; `expectation` if only the row's expectation was missed."""
    not_measured_by: dict[str, int] = {}
    """Rows without a measurement by cause."""
    unsupported_by: dict[str, int] = {}
    """Rows that the server refuses as not supported, by its message."""
    not_asked: dict[str, int] = {}
    """Rows that were not asked, by reason; they are asked when the run is resumed."""
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
    timings: Timings = Timings()
    moments: tuple[Moment, ...] = ()
    tools: tuple[ToolLine, ...] = ()
    """Most offered first."""
    slices: tuple[SliceLine, ...] = ()
    traffic: Traffic = Traffic()
    expects: bool = False
    """Whether any row says what it expects."""
    nothing_measured: bool = False
    known_expectations: int = 0
    """Rows that miss their expectation and do not count in the verdict, because marks excuse it."""
    marks: tuple[MarkLine, ...] = ()
    """What people said about rows of the run."""

    @property
    def weakest_mode(self) -> AnswerMode | None:
        """The answers, streamed or not, of which the smaller share is sound; None where none can be judged."""
        rated = [mode for mode in self.modes if mode.sound.n]
        return min(rated, key=lambda mode: (mode.sound.value or 0.0, mode.sound.n), default=None)

    @property
    def bugs(self) -> int:
        """Rows that toolcert itself failed to judge."""
        return self.not_measured_by.get(BUGS, 0)
