"""The options of a comparison."""

from __future__ import annotations

from toolcert.comparison.baseline import FOLDER
from toolcert.comparison.judge.evidence import SHOWN
from toolcert.comparison.match.partners import Match
from toolcert.comparison.read.packed_run import By
from toolcert.comparison.stats.confusion import Trigger
from toolcert.core.errors import UsageError
from toolcert.settings.keyword_options import KeywordOptions


class CompareOptions(KeywordOptions, kw_only=True):
    """What a comparison counts as a call, as the same row, and as the same; the names are those of the command."""

    trigger: Trigger = Trigger.PAYLOAD
    match: Match = Match.CONTENT
    margin: float = 0.03
    """How much worse a rate may be and still count as the same."""
    alpha: float = 0.05
    by: By | None = None
    seed: int = 0
    force: bool = False
    """Compare despite different sampling settings or a stale baseline."""
    rows: int = SHOWN
    """Rows to keep as examples of a difference."""
    baselines: str = FOLDER
    """Where blessed baselines are kept."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.rows < 0:
            raise UsageError(f"rows must be at least 0, not {self.rows}.")
        if not 0 < self.margin < 1:
            raise UsageError(f"a margin of {self.margin:g} is not a share of rows.", remedy="Give one such as 0.03.")
        if not 0 < self.alpha < 1:
            raise UsageError(f"an alpha of {self.alpha:g} is not a probability.", remedy="Give one such as 0.05.")

    @property
    def confidence(self) -> float:
        return 1 - self.alpha
