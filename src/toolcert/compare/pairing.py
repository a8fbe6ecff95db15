"""Matched rows, folded into patterns: rows that say the same about vendor and baseline are counted together.

A million rows fall into a few dozen patterns, and every figure of a comparison is a sum over them.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import compress, repeat
from operator import eq, sub
from typing import Any

from toolcert.compare.columns import token_difference
from toolcert.compare.kinds import Kind
from toolcert.compare.matching import NOBODY
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

    def __init__(self, baseline: RunData, others: Sequence[tuple[RunData, array[int]]]) -> None:
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

    def _code_rows(self) -> list[tuple[Any, ...]]:
        """Give every row the number of its pattern; the pattern itself is a tuple of small numbers."""
        numbers = _Numbers()
        seen = [_seen_from(self.baseline, other, partners) for other, partners in self.others]
        self.ids.extend(map(numbers.__getitem__, zip(self.baseline.columns.kind, *seen, strict=True)))
        return list(numbers)

    def _pattern(self, code: tuple[Any, ...]) -> Pattern:
        own = Answer(kind=self.baseline.kinds.kinds[code[0]])
        answers = [_answer(run, seen) for (run, _), seen in zip(self.others, code[1:], strict=True)]
        return Pattern(baseline=own, vendor=answers[0], further=tuple(answers[1:]))

    def items(self) -> Iterator[tuple[Pattern, int]]:
        """Patterns and how many rows have each."""
        return ((pattern, self.counts[number]) for number, pattern in enumerate(self.patterns))

    def places(self, wanted: Callable[[Pattern], bool]) -> Iterator[int]:
        """Rows of the baseline whose pattern is wanted, in order."""
        numbers = {number for number, pattern in enumerate(self.patterns) if wanted(pattern)}
        return (place for place, number in enumerate(self.ids) if number in numbers)

    def count(self, wanted: Callable[[Pattern], bool]) -> int:
        """How many rows have a wanted pattern."""
        return sum(count for pattern, count in self.items() if wanted(pattern))

    def clusters(self) -> Iterator[tuple[dict[int, int], int]]:
        """Prompts as counts by pattern number, with how many prompts look alike; repeats of a prompt stay together."""
        repeated = self.baseline.repeated
        groups: dict[int, Counter[int]] = {content: Counter() for content in repeated}
        alone = Counter(self.ids)
        if repeated:
            for content, number in zip(self.baseline.columns.content, self.ids, strict=True):
                if content in repeated:
                    groups[content][number] += 1
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
        own, tokens = self.baseline.columns, run.columns.tokens
        theirs = array("H", map(tokens.__getitem__, partners)) if len(tokens) else array("H")
        conditions = map(NO_TOKENS.__ne__, own.tokens), map(NO_TOKENS.__ne__, theirs), map(NOBODY.__ne__, partners)
        known = map(all, zip(*conditions, strict=False))
        rows = zip(own.kind, map(sub, theirs, own.tokens), strict=False)
        differences = Counter(compress(rows, known))
        result: Counter[tuple[int, int]] = Counter()
        for (kind, difference), count in differences.items():
            result[self.baseline.kinds.kinds[kind].turns, token_difference(difference, 0)] += count
        return result


class _Numbers(dict[tuple[Any, ...], int]):
    """Numbers its keys in the order they are first asked for."""

    def __missing__(self, key: tuple[Any, ...]) -> int:
        number = self[key] = len(self)
        return number


def _seen_from(baseline: RunData, other: RunData, partners: array[int]) -> Iterator[Any]:
    """Per row of the baseline: the partner's kind, and whether payload and names are the same."""
    own, columns = baseline.columns, other.columns
    if not len(columns):
        return repeat(NOBODY, len(partners))
    # A row without partner (-1) looks at the last one here, and is set right below.
    payloads, names = map(columns.payload.__getitem__, partners), map(columns.names.__getitem__, partners)
    kinds = map(columns.kind.__getitem__, partners)
    seen = zip(kinds, map(eq, own.payload, payloads), map(eq, own.names, names), strict=True)
    if NOBODY not in partners:
        return seen
    return (NOBODY if partner == NOBODY else one for partner, one in zip(partners, seen, strict=True))


def _answer(run: RunData, seen: Any) -> Answer:
    if seen == NOBODY:
        return Answer(kind=None)
    kind, same_payload, same_names = seen
    return Answer(kind=run.kinds.kinds[kind], same_payload=same_payload, same_names=same_names)
