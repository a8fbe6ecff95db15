"""Diff: later runs compared with an earlier one of the same job. Nothing is sent."""

from __future__ import annotations

from os import PathLike

from toolcert.core.errors import UsageError
from toolcert.difference.diff import MOST_CASES, diff_runs
from toolcert.difference.run_difference import ALPHA, RunDifference
from toolcert.runs.marks import known_marks


def diff(
    before: str | PathLike[str],
    *after: str | PathLike[str],
    alpha: float = ALPHA,
    known: str | PathLike[str] | None = None,
    cases: int = MOST_CASES,
) -> tuple[RunDifference, ...]:
    """What changed from the first run to each of the others; all of them share the chance of a false alarm.

    Cases whose findings a mark in the file `known` excuses are not counted.
    """
    if not after:
        raise UsageError("one run has no difference.", remedy="Name two or more: the earlier one first.")
    marks = known_marks(known)
    return tuple(diff_runs(before, one, alpha=alpha / len(after), known=marks, cases=cases) for one in after)
