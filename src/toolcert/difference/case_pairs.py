"""Reads the cases of two runs and pairs them: probe cases by model, probe and iteration, rows by their content."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from difflib import unified_diff
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import msgspec

from toolcert.core.cases import Outcome
from toolcert.core.exchanges import Reply
from toolcert.core.records import Record, RowFacts
from toolcert.core.statistics.p_values import binomial_tail, rank_sum
from toolcert.core.statistics.quantiles import Quantiles
from toolcert.core.statistics.rates import Rate, wilson
from toolcert.core.verdict import REPRODUCED
from toolcert.difference.exact_tests import both_sides, paired_loss_test
from toolcert.difference.model_evidence import AbilityEvidence, FindingEvidence, ModelEvidence
from toolcert.difference.run_difference import ALPHA, CasePair, Change, TimeDifference
from toolcert.history.drift import SMALLEST_TIME_RATIO
from toolcert.probes.summary.scorecard import Latency, ModelSummary
from toolcert.probes.summary.summariser import summarise_run
from toolcert.runs.encoding import decode_head, decode_replies
from toolcert.runs.marks import Mark, MarkBook
from toolcert.runs.reader import RunReader
from toolcert.runs.row_code import content_number, payload_number
from toolcert.verification.summary.tally import summarise, threshold_of

ANSWERED = (Outcome.PASSED, Outcome.FAILED, Outcome.UNSUPPORTED)
"""Outcomes that say something: a refusal of the server is an answer."""
_MOST_LINES = 80
_MOST_READ = 400
"""Lines of an answer that are compared: the time that takes grows with their square."""
_MOST_COLUMNS = 400


class SeenCase(NamedTuple):
    """A case of one run, as far as it is compared."""

    head: Record
    offset: int
    """Where its line begins in the log."""
    codes: tuple[str, ...]
    """Its findings without those that marks excuse."""
    known: bool
    """Marks excuse all that is wrong with it."""


class CaseReader:
    """The cases of a run."""

    def __init__(self, folder: Path, marks: Sequence[Mark] = ()) -> None:
        self.folder = folder
        self.reader = RunReader(folder)
        self.marks = MarkBook(marks)

    def cases(self) -> Iterator[SeenCase]:
        """Every case with an answer."""
        for offset, head in self.reader.placed_heads():
            if head.outcome in ANSWERED:
                excused = self.marks.excused(head)
                codes = tuple(code for code in head.codes if code not in excused) if excused else head.codes
                yield SeenCase(head, offset, codes, self.marks.explains(head))

    def line(self, offset: int) -> bytes:
        """The line of the log that begins there."""
        with self.reader.path.open("rb") as file:
            file.seek(offset)
            return file.readline()

    def replies(self, offset: int) -> tuple[Reply, ...]:
        """The answers in the line that begins there; none if they were not kept."""
        try:
            return decode_replies(self.line(offset))
        except (
            msgspec.DecodeError,
            UnicodeDecodeError,
            RecursionError,
        ):  # the verdict can be read, the evidence not
            return ()


def answer_diff(before: Iterable[Reply], after: Iterable[Reply]) -> tuple[str, ...]:
    """Two answers as lines of a unified diff; empty if one of them was not kept, or if they read the same."""
    old, new = ([_short(line) for line in _lines(replies)[:_MOST_READ]] for replies in (before, after))
    if not old or not new:
        return ()
    lines = list(unified_diff(old, new, lineterm="", n=2))[2:]
    more = [f"… {len(lines) - _MOST_LINES} more lines"] if len(lines) > _MOST_LINES else []
    return tuple(_short(line) for line in lines[:_MOST_LINES] if not line.startswith("@@")) + tuple(more)


def _lines(replies: Iterable[Reply]) -> list[str]:
    """An answer as people read it: its text, then each call with one argument a line."""
    lines: list[str] = []
    for reply in replies:
        lines += (reply.content or "").splitlines()
        for call in reply.tool_calls:
            lines += [f"call {call.name}", *(f"  {line}" for line in _arguments(call.arguments))]
        lines.append(f"finish_reason {reply.finish_reason}")
    return lines


def _arguments(arguments: Any) -> list[str]:
    try:
        value = json.loads(arguments) if isinstance(arguments, str) else arguments
        return json.dumps(value, indent=1, ensure_ascii=False, sort_keys=True, default=str).splitlines()
    except (ValueError, RecursionError):
        return str(arguments).splitlines()


def _short(line: str) -> str:
    return line if len(line) <= _MOST_COLUMNS else f"{line[:_MOST_COLUMNS]}…"


class Unpaired(NamedTuple):
    """A model that only one of the runs has."""

    model: ModelEvidence
    change: Change


def probe_evidence(before: CaseReader, after: CaseReader, cases: int) -> tuple[list[ModelEvidence], list[Unpaired]]:
    """The models that both runs asked, and those of one run only."""
    old, new = _ProbeCases(before), _ProbeCases(after)
    pairs = _paired_models(list(old.models), list(new.models))
    several = len({endpoint for endpoint, _ in (*old.models, *new.models)}) > 1
    evidence = [
        _of_model(old.models[first], new.models[second], _name(first, several), _name(second, several), cases)
        for first, second in pairs
    ]
    gone = [key for key in old.models if key not in {first for first, _ in pairs}]
    come = [key for key in new.models if key not in {second for _, second in pairs}]
    alone = [(old.models[key], key, Change.ONLY_BEFORE) for key in gone]
    alone += [(new.models[key], key, Change.ONLY_AFTER) for key in come]
    return evidence, [_unpaired(model, _name(key, several), change) for model, key, change in alone]


class _ProbeModel:
    """One model of one run: its summary and its cases by probe and iteration."""

    def __init__(self, reader: CaseReader, summary: ModelSummary, iterations: int) -> None:
        self.reader = reader
        self.summary = summary
        self.iterations = iterations
        self.cases: dict[str, dict[int, SeenCase]] = {}

    def add(self, seen: SeenCase) -> None:
        facts = seen.head.probe
        # A case that is asked again because of an error would count that error twice.
        if facts is not None and facts.iteration <= self.iterations:
            self.cases.setdefault(facts.probe, {})[facts.iteration] = seen

    def rate(self, probe: str) -> Rate:
        seen = [one for one in self.cases.get(probe, {}).values() if not one.known]
        return Rate(k=sum(one.head.outcome is Outcome.PASSED for one in seen), n=len(seen))

    def count(self, probe: str, is_counted: Callable[[SeenCase], bool]) -> int:
        return sum(map(is_counted, self.cases.get(probe, {}).values()))

    def showing(self, code: str, probes: Iterable[str]) -> Rate:
        seen = [one for probe in probes for one in self.cases.get(probe, {}).values()]
        return Rate(k=sum(code in one.codes for one in seen), n=len(seen))


class _ProbeCases:
    """The models of a probe run."""

    def __init__(self, reader: CaseReader) -> None:
        summary = summarise_run(reader.folder, known=reader.marks.marks)
        self.models = {
            (model.endpoint, model.model): _ProbeModel(reader, model, summary.iterations)
            for model in summary.models
            if model.asked
        }
        for seen in reader.cases():
            model = self.models.get((seen.head.endpoint, seen.head.model))
            if model is not None:
                model.add(seen)


ModelKey: TypeAlias = tuple[str, str]


def _paired_models(old: Sequence[ModelKey], new: Sequence[ModelKey]) -> list[tuple[ModelKey, ModelKey]]:
    """By endpoint and model; if the endpoint has another name, by model; one alone on each side also by neither."""
    pairs = [(key, key) for key in old if key in new]
    for same in (lambda first, second: first[1] == second[1], lambda _first, _second: True):
        left = [key for key in old if key not in {first for first, _ in pairs}]
        come = [key for key in new if key not in {second for _, second in pairs}]
        for key in left:
            fitting = [other for other in come if same(key, other)]
            rivals = [other for other in left if fitting and same(other, fitting[0])]
            if len(fitting) == 1 and len(rivals) == 1:
                pairs.append((key, fitting[0]))
    return pairs


def _name(key: ModelKey, several: bool) -> str:
    return f"{key[0]}: {key[1]}" if several else key[1]


def _of_model(old: _ProbeModel, new: _ProbeModel, before_name: str, name: str, cases: int) -> ModelEvidence:
    probes = list(dict.fromkeys((*_probes(old), *_probes(new))))
    pairs = [
        (f"{probe} #{number}", first, second)
        for probe in probes
        for number, first in old.cases.get(probe, {}).items()
        if (second := new.cases.get(probe, {}).get(number)) is not None
    ]
    differing = _differing(pairs)
    return ModelEvidence(
        name=name,
        before_name=before_name if before_name != name else "",
        before_verdict=old.summary.verdict,
        after_verdict=new.summary.verdict,
        abilities=tuple(_of_probe(probe, old, new) for probe in probes),
        findings=tuple(_probe_findings(old, new, probes)),
        times=tuple(_probe_times(old.summary, new.summary)),
        pairs=len(pairs),
        lost=sum(_is_lost(*pair[1:]) for pair in differing),
        gained=sum(not _is_lost(*pair[1:]) for pair in differing),
        cases=tuple(_shown_pair(pair, old.reader, new.reader) for pair in differing[:cases]),
        pooled=True,
    )


def _probes(model: _ProbeModel) -> list[str]:
    return [cell.probe for cell in model.summary.cells]


def _of_probe(probe: str, old: _ProbeModel, new: _ProbeModel) -> AbilityEvidence:
    before, after = old.rate(probe), new.rate(probe)
    shared = [
        (first, second)
        for number, first in old.cases.get(probe, {}).items()
        if (second := new.cases.get(probe, {}).get(number)) is not None
    ]
    loss, gain = both_sides([(before, after)])
    missing = None
    if not before.n or not after.n:
        asked = [probe in _probes(model) for model in (old, new)]
        missing = Change.NOT_MEASURED if all(asked) else Change.ONLY_BEFORE if asked[0] else Change.ONLY_AFTER
    return AbilityEvidence(
        name=probe,
        before=before,
        after=after,
        loss=loss,
        gain=gain,
        lost=sum(_differs(*pair) and _is_lost(*pair) for pair in shared),
        gained=sum(_differs(*pair) and not _is_lost(*pair) for pair in shared),
        refused_before=old.count(probe, _refused),
        refused_after=new.count(probe, _refused),
        known=sum(model.count(probe, lambda one: one.known) for model in (old, new)),
        missing=missing,
    )


def _refused(seen: SeenCase) -> bool:
    return seen.head.outcome is Outcome.UNSUPPORTED and not seen.known


def _differs(first: SeenCase, second: SeenCase) -> bool:
    passed = (first.head.outcome is Outcome.PASSED, second.head.outcome is Outcome.PASSED)
    return passed[0] is not passed[1] and not first.known and not second.known


def _is_lost(first: SeenCase, second: SeenCase) -> bool:  # noqa: ARG001 - called with a pair
    return first.head.outcome is Outcome.PASSED


def _differing(pairs: Iterable[tuple[str, SeenCase, SeenCase]]) -> list[tuple[str, SeenCase, SeenCase]]:
    """The pairs with another result, lost ones first."""
    found = [pair for pair in pairs if _differs(pair[1], pair[2])]
    return sorted(found, key=lambda pair: not _is_lost(pair[1], pair[2]))


def _shown_pair(pair: tuple[str, SeenCase, SeenCase], old: CaseReader, new: CaseReader) -> CasePair:
    name, first, second = pair
    return CasePair(
        name=name,
        before_case=first.head.case,
        after_case=second.head.case,
        before=first.head.outcome,
        after=second.head.outcome,
        before_codes=first.head.codes,
        after_codes=second.head.codes,
        answer=answer_diff(old.replies(first.offset), new.replies(second.offset)),
    )


def _probe_findings(old: _ProbeModel, new: _ProbeModel, probes: Sequence[str]) -> Iterator[FindingEvidence]:
    seen: dict[str, dict[str, str]] = {}
    """Code to the probes that show it, each with a case."""
    known: dict[str, list[SeenCase]] = {}
    for model in (old, new):
        for probe in probes:
            for one in model.cases.get(probe, {}).values():
                for code in one.head.codes:
                    seen.setdefault(code, {})[probe] = one.head.case
                    if model is new and code not in one.codes:
                        known.setdefault(code, []).append(one)
    for code, cases in seen.items():
        # It could have been seen where its probes were asked by both runs.
        where = [probe for probe in cases if old.cases.get(probe) and new.cases.get(probe)]
        before, after = old.showing(code, where), new.showing(code, where)
        less, more = both_sides([(before, after)])
        yield FindingEvidence(
            code=code,
            before=before,
            after=after,
            more=more,
            less=less,
            stood_before=before.k >= REPRODUCED,
            stands_after=after.k >= REPRODUCED,
            known=len(known.get(code, ())),
            notes=_notes(code, known.get(code, ()), new.reader),
            example=next(reversed(cases.values())),
        )


def _notes(code: str, known: Iterable[SeenCase], reader: CaseReader) -> tuple[str, ...]:
    marks = (mark for one in known for mark in reader.marks.about(one.head) if mark.excuses(code))
    return tuple(dict.fromkeys(mark.note for mark in marks if mark.note))


def _probe_times(old: ModelSummary, new: ModelSummary) -> Iterator[TimeDifference]:
    before, after = ({one.label: one for one in model.latency} for model in (old, new))
    for label in dict.fromkeys((*before, *after)):
        first, second = before.get(label, Latency(label=label)), after.get(label, Latency(label=label))
        slower = rank_sum(first.samples, second.samples)
        faster = rank_sum(second.samples, first.samples)
        yield _time(
            label, _Side(first.p50, first.p95, first.count), _Side(second.p50, second.p95, second.count), slower, faster
        )


class _Side(NamedTuple):
    p50: float | None
    p95: float | None
    n: int


def _time(label: str, before: _Side, after: _Side, slower: float, faster: float) -> TimeDifference:
    change, p = Change.NO_EVIDENCE, min(1.0, 2 * min(slower, faster))
    if before.p50 and after.p50 and p <= ALPHA:
        ratio = after.p50 / before.p50
        if max(ratio, 1 / ratio) >= SMALLEST_TIME_RATIO and (ratio > 1) == (slower < faster):
            change = Change.WORSE if ratio > 1 else Change.IMPROVED
    return TimeDifference(
        label=label,
        change=change,
        before_p50=before.p50,
        before_p95=before.p95,
        before_n=before.n,
        after_p50=after.p50,
        after_p95=after.p95,
        after_n=after.n,
        p=p if before.n and after.n else None,
    )


def _unpaired(model: _ProbeModel, name: str, change: Change) -> Unpaired:
    verdict = model.summary.verdict
    first = change is Change.ONLY_BEFORE
    return Unpaired(
        ModelEvidence(name=name, before_verdict=verdict if first else None, after_verdict=None if first else verdict),
        change,
    )


def verify_evidence(before: CaseReader, after: CaseReader, cases: int) -> ModelEvidence:
    """The rows that both runs answered, counted pair by pair."""
    codes = _CodeNumbers()
    old = {key: packed for key, packed, _ in _packed_rows(before, codes)}
    counts = _PairCounts(codes, cases)
    for key, packed, seen in _packed_rows(after, codes):
        counts.excuse(seen)
        if key in old:
            counts.add(_unpacked(old[key]), _unpacked(packed))
    first, second = (summarise(side.folder, side.marks.marks) for side in (before, after))
    return ModelEvidence(
        name=second.model or first.model,
        before_name=first.model if first.model != second.model else "",
        before_verdict=first.verdict,
        after_verdict=second.verdict,
        abilities=tuple(counts.abilities()),
        findings=tuple(counts.findings(before, after)),
        times=tuple(counts.times()),
        pairs=counts.pairs,
        lost=counts.answers["lost"],
        gained=counts.answers["gained"],
        other_calls=counts.other_calls,
        cases=tuple(_shown_rows(offsets, before, after) for offsets in counts.examples()),
    )


class _Row(NamedTuple):
    """What is compared of a row."""

    passed: bool
    refused: bool
    known: bool
    called: bool | None
    valid: bool | None
    correct: bool | None
    offset: int
    calls: int
    """Digest of its calls."""
    seconds: float | None
    first_token: float | None
    codes: int


_THREE = (None, False, True)
_TICK = 1e-4
"""Seconds; times are packed as whole numbers of it, zero for none."""
_32, _48 = (1 << 32) - 1, (1 << 48) - 1
_NEXT = 6364136223846793005
_64 = (1 << 64) - 1


def _packed(seen: SeenCase, row: RowFacts, codes: int) -> int:
    """A row in one number: millions of them fit into memory."""
    outcome = seen.head.outcome
    flags = (
        (outcome is Outcome.PASSED)
        | (outcome is Outcome.UNSUPPORTED) << 1
        | seen.known << 2
        | _THREE.index(row.called) << 3
        | _THREE.index(row.valid) << 5
        | _THREE.index(row.correct) << 7
    )
    calls = payload_number(row.calls) if row.calls else 0
    times = _ticks(row.seconds) | _ticks(row.first_token) << 32
    return flags | seen.offset << 16 | calls << 64 | times << 96 | codes << 160


def _ticks(seconds: float | None) -> int:
    return 0 if seconds is None else max(1, round(min(_32, seconds / _TICK)))


def _unpacked(number: int) -> _Row:
    return _Row(
        passed=bool(number & 1),
        refused=bool(number & 2),
        known=bool(number & 4),
        called=_THREE[number >> 3 & 3],
        valid=_THREE[number >> 5 & 3],
        correct=_THREE[number >> 7 & 3],
        offset=number >> 16 & _48,
        calls=number >> 64 & _32,
        seconds=(number >> 96 & _32) * _TICK or None,
        first_token=(number >> 128 & _32) * _TICK or None,
        codes=number >> 160,
    )


class _CodeNumbers:
    """Each combination of findings as a number; there are few."""

    def __init__(self) -> None:
        self._numbers: dict[tuple[str, ...], int] = {}
        self.combinations: list[tuple[str, ...]] = []

    def number(self, codes: tuple[str, ...]) -> int:
        number = self._numbers.setdefault(codes, len(self.combinations))
        if number == len(self.combinations):
            self.combinations.append(codes)
        return number


def _packed_rows(reader: CaseReader, codes: _CodeNumbers) -> Iterator[tuple[int, int, SeenCase]]:
    """The answered rows by their content; the second row of the same content is paired with the second, and so on."""
    met: set[int] = set()
    for seen in reader.cases():
        row = seen.head.row
        if row is None:
            continue
        key = content_number(row.content)
        while key in met:
            key = (key * _NEXT + 1) & _64
        met.add(key)
        yield key, _packed(seen, row, codes.number(seen.codes)), seen


class _PairCounts:
    """Counts pairs of rows."""

    def __init__(self, codes: _CodeNumbers, cases: int) -> None:
        self._codes = codes
        self._most = cases
        self.pairs = self.known = self.other_calls = 0
        self.answers: Counter[str] = Counter()
        self._facts: dict[str, Counter[tuple[bool, bool]]] = {name: Counter() for name in _FACTS}
        self._refused: Counter[str] = Counter()
        self._findings: Counter[tuple[tuple[str, ...], tuple[str, ...]]] = Counter()
        self._shown: dict[str, int] = {}
        self._gone: dict[str, int] = {}
        self._excused: dict[str, list[SeenCase]] = {}
        self._lost: list[tuple[int, int]] = []
        self._gained: list[tuple[int, int]] = []
        self._times = {label: (Quantiles(), Quantiles()) for label in _TIMES}
        self._slower: Counter[tuple[str, bool]] = Counter()

    def excuse(self, seen: SeenCase) -> None:
        """Remember which findings of the later run marks excuse."""
        if len(seen.codes) < len(seen.head.codes):
            for code in set(seen.head.codes) - set(seen.codes):
                self._excused.setdefault(code, []).append(seen)

    def add(self, old: _Row, new: _Row) -> None:
        """Count one pair."""
        self.pairs += 1
        self._count_findings(old, new)
        self._count_times(old, new)
        if old.known or new.known:
            self.known += 1
            return
        self._refused["before"] += old.refused
        self._refused["after"] += new.refused
        for name, read in _FACTS.items():
            first, second = read(old), read(new)
            if first is not None and second is not None:
                self._facts[name][first, second] += 1
        if old.passed is not new.passed:
            self.answers["lost" if old.passed else "gained"] += 1
            kept = self._lost if old.passed else self._gained
            if len(kept) < self._most:
                kept.append((old.offset, new.offset))
        elif old.calls != new.calls:
            self.other_calls += 1

    def _count_findings(self, old: _Row, new: _Row) -> None:
        before, after = (self._codes.combinations[row.codes] for row in (old, new))
        self._findings[before, after] += 1
        for code in after:
            self._shown.setdefault(code, new.offset)
        for code in before:
            self._gone.setdefault(code, old.offset)

    def _count_times(self, old: _Row, new: _Row) -> None:
        for label, read in _TIMES.items():
            first, second = read(old), read(new)
            if first is not None and second is not None:
                self._times[label][0].add(first)
                self._times[label][1].add(second)
                if first != second:
                    self._slower[label, second > first] += 1

    def abilities(self) -> Iterator[AbilityEvidence]:
        for name, counts in self._facts.items():
            n = counts.total()
            if not n and name != ANSWERS:
                continue  # the dataset expects nothing, or neither side called
            lost, gained = counts[True, False], counts[False, True]
            both = counts[True, True]
            answers = name == ANSWERS
            yield AbilityEvidence(
                name=name,
                before=Rate(k=both + lost, n=n),
                after=Rate(k=both + gained, n=n),
                loss=paired_loss_test(lost, gained),
                gain=paired_loss_test(gained, lost),
                lost=lost,
                gained=gained,
                refused_before=self._refused["before"] if answers else 0,
                refused_after=self._refused["after"] if answers else 0,
                known=self.known if answers else 0,
                directed=name != CALL_DECISION,
                missing=None if n else Change.NOT_MEASURED,
            )

    def findings(self, before: CaseReader, after: CaseReader) -> Iterator[FindingEvidence]:
        seen = dict.fromkeys((*self._shown, *self._gone, *self._excused))
        thresholds = [threshold_of(reader.reader.manifest) for reader in (before, after)]
        for code in seen:
            first = sum(rows for (old, _), rows in self._findings.items() if code in old)
            second = sum(rows for (_, new), rows in self._findings.items() if code in new)
            both = sum(rows for (old, new), rows in self._findings.items() if code in old and code in new)
            reader, offset = (after, self._shown[code]) if code in self._shown else (before, self._gone.get(code))
            excused = self._excused.get(code, [])
            old_rate, new_rate = Rate(k=first, n=self.pairs), Rate(k=second, n=self.pairs)
            yield FindingEvidence(
                code=code,
                before=old_rate,
                after=new_rate,
                more=paired_loss_test(second - both, first - both),
                less=paired_loss_test(first - both, second - both),
                stood_before=_stands(old_rate, thresholds[0]),
                stands_after=_stands(new_rate, thresholds[1]),
                known=len(excused),
                notes=_notes(code, excused, after),
                example=_row_name(decode_head(reader.line(offset))) if offset is not None else "",
            )

    def times(self) -> Iterator[TimeDifference]:
        for label, (old, new) in self._times.items():
            slower, faster = self._slower[label, True], self._slower[label, False]
            before, after = (_Side(one.quantile(0.5), one.quantile(0.95), one.count) for one in (old, new))
            total = slower + faster
            yield _time(label, before, after, binomial_tail(slower, total, 0.5), binomial_tail(faster, total, 0.5))

    def examples(self) -> list[tuple[int, int]]:
        return [*self._lost, *self._gained][: self._most]


ANSWERS, VALID_CALLS, EXPECTATIONS, CALL_DECISION = "answers", "valid calls", "expectations", "call decision"
_FACTS: dict[str, Callable[[_Row], bool | None]] = {
    ANSWERS: lambda row: row.passed,
    VALID_CALLS: lambda row: row.valid,
    EXPECTATIONS: lambda row: row.correct,
    CALL_DECISION: lambda row: row.called,
}
"""What is compared of rows. Whether a model calls more or less often is neither better nor worse by itself."""
_TIMES: dict[str, Callable[[_Row], float | None]] = {
    "first token": lambda row: row.first_token,
    "whole answer": lambda row: row.seconds,
}


def _stands(rate: Rate, threshold: float) -> bool:
    """Whether the share of rows is, by its lower bound, more than the threshold leaves: the rule of verdicts."""
    interval = wilson(rate.k, rate.n)
    return interval is not None and interval.lower > 1 - threshold


def _shown_rows(offsets: tuple[int, int], before: CaseReader, after: CaseReader) -> CasePair:
    first, second = decode_head(before.line(offsets[0])), decode_head(after.line(offsets[1]))
    return CasePair(
        name=f"row {_row_name(second)}",
        before_case=_row_name(first),
        after_case=_row_name(second),
        before=first.outcome,
        after=second.outcome,
        before_codes=first.codes,
        after_codes=second.codes,
        answer=answer_diff(before.replies(offsets[0]), after.replies(offsets[1])),
    )


def _row_name(head: Record) -> str:
    """How `toolcert show` finds the row: its line, or the key of a case without one."""
    return head.case if head.row is None else str(head.row.index)
