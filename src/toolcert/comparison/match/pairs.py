"""Matched rows: whether both were asked alike, folded into patterns, and counted by who called."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, compress, islice
from operator import eq, sub

from toolcert.comparison.match.partners import NO_PARTNER, Partners, beside, matched_places
from toolcert.comparison.read.columns import NO_KIND, Kind, signed_difference
from toolcert.comparison.read.packed_run import PackedRun, read_answer
from toolcert.comparison.stats.confusion import Confusion, Trigger, cell
from toolcert.core.errors import InputError
from toolcert.core.statistics.rates import Rate
from toolcert.core.text.number_text import plural
from toolcert.core.values import JsonObject, Value
from toolcert.runs.row_code import NO_TOKENS
from toolcert.verification.digest import SAMPLING_FIELDS, content_hash

_LOOKED_AT = 50
"""Rows matched by number whose questions are read, to notice another dataset or other settings."""


class BothAsked(Value):
    """What both runs were asked on a row."""

    index: int
    baseline: JsonObject
    vendor: JsonObject

    @property
    def other_settings(self) -> list[str]:
        """Sampling settings that differ."""
        return [name for name in SAMPLING_FIELDS if self.baseline.get(name) != self.vendor.get(name)]


def ask_again(baseline: PackedRun, vendor: PackedRun, partners: Partners) -> list[BothAsked]:
    """What some evenly spread rows ask, where both runs kept the request."""
    step = max(1, (len(partners) - partners.count(NO_PARTNER)) // _LOOKED_AT)
    places = islice(matched_places(partners), 0, None, step)
    looked_at = [_asked(baseline, vendor, place, partners) for place in places]
    return [asked for asked in looked_at if asked.baseline and asked.vendor]


def _asked(baseline: PackedRun, vendor: PackedRun, place: int, partners: Partners) -> BothAsked:
    return BothAsked(
        index=baseline.columns.index[place],
        baseline=read_answer(baseline, place).request,
        vendor=read_answer(vendor, partners[place]).request,
    )


def other_sampling(
    baseline: PackedRun, vendor: PackedRun, partners: Partners, looked_at: Sequence[BothAsked] = ()
) -> InputError | None:
    """Why questions that were asked differently should not be compared.

    Files read without their requests show their settings only on the rows looked at.
    """
    own, theirs = baseline.columns.sampling, vendor.columns.sampling
    if not own or not theirs:
        differing = next((asked for asked in looked_at if asked.other_settings), None)
        return None if differing is None else _refusal(baseline, vendor, "some rows", differing)
    if len({*own, *theirs}) == 1:  # as nearly always, all were asked alike
        return None
    places = [at for at, partner in enumerate(partners) if partner != NO_PARTNER and own[at] != theirs[partner]]
    if not places:
        return None
    rows = plural(len(places), "row")
    return _refusal(baseline, vendor, rows, _asked(baseline, vendor, places[0], partners))


def _refusal(baseline: PackedRun, vendor: PackedRun, rows: str, example: BothAsked) -> InputError:
    return InputError(
        f"{baseline.label} and {vendor.label} were asked with different sampling settings on {rows}{_how(example)}.",
        remedy="Run one of them again with the other's settings, or compare anyway with --force.",
    )


def _how(asked: BothAsked) -> str:
    if not asked.baseline or not asked.vendor or not asked.other_settings:
        return ""
    shown = [f"{name} {asked.baseline.get(name)!r} against {asked.vendor.get(name)!r}" for name in asked.other_settings]
    return f" (row {asked.index}: {', '.join(shown)})"


class OtherContent(Value):
    """Rows with the same number that ask something else."""

    message: str
    other_datasets: bool
    """The manifests say so too: there is nothing to compare."""


def other_content(baseline: PackedRun, vendor: PackedRun, looked_at: Sequence[BothAsked]) -> OtherContent | None:
    """What is wrong with rows matched by their number, from a look at some of them."""
    differing = sum(content_hash(asked.baseline) != content_hash(asked.vendor) for asked in looked_at)
    if not differing:
        return None
    datasets = {_dataset(baseline), _dataset(vendor)}
    return OtherContent(
        message=f"{differing} of {len(looked_at)} rows looked at ask something else in {vendor.label} than in "
        f"{baseline.label}: these look like runs of different datasets, and matched by number they say nothing.",
        other_datasets=2 * differing > len(looked_at) and None not in datasets and len(datasets) > 1,
    )


def _dataset(run: PackedRun) -> str | None:
    """The digest of what a run was asked; results files have none."""
    return run.manifest.dataset.digest if run.manifest is not None and run.manifest.dataset is not None else None


class Answer(Value):
    """One run's answer to a row, as seen from the baseline's."""

    kind: Kind | None
    """None where the run has no such row."""
    same_payload: bool = True
    same_names: bool = True

    @property
    def measured(self) -> bool:
        return self.kind is not None and self.kind.measured

    @property
    def called(self) -> bool:
        """Structured calls were made."""
        return self.kind is not None and self.kind.called is True

    @property
    def calls(self) -> int:
        return 0 if self.kind is None else self.kind.calls

    @property
    def valid(self) -> bool | None:
        return None if self.kind is None else self.kind.valid

    @property
    def correct(self) -> bool | None:
        return None if self.kind is None else self.kind.correct


class Pattern(Value):
    """The answers of one row; many rows share a pattern."""

    baseline: Answer
    vendor: Answer
    further: tuple[Answer, ...] = ()
    """Further runs of the baseline."""

    @property
    def measured(self) -> bool:
        """Baseline and vendor both answered."""
        return self.baseline.measured and self.vendor.measured


class Pairing:
    """The rows of a baseline beside those of a vendor and of further baseline runs."""

    def __init__(self, baseline: PackedRun, others: Sequence[tuple[PackedRun, Partners]]) -> None:
        """The first of `others` is the vendor; each comes with its partners by place in the baseline."""
        self.baseline = baseline
        self.others = others
        self.ids = array("I")
        """The pattern of each row of the baseline."""
        codes = self._code_rows()
        self.counts = Counter(self.ids)
        self.patterns = [self._pattern(code) for code in codes]

    @property
    def vendor(self) -> PackedRun:
        return self.others[0][0]

    def _code_rows(self) -> list[tuple[int, ...]]:
        """Give every row the number of its pattern; the pattern itself is a tuple of small numbers.

        First the baseline's kind, then for each other run its kind, and whether payload and names are the same.
        """
        numbers = _Numbers()
        seen = chain.from_iterable(_seen_from(self.baseline, other, partners) for other, partners in self.others)
        self.ids.extend(map(numbers.__getitem__, zip(self.baseline.columns.kind, *seen, strict=True)))
        return list(numbers)

    def _pattern(self, code: tuple[int, ...]) -> Pattern:
        own = Answer(kind=self.baseline.kinds.kinds[code[0]])
        seen = zip(code[1::3], code[2::3], code[3::3], strict=True)
        answers = [_answer(run, *one) for (run, _), one in zip(self.others, seen, strict=True)]
        return Pattern(baseline=own, vendor=answers[0], further=tuple(answers[1:]))

    def items(self) -> Iterator[tuple[Pattern, int]]:
        """Patterns and how many rows have each."""
        return ((pattern, self.counts[number]) for number, pattern in enumerate(self.patterns))

    def places(self, wanted: Callable[[Pattern], bool]) -> Iterator[int]:
        """Rows of the baseline whose pattern is wanted, in order."""
        numbers = {number for number, pattern in enumerate(self.patterns) if wanted(pattern)}
        return compress(range(len(self.ids)), map(numbers.__contains__, self.ids))

    def count(self, wanted: Callable[[Pattern], bool]) -> int:
        """How many rows have a wanted pattern."""
        return sum(count for pattern, count in self.items() if wanted(pattern))

    def clusters(self) -> Iterator[tuple[dict[int, int], int]]:
        """Prompts as counts by pattern number, with how many prompts look alike; repeats of a prompt stay together."""
        repeated = self.baseline.repeated
        groups: dict[int, Counter[int]] = {question: Counter() for question in repeated}
        alone = self.counts.copy()
        if repeated:
            for question, number in zip(self.baseline.columns.questions, self.ids, strict=True):
                if question in repeated:
                    groups[question][number] += 1
                    alone[number] -= 1
        yield from (({number: 1}, count) for number, count in alone.items() if count)
        alike = Counter(tuple(sorted(group.items())) for group in groups.values())
        yield from ((dict(group), count) for group, count in alike.items())

    def by_group(self) -> dict[str, Counter[int]]:
        """Counts by pattern number for every group the baseline's rows were distinguished by."""
        names = self.baseline.groups
        result: dict[str, Counter[int]] = {}
        for (code, number), count in Counter(zip(self.baseline.columns.group, self.ids, strict=True)).items():
            for name in names[code]:
                result.setdefault(name, Counter())[number] += count
        return result

    def token_differences(self, which: int = 0) -> Counter[tuple[int, int]]:
        """Prompt tokens of a run minus the baseline's, by number of turns, where both are known."""
        run, partners = self.others[which]
        kinds, own = self.baseline.columns.kind, self.baseline.columns.tokens
        theirs = beside(run.columns.tokens, partners, NO_TOKENS)
        differences = Counter(zip(kinds, map(sub, theirs, own), strict=True))
        for place in _unknown(own, theirs):  # taken back, because they are few
            differences[kinds[place], theirs[place] - own[place]] -= 1
        result: Counter[tuple[int, int]] = Counter()
        for (kind, difference), count in differences.items():
            if count:
                result[self.baseline.kinds.kinds[kind].turns, signed_difference(difference)] += count
        return result


class _Numbers(dict[tuple[int, ...], int]):
    """Numbers its keys in the order they are first asked for."""

    def __missing__(self, key: tuple[int, ...]) -> int:
        number = self[key] = len(self)
        return number


def _seen_from(baseline: PackedRun, other: PackedRun, partners: Partners) -> tuple[Iterable[int], ...]:
    """Per row of the baseline: the partner's kind, and whether payload and names are the same."""
    own, theirs = baseline.columns, other.columns
    return (
        beside(theirs.kind, partners, NO_KIND),
        map(eq, own.payload, beside(theirs.payload, partners, 0)),
        map(eq, own.names, beside(theirs.names, partners, 0)),
    )


def _answer(run: PackedRun, kind: int, same_payload: int, same_names: int) -> Answer:
    if kind == NO_KIND:
        return Answer(kind=None)
    return Answer(kind=run.kinds.kinds[kind], same_payload=bool(same_payload), same_names=bool(same_names))


def _unknown(own: array[int], theirs: array[int]) -> Iterator[int]:
    """Rows of which one of both did not say the prompt's tokens."""
    yield from (at for at, tokens in enumerate(own) if tokens == NO_TOKENS)
    yield from (at for at, tokens in enumerate(theirs) if tokens == NO_TOKENS and own[at] != NO_TOKENS)


class Decisions:
    """Reads patterns by one definition of a call."""

    def __init__(self, trigger: Trigger) -> None:
        self._by_payload = trigger is Trigger.PAYLOAD

    def called(self, answer: Answer) -> bool:
        kind = answer.kind
        return kind is not None and self.kind_called(kind)

    def kind_called(self, kind: Kind) -> bool:
        return kind.called is True if self._by_payload else kind.finish == "tool_calls"

    def cells(self, pairs: Iterable[tuple[Answer, Answer, int]]) -> Confusion:
        """Sum over pairs of answers to the same row; rows that either side did not answer are left out."""
        counts = {(True, True): 0, (False, True): 0, (True, False): 0, (False, False): 0}
        for first, second, count in pairs:
            if first.measured and second.measured:
                counts[self.called(first), self.called(second)] += count
        return Confusion(tp=counts[True, True], fp=counts[False, True], fn=counts[True, False], tn=counts[False, False])

    def clusters(
        self, pairing: Pairing, others: Callable[[Pattern], Iterable[Answer]]
    ) -> list[tuple[Sequence[float], int]]:
        """Each prompt's share of the four counts, for resampling prompts."""
        vectors = [self._vector(pattern, others(pattern)) for pattern in pairing.patterns]
        result: dict[tuple[float, ...], int] = {}
        for group, count in pairing.clusters():
            vector = [0.0, 0.0, 0.0, 0.0]
            for number, times in group.items():
                for place, part in enumerate(vectors[number]):
                    vector[place] += times * part
            if any(vector):
                result[tuple(vector)] = result.get(tuple(vector), 0) + count
        return sorted(result.items())  # the order must not depend on hashes, or no seed would repeat a draw

    def _vector(self, pattern: Pattern, others: Iterable[Answer]) -> tuple[float, float, float, float]:
        cells = Confusion()
        for other in others:
            if pattern.baseline.measured and other.measured:
                cells = cells.plus(cell(self.called(pattern.baseline), self.called(other)))
        return cells.tp, cells.fp, cells.fn, cells.tn


def vendor_pairs(pairing: Pairing) -> Iterable[tuple[Answer, Answer, int]]:
    """Baseline and vendor on every row."""
    return ((pattern.baseline, pattern.vendor, count) for pattern, count in pairing.items())


def further_pairs(pairing: Pairing) -> Iterable[tuple[Answer, Answer, int]]:
    """The baseline and each of its further runs on every row."""
    return ((pattern.baseline, other, count) for pattern, count in pairing.items() for other in pattern.further)


def both_call(first: Answer, second: Answer) -> bool:
    """Both made structured calls, whatever counts as a decision."""
    return first.called and second.called


PAYLOAD_FACTS: dict[str, Callable[[Answer, Answer], bool]] = {
    "tool_name": lambda _, other: other.same_names,
    "call_count": lambda own, other: own.calls == other.calls,
    "arguments": lambda _, other: other.same_payload,
}
"""Where both call: what can agree, judged by the baseline's answer and the other's as seen from it."""


def payload_rates(pairs: Iterable[tuple[Answer, Answer, int]]) -> dict[str, Rate]:
    """Agreement of names, number of calls and all arguments on rows where both call."""
    agreeing = dict.fromkeys(PAYLOAD_FACTS, 0)
    rows = 0
    for own, other, count in pairs:
        if both_call(own, other):
            rows += count
            for name, fact in PAYLOAD_FACTS.items():
                agreeing[name] += count * fact(own, other)
    return {name: Rate(k=k, n=rows) for name, k in agreeing.items()}
