"""Points of 100 with the range they could still take."""

from __future__ import annotations

from collections.abc import Mapping

from toolcert.core.cases import Outcome, SkipKind
from toolcert.core.values import Value
from toolcert.probes.suites import Suite
from toolcert.probes.summary.cell_tally import CellTally
from toolcert.probes.summary.scorecard import Score


class Earned(Value):
    """The part of a probe's points that is certain (`low`), and the part that is still possible (`high`)."""

    low: float = 0.0
    high: float = 1.0


UNKNOWN = Earned()
LOST = Earned(low=0.0, high=0.0)


def earned_by(tally: CellTally, *, by_rates: bool = False) -> Earned | None:
    """What a probe earned; None where it did not apply to the model and is left out of the score."""
    counts = tally.counts
    known = counts.measured + counts.unsupported
    unknown = counts.not_measured + tally.unasked
    if not known + unknown:
        return _earned_by_skips(tally)
    return _by_rates(tally) if by_rates else _span(counts.passed, known, unknown)


def _earned_by_skips(tally: CellTally) -> Earned | None:
    if tally.skips[SkipKind.NOT_APPLICABLE]:
        return None
    return LOST if tally.skips[SkipKind.NEED_FAILED] else UNKNOWN


def _by_rates(tally: CellTally) -> Earned:
    """The lower of the rates of calling and of handling: it reaches the threshold when both do."""
    called, handled = tally.called_rate, tally.handled_rate
    refused = tally.outcomes[Outcome.UNSUPPORTED]
    unknown = tally.called[None] - refused + tally.unasked
    calling = _span(called.k, called.n + refused, unknown)
    handling = _span(handled.k, handled.n, called.k - handled.n + unknown)
    return Earned(low=min(calling.low, handling.low), high=min(calling.high, handling.high))


def _span(k: int, known: int, unknown: int) -> Earned:
    total = known + unknown
    return Earned(low=k / total, high=(k + unknown) / total) if total else UNKNOWN


def score_of(tallies: Mapping[str, CellTally], weights: Mapping[str, float], suite: Suite) -> Score:
    """The weighted points; what did not apply gives its weight to the rest."""
    parts = {name: earned_by(tallies[name], by_rates=suite.by_rates) for name in weights if weights[name]}
    kept = {name: part for name, part in parts.items() if part is not None}
    total = sum(weights[name] for name in kept)
    points = {name: 100 * weights[name] / total for name in kept}
    low = sum(points[name] * part.low for name, part in kept.items())
    high = sum(points[name] * part.high for name, part in kept.items()) if kept else 100.0
    return Score(
        low=round(low, 4),
        high=round(high, 4),
        weights={name: round(point, 4) for name, point in points.items()},
    )
