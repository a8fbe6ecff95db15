"""Findings: what was diagnosed, with its evidence."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum

from toolcert.core.values import Value


class Severity(StrEnum):
    """How much a finding matters."""

    ERROR = "error"
    """An agent breaks."""
    WARNING = "warning"
    """Some clients break."""
    NOTE = "note"
    """Worth knowing."""

    @property
    def rank(self) -> int:
        """The place in a list that shows the worst first."""
        return _RANKS[self]


_RANKS = {severity: place for place, severity in enumerate(Severity)}
DATASET = "dataset."
"""Codes that begin so name a fault of the dataset, which is never charged to a vendor."""
INTERNAL = "internal.error"
"""The code of a case that toolcert itself could not judge: a note about us, never charged to a vendor."""
LOST_WITH_WORKER = "transport.lost_with_worker"
"""The code of a case that was given up because every worker of a cluster that had it died."""
LOST_CALLS = frozenset({"call.in_text", "call.in_reasoning", "finish.calls_missing"})
"""Findings which show that the model made a call and the server lost it."""
EXAMPLES = 5
"""Rows named for each finding of a dataset or a verify run."""


class Finding(Value):
    """One named diagnosis with the smallest excerpt that proves it."""

    code: str
    severity: Severity
    evidence: str = ""
    turn: int = 0
    """Which exchange of the case showed it (0-based)."""
    call: int | None = None
    """Which call of the answer, where it concerns one (0-based)."""
    because_of: str | None = None
    """The code of the finding that it follows from: it is shown under that one and counted nowhere."""


def codes_of(findings: Iterable[Finding]) -> tuple[str, ...]:
    """The codes of the findings that follow from no other, each once."""
    return tuple(dict.fromkeys(one.code for one in findings if one.because_of is None))


class FindingKind(Value):
    """A catalogue entry: what a code means and what to do about it."""

    code: str
    severity: Severity
    title: str
    """A short sentence: what is wrong."""
    meaning: str
    """What it does to an agent."""
    cause: str
    """What usually causes it."""
    remedy: str
    """What the reader can do."""
    seen_in: tuple[str, ...] = ()
    """Public reports of it (project and number): leads, not proof of today's state."""

    @property
    def said(self) -> str:
        """The title inside another sentence: without its full stop and its marks of code."""
        return self.title.rstrip(".").replace("`", "")

    @property
    def anchor(self) -> str:
        """The heading of this code in the documentation."""
        return self.code.replace(".", "-").replace("_", "-").lower()
