"""The difference of two runs as plain values: everything a console, a page or a machine shows."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from toolcert.core.cases import Outcome
from toolcert.core.findings import Severity
from toolcert.core.statistics.rates import Rate
from toolcert.core.values import Value
from toolcert.core.verdict import Verdict

ALPHA = 0.05
"""The chance of one or more false alarms in the whole difference of two runs."""


class Change(StrEnum):
    """What a difference says, the most urgent first."""

    WORSE = "worse"
    """Worse, by more than chance explains."""
    IMPROVED = "improved"
    """Better, by more than chance explains."""
    CHANGED = "changed"
    """Different by more than chance explains, and neither better nor worse by itself."""
    NO_EVIDENCE = "no_evidence"
    """What differs can be chance."""
    NOT_MEASURED = "not_measured"
    """One of the runs has no answer to compare."""
    ONLY_BEFORE = "only_before"
    ONLY_AFTER = "only_after"

    @property
    def text(self) -> str:
        return {"no_evidence": "no evidence of change"}.get(self.value, self.value.replace("_", " "))


class FindingChange(StrEnum):
    """How a finding changed, the most urgent first."""

    NEW = "new"
    """Not seen before; now significant, or reproduced as the rule of verdicts asks."""
    MORE = "more"
    """Seen in both runs, now more often than chance explains."""
    SAME = "same"
    RARE = "rare"
    """Seen in one run only, and too rarely to call it new or gone."""
    KNOWN = "known"
    """Seen only in cases that a mark calls known."""
    LESS = "less"
    GONE = "gone"
    """Was significant or reproduced before; not seen now."""

    @property
    def text(self) -> str:
        return {"more": "more often", "less": "less often", "rare": "too rare to tell"}.get(self.value, self.value)


class RunSide(Value):
    """One of the two runs."""

    run: str
    """Its id."""
    folder: str
    job: str
    started_at: float
    toolcert: str
    endpoints: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    about: str = ""
    """The suite, or the dataset."""


class Setting(Value):
    """Something about the asking that differs between the runs: the result may be due to it."""

    name: str
    before: Any
    after: Any


class AbilityDifference(Value):
    """A probe, or a fact about the rows of a dataset, in both runs."""

    name: str
    change: Change
    before: Rate = Rate()
    """Passed of the cases with an answer. A refusal of the server is an answer that does not pass."""
    after: Rate = Rate()
    p: float | None = None
    """One-sided p-value in the direction of the change, adjusted for all tests of the difference. None if the
    numbers are too small to show any change."""
    lost: int = 0
    """Pairs that passed before and do not now."""
    gained: int = 0
    refused_before: int = 0
    refused_after: int = 0
    known: int = 0
    """Cases left out of both rates because a mark calls their findings known."""


class FindingDifference(Value):
    """A finding in both runs."""

    code: str
    severity: Severity
    title: str
    change: FindingChange
    before: Rate = Rate()
    """Cases that show it, of those that could have."""
    after: Rate = Rate()
    p: float | None = None
    known: int = 0
    """Cases of the later run that a mark excuses; they are not counted in `after`."""
    notes: tuple[str, ...] = ()
    """Of these marks."""
    example: str = ""
    """A case that shows it: of the later run, or of the earlier one if it is gone."""


class TimeDifference(Value):
    """Seconds of one kind in both runs."""

    label: str
    change: Change = Change.NO_EVIDENCE
    """Never a reason to call a model worse: times depend on the hour and on the load."""
    before_p50: float | None = None
    before_p95: float | None = None
    before_n: int = 0
    after_p50: float | None = None
    after_p95: float | None = None
    after_n: int = 0
    p: float | None = None


class CasePair(Value):
    """One case in both runs whose result differs."""

    name: str
    """The probe and its iteration, or the row of the dataset."""
    before_case: str
    after_case: str
    before: Outcome
    after: Outcome
    before_codes: tuple[str, ...] = ()
    after_codes: tuple[str, ...] = ()
    answer: tuple[str, ...] = ()
    """Both answers as lines of a unified diff; empty if an answer was not kept."""


class ModelDifference(Value):
    """One model in both runs."""

    name: str
    """As the later run calls it."""
    change: Change
    before_name: str = ""
    """As the earlier run calls it, if that differs."""
    before_verdict: Verdict | None = None
    after_verdict: Verdict | None = None
    before: Rate = Rate()
    """All abilities that both runs measured, together."""
    after: Rate = Rate()
    p: float | None = None
    abilities: tuple[AbilityDifference, ...] = ()
    findings: tuple[FindingDifference, ...] = ()
    times: tuple[TimeDifference, ...] = ()
    pairs: int = 0
    """Cases that both runs answered."""
    lost: int = 0
    gained: int = 0
    other_calls: int = 0
    """Pairs with the same outcome and other calls; only known of datasets."""
    cases: tuple[CasePair, ...] = ()
    """The first pairs with another outcome, lost ones first."""


class RunDifference(Value):
    """What changed from one run to another."""

    before: RunSide
    after: RunSide
    job: str
    change: Change
    headline: str
    """What it means, in one sentence."""
    advice: str
    """What to do, in one sentence."""
    settings: tuple[Setting, ...] = ()
    models: tuple[ModelDifference, ...] = ()
    alpha: float = ALPHA
    tests: int = 0
    """Tests that share alpha."""
    known: int = 0
    """Cases left out because a mark calls their findings known."""
    shows: str = ""
    """How large a loss these numbers can show, in words."""
    too_little: str = ""
    """Why a gate cannot be judged, in words; empty if enough was measured."""
