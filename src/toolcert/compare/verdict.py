"""From figures to one word and one sentence."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from toolcert.compare.comparison import ChanceTest, MarginTest, TokenDifferences, Verdict
from toolcert.compare.confusion import Confusion, always_calling
from toolcert.compare.margins import QUALITY
from toolcert.compare.paired import MarginOutcome
from toolcert.core.values import Value

_GAP = {"call_rate": "calls", "validity": "valid calls", "correctness": "expectations met"}
_NO_CEILING = "with one baseline run nobody knows how much the baseline differs from itself"


class Case(Value):
    """All that a verdict rests on."""

    tests: tuple[ChanceTest, ...]
    margins: tuple[MarginTest, ...]
    tokens: TokenDifferences
    tokens_decide: bool
    cells: Confusion
    usual: float | None
    """Rows on which the baseline differs from itself, scaled to those compared; None without a second run."""
    margin: float


class Decided(Value):
    """A verdict, its sentence, and the lines that carry it."""

    verdict: Verdict
    headline: str
    reasons: tuple[str, ...]
    tests: tuple[ChanceTest, ...] = ()


def decide(case: Case) -> Decided:
    """Degraded before different before inconclusive: the strongest thing that is shown is said."""
    detected = {test.name: test for test in case.tests if test.detected}
    worse = [
        test for test in case.margins if test.outcome is MarginOutcome.FAILED and test.name in QUALITY & set(detected)
    ]
    unclear = [test for test in case.margins if test.outcome is not MarginOutcome.PASSED]
    if worse:
        verdict, headline = Verdict.DEGRADED, f"Degraded against the baseline: {_and(map(_loss, worse))}."
    elif case.tokens_decide or detected:
        verdict, headline = Verdict.DIFFERENT, f"Different from the baseline: {_differences(case, detected.values())}."
    elif not unclear:
        verdict, headline = Verdict.EQUIVALENT, f"Equivalent to the baseline: {_sameness(case)}."
    else:
        verdict, headline = Verdict.INCONCLUSIVE, f"Inconclusive: {_doubt(case, unclear)}."
    return Decided(verdict=verdict, headline=headline, reasons=tuple(_reasons(case, verdict)), tests=case.tests)


def _loss(test: MarginTest) -> str:
    rows = test.rows
    drop = -100 * (rows.difference or 0)
    return f"{drop:.1f} points fewer {_GAP[test.name]} ({rows.lost} lost, {rows.gained} gained of {rows.n} rows)"


def _differences(case: Case, detected: Iterable[ChanceTest]) -> str:
    parts = []
    if case.tokens_decide:
        equal = case.tokens.equal
        parts.append(f"prompt tokens differ on {equal.n - equal.k} of {equal.n} rows")
    names = {test.name for test in detected}
    if "decision" in names or "call_rate" in names:
        parts.append(_decision_rows(case, short=bool(parts)))
    found = {test.name: test for test in detected}
    if "payload" in found:
        parts.append(f"what is called differs on {found['payload'].more} rows where the baseline agrees with itself")
    if "validity" in found:
        parts.append(f"{found['validity'].more} calls are invalid where the baseline's are valid")
    if "correctness" in found:
        parts.append(f"{found['correctness'].more} expectations are missed that the baseline meets")
    return _and(parts)


def _decision_rows(case: Case, *, short: bool) -> str:
    differing = round(case.cells.fp + case.cells.fn)
    of = "" if short else f" of {round(case.cells.n)} rows"
    usual = "" if case.usual is None else f", where {case.usual:.0f} is usual"
    lead = "the call decision on" if short else "the call decision differs on"
    return f"{lead} {differing}{of}{usual}"


def _sameness(case: Case) -> str:
    points = 100 * case.margin
    return f"{_decision_rows(case, short=False)}, and no rate is more than {points:g} points worse"


def _doubt(case: Case, unclear: Sequence[MarginTest]) -> str:
    rows = round(case.cells.n)
    if not rows:
        return "no row was answered by both"
    if [test.name for test in unclear] == ["agreement"] and case.usual is None:
        return f"{_decision_rows(case, short=False)}, and {_NO_CEILING}"
    needed = [test.rows_needed for test in unclear]
    known = [rows for rows in needed if rows is not None]
    if len(known) < len(needed) or not known:
        return f"{rows} rows do not decide, and at a margin of {case.margin:g} no number of rows like these would"
    return f"{rows} rows do not decide; about {max(known)} would at a margin of {case.margin:g}"


def _reasons(case: Case, verdict: Verdict) -> Iterable[str]:
    for test in case.tests:
        if test.detected:
            yield f"It {test.question} ({test.more} rows against {test.less}, p = {_p(test.adjusted)} after Holm)."
    for margin in case.margins:
        if margin.outcome is MarginOutcome.INCONCLUSIVE and margin.rows_needed is not None:
            yield f"Whether it {margin.question} needs about {margin.rows_needed} rows."
    own, always = case.cells.f1, always_calling(case.cells).f1
    if own is not None and always is not None and always >= own:
        yield f"F1 alone would hide this: {own:.3f} for the vendor, {always:.3f} for a program that always calls."
    if case.usual is None and verdict is not Verdict.INCONCLUSIVE:
        yield "There is one baseline run only, so no noise ceiling; a second run of the baseline gives one."


def _p(value: float) -> str:
    return f"{value:.3f}" if value >= 0.001 else f"{value:.1e}"


def _and(parts: Iterable[str]) -> str:
    listed = list(parts)
    return listed[0] if len(listed) == 1 else f"{', '.join(listed[:-1])}, and {listed[-1]}"
