"""What was counted of one model in both runs, and the judgement of all models together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import msgspec

from toolcert.core.statistics.rates import Rate
from toolcert.core.values import Value
from toolcert.core.verdict import Verdict
from toolcert.diagnose import kind_of
from toolcert.difference.exact_tests import OneSided, adjusted, both_sides
from toolcert.difference.run_difference import (
    AbilityDifference,
    CasePair,
    Change,
    FindingChange,
    FindingDifference,
    ModelDifference,
    TimeDifference,
)

_NOTHING = OneSided(1.0, 1.0)


class AbilityEvidence(Value):
    """A probe, or a fact about rows, counted in both runs."""

    name: str
    before: Rate = Rate()
    after: Rate = Rate()
    loss: OneSided = _NOTHING
    gain: OneSided = _NOTHING
    lost: int = 0
    gained: int = 0
    refused_before: int = 0
    refused_after: int = 0
    known: int = 0
    directed: bool = True
    """Whether more of it is better."""
    missing: Change | None = None
    """Set if one of the runs has nothing to compare."""


class FindingEvidence(Value):
    """A finding, counted in both runs."""

    code: str
    before: Rate
    after: Rate
    more: OneSided
    less: OneSided
    stood_before: bool
    """Reproduced, as the rule of verdicts asks."""
    stands_after: bool
    known: int = 0
    notes: tuple[str, ...] = ()
    example: str = ""


class ModelEvidence(Value):
    """One model, counted in both runs."""

    name: str
    before_name: str = ""
    before_verdict: Verdict | None = None
    after_verdict: Verdict | None = None
    abilities: tuple[AbilityEvidence, ...] = ()
    findings: tuple[FindingEvidence, ...] = ()
    times: tuple[TimeDifference, ...] = ()
    pairs: int = 0
    lost: int = 0
    gained: int = 0
    other_calls: int = 0
    cases: tuple[CasePair, ...] = ()
    pooled: bool = False
    """Whether its abilities are independent, so that they can be tested together."""

    @property
    def common(self) -> list[AbilityEvidence]:
        """The abilities that both runs measured."""
        return [one for one in self.abilities if one.missing is None]

    @property
    def together(self) -> AbilityEvidence | None:
        """All abilities as one: many small losses show together what none shows alone."""
        if not self.pooled or len(self.common) < 2:
            return None
        tables = [(one.before, one.after) for one in self.common]
        loss, gain = both_sides(tables)
        return AbilityEvidence(
            name="",
            before=sum((before for before, _ in tables), Rate()),
            after=sum((after for _, after in tables), Rate()),
            loss=loss,
            gain=gain,
        )


def judged(models: Sequence[ModelEvidence], alpha: float) -> tuple[list[ModelDifference], int]:
    """The difference of every model, and how many tests shared alpha."""
    together = [model.together for model in models]
    tested = [
        one
        for model, whole in zip(models, together, strict=True)
        for one in (*([whole] if whole is not None else []), *model.common)
    ]
    judgements = iter(_changes(tested, alpha))
    found = []
    findings = iter(_finding_changes([one for model in models for one in model.findings], alpha))
    for model, whole in zip(models, together, strict=True):
        overall = None if whole is None else next(judgements)
        abilities = tuple(
            next(judgements) if one.missing is None else _not_tested(one, one.missing) for one in model.abilities
        )
        found.append(_model(model, overall, abilities, tuple(next(findings) for _ in model.findings)))
    return found, len(tested)


def _changes(tested: Sequence[AbilityEvidence], alpha: float) -> Iterator[AbilityDifference]:
    """Losses share one alpha and gains another: the chance of a false loss, or of a false gain, if nothing changed."""
    losses, gains = ([_NOTHING if not one.directed else test for one, test in of_one] for of_one in _both(tested))
    # What is neither better nor worse is tested on both sides, each at half of alpha, apart from the others.
    either = [_either(one) for one in tested]
    for one, loss, gain, both in zip(
        tested, adjusted(losses, alpha), adjusted(gains, alpha), adjusted(either, alpha), strict=True
    ):
        change, p = Change.NO_EVIDENCE, both if not one.directed else _smaller(loss, gain)
        if p is not None and p <= alpha:
            better = gain is not None and (loss is None or gain < loss)
            change = Change.CHANGED if not one.directed else Change.IMPROVED if better else Change.WORSE
        yield _ability(one, change, p)


def _both(
    tested: Iterable[AbilityEvidence],
) -> tuple[list[tuple[AbilityEvidence, OneSided]], list[tuple[AbilityEvidence, OneSided]]]:
    every = list(tested)
    return [(one, one.loss) for one in every], [(one, one.gain) for one in every]


def _either(one: AbilityEvidence) -> OneSided:
    if one.directed:
        return _NOTHING
    smaller = min(one.loss, one.gain)
    return OneSided(min(1.0, 2 * smaller.p), min(1.0, 2 * smaller.least))


def _smaller(first: float | None, second: float | None) -> float | None:
    known = [p for p in (first, second) if p is not None]
    return min(known) if known else None


def _ability(one: AbilityEvidence, change: Change, p: float | None) -> AbilityDifference:
    return AbilityDifference(
        name=one.name,
        change=change,
        before=one.before,
        after=one.after,
        p=p,
        lost=one.lost,
        gained=one.gained,
        refused_before=one.refused_before,
        refused_after=one.refused_after,
        known=one.known,
    )


def _not_tested(one: AbilityEvidence, change: Change) -> AbilityDifference:
    return _ability(one, change, None)


def _finding_changes(found: Sequence[FindingEvidence], alpha: float) -> Iterator[FindingDifference]:
    more, less = adjusted([one.more for one in found], alpha), adjusted([one.less for one in found], alpha)
    for one, rise, fall in zip(found, more, less, strict=True):
        kind = kind_of(one.code)
        yield FindingDifference(
            code=one.code,
            severity=kind.severity,
            title=kind.title,
            change=_finding_change(
                one, risen=rise is not None and rise <= alpha, fallen=fall is not None and fall <= alpha
            ),
            before=one.before,
            after=one.after,
            p=_smaller(rise, fall),
            known=one.known,
            notes=one.notes,
            example=one.example,
        )


def _finding_change(one: FindingEvidence, *, risen: bool, fallen: bool) -> FindingChange:
    if one.before.k and one.after.k:
        return FindingChange.MORE if risen else FindingChange.LESS if fallen else FindingChange.SAME
    if one.after.k and one.before.n:
        return FindingChange.NEW if risen or one.stands_after else FindingChange.RARE
    if one.before.k and one.after.n:
        return FindingChange.GONE if fallen or one.stood_before else FindingChange.RARE
    return FindingChange.KNOWN if one.known else FindingChange.RARE


_URGENT = list(Change)
_URGENT_FINDING = list(FindingChange)


def _model(
    model: ModelEvidence,
    overall: AbilityDifference | None,
    abilities: tuple[AbilityDifference, ...],
    findings: tuple[FindingDifference, ...],
) -> ModelDifference:
    tested = [one for one in (*([overall] if overall is not None else []), *abilities) if one.change in _SHOWN]
    whole = overall or (tested[0] if tested else AbilityDifference(name="", change=Change.NOT_MEASURED))
    return ModelDifference(
        name=model.name,
        before_name=model.before_name,
        change=min((one.change for one in tested), key=_URGENT.index, default=Change.NOT_MEASURED),
        before_verdict=model.before_verdict,
        after_verdict=model.after_verdict,
        before=whole.before,
        after=whole.after,
        p=whole.p,
        abilities=abilities,
        findings=tuple(
            sorted(findings, key=lambda one: (_URGENT_FINDING.index(one.change), one.severity.rank, one.code))
        ),
        times=model.times,
        pairs=model.pairs,
        lost=model.lost,
        gained=model.gained,
        other_calls=model.other_calls,
        cases=model.cases,
    )


_SHOWN = (Change.WORSE, Change.CHANGED, Change.IMPROVED, Change.NO_EVIDENCE)


def only_in_one(model: ModelEvidence, change: Change) -> ModelDifference:
    """A model that one of the runs does not have."""
    return msgspec.structs.replace(_model(model, None, (), ()), change=change)
