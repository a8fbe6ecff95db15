"""A growing file as numbered objects: each holds whole lines, and its name the digest of all content up to its end.

The names alone show whether a local file begins with what the store has, and how far.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable

from toolcert.core.values import Value
from toolcert.stores.object_store import ObjectStore

_NAME = re.compile(r"(\d{8})-([0-9a-f]{16})")


SERIES = re.compile(r"\d{6,9}-[0-9a-f]{8}(-\d{1,9})?")
"""The name of a series: its generation, its writer, and a number if the writer has several."""


class Series(Value):
    """The parts that one writer has sent."""

    name: str
    parts: int | None = None
    """How many of them count; None for the writer that holds the lease: all without a gap."""

    @property
    def log(self) -> str:
        return f"{self.name}/log"

    @property
    def files(self) -> str:
        return f"{self.name}/files"


class Part(Value):
    """One object of a growing file."""

    name: str
    size: int
    digest: str
    """Of all content from the beginning of the file to the end of this part."""


class Content:
    """The content of a file so far, as its length and digest."""

    def __init__(self) -> None:
        self.size = 0
        self._hash = hashlib.sha256()

    def add(self, data: bytes) -> None:
        """Take note of what follows."""
        self._hash.update(data)
        self.size += len(data)

    def with_added(self, data: bytes) -> Content:
        """The content if `data` followed."""
        longer = Content()
        longer.size, longer._hash = self.size, self._hash.copy()
        longer.add(data)
        return longer

    @property
    def digest(self) -> str:
        return self._hash.hexdigest()[:16]


def part_name(series: Series, number: int, digest: str) -> str:
    """The name of a part in its store."""
    return f"{series.log}/{number:08d}-{digest}"


def list_parts(store: ObjectStore, series: Series) -> list[Part]:
    """The parts of a series up to the first that is missing, or to the last that counts."""
    parts: list[Part] = []
    for stored in store.entries(series.log):
        found = _NAME.fullmatch(stored.name.rpartition("/")[2])
        if found is None:
            continue
        if int(found[1]) != len(parts) or len(parts) == series.parts:
            break
        parts.append(Part(name=stored.name, size=stored.size, digest=found[2]))
    return parts


def all_parts(store: ObjectStore, series: Iterable[Series]) -> list[Part]:
    """The parts of a file that several writers have written one after the other."""
    return [part for one in series for part in list_parts(store, one)]
