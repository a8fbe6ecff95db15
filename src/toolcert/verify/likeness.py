"""Rows that look alike are counted together: a run has many rows and few kinds of them."""

from __future__ import annotations

from operator import attrgetter
from typing import NamedTuple

from toolcert.core.outcomes import Outcome
from toolcert.core.records import Record, RowFacts

MOST_KINDS = 1024
"""Kinds held back before they are counted, so that a run where every row differs stays within bounds."""


class Kind(NamedTuple):
    """All that is counted of an answered row, and nothing that is its own."""

    called: bool | None
    finish: str | None
    names: tuple[str, ...]
    valid: bool | None
    verdicts: tuple[bool | None, ...]
    wanted: bool | None
    correct: bool | None
    buckets: tuple[str, ...]
    answered_as: str | None
    fingerprint: str | None
    tools: int
    offered: tuple[str, ...]
    turns: int
    streamed: bool
    tags: tuple[str, ...]
    codes: tuple[str, ...]
    passed: bool


_of_row = attrgetter(*Kind._fields[:-2])


class Kinds:
    """How many rows of each kind there were since the last count."""

    def __init__(self) -> None:
        self._rows: dict[tuple[object, ...], int] = {}

    def add(self, record: Record, row: RowFacts) -> bool:
        """Take a row in; True when it is time to count."""
        kind = (*_of_row(row), record.codes, record.outcome is Outcome.PASSED)
        self._rows[kind] = self._rows.get(kind, 0) + 1
        return len(self._rows) >= MOST_KINDS

    def take(self) -> list[tuple[Kind, int]]:
        """The kinds with their numbers, and begin anew."""
        counted = [(Kind._make(kind), rows) for kind, rows in self._rows.items()]
        self._rows = {}
        return counted
