"""What a load run says, as values: the one input of every report about it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import median

import msgspec

from toolcert.core.cases import SkipKind
from toolcert.core.exchanges import Exchange
from toolcert.core.findings import Severity
from toolcert.core.records import Manifest, Record
from toolcert.core.statistics.p_values import binomial_tail, fisher_tail, p_words, rank_sum
from toolcert.core.statistics.quantiles import Timings
from toolcert.core.statistics.rates import Rate
from toolcert.core.text.excerpt import excerpt
from toolcert.core.text.number_text import plural
from toolcert.core.values import Value
from toolcert.core.verdict import Ability, CappingFinding, Coverage, Verdict, Word, decide
from toolcert.diagnose import kind_of
from toolcert.probes.summary.load_tally import CORRUPTION, CORRUPTION_ALPHA, CROSSTALK, LevelTally, LoadTally, capping
from toolcert.protocol.reply import read_reply
from toolcert.runs.encoding import decode_head, decode_record
from toolcert.runs.reader import RunReader

QUEUEING_ALPHA = 0.001
"""Highest probability of each of the two tests behind `load.queueing`."""
DRIFT_ALPHA = 0.005
"""Highest probability of each of the two tests behind `load.degrades`."""
SLOWER = 2.0
"""A pair shows queueing if it takes this many times longer under load ..."""
SLOWER_BY = 0.5
"""... and by at least this many seconds: less is the noise of a busy machine."""
DRIFT_FACTOR = 1.5
DRIFT_BY = 0.25
FEWEST_HELD = 30
"""Answers in each third before anything is said of a drift."""
REFUSED_SHARE = 0.05
"""The share of unanswered requests under load that is reported."""
POWER = 0.9
LONGEST_ANSWER = 600


class LevelFigures(Value):
    """One level of concurrency."""

    level: int
    right: Rate = Rate()
    """Right answers of those that came."""
    crosstalk: int = 0
    refused: int = 0
    """Answers that say that the server cannot."""
    unanswered: int = 0
    unanswered_by: dict[str, int] = {}
    busy: float | None = None
    """Requests in flight, averaged over the time of each; fewer than the level if the vendor asks for patience."""
    held_back: bool = False
    """Whether the vendor refused so much that less than half of the level was in flight."""
    retried: int = 0
    timings: Timings = Timings()

    @property
    def asked(self) -> int:
        return self.right.n + self.unanswered


class PairFigures(Value):
    """The same questions alone and under load."""

    planned: int = 0
    measured: int = 0
    both_right: int = 0
    both_wrong: int = 0
    worse: int = 0
    """Right alone, wrong under load."""
    better: int = 0
    """Wrong alone, right under load."""
    crosstalk: int = 0
    """Pairs with another request's values; they are not counted as worse."""
    not_measured: int = 0
    p: float = 1.0
    """That load makes no difference; valid whenever the run was stopped."""
    exact: float = 1.0
    """The same by McNemar's exact test, which assumes a single look at the end."""
    alpha: float = CORRUPTION_ALPHA
    breaks: bool = False
    """Whether load breaks calls: p is at most alpha."""
    detectable: float | None = None
    """The share of corrupted calls that this many pairs find in nine of ten runs; None if they find none."""


class SearchStep(Value):
    """One level that was tried."""

    level: int
    wrong: Rate
    breaks: bool


class Search(Value):
    """Where calls begin to break."""

    sound: int
    """The highest level at which nothing was seen to break."""
    broken: int
    """The lowest level that breaks."""
    steps: tuple[SearchStep, ...] = ()
    requests: int = 0


class Drift(Value):
    """The first third of the time under load against the last."""

    seconds: float
    first: Rate = Rate()
    """Right answers."""
    last: Rate = Rate()
    p: float = 1.0
    """That the last third is not worse."""
    first_seconds: float | None = None
    """Median of the whole answer."""
    last_seconds: float | None = None
    p_slower: float = 1.0
    slower: int = 0
    """Answers of the last third that take half as long again as the median of the first."""


class LoadExample(Value):
    """Two answers to one question, or one answer with another request's values."""

    case: str
    """The record of the answer under load."""
    alone_case: str = ""
    asked: str = ""
    alone: str = ""
    loaded: str = ""
    evidence: str = ""


class LoadFinding(Value):
    """Something that load shows."""

    code: str
    severity: Severity
    title: str
    count: int
    of: int
    evidence: str
    p: float | None = None
    """The chance to see this without such a fault; None if a single case proves it."""
    examples: tuple[LoadExample, ...] = ()


class LoadSummary(Value):
    """A load run of one model at one endpoint."""

    run: str
    toolcert: str
    endpoint: str
    base_url: str
    model: str
    started_at: float
    level: int
    verdict: Verdict
    headline: str
    lines: tuple[str, ...] = ()
    seconds: float | None = None
    interrupted: bool = False
    incomplete: bool = False
    pairs: PairFigures = PairFigures()
    levels: tuple[LevelFigures, ...] = ()
    search: Search | None = None
    drift: Drift | None = None
    findings: tuple[LoadFinding, ...] = ()
    error_budget: dict[str, float] = {}
    """The chance of each finding to be said of a vendor without the fault."""
    requests: int = 0
    retried: int = 0
    not_measured_by: dict[str, int] = {}
    bugs: int = 0

    @property
    def nothing_measured(self) -> bool:
        return self.verdict.word is Word.NOT_MEASURED


def summarise_load(folder: Path) -> LoadSummary:
    """Read a load run from its log."""
    reader = RunReader(folder)
    manifest = reader.manifest
    tally = LoadTally(_level(manifest))
    ended = manifest.started_at
    for head in reader.heads():
        tally.add(head)
        ended = max(ended, head.at)
    tally.close()
    wanted = {answer.case for pair in tally.worse for answer in pair} | set(tally.foreign)
    return _summary(manifest, tally, ended, _whole_records(reader, wanted))


def _whole_records(reader: RunReader, wanted: set[str]) -> dict[str, Record]:
    """The few records that are shown, evidence included."""
    if not wanted:
        return {}

    def read(line: bytes) -> Record | None:
        return decode_record(line) if decode_head(line).case in wanted else None

    return {record.case: record for record in reader.decoded(read) if record is not None}


def _level(manifest: Manifest) -> int:
    level = manifest.parameters.get("at_load")
    return level if isinstance(level, int) and level > 1 else 2


def _number(manifest: Manifest, name: str) -> int:
    value = manifest.parameters.get(name)
    return value if isinstance(value, int) else 0


def _summary(manifest: Manifest, tally: LoadTally, ended: float, records: Mapping[str, Record]) -> LoadSummary:
    levels = tuple(_figures(one) for one in tally.at_each_level())
    pairs = _pairs(tally, _number(manifest, "pairs"))
    search = _search(tally)
    drift = _drift(tally)
    findings = tuple(_findings(tally, pairs, drift, records))
    verdict = load_verdict(
        tally.level,
        levels,
        findings,
        coverage=_coverage(manifest, tally, pairs),
        threshold=manifest.threshold,
    )
    spec = manifest.endpoints[0] if manifest.endpoints else None
    return LoadSummary(
        run=manifest.run,
        toolcert=manifest.toolcert,
        endpoint=spec.name if spec else "",
        base_url=spec.base_url if spec else "",
        model=str(manifest.parameters.get("model", "")),
        started_at=manifest.started_at,
        level=tally.level,
        verdict=verdict,
        headline=_headline(manifest, tally, pairs, verdict),
        lines=tuple(_lines(tally, pairs, search, drift)),
        seconds=max(0.0, ended - manifest.started_at) or None,
        interrupted=manifest.interrupted,
        incomplete=manifest.finished_at is None or manifest.interrupted,
        pairs=pairs,
        levels=levels,
        search=search,
        drift=drift,
        findings=findings,
        error_budget={
            CORRUPTION: CORRUPTION_ALPHA,
            CROSSTALK: 0.0,
            "load.degrades": 2 * DRIFT_ALPHA,
            "load.queueing": 2 * QUEUEING_ALPHA,
        },
        requests=sum(one.requests for one in tally.levels.values()),
        retried=sum(one.retried for one in tally.levels.values()),
        not_measured_by=_causes(levels),
        bugs=tally.bugs,
    )


def _causes(levels: tuple[LevelFigures, ...]) -> dict[str, int]:
    every: dict[str, int] = {}
    for figures in levels:
        for cause, number in figures.unanswered_by.items():
            every[cause] = every.get(cause, 0) + number
    return dict(sorted(every.items(), key=lambda entry: -entry[1]))


def _figures(one: LevelTally) -> LevelFigures:
    return LevelFigures(
        level=one.level,
        right=one.answered,
        crosstalk=one.crosstalk,
        refused=one.refused,
        unanswered=one.unanswered.total(),
        unanswered_by=dict(one.unanswered.most_common()),
        busy=one.busy,
        held_back=one.held_back,
        retried=one.retried,
        timings=one.timings,
    )


def _pairs(tally: LoadTally, planned: int) -> PairFigures:
    test = tally.test
    return PairFigures(
        planned=planned,
        measured=tally.measured_pairs,
        both_right=tally.both_right,
        both_wrong=tally.both_wrong,
        worse=test.worse,
        better=test.better,
        crosstalk=tally.crosstalk_pairs,
        not_measured=tally.unmeasured_pairs,
        p=test.p,
        exact=test.exact,
        breaks=test.decided,
        detectable=detectable(tally.measured_pairs, test.needed(), tally.both_wrong + test.better),
    )


def detectable(pairs: int, needed: int, wrong_alone: int = 0) -> float | None:
    """The smallest share of corrupted calls that `pairs` pairs find with a chance of nine in ten.

    If the model is right alone, `needed` of them must be seen. If it errs by itself, its errors hide some: then the
    excess must stand out from them, by the normal approximation of the paired test.
    """
    low, high = 0.0, 1.0
    if binomial_tail(needed, pairs, 1.0 - 1e-12) < POWER:
        return None
    while high - low > 1e-4:
        share = (low + high) / 2
        if _found(pairs, needed, wrong_alone / pairs, share):
            high = share
        else:
            low = share
    return high if high < 0.99 else None


def _found(pairs: int, needed: int, base: float, share: float) -> bool:
    if binomial_tail(needed, pairs, share * (1 - base)) < POWER:
        return False
    if not base:
        return True
    worse = (1 - base) * (base + share * (1 - base))
    better = base * (1 - base) * (1 - share)
    # The bet needs a deviation of sqrt(2 ln 1/alpha), and somewhat more for not knowing the share; 1.28 is the power.
    distance = math.sqrt(2 * math.log(1 / CORRUPTION_ALPHA) + math.log(pairs)) + 1.28
    return (worse - better) * math.sqrt(pairs) >= distance * math.sqrt(worse + better)


def _search(tally: LoadTally) -> Search | None:
    if not tally.trials:
        return None
    steps = tuple(SearchStep(level=one.level, wrong=one.wrong, breaks=one.breaks) for one in tally.trials.values())
    return Search(
        sound=max((step.level for step in steps if not step.breaks), default=1),
        broken=min((step.level for step in steps if step.breaks), default=tally.level),
        steps=steps,
        requests=sum(step.wrong.n for step in steps),
    )


def _drift(tally: LoadTally) -> Drift | None:
    if not tally.hold:
        return None
    first, last = tally.thirds()
    before, after = ([one for _, _, one in part if one is not None] for part in (first, last))
    usual = median(before) if before else None
    right, right_last = (Rate(k=sum(ok for _, ok, _ in part), n=len(part)) for part in (first, last))
    return Drift(
        seconds=tally.held,
        first=right,
        last=right_last,
        p=fisher_tail(right_last.n - right_last.k, right_last.n, right.n - right.k, right.n),
        first_seconds=usual,
        last_seconds=median(after) if after else None,
        p_slower=rank_sum(before, after),
        slower=sum(one >= DRIFT_FACTOR * usual for one in after) if usual else 0,
    )


def _findings(
    tally: LoadTally, pairs: PairFigures, drift: Drift | None, records: Mapping[str, Record]
) -> Iterator[LoadFinding]:
    if tally.crosstalk:
        shown = tuple(_foreign(records[case]) for case in tally.foreign if case in records)
        what = next((one.evidence for one in shown if one.evidence), "an answer has the code of another request")
        yield _finding(CROSSTALK, tally.crosstalk, tally.crosstalk_of, what, examples=shown)
    if pairs.breaks:
        text = f"{pairs.worse} pairs are right alone and wrong under load, {pairs.better} the other way round"
        shown = tuple(_pair(alone.case, loaded.case, records) for alone, loaded in tally.worse)
        yield _finding(CORRUPTION, pairs.worse, pairs.measured, text, p=pairs.p, examples=shown)
    if drift is not None and (text := _drift_text(drift)):
        worse = drift.last.n - drift.last.k if drift.p <= DRIFT_ALPHA else drift.slower
        yield _finding("load.degrades", worse, drift.last.n, text, p=min(drift.p, drift.p_slower))
    if text := "; ".join(_queueing(tally)):
        slower = sum(_waits(alone, loaded) for alone, loaded in tally.times)
        yield _finding("load.queueing", slower, len(tally.times), text)


def _finding(
    code: str, number: int, of: int, text: str, *, p: float | None = None, examples: tuple[LoadExample, ...] = ()
) -> LoadFinding:
    kind = kind_of(code)
    return LoadFinding(
        code=code,
        severity=kind.severity,
        title=kind.title,
        count=number,
        of=max(of, number),
        evidence=text,
        p=p,
        examples=examples,
    )


def _drift_text(drift: Drift) -> str:
    if min(drift.first.n, drift.last.n) < FEWEST_HELD:
        return ""
    parts = []
    if drift.p <= DRIFT_ALPHA:
        parts.append(
            f"right in {drift.first.k} of {drift.first.n} at first, in {drift.last.k} of {drift.last.n} at last"
        )
    before, after = drift.first_seconds, drift.last_seconds
    if before and after and drift.p_slower <= DRIFT_ALPHA and after >= max(DRIFT_FACTOR * before, before + DRIFT_BY):
        parts.append(f"the median answer takes {before:.2f} s at first, {after:.2f} s at last")
    return "; ".join(parts)


def _waits(alone: float, loaded: float) -> bool:
    return loaded >= max(SLOWER * alone, alone + SLOWER_BY)


def _queueing(tally: LoadTally) -> Iterator[str]:
    slower = sum(_waits(alone, loaded) for alone, loaded in tally.times)
    if tally.times and binomial_tail(slower, len(tally.times)) <= QUEUEING_ALPHA:
        before, after = (median(side) for side in zip(*tally.times, strict=True))
        yield f"the median answer takes {before:.2f} s alone and {after:.2f} s at {tally.level} at a time"
    alone, loaded = tally.levels.get(1), tally.levels.get(tally.level)
    if alone is None or loaded is None:
        return
    lost, of = loaded.unanswered.total(), loaded.unanswered.total() + loaded.answered.n
    lost_alone, of_alone = alone.unanswered.total(), alone.unanswered.total() + alone.answered.n
    if of and lost / of >= REFUSED_SHARE and fisher_tail(lost, of, lost_alone, of_alone) <= QUEUEING_ALPHA:
        main = loaded.unanswered.most_common(1)[0][0]
        yield f"{lost} of {of} requests had no answer under load, {lost_alone} of {of_alone} alone (mostly {main})"


def _foreign(record: Record) -> LoadExample:
    exchange = _exchange(record)
    evidence = next((one.evidence for one in record.detail.findings if one.code == CROSSTALK), "")
    return LoadExample(case=record.case, asked=_asked(exchange), loaded=_answer(exchange), evidence=evidence)


def _pair(alone: str, loaded: str, records: Mapping[str, Record]) -> LoadExample:
    first, second = (records.get(case) for case in (alone, loaded))
    exchange = _exchange(second)
    return LoadExample(
        case=loaded,
        alone_case=alone,
        asked=_asked(exchange),
        alone=_answer(_exchange(first)),
        loaded=_answer(exchange),
        evidence="" if second is None else second.reason,
    )


def _exchange(record: Record | None) -> Exchange | None:
    return record.detail.exchanges[-1] if record is not None and record.detail.exchanges else None


def _asked(exchange: Exchange | None) -> str:
    messages = [] if exchange is None else exchange.request.body.get("messages") or []
    return excerpt(str(messages[-1].get("content", "")), LONGEST_ANSWER) if messages else ""


def _answer(exchange: Exchange | None) -> str:
    if exchange is None or exchange.fault is not None or not exchange.payload:
        return ""
    reply = read_reply(exchange)
    calls = [f"{call.name}({call.arguments})" for call in reply.tool_calls]
    return excerpt("; ".join(filter(None, [*calls, reply.content or ""])), LONGEST_ANSWER)


def load_verdict(
    level: int,
    levels: Sequence[LevelFigures],
    findings: Sequence[LoadFinding],
    *,
    coverage: Coverage,
    threshold: float,
    allow: Sequence[str] = (),
) -> Verdict:
    """What is said of the model at this level; findings that the user allows do not decide."""
    alone, loaded = (next((one for one in levels if one.level == wanted), None) for wanted in (1, level))
    capping = capping_findings(findings)
    abilities = [_ability(alone, "a call alone")]
    if not capping:  # where a finding says what load does, a low rate under load is the same thing once more
        ability = _ability(None if loaded is not None and loaded.held_back else loaded, f"a call at {level} at a time")
        abilities.append(msgspec.structs.replace(ability, core=False))
    return decide(abilities, capping, coverage=coverage, threshold=threshold, allow=allow)


def capping_findings(findings: Sequence[LoadFinding]) -> list[CappingFinding]:
    """The findings that cap a verdict. A foreign nonce is proof and corruption is tested: one run is enough."""
    return [capping(one.code, one.count, one.of) for one in findings if one.severity is Severity.ERROR]


def _ability(figures: LevelFigures | None, name: str) -> Ability:
    if figures is None:
        return Ability(name=name, missing=1, core=True)
    return Ability(
        name=name,
        fault="is wrong",
        k=figures.right.k,
        n=figures.right.n,
        refused=figures.refused,
        missing=figures.unanswered,
        core=True,
    )


def _coverage(manifest: Manifest, tally: LoadTally, pairs: PairFigures) -> Coverage:
    """Answers of those asked for; what was left out because the question is decided is not a gap."""
    two = [tally.levels[level] for level in {1, tally.level} if level in tally.levels]
    measured = sum(one.answered.n + one.refused for one in two)
    asked = measured + sum(one.unanswered.total() for one in two) + tally.bugs
    ended = manifest.finished_at is not None and not manifest.interrupted and tally.stopped_by is None
    return Coverage(measured=measured, planned=asked if ended or tally.broken else max(asked, 2 * pairs.planned))


def _headline(manifest: Manifest, tally: LoadTally, pairs: PairFigures, verdict: Verdict) -> str:
    subject = f"{manifest.parameters.get('model', '')} at {tally.level} at a time"
    if verdict.word is Word.NOT_MEASURED:
        return f"{subject} is not measured: {verdict.reason}."
    stopped = "" if verdict.coverage.enough or tally.stopped_by is None else _why_stopped(tally.stopped_by)
    if verdict.caps:
        return f"{subject}: {verdict.sentence}{stopped}."
    same = f"{pairs.both_right} of {pairs.measured} pairs are right alone and under load" if pairs.measured else ""
    return f"{subject}: {verdict.sentence}{stopped}." + (f" {same[0].upper()}{same[1:]}." if same else "")


def _why_stopped(kind: SkipKind) -> str:
    return (
        ", because the limit on requests was reached" if kind is SkipKind.BUDGET else ", the endpoint stopped answering"
    )


def _lines(tally: LoadTally, pairs: PairFigures, search: Search | None, drift: Drift | None) -> Iterator[str]:
    if pairs.measured:
        if pairs.crosstalk:
            yield f"{plural(pairs.crosstalk, 'pair')} with another request's values."
        yield (
            f"{plural(pairs.worse, 'other pair' if pairs.crosstalk else 'pair')} right alone and wrong under load, "
            f"{pairs.better} the other way round "
            f"(p {p_words(pairs.p)} if load made no difference)."
        )
    if search is not None:
        yield f"Calls begin to break between {search.sound} and {search.broken} requests at a time."
    elif pairs.measured and not tally.broken and pairs.detectable is not None:
        yield (
            f"{plural(pairs.measured, 'pair')} would have shown corruption of {100 * pairs.detectable:.1f} % "
            "of the calls in nine of ten runs."
        )
    if drift is not None:
        yield (
            f"Held for {drift.seconds:.0f} s: right in {drift.first.k} of {drift.first.n} in the first third, "
            f"in {drift.last.k} of {drift.last.n} in the last."
        )
    full = tally.levels.get(tally.level)
    if full is not None and full.held_back:
        yield f"The vendor let only {full.busy:.1f} requests be in flight on average."
