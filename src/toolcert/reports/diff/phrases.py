"""What every report of a difference says: changes, rates, times and settings in words."""

from __future__ import annotations

import json
from datetime import UTC, datetime

from toolcert.core.statistics.p_values import p_words
from toolcert.core.statistics.rates import Rate
from toolcert.core.verdict import Verdict
from toolcert.difference.run_difference import (
    ALPHA,
    AbilityDifference,
    Change,
    FindingChange,
    FindingDifference,
    ModelDifference,
    RunDifference,
    RunSide,
    Setting,
    TimeDifference,
)
from toolcert.reports.display_text import NO_VALUE, count, plural, seconds, shorten, visible

CHANGE_ROLES = {
    Change.WORSE: "bad",
    Change.CHANGED: "half",
    Change.IMPROVED: "good",
    Change.NO_EVIDENCE: "cannot",
    Change.NOT_MEASURED: "unknown",
    Change.ONLY_BEFORE: "unknown",
    Change.ONLY_AFTER: "unknown",
}
"""The tone in which each change is shown; no change is shown in a neutral one."""
FINDING_ROLES = {
    FindingChange.NEW: "bad",
    FindingChange.MORE: "bad",
    FindingChange.SAME: "cannot",
    FindingChange.RARE: "unknown",
    FindingChange.KNOWN: "cannot",
    FindingChange.LESS: "good",
    FindingChange.GONE: "good",
}
_SPEEDS = {Change.WORSE: "slower", Change.IMPROVED: "faster"}
_LONGEST_SETTING = 60


def of(rate: Rate) -> str:
    """`12/20`."""
    return f"{count(rate.k)}/{count(rate.n)}" if rate.n else NO_VALUE


def chance(p: float | None) -> str:
    """`p = 0.03`; empty if the numbers cannot show any change."""
    return "" if p is None else f"p {p_words(p)}"


def ability_words(one: AbilityDifference) -> str:
    """The change of an ability with its p-value and what else is to be known."""
    parts = [chance(one.p) if one.change in (Change.WORSE, Change.IMPROVED, Change.CHANGED) else ""]
    if one.refused_before or one.refused_after:
        parts.append(f"refused {one.refused_before} → {one.refused_after}")
    if one.known:
        parts.append(f"{one.known} known left out")
    return ", ".join(part for part in parts if part)


def short_word(one: ModelDifference | AbilityDifference) -> str:
    """The change in a narrow column."""
    return "no evidence" if one.change is Change.NO_EVIDENCE else one.change.text


def verdict_words(model: ModelDifference) -> str:
    """`passes → partial`, or one word if it is the same."""
    old, new = (_word(verdict) for verdict in (model.before_verdict, model.after_verdict))
    return old if old == new else f"{old} → {new}"


def _word(verdict: Verdict | None) -> str:
    return NO_VALUE if verdict is None else verdict.word.text


def speed(one: TimeDifference) -> str:
    """Whether it got slower."""
    surely = one.p is not None and one.p <= ALPHA
    return _SPEEDS.get(one.change, "less than a fifth" if surely else "no evidence")


def times(one: TimeDifference) -> str:
    """`0.71 → 0.80 s`."""
    return _span(one.before_p50, one.after_p50)


def slowest(one: TimeDifference) -> str:
    """The same for the 95th percentile."""
    return _span(one.before_p95, one.after_p95)


def _span(before: float | None, after: float | None) -> str:
    fine = max(before or 0.0, after or 0.0) < 0.1
    texts = (f"{value:.3f}" if fine and value is not None else seconds(value) for value in (before, after))
    return f"{' → '.join(texts)} s"


def finding_words(one: FindingDifference) -> str:
    """`0/60 → 8/60`, and how many cases are known."""
    known = f", {plural(one.known, 'known case')}" if one.known else ""
    return f"{of(one.before)} → {of(one.after)}{known}"


def notes(one: FindingDifference) -> str:
    """The notes of the marks that excuse it."""
    return "; ".join(shorten(visible(note), 200) for note in one.notes)


def setting(one: Setting) -> str:
    """`temperature 0 → 1`."""
    return f"{one.name} {_value(one.before)} → {_value(one.after)}"


def _value(value: object) -> str:
    if value is None:
        return "not set"
    if isinstance(value, list) and all(isinstance(one, str) for one in value):
        return _value(", ".join(value))
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return shorten(visible(text), _LONGEST_SETTING)


def when(side: RunSide) -> str:
    """The time of a run, in UTC."""
    return f"{datetime.fromtimestamp(side.started_at, UTC):%Y-%m-%d %H:%M} UTC"


def side_words(side: RunSide) -> str:
    """A run in one line."""
    asked = f"{', '.join(side.models[:3])}{' …' if len(side.models) > 3 else ''} at {', '.join(side.endpoints)}"
    return visible(f"{side.folder}, {when(side)}, {asked}{f', {side.about}' if side.about else ''}")


def pairs_words(model: ModelDifference) -> str:
    """How the pairs of a model came out."""
    other = f", {plural(model.other_calls, 'pair')} with other calls" if model.other_calls else ""
    return f"{plural(model.pairs, 'pair')}: {count(model.lost)} lost, {count(model.gained)} gained{other}"


def method(difference: RunDifference) -> str:
    """How it was tested."""
    tests = plural(difference.tests, "test")
    known = f" {plural(difference.known, 'known case')} left out." if difference.known else ""
    return (
        f"{tests} share a {100 * difference.alpha:g} % chance of one false alarm; "
        f"differences that chance explains are called no evidence of change.{known}"
    )
