"""The result of a comparison as plain values: everything a console, a page or a machine shows."""

from __future__ import annotations

from enum import StrEnum

from toolcert.comparison.match.partners import Match, Matching
from toolcert.comparison.stats.confusion import Confusion, Trigger
from toolcert.comparison.stats.significance import Discordance, MarginOutcome
from toolcert.core.findings import Severity
from toolcert.core.statistics.rates import Interval, Rate
from toolcert.core.values import JsonObject, Value


class CompareVerdict(StrEnum):
    """The verdict on a vendor."""

    EQUIVALENT = "equivalent"
    """Not worse by more than the margin, and no more different than the baseline is from itself."""
    DEGRADED = "degraded"
    """Worse by more than the margin."""
    DIFFERENT = "different"
    """Another system, shown by excess disagreement or hard evidence, but not shown to be worse."""
    INCONCLUSIVE = "inconclusive"


class Standing(StrEnum):
    """A figure beside the noise ceiling."""

    WITHIN = "within"
    OVERLAPS = "overlaps"
    BELOW = "below"
    UNKNOWN = "unknown"
    """There is no ceiling, or no figure."""


class Side(Value):
    """One run that takes part."""

    label: str
    path: str
    foreign: bool
    """A results file without manifest: it has no digest to check."""
    rows: int
    measured: int
    model: str = ""
    """The model asked for."""
    endpoint: str = ""
    dataset: str | None = None
    dataset_digest: str | None = None
    parameters: JsonObject = {}
    started_at: float | None = None
    blessed_as: str | None = None
    torn: bool = False
    """Its last line was cut off and left out."""


class Figure(Value):
    """One measure of agreement, with its noise ceiling and the scores of trivial baselines."""

    name: str
    family: str
    """`decision`, `payload` or `deterministic`."""
    value: float | None
    interval: Interval | None = None
    rate: Rate | None = None
    """The counts, where the figure is a proportion."""
    ceiling: float | None = None
    """The baseline against itself."""
    ceiling_interval: Interval | None = None
    ceiling_rate: Rate | None = None
    always: float | None = None
    """What calling on every row would score."""
    blind: float | None = None
    """What calling at random, as often as the vendor, would score."""
    best: float | None = None
    """The most that is possible at the two call rates."""
    sampled: bool = False
    """Estimated from a sample of the rows."""

    @property
    def share(self) -> float | None:
        """The figure as a share of its ceiling."""
        return self.value / self.ceiling if self.value is not None and self.ceiling else None

    @property
    def standing(self) -> Standing:
        if self.value is None or self.interval is None or self.ceiling_interval is None:
            return Standing.UNKNOWN
        if self.interval.upper < self.ceiling_interval.lower:
            return Standing.BELOW
        return Standing.WITHIN if self.value >= self.ceiling_interval.lower else Standing.OVERLAPS


class ChanceTest(Value):
    """A test of whether chance explains a difference."""

    name: str
    question: str
    p: float
    adjusted: float
    """After Holm's correction over all vendors and tests of the comparison."""
    more: int
    """Rows that support a difference."""
    less: int
    """Rows that contradict it."""
    detected: bool


class MarginTest(Value):
    """Whether a rate of the vendor is at most the margin worse than the baseline's."""

    name: str
    question: str
    outcome: MarginOutcome
    rows: Discordance
    interval: Interval | None
    rows_needed: int | None = None
    """How many rows would decide, where these do not."""

    @property
    def chance_test(self) -> str:
        """The name of the chance test about the same rows."""
        return "decision" if self.name == "agreement" else self.name


class SchemaFigures(Value):
    """How many calls of one run satisfy the schemas of their tools."""

    responses: int
    """Answers with calls."""
    responses_valid: int
    responses_invalid: int
    responses_unjudged: int
    """The dataset's own schema is broken: left out of the accuracy."""
    calls: int
    calls_valid: int
    calls_invalid: int
    calls_unjudged: int
    buckets: dict[str, int] = {}
    rows: dict[str, tuple[int, ...]] = {}
    """The first few rows of each bucket."""
    coercible: Rate = Rate()
    """Invalid calls, of those looked at, that the usual coercion would make valid."""

    @property
    def accuracy(self) -> Rate:
        """Valid calls, of those that can be judged."""
        return Rate(k=self.calls_valid, n=self.calls_valid + self.calls_invalid)

    @property
    def valid_responses(self) -> Rate:
        """Answers all of whose calls are valid, of those that can be judged."""
        return Rate(k=self.responses_valid, n=self.responses_valid + self.responses_invalid)


class Sign(Value):
    """A trace of the serving stack, on both sides."""

    name: str
    vendor: str
    baseline: str
    same: bool | None
    meaning: str
    decides: bool = False
    """Enough on its own to call the vendor different."""


class TokenDifferences(Value):
    """Prompt tokens of the vendor minus the baseline's for the same request."""

    equal: Rate
    histogram: dict[int, int] = {}
    """Rows by difference; the rarest of very many are left out."""
    by_turns: dict[int, dict[int, int]] = {}
    """The same for each number of user messages."""
    ceiling_equal: Rate | None = None


class CompareFinding(Value):
    """A finding that the comparison shows, and on how many rows."""

    code: str
    severity: Severity
    rows: int
    evidence: str
    of_baseline: bool = False
    """The baseline shows it, so it is not charged to the vendor."""


class MadeCall(Value):
    """A call as it was made."""

    name: str
    arguments: str


class GivenAnswer(Value):
    """What one side answered."""

    called: bool | None
    text: str = ""
    calls: tuple[MadeCall, ...] = ()
    finish: str | None = None
    valid: bool | None = None
    buckets: tuple[str, ...] = ()


class RowKind(StrEnum):
    """How a row differs."""

    INVALID = "invalid call"
    MISSED = "call missed"
    EXTRA = "extra call"
    TOOL = "another tool"
    ARGUMENTS = "arguments"


class TellingRow(Value):
    """A row that shows the difference, with both answers."""

    index: int
    kind: RowKind
    noisy: bool
    """The baseline differs from itself here too: the row says little."""
    asked: str
    """The last message of the user."""
    offered: tuple[str, ...]
    baseline: GivenAnswer
    vendor: GivenAnswer
    curl: str = ""


class GroupFigures(Value):
    """The same comparison on a part of the rows."""

    name: str
    cells: Confusion
    agreement: Rate
    ceiling: Rate | None = None
    arguments: Rate = Rate()


class Missing(Value):
    """Rows that could not be compared. A missing row is not counted as wrong."""

    vendor_failed: int
    """The vendor gave no answer that can be judged."""
    vendor_absent: int
    """The vendor's run has no such row."""
    baseline_failed: int
    """The baseline gave none; such rows are left out."""
    reasons: dict[str, int] = {}
    """The reasons of the first missing rows."""
    worst_agreement: float | None = None
    """Agreement if every missing row were wrong."""
    worst_f1: float | None = None

    @property
    def rows(self) -> int:
        """Rows of the vendor that are missing."""
        return self.vendor_failed + self.vendor_absent


class MissedCalls(Value):
    """Rows on which only the baseline calls, and what the vendor's answers there show."""

    rows: int = 0
    looked_at: int = 0
    """Of these, the ones whose findings were read."""
    causes: dict[str, int] = {}
    """The worst finding of each row that has an error, most frequent first."""

    @property
    def cause(self) -> tuple[str, int] | None:
        """The most frequent finding and its rows, where it explains at least half of those looked at."""
        code, rows = next(iter(self.causes.items()), ("", 0))
        return (code, rows) if code and 2 * rows >= self.looked_at else None


class VendorComparison(Value):
    """One vendor against the baseline."""

    side: Side
    verdict: CompareVerdict
    headline: str
    """The verdict with the figures behind it."""
    reasons: tuple[str, ...]
    """Tests and figures behind the verdict."""
    matching: Matching
    missing: Missing
    cells: Confusion
    ceiling_cells: Confusion | None
    compared: int
    """Rows in the matrix."""
    figures: tuple[Figure, ...]
    tests: tuple[ChanceTest, ...]
    margins: tuple[MarginTest, ...]
    schema: SchemaFigures
    baseline_schema: SchemaFigures
    signs: tuple[Sign, ...]
    tokens: TokenDifferences
    sentence: str = ""
    """The verdict without figures, said of the vendor."""
    meaning: str = ""
    """What the verdict means for the user and what to do, in plain words."""
    missed: MissedCalls = MissedCalls()
    findings: tuple[CompareFinding, ...] = ()
    groups: tuple[GroupFigures, ...] = ()
    rows: tuple[TellingRow, ...] = ()
    differing: dict[RowKind, int] = {}
    """How many rows differ in each way; `rows` shows the most telling."""
    notes: tuple[str, ...] = ()

    def figure(self, name: str) -> Figure:
        """A figure by its name."""
        return next(figure for figure in self.figures if figure.name == name)

    @property
    def score(self) -> float:
        """What leaderboards sort by: the lower bound of agreement, missing rows and invalid calls counted as wrong.

        Agreement alone could put a vendor first all of whose calls are broken.
        """
        right = round(self.cells.tp + self.cells.tn) - self.differing.get(RowKind.INVALID, 0)
        owed = Rate(k=right, n=self.compared + self.missing.rows)
        return owed.interval.lower if owed.interval is not None else 0.0


class Comparison(Value):
    """A baseline, its noise, and the vendors compared with it."""

    toolcert: str
    trigger: Trigger
    match: Match
    alpha: float
    margin: float
    seed: int
    baseline: Side
    further: tuple[Side, ...]
    """Further runs of the baseline, which give the noise ceiling."""
    vendors: tuple[VendorComparison, ...]
    """Best first."""
    by: str | None = None
    warnings: tuple[str, ...] = ()
    """Why the figures may be meaningless."""
    notes: tuple[str, ...] = ()
