"""Matched rows, folded into patterns: rows that say the same about vendor and baseline are counted together.

A million rows fall into a few dozen patterns, and every figure of a comparison is a sum over them.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import repeat

from toolcert.compare.columns import NO_TOKENS
from toolcert.compare.kinds import Kind
from toolcert.compare.matching import NOBODY, repeated_contents
from toolcert.compare.rundata import RunData
from toolcert.core.values import Value


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

    def _code_rows(self) -> list[tuple[int, ...]]:
        """Give every row the number of its pattern; the pattern itself is a tuple of small numbers."""
        known: dict[tuple[int, ...], int] = {}
        seen = [_seen_from(self.baseline, other, partners) for other, partners in self.others]
        for code in zip(self.baseline.columns.kind, *seen, strict=True):
            number = known.get(code)
            if number is None:
                number = known[code] = len(known)
            self.ids.append(number)
        return list(known)

    def _pattern(self, code: tuple[int, ...]) -> Pattern:
        own = Answer(kind=self.baseline.kinds.kinds[code[0]])
        answers = [_answer(run, seen) for (run, _), seen in zip(self.others, code[1:], strict=True)]
        return Pattern(baseline=own, vendor=answers[0], further=tuple(answers[1:]))

    def items(self) -> Iterator[tuple[Pattern, int]]:
        """Patterns and how many rows have each."""
        return ((pattern, self.counts[number]) for number, pattern in enumerate(self.patterns))

    def places(self, wanted: Callable[[Pattern], bool]) -> list[int]:
        """Rows of the baseline whose pattern is wanted."""
        numbers = {number for number, pattern in enumerate(self.patterns) if wanted(pattern)}
        return [place for place, number in enumerate(self.ids) if number in numbers]

    def clusters(self) -> Iterator[tuple[dict[int, int], int]]:
        """Prompts as counts by pattern number, with how many prompts look alike; repeats of a prompt stay together."""
        repeated = repeated_contents(self.baseline.columns)
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
        turns = [kind.turns for kind in self.baseline.kinds.kinds]
        own, theirs = self.baseline.columns, run.columns.tokens
        differences: Counter[tuple[int, int]] = Counter()
        for kind, tokens, partner in zip(own.kind, own.tokens, partners, strict=True):
            if partner != NOBODY and tokens != NO_TOKENS and theirs[partner] != NO_TOKENS:
                differences[turns[kind], theirs[partner] - tokens] += 1
        return differences


def _seen_from(baseline: RunData, other: RunData, partners: array[int]) -> Iterator[int]:
    """Per row of the baseline: the partner's kind and whether payload and names are the same, in one number."""
    if not len(other.columns):
        return repeat(NOBODY, len(partners))
    own, columns = baseline.columns, other.columns
    kinds, payloads, names = columns.kind, columns.payload, columns.names
    return (
        (kinds[partner] << 2 | (payload == payloads[partner]) << 1 | (called == names[partner]))
        if partner >= 0
        else NOBODY
        for payload, called, partner in zip(own.payload, own.names, partners, strict=True)
    )


def _answer(run: RunData, seen: int) -> Answer:
    if seen == NOBODY:
        return Answer(kind=None)
    return Answer(kind=run.kinds.kinds[seen >> 2], same_payload=bool(seen & 2), same_names=bool(seen & 1))
