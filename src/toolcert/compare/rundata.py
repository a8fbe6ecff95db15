"""A run as comparing needs it: packed rows, their kinds, and what was counted while reading."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from enum import StrEnum
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from toolcert.compare.columns import Columns
from toolcert.compare.kinds import Kind, Kinds
from toolcert.compare.matching import repeated_questions
from toolcert.core.manifest import Manifest
from toolcert.core.values import Value

_SHOWN_ROWS = 8
"""Row numbers kept per bucket, for people to look at."""
_KEPT_PLACES = 300
_LOOKED_AT = 1000
"""Rows from the start on which it is noted who answered."""
_LOOKED_AT_EVERY = 256
"""Rows further on of which one is looked at."""
_MAX_GROUPS = 0xFFFF
_LOOK = 1 << 16
"""Bytes read at once when a row is looked up again: about as many as lie between a mark and a row."""


class By(StrEnum):
    """What rows can be told apart by."""

    TOOL = "tool"
    """The tool the baseline calls first."""
    N_TOOLS = "n_tools"
    TURNS = "turns"
    TAG = "tag"


class Shape(Value, gc=False):
    """What a row is grouped by."""

    names: tuple[str, ...] = ()
    tools: int = 0
    turns: int = 0
    tags: tuple[str, ...] = ()


_GROUPINGS: dict[By, Callable[[Shape], tuple[str, ...]]] = {
    By.TOOL: lambda shape: shape.names[:1] or ("(no call)",),
    By.N_TOOLS: lambda shape: (f"{shape.tools}",),
    By.TURNS: lambda shape: (f"{shape.turns}",),
    By.TAG: lambda shape: shape.tags or ("(none)",),
}


class Identity(NamedTuple):
    """Who answered a row."""

    asked: str
    """The model asked for."""
    answered: str | None
    fingerprint: str | None
    id_style: str | None
    measured: bool = True


class Tallies:
    """Counts over single calls."""

    def __init__(self) -> None:
        self.invalid = 0
        self.unjudged = 0
        self.buckets: Counter[str] = Counter()
        self.bucket_rows: dict[str, list[int]] = {}
        self.invalid_places: list[int] = []
        """Where rows with invalid calls stand, the first few hundred."""

    def count_row(self, place: int, index: int, verdicts: Iterable[bool | None], buckets: Iterable[str]) -> None:
        """Count a row whose calls are not all simply valid."""
        listed = list(verdicts)
        invalid = listed.count(False)
        self.invalid += invalid
        self.unjudged += listed.count(None)
        if invalid and len(self.invalid_places) < _KEPT_PLACES:
            self.invalid_places.append(place)
        for bucket in buckets:
            self.buckets[bucket] += 1
            rows = self.bucket_rows.setdefault(bucket, [])
            if len(rows) < _SHOWN_ROWS and index not in rows:
                rows.append(index)


class RunData:
    """One run or results file, read."""

    def __init__(self, label: str, path: Path, manifest: Manifest | None, by: By | None = None) -> None:
        self.label = label
        self.path = path
        self.manifest = manifest
        self.columns = Columns()
        self.kinds = Kinds()
        self.tallies = Tallies()
        self.identities: Counter[Identity] = Counter()
        """Who answered, on the rows that were looked at for it."""
        self.torn = False
        """The last line was cut off and left out."""
        self.grouped = by is not None
        self._grouping = None if by is None else _GROUPINGS[by]
        self._group_codes: dict[tuple[str, ...], int] = {}

    def looked_at(self, rows: int) -> range:
        """Which of the next rows it is noted of who answered them."""
        first = len(self.columns)
        return range(rows if first < _LOOKED_AT else int(first % _LOOKED_AT_EVERY < rows))

    def add_group(self, shape: Shape) -> None:
        """Note the group of the next row."""
        assert self._grouping is not None
        key = self._grouping(shape)
        if key not in self._group_codes and len(self._group_codes) >= _MAX_GROUPS:
            key = ("(other)",)
        self.columns.group.append(self._group_codes.setdefault(key, len(self._group_codes)))

    @property
    def unfinished(self) -> bool:
        """Whether the run was interrupted or killed, or still goes on."""
        return self.manifest is not None and (self.manifest.interrupted or self.manifest.finished_at is None)

    @property
    def groups(self) -> list[tuple[str, ...]]:
        """Names by code; a row may belong to several."""
        return list(self._group_codes)

    @cached_property
    def kind_counts(self) -> list[tuple[Kind, int]]:
        """The kinds of rows and how many there are of each; for when all rows are read."""
        return [(self.kinds.kinds[code], count) for code, count in Counter(self.columns.kind).items()]

    @property
    def measured(self) -> int:
        """Rows that were answered."""
        return sum(count for kind, count in self.kind_counts if kind.measured)

    @cached_property
    def repeated(self) -> frozenset[int]:
        """Questions that more than one row asks."""
        return repeated_questions(self.columns)

    def line(self, place: int) -> bytes:
        """The line of the row at `place`, read again from the file."""
        offset, before = self.columns.mark_before(place)
        with self.path.open("rb", buffering=_LOOK) as file:
            file.seek(offset)
            lines = (line for line in file if not line.isspace())
            return next(islice(lines, before, None))
