"""Which rows of a dataset are asked: by line, tool or tag, as a sample, or up to a limit."""

from __future__ import annotations

import heapq
import random
from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from itertools import islice

from toolcert.core.errors import UsageError
from toolcert.core.values import Value
from toolcert.verification.dataset.lines import Dataset, Line

_FORMS = "tool=NAME, tag=NAME or index=A-B"


class Span(Value):
    """Lines from `first` to `last`, both included."""

    first: int
    last: int


class Selection(Value):
    """Filters first, then the sample, then the limit."""

    spans: tuple[Span, ...] = ()
    tools: tuple[str, ...] = ()
    """Patterns; a row is chosen if any of its tools matches any of them."""
    tags: tuple[str, ...] = ()
    sample: int | None = None
    seed: int = 0
    limit: int | None = None

    @property
    def everything(self) -> bool:
        return not (self.spans or self.tools or self.tags) and self.sample is None and self.limit is None

    def lines(self, dataset: Dataset) -> Iterator[Line]:
        """The chosen lines in the order of the file."""
        chosen = self._filtered(dataset)
        if self.sample is not None:
            numbers = self._sampled(self._numbers(dataset))
            chosen = (line for line in chosen if line.index in numbers)
        return chosen if self.limit is None else islice(chosen, self.limit)

    def total(self, dataset: Dataset) -> int | None:
        """How many lines are chosen; None if every row would have to be parsed to know."""
        if self.tools or self.tags:
            return None
        if self.spans:
            found = sum(1 for number, _ in dataset.source.lines() if self._in_spans(number))
        else:
            found = dataset.source.count(self.limit)
        return min(found, *(bound for bound in (found, self.sample, self.limit) if bound is not None))

    def _filtered(self, dataset: Dataset) -> Iterator[Line]:
        for number, text in dataset.source.lines():
            if self.spans and not self._in_spans(number):
                continue
            line = dataset.read(number, text)
            if self._wanted(line):
                yield line

    def _numbers(self, dataset: Dataset) -> Iterator[int]:
        """The numbers of the lines to sample from; rows are parsed only if a filter needs it."""
        if self.tools or self.tags:
            return (line.index for line in self._filtered(dataset))
        return (number for number, _ in dataset.source.lines() if not self.spans or self._in_spans(number))

    def _in_spans(self, number: int) -> bool:
        return any(span.first <= number <= span.last for span in self.spans)

    def _wanted(self, line: Line) -> bool:
        if self.tools and not _any_matches(line.toolset.names, self.tools):
            return False
        return not self.tags or _any_matches(line.notes.tags, self.tags)

    def _sampled(self, numbers: Iterable[int]) -> set[int]:
        """A uniform sample: the numbers with the smallest random marks. Memory grows with the sample only."""
        mark = random.Random(self.seed)  # noqa: S311 - a repeatable sample, not a secret
        marked = ((mark.random(), number) for number in numbers)
        return {number for _, number in heapq.nsmallest(self.sample or 0, marked)}


def parse_where(conditions: Iterable[str]) -> Selection:
    """The filters of `--where`; several values of one kind are alternatives, kinds add up."""
    spans: list[Span] = []
    tools: list[str] = []
    tags: list[str] = []
    for condition in conditions:
        kind, found, value = condition.partition("=")
        values = [part.strip() for part in value.split(",") if part.strip()]
        if not found or not values:
            raise UsageError(f"--where {condition} is not understood.", remedy=f"Write {_FORMS}.")
        if kind == "tool":
            tools.extend(values)
        elif kind == "tag":
            tags.extend(values)
        elif kind == "index":
            spans.extend(_span(part) for part in values)
        else:
            raise UsageError(f"--where cannot choose by {kind}.", remedy=f"Write {_FORMS}.")
    return Selection(spans=tuple(spans), tools=tuple(tools), tags=tuple(tags))


def _span(text: str) -> Span:
    first, dash, last = text.partition("-")
    try:
        start = int(first) if first else 1
        end = int(last) if last else (2**62 if dash else start)
    except ValueError:
        raise UsageError(f"--where index={text} is not a range of lines.", remedy="Write index=10-20.") from None
    if not 1 <= start <= end:
        raise UsageError(f"--where index={text} is an empty range; lines count from 1.")
    return Span(first=start, last=end)


def _any_matches(names: Iterable[str], patterns: tuple[str, ...]) -> bool:
    return any(fnmatchcase(name, pattern) for name in names for pattern in patterns)
