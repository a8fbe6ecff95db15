"""What became of a case."""

from __future__ import annotations

from enum import StrEnum


class Outcome(StrEnum):
    """The five ends of a case; only PASSED and FAILED are measurements."""

    PASSED = "passed"
    FAILED = "failed"
    """The model or server behaved wrongly."""
    UNSUPPORTED = "unsupported"
    """The server says that it cannot."""
    NOT_MEASURED = "not_measured"
    """Transport, rate limit, auth or outage: says nothing about the model."""
    SKIPPED = "skipped"
    """A precondition failed, or an early stop; the reason is given."""

    @property
    def measured(self) -> bool:
        return self in (Outcome.PASSED, Outcome.FAILED)
