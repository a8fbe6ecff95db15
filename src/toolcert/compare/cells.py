"""From patterns to counts: who called, where payloads agree, and in how many ways rows differ."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from toolcert.compare.confusion import Confusion, Trigger, cell
from toolcert.compare.kinds import Kind
from toolcert.compare.pairing import Answer, Pairing, Pattern
from toolcert.core.statistics import Rate


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
"""Where both call: what can agree, told by the baseline's answer and the other's as seen from it."""


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
