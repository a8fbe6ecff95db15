"""The whole comparison: read, match, measure each vendor, correct for many questions, decide, sort."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec

from toolcert.compare.blessing import Blessing, other_question, stale
from toolcert.compare.chance import RawTest
from toolcert.compare.comparison import ChanceTest, CompareFinding, Comparison, VendorComparison
from toolcert.compare.inputs import Source, describe, distinct_labels, is_mixed, locate, read_source
from toolcert.compare.matching import NOBODY, Match, Partners, count_matching, count_repeats, find_partners
from toolcert.compare.measuring import Basis, Draft, measure, unfinished_note
from toolcert.compare.options import Options
from toolcert.compare.pairing import Pairing
from toolcert.compare.rundata import By, RunData
from toolcert.compare.sampling import OtherContent, ask_again, other_content, other_sampling
from toolcert.compare.significance import holm
from toolcert.compare.verdict import Case, Decided, decide
from toolcert.core.errors import InputError, NothingMeasuredError, ToolcertError, UsageError
from toolcert.core.findings import Severity
from toolcert.version import __version__

_DEFAULTS = Options()


def compare(baselines: Sequence[str], vendors: Sequence[str], options: Options = _DEFAULTS) -> Comparison:
    """Hold vendors against a baseline; its further runs, if any, give the noise ceiling.

    Names are run folders, results files or blessed baselines. Vendors are read one after the other, so
    their number does not matter for memory.
    """
    if not baselines or not vendors:
        raise UsageError("a comparison needs at least one baseline and one vendor.")
    return _Comparing(baselines, vendors, options).result()


def measured_noise(baselines: Sequence[str], options: Options = _DEFAULTS) -> float | None:
    """Share of rows on which two runs of the baseline decide differently; None with fewer than two runs."""
    if len(baselines) < 2:
        for word in baselines:
            locate(word, Path(options.baselines))  # a name that is wrong is wrong, also where it is not needed
        return None
    cells = compare(baselines[:1], baselines[1:2], options).vendors[0].cells
    return (cells.fp + cells.fn) / cells.n if cells.n else None


class _Comparing:
    """The runs that take part, and the baseline read."""

    def __init__(self, baselines: Sequence[str], vendors: Sequence[str], options: Options) -> None:
        self._options = options
        self._warnings: list[str] = []
        folder = Path(options.baselines)
        sources = [locate(word, folder) for word in (*baselines, *vendors)]
        self._insist(_given_twice(sources))
        for blessing in _blessings(sources):
            self._insist(stale(blessing))
        labels = distinct_labels(sources)
        named = [msgspec.structs.replace(source, label=label) for source, label in zip(sources, labels, strict=True)]
        self._mixed = is_mixed(named)
        self._baseline_source, *self._further_sources = named[: len(baselines)]
        self._vendor_sources = named[len(baselines) :]
        self._baseline = self._read_baseline(self._baseline_source, by=options.by)
        self._baseline_repeats = count_repeats(self._baseline.columns, options.match)
        self._further = [self._read_baseline(source) for source in self._further_sources]
        self._further_partners = [self._match(self._baseline, run) for run in self._further]

    def _insist(self, refusal: ToolcertError | None) -> None:
        """Refuse; where the user insists, go on and say what speaks against it."""
        if refusal is None:
            return
        if not self._options.force:
            raise refusal
        self._warnings.append(refusal.message)

    def result(self) -> Comparison:
        drafts = [self._measure(source) for source in self._vendor_sources]
        if not any(draft.figures.compared for draft in drafts):
            raise NothingMeasuredError(
                f"no row was answered by both {self._baseline.label} and {_any_of(self._vendor_sources)}."
            )
        verdicts = decide_together([draft.basis for draft in drafts], self._options)
        vendors = [_with_verdict(draft.figures, verdict) for draft, verdict in zip(drafts, verdicts, strict=True)]
        return Comparison(
            toolcert=__version__,
            trigger=self._options.trigger,
            match=self._options.match,
            alpha=self._options.alpha,
            margin=self._options.margin,
            seed=self._options.seed,
            baseline=describe(self._baseline_source, self._baseline),
            further=tuple(
                describe(source, run) for source, run in zip(self._further_sources, self._further, strict=True)
            ),
            vendors=tuple(sorted(vendors, key=lambda vendor: -vendor.score)),
            by=None if self._options.by is None else str(self._options.by),
            warnings=tuple(self._warnings),
            notes=tuple(self._notes()),
        )

    def _read_baseline(self, source: Source, by: By | None = None) -> RunData:
        run = read_source(source, self._options.match, mixed=self._mixed, by=by)
        if not run.measured:
            raise NothingMeasuredError(f"the baseline {source.label} answered none of its {len(run.columns)} rows.")
        return run

    def _measure(self, source: Source) -> Draft:
        run = read_source(source, self._options.match, mixed=self._mixed)
        side = describe(source, run)
        for blessing in _blessings([self._baseline_source, *self._further_sources]):
            self._insist(other_question(blessing, side.label, side.dataset_digest, side.parameters))
        partners = self._match(self._baseline, run)
        matching = count_matching(
            self._baseline.columns, run.columns, partners, self._options.match, self._baseline_repeats
        )
        run.columns.forget_identity()
        others = [(run, partners), *zip(self._further, self._further_partners, strict=True)]
        return measure(side, Pairing(self._baseline, others), matching, self._options)

    def _match(self, baseline: RunData, run: RunData) -> Partners:
        partners = find_partners(baseline.columns, run.columns, self._options.match)
        if partners.count(NOBODY) == len(partners):
            raise InputError(
                f"{baseline.label} and {run.label} have no row in common: they are runs of different datasets.",
                remedy="Compare runs of the same dataset.",
            )
        looked_at = ask_again(baseline, run, partners) if self._options.match is Match.INDEX else []
        self._insist(other_sampling(baseline, run, partners, looked_at))
        self._doubt(other_content(baseline, run, looked_at))
        return partners

    def _doubt(self, other: OtherContent | None) -> None:
        """Warn of rows that ask something else; refuse where the runs themselves say that the datasets differ."""
        if other is not None and other.other_datasets:
            self._insist(InputError(other.message, remedy="Match by content, or compare anyway with --force."))
        elif other is not None:
            self._warnings.append(other.message)

    def _notes(self) -> list[str]:
        notes = []
        for run in (self._baseline, *self._further):
            if run.unfinished:
                notes.append(unfinished_note(run))
            if run.torn:
                notes.append(f"The last line of {run.label} was cut off and is left out.")
            if run.manifest is None:
                notes.append(f"{run.label} has no manifest, so there is no digest of its dataset to check.")
        if not self._further:
            notes.append("There is one baseline run, so no noise ceiling: name a second one after --baseline.")
        return notes


def _given_twice(sources: Sequence[Source]) -> UsageError | None:
    """A run held against itself agrees perfectly and says nothing."""
    paths = [source.path.resolve() for source in sources]
    twice = next((path for path in paths if paths.count(path) > 1), None)
    if twice is None:
        return None
    return UsageError(f"{twice} is given twice.", remedy="Give each run once, or insist with --force.")


def _blessings(sources: Sequence[Source]) -> list[Blessing]:
    return [source.blessing for source in sources if source.blessing is not None]


def _any_of(sources: Sequence[Source]) -> str:
    return sources[0].label if len(sources) == 1 else "any of the vendors"


def decide_together(bases: Sequence[Basis], options: Options) -> list[Decided]:
    """Verdicts, after the p-values of all vendors and tests were corrected together."""
    p_values = [test.p for basis in bases for test in basis.raw_tests]
    adjusted = iter(holm(p_values))
    result = []
    for basis in bases:
        tests = tuple([_corrected(test, next(adjusted), options.alpha) for test in basis.raw_tests])
        result.append(
            decide(
                Case(
                    tests=tests,
                    margins=basis.margins,
                    tokens=basis.tokens,
                    tokens_decide=basis.tokens_decide,
                    cells=basis.cells,
                    usual=basis.usual,
                    margin=options.margin,
                    level=options.alpha / max(1, len(p_values)),
                )
            )
        )
    return result


def _corrected(test: RawTest, adjusted: float, alpha: float) -> ChanceTest:
    return ChanceTest(
        name=test.name,
        question=test.question,
        p=test.p,
        adjusted=adjusted,
        more=test.more,
        less=test.less,
        detected=adjusted < alpha,
    )


def _with_verdict(figures: VendorComparison, decided: Decided) -> VendorComparison:
    return msgspec.structs.replace(
        figures,
        verdict=decided.verdict,
        headline=decided.headline,
        reasons=decided.reasons,
        tests=decided.tests,
        findings=(*_trigger_findings(decided.tests), *figures.findings),
    )


def _trigger_findings(tests: Sequence[ChanceTest]) -> list[CompareFinding]:
    """Calling more or less often than the baseline, where chance does not explain it."""
    return [
        CompareFinding(
            code="trigger.under" if test.more > test.less else "trigger.over",
            severity=Severity.WARNING,
            rows=abs(test.more - test.less),
            evidence=f"{test.more} rows on which only the baseline calls, {test.less} on which only the vendor does",
        )
        for test in tests
        if test.name == "call_rate" and test.detected
    ]
