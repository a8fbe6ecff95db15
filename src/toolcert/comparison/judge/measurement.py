"""One vendor measured against the baseline: every figure, before the verdict."""

from __future__ import annotations

import msgspec

from toolcert.comparison.compare_options import CompareOptions
from toolcert.comparison.judge.evidence import (
    Differences,
    answered_by_another,
    count_missing,
    missed_calls,
    signs,
    telling_rows,
    token_differences,
    tokens_decide,
)
from toolcert.comparison.match.pairs import Answer, Decisions, Pairing, further_pairs, payload_rates, vendor_pairs
from toolcert.comparison.match.partners import Matching
from toolcert.comparison.read.packed_run import PackedRun, read_answer
from toolcert.comparison.result import (
    CompareFinding,
    CompareVerdict,
    GroupFigures,
    MarginTest,
    MissedCalls,
    SchemaFigures,
    Side,
    TokenDifferences,
    VendorComparison,
)
from toolcert.comparison.stats.confusion import Confusion
from toolcert.comparison.stats.significance import MarginOutcome
from toolcert.comparison.stats.vendor_figures import Settings, decision_figures, payload_figures, token_figure
from toolcert.comparison.stats.vendor_tests import Limits, RawTest, margin_tests, raw_tests
from toolcert.core.findings import Severity
from toolcert.core.requests import Request
from toolcert.core.statistics.rates import Rate
from toolcert.core.text.number_text import plural
from toolcert.core.values import Value

_LOOKED_AT = 30
"""Invalid rows whose calls are judged again, to see whether coercion would make them valid."""


def schema_figures(run: PackedRun, *, look_closer: bool = True) -> SchemaFigures:
    """Counts over all answers of a run with calls; `look_closer` also judges whether coercion would make them valid."""
    valid = invalid = unjudged = calls = 0
    for kind, count in run.kind_counts:
        if kind.called:
            valid += count * (kind.valid is True)
            invalid += count * (kind.valid is False)
            unjudged += count * (kind.valid is None)
            calls += count * kind.calls
    tallies = run.tallies
    return SchemaFigures(
        responses=valid + invalid + unjudged,
        responses_valid=valid,
        responses_invalid=invalid,
        responses_unjudged=unjudged,
        calls=calls,
        calls_valid=calls - tallies.invalid - tallies.unjudged,
        calls_invalid=tallies.invalid,
        calls_unjudged=tallies.unjudged,
        buckets=dict(tallies.buckets.most_common()),
        rows={bucket: tuple(rows) for bucket, rows in tallies.bucket_rows.items()},
        coercible=_coercible(run) if look_closer else Rate(),
    )


def _coercible(run: PackedRun) -> Rate:
    from toolcert.diagnose.judgement import judge_calls

    k = n = 0
    for place in run.tallies.invalid_places[:_LOOKED_AT]:
        given = read_answer(run, place)
        if given.reply is None:
            continue
        for call in judge_calls(Request(body=given.request), given.reply):
            n += call.valid is False
            k += call.valid is False and call.known and call.judgement.coercible
    return Rate(k=k, n=n)


class Basis(Value):
    """What the verdict on one vendor is based on."""

    raw_tests: tuple[RawTest, ...]
    margins: tuple[MarginTest, ...]
    tokens: TokenDifferences
    tokens_decide: bool
    cells: Confusion
    ceiling: Confusion | None
    missed: MissedCalls = MissedCalls()

    @property
    def usual(self) -> float | None:
        """Rows on which the baseline would differ from itself, out of as many as were compared."""
        if self.ceiling is None or not self.ceiling.n:
            return None
        return (self.ceiling.fp + self.ceiling.fn) / self.ceiling.n * self.cells.n


class VendorDraft(Value):
    """A vendor's figures before the verdict, and the basis of the verdict."""

    figures: VendorComparison
    basis: Basis


def basis_of(pairing: Pairing, options: CompareOptions) -> Basis:
    """The tests, margins and hard evidence that decide; the other figures are only shown."""
    decisions = Decisions(options.trigger)
    limits = Limits(margin=options.margin, confidence=options.confidence)
    tokens = token_differences(pairing)
    return Basis(
        raw_tests=tuple(raw_tests(pairing, decisions)),
        margins=tuple(margin_tests(pairing, decisions, limits)),
        tokens=tokens,
        tokens_decide=tokens_decide(tokens, options.confidence),
        cells=decisions.cells(vendor_pairs(pairing)),
        ceiling=decisions.cells(further_pairs(pairing)) if len(pairing.others) > 1 else None,
    )


def measure(side: Side, pairing: Pairing, matching: Matching, options: CompareOptions) -> VendorDraft:
    """All figures of a vendor that do not depend on the other vendors."""
    decisions = Decisions(options.trigger)
    basis = basis_of(pairing, options)
    # Answers are read again only where calls may be missing: of a like vendor a few always are.
    if any(test.name == "call_rate" and test.outcome is not MarginOutcome.PASSED for test in basis.margins):
        basis = msgspec.structs.replace(basis, missed=missed_calls(pairing, decisions))
    settings = Settings(confidence=options.confidence, seed=options.seed)
    measured = VendorComparison(
        side=side,
        verdict=CompareVerdict.INCONCLUSIVE,
        headline="",
        reasons=(),
        matching=matching,
        missed=basis.missed,
        missing=count_missing(pairing, decisions, basis.cells),
        cells=basis.cells,
        ceiling_cells=basis.ceiling,
        compared=round(basis.cells.n),
        figures=(
            *decision_figures(pairing, decisions, settings),
            *payload_figures(pairing, settings),
            token_figure(basis.tokens, settings),
        ),
        tests=(),
        margins=basis.margins,
        schema=schema_figures(pairing.vendor),
        baseline_schema=schema_figures(pairing.baseline, look_closer=False),
        signs=tuple(signs(pairing, basis.tokens, options.confidence)),
        tokens=basis.tokens,
        findings=tuple(_findings(pairing, basis.tokens.equal)),
        groups=tuple(_groups(pairing, decisions)) if options.by is not None else (),
        rows=tuple(telling_rows(pairing, decisions, options.rows)),
        differing=Differences(pairing, decisions).counts(),
        notes=tuple(_notes(side, matching, pairing)),
    )
    return VendorDraft(figures=measured, basis=basis)


def _findings(pairing: Pairing, equal_tokens: Rate) -> list[CompareFinding]:
    found = []
    differing = equal_tokens.n - equal_tokens.k
    if differing:
        text = f"prompt tokens differ from the baseline's on {differing} of {equal_tokens.n} rows"
        found.append(
            CompareFinding(code="usage.prompt_tokens_differ", severity=Severity.WARNING, rows=differing, evidence=text)
        )
    found += _other_model(pairing.vendor)
    found += [msgspec.structs.replace(one, of_baseline=True) for one in _other_model(pairing.baseline)]
    return found


def _other_model(run: PackedRun) -> list[CompareFinding]:
    """The finding that another model answered than was asked for; the most frequent pair of names is the evidence."""
    others = answered_by_another(run)
    if not others:
        return []
    (asked, answered), _ = others.most_common(1)[0]
    looked_at = run.identities.total()
    sampled = f" (of {looked_at} rows looked at)" if looked_at < len(run.columns) else ""
    return [
        CompareFinding(
            code="identity.model_differs",
            severity=Severity.WARNING,
            rows=others.total(),
            evidence=f"{run.label} was asked as {asked} and answered as {answered}{sampled}",
        )
    ]


def _groups(pairing: Pairing, decisions: Decisions) -> list[GroupFigures]:
    """The figures of each group, the largest first."""
    result = []
    for name, counts in pairing.by_group().items():
        patterns = [(pairing.patterns[number], count) for number, count in counts.items()]
        own = [(pattern.baseline, pattern.vendor, count) for pattern, count in patterns]
        further = [(pattern.baseline, other, count) for pattern, count in patterns for other in pattern.further]
        cells = decisions.cells(own)
        result.append(
            GroupFigures(
                name=name,
                cells=cells,
                agreement=_agreement(cells),
                ceiling=_agreement(decisions.cells(further)) if further else None,
                arguments=_arguments(own),
            )
        )
    return sorted(result, key=lambda group: -group.cells.n)


def _agreement(cells: Confusion) -> Rate:
    return Rate(k=round(cells.tp + cells.tn), n=round(cells.n))


def _arguments(pairs: list[tuple[Answer, Answer, int]]) -> Rate:
    return payload_rates(pairs)["arguments"]


def unfinished_note(run: PackedRun) -> str:
    """The note that only a part of a run is compared."""
    return f"{run.label} was not finished; only its {len(run.columns)} rows are compared."


def _notes(side: Side, matching: Matching, pairing: Pairing) -> list[str]:
    notes = [unfinished_note(pairing.vendor)] if pairing.vendor.unfinished else []
    baseline = pairing.baseline
    asked = baseline.manifest.dataset if baseline.manifest is not None else None
    if asked is not None and side.dataset_digest is not None and side.dataset_digest != asked.digest:
        notes.append(f"{side.label} answered another dataset or another version of it; only common rows are compared.")
    if side.torn:
        notes.append(f"The last line of {side.label} was cut off and is left out.")
    if side.foreign:
        notes.append(f"{side.label} has no manifest, so there is no digest of its dataset to check.")
    if matching.baseline_repeats:
        repeats = plural(matching.baseline_repeats, "row repeats", "rows repeat")
        notes.append(f"{repeats} an earlier question; repeats are resampled together.")
    return notes
