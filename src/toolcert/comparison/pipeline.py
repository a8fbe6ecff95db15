"""The whole comparison: find and read the runs, match them, measure each vendor, correct for many tests, decide."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from toolcert.comparison.baseline import Blessing, find_blessing, other_question, stale_baseline
from toolcert.comparison.compare_options import CompareOptions
from toolcert.comparison.judge.measurement import Basis, VendorDraft, measure, unfinished_note
from toolcert.comparison.judge.vendor_verdict import Decided, VerdictCase, decide
from toolcert.comparison.match.pairs import OtherContent, Pairing, ask_again, other_content, other_sampling
from toolcert.comparison.match.partners import NO_PARTNER, Match, Partners, count_matching, count_repeats, find_partners
from toolcert.comparison.read.packed_run import By, PackedRun
from toolcert.comparison.result import ChanceTest, CompareFinding, Comparison, MissedCalls, Side, VendorComparison
from toolcert.comparison.stats.vendor_tests import RawTest
from toolcert.core.errors import InputError, NothingMeasuredError, ToolcertError, UsageError
from toolcert.core.findings import Severity
from toolcert.core.statistics.p_values import holm
from toolcert.core.values import Value
from toolcert.runs.location import locate_run
from toolcert.runs.reader import is_run
from toolcert.version import __version__

_GZIP = b"\x1f\x8b"


class RunSource(Value):
    """A run that takes part, before it is read."""

    label: str
    path: Path
    own: bool
    """A run of ours, with a manifest."""
    blessing: Blessing | None = None


def locate(word: str, baselines: Path) -> RunSource:
    """Find what `word` names, a path or a blessed baseline; refuse a word that names both."""
    blessing = find_blessing(baselines, word)
    path = Path(word) if blessing is not None else locate_run(word)
    if blessing is not None:
        if path.exists() and path.resolve() != Path(blessing.path):
            raise InputError(
                f"{word} is the name of a blessed baseline and of {path.resolve()}.",
                remedy=f"Write ./{word} for the latter, or bless the baseline under another name.",
            )
        return _blessed(blessing, baselines)
    if not path.exists():
        raise InputError(
            f"there is no run, results file or blessed baseline {word}.",
            remedy="Name a run folder of `toolcert verify`, a results.jsonl file, or bless a run under this name.",
        )
    if path.is_dir():
        if not is_run(path):
            raise InputError(f"{path} is a folder, but not a run of toolcert: it has no manifest.json.")
        return RunSource(label=_label(path), path=path, own=True)
    _check_file(path)
    return RunSource(label=_label(path), path=path, own=False)


def _blessed(blessing: Blessing, baselines: Path) -> RunSource:
    if not Path(blessing.path).exists():
        raise InputError(
            f"the baseline {blessing.name} was blessed at {blessing.path}, which no longer exists.",
            remedy=f"Bless another run: toolcert bless RUN --as {blessing.name}",
        )
    found = locate(blessing.path, baselines)
    return RunSource(label=blessing.name, path=found.path, own=found.own, blessing=blessing)


def _check_file(path: Path) -> None:
    """Refuse what cannot be a results file before reading it."""
    if not path.is_file():
        raise InputError(
            f"{path} is a pipe or a device, but results are read more than once.", remedy="Save them to a file first."
        )
    try:
        with path.open("rb") as file:
            start = file.read(len(_GZIP))
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror or error}.") from error
    if not start:
        raise InputError(f"{path} is empty.", remedy="Was the run that should have written it interrupted?")
    if start == _GZIP:
        raise InputError(f"{path} is compressed.", remedy=f"Unpack it first: gunzip --keep {path}")


def read_source(
    source: RunSource, match: Match, *, mixed: bool, offers: dict[bytes, Any], by: By | None = None
) -> PackedRun:
    """Read a run; `mixed` means that run folders are compared with results files, which share their `offers`."""
    if source.own:
        from toolcert.comparison.read.packed_run import read_run

        data = read_run(source.path, source.label, by)
    else:
        from toolcert.comparison.read.older_file import Reading, read_results

        reading = Reading(requests=match is Match.CONTENT or mixed, digests=mixed, by=by)
        data = read_results(source.path, source.label, reading, offers)
    if not len(data.columns):
        raise InputError(f"{source.path} has no rows.", remedy="Was the run that should have written it interrupted?")
    return data


def describe(source: RunSource, data: PackedRun) -> Side:
    """What a report says about a run."""
    manifest = data.manifest
    models = {who.asked for who in data.identities if who.asked}
    dataset = manifest.dataset if manifest is not None else None
    return Side(
        label=source.label,
        path=str(source.path),
        foreign=not source.own,
        rows=len(data.columns),
        measured=data.measured,
        model=", ".join(sorted(models)[:3]),
        endpoint=manifest.endpoints[0].base_url if manifest is not None and manifest.endpoints else "",
        dataset=None if dataset is None else dataset.path,
        dataset_digest=None if dataset is None else dataset.digest,
        parameters={} if manifest is None else manifest.parameters,
        started_at=None if manifest is None else manifest.started_at,
        blessed_as=None if source.blessing is None else source.blessing.name,
        torn=data.torn,
    )


def distinct_labels(sources: Sequence[RunSource]) -> list[str]:
    """Labels that are all different: where two are equal, the path is used."""
    labels = [source.label for source in sources]
    return [
        label if labels.count(label) == 1 else str(source.path) for source, label in zip(sources, labels, strict=True)
    ]


def is_mixed(sources: Iterable[RunSource]) -> bool:
    """Whether run folders are compared with results files."""
    return len({source.own for source in sources}) > 1


def _label(path: Path) -> str:
    return path.stem if path.is_file() else path.name or str(path)


_DEFAULTS = CompareOptions()


def compare(baselines: Sequence[str], vendors: Sequence[str], options: CompareOptions = _DEFAULTS) -> Comparison:
    """Compare vendors with a baseline; further runs of the baseline give the noise ceiling.

    Names are run folders, results files or blessed baselines. Vendors are read one after the other, so that
    memory does not grow with their number.
    """
    if not baselines or not vendors:
        raise UsageError("a comparison needs at least one baseline and one vendor.")
    return _Comparison(baselines, vendors, options).result()


def measured_noise(baselines: Sequence[str], options: CompareOptions = _DEFAULTS) -> float | None:
    """Share of rows on which two runs of the baseline decide differently; None with fewer than two runs."""
    if len(baselines) < 2:
        for word in baselines:
            locate(word, Path(options.baselines))  # a wrong name is refused even where its run is not needed
        return None
    cells = compare(baselines[:1], baselines[1:2], options).vendors[0].cells
    return (cells.fp + cells.fn) / cells.n if cells.n else None


class _Comparison:
    """One comparison: the runs that take part, with the baseline in memory."""

    def __init__(self, baselines: Sequence[str], vendors: Sequence[str], options: CompareOptions) -> None:
        self._options = options
        self._warnings: list[str] = []
        self._offers: dict[bytes, Any] = {}
        """The tools that results files offer, by their text."""
        folder = Path(options.baselines)
        sources = [locate(word, folder) for word in (*baselines, *vendors)]
        self._insist(_given_twice(sources))
        for blessing in _blessings(sources):
            self._insist(stale_baseline(blessing))
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
        """Refuse; with --force, continue and warn."""
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

    def _read(self, source: RunSource, by: By | None = None) -> PackedRun:
        return read_source(source, self._options.match, mixed=self._mixed, offers=self._offers, by=by)

    def _read_baseline(self, source: RunSource, by: By | None = None) -> PackedRun:
        run = self._read(source, by)
        if not run.measured:
            raise NothingMeasuredError(f"the baseline {source.label} answered none of its {len(run.columns)} rows.")
        return run

    def _measure(self, source: RunSource) -> VendorDraft:
        run = self._read(source)
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

    def _match(self, baseline: PackedRun, run: PackedRun) -> Partners:
        partners = find_partners(baseline.columns, run.columns, self._options.match)
        if partners.count(NO_PARTNER) == len(partners):
            raise InputError(
                f"{baseline.label} and {run.label} have no row in common: they are runs of different datasets.",
                remedy="Compare runs of the same dataset.",
            )
        looked_at = ask_again(baseline, run, partners) if self._options.match is Match.INDEX else []
        self._insist(other_sampling(baseline, run, partners, looked_at))
        self._doubt(other_content(baseline, run, looked_at))
        return partners

    def _doubt(self, other: OtherContent | None) -> None:
        """Warn of rows that ask something else; refuse where the manifests name different datasets."""
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
            notes.append("There is only one baseline run, so no noise ceiling; add a second one after --baseline.")
        return notes


def _given_twice(sources: Sequence[RunSource]) -> UsageError | None:
    """Refuse a run that is compared with itself: it always agrees."""
    paths = [source.path.resolve() for source in sources]
    twice = next((path for path in paths if paths.count(path) > 1), None)
    if twice is None:
        return None
    return UsageError(f"{twice} is given twice.", remedy="Give each run once, or insist with --force.")


def _blessings(sources: Sequence[RunSource]) -> list[Blessing]:
    return [source.blessing for source in sources if source.blessing is not None]


def _any_of(sources: Sequence[RunSource]) -> str:
    return sources[0].label if len(sources) == 1 else "any of the vendors"


def decide_together(bases: Sequence[Basis], options: CompareOptions) -> list[Decided]:
    """The verdicts, with the p-values of all vendors and tests corrected together."""
    p_values = [test.p for basis in bases for test in basis.raw_tests]
    adjusted = iter(holm(p_values))
    result = []
    for basis in bases:
        tests = tuple([_corrected(test, next(adjusted), options.alpha) for test in basis.raw_tests])
        result.append(
            decide(
                VerdictCase(
                    tests=tests,
                    margins=basis.margins,
                    tokens=basis.tokens,
                    tokens_decide=basis.tokens_decide,
                    cells=basis.cells,
                    usual=basis.usual,
                    missed=basis.missed,
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
        sentence=decided.sentence,
        meaning=decided.meaning,
        reasons=decided.reasons,
        tests=decided.tests,
        findings=(*_trigger_findings(decided.tests, figures.missed), *figures.findings),
    )


def _trigger_findings(tests: Sequence[ChanceTest], missed: MissedCalls) -> Iterator[CompareFinding]:
    """Calling more or less often than the baseline, where chance does not explain it; a cause that is known, first."""
    for test in tests:
        if test.name != "call_rate" or not test.detected:
            continue
        fewer = test.more > test.less
        evidence = f"{test.more} rows on which only the baseline calls, {test.less} on which only the vendor does"
        if fewer and missed.cause is not None:
            code, rows = missed.cause
            yield CompareFinding(code=code, severity=Severity.ERROR, rows=rows, evidence=evidence)
        else:
            code = "trigger.under" if fewer else "trigger.over"
            rows = abs(test.more - test.less)
            yield CompareFinding(code=code, severity=Severity.WARNING, rows=rows, evidence=evidence)
