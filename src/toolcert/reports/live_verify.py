"""What a verify run shows of itself while it runs."""

from __future__ import annotations

from toolcert.core.events import AttemptMade, CaseFinished, Event
from toolcert.core.statistics_quantiles import Quantiles
from toolcert.reports.text import count, seconds

_THROTTLED_SHOWN = 50
"""Attempts after a 429 during which the display says that we have backed off."""


class VerifyFigures:
    """A handler that keeps the line of figures only verify has."""

    def __init__(self) -> None:
        self._valid = 0
        self._judged = 0
        self._first_token = Quantiles()
        self._since_429 = _THROTTLED_SHOWN

    def __call__(self, event: Event) -> None:
        if isinstance(event, AttemptMade):
            self._since_429 = 0 if event.attempt.status == 429 else self._since_429 + 1
        elif isinstance(event, CaseFinished) and event.record.row is not None:
            row = event.record.row
            self._judged += row.valid is not None
            self._valid += row.valid is True
            if row.first_token is not None:
                self._first_token.add(row.first_token)

    def line(self) -> str:
        """The figures now."""
        parts = [f"valid {count(self._valid)}/{count(self._judged)}"]
        if self._first_token.count:
            parts.append(f"first token {seconds(self._first_token.quantile(0.5))} s")
        if self._since_429 < _THROTTLED_SHOWN:
            parts.append("backed off, 429")
        return "   ".join(parts)
