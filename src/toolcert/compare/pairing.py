"""Matched rows, folded into patterns: rows that say the same about vendor and baseline are counted together.

A million rows fall into a few dozen patterns, and every figure of a comparison is a sum over them.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, compress
from operator import eq, sub

from toolcert.compare.columns import signed_difference
from toolcert.compare.kinds import NO_KIND, Kind
from toolcert.compare.matching import Partners, beside
from toolcert.compare.rundata import RunData
from toolcert.core.values import Value
from toolcert.runs.codes import NO_TOKENS


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
    """What one or many rows say."""

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

    def __init__(self, baseline: RunData, others: Sequence[tuple[RunData, Partners]]) -> None:
        """The first of `others` is the vendor; each comes with its partners by place in the baseline."""
        self.baseline = baseline
        self.others = others
        self.ids = array("I")
        """The pattern of each row of the baseline."""
        codes = self._code_rows()
        self.counts = Counter(self.ids)
        self.patterns = [self._pattern(code) for code in codes]

    @property
    def vendor(self) -> RunData:
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
        """Counts by pattern number for every group the baseline's rows were told apart by."""
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


def _seen_from(baseline: RunData, other: RunData, partners: Partners) -> tuple[Iterable[int], ...]:
    """Per row of the baseline: the partner's kind, and whether payload and names are the same."""
    own, theirs = baseline.columns, other.columns
    return (
        beside(theirs.kind, partners, NO_KIND),
        map(eq, own.payload, beside(theirs.payload, partners, 0)),
        map(eq, own.names, beside(theirs.names, partners, 0)),
    )


def _answer(run: RunData, kind: int, same_payload: int, same_names: int) -> Answer:
    if kind == NO_KIND:
        return Answer(kind=None)
    return Answer(kind=run.kinds.kinds[kind], same_payload=bool(same_payload), same_names=bool(same_names))


def _unknown(own: array[int], theirs: array[int]) -> Iterator[int]:
    """Rows of which one of both did not say the prompt's tokens."""
    yield from (at for at, tokens in enumerate(own) if tokens == NO_TOKENS)
    yield from (at for at, tokens in enumerate(theirs) if tokens == NO_TOKENS and own[at] != NO_TOKENS)
