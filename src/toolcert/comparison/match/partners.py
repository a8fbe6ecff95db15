"""The partner of each row in another run: by what was asked, or by its number; in four bytes a row."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from itertools import pairwise
from typing import TypeAlias

from toolcert.comparison.read.columns import Columns
from toolcert.core.values import Value

NO_PARTNER = -1
Partners: TypeAlias = Sequence[int]
"""For each row of the baseline the place of its partner, or NO_PARTNER; a range where both runs are in step."""
_PART = 125_000
"""Rows that are looked up together: bounds the memory of dictionaries whatever the size of the files."""
_SPARSE = 4
"""Row numbers that leave more than this many gaps per row are looked up in dictionaries too."""
_64_BITS = (1 << 64) - 1
_SPREAD = 0x9E3779B97F4A7C15


class Match(StrEnum):
    """How the same row is found in two runs."""

    CONTENT = "content"
    """By what was asked; the row number only distinguishes repeated rows."""
    INDEX = "index"
    """By their number in the dataset."""


class Matching(Value):
    """How many rows of two runs were matched."""

    matched: int
    baseline_only: int
    vendor_only: int
    baseline_repeats: int
    """Rows of the baseline that ask what an earlier one asked."""
    vendor_repeats: int


def find_partners(baseline: Columns, vendor: Columns, match: Match) -> Partners:
    """Which row of the vendor belongs to each row of the baseline."""
    if _in_step(baseline, vendor, match):
        return range(len(baseline))
    partners = array("i", [NO_PARTNER]) * len(baseline)
    if not len(vendor):
        return partners
    taken = bytearray(len(vendor))
    _meet_by_number(baseline, vendor, partners, taken, same_content=match is Match.CONTENT)
    if match is Match.INDEX:
        _meet_in_order(baseline.index, vendor.index, partners, taken)
        return partners
    if max(vendor.index) >= _dense(vendor.index):
        _meet_in_order(_content_and_number(baseline), _content_and_number(vendor), partners, taken)
    _meet_in_order(baseline.content, vendor.content, partners, taken)
    return partners


def _in_step(baseline: Columns, vendor: Columns, match: Match) -> bool:
    """Whether both runs have the same rows in the same order, as sorted files have."""
    return baseline.index == vendor.index and (match is Match.INDEX or baseline.content == vendor.content)


def _content_and_number(columns: Columns) -> array[int]:
    """One key for content and number; the factor avoids collisions of neighbouring values."""
    pairs = zip(columns.content, columns.index, strict=True)
    return array("Q", (content ^ (number * _SPREAD & _64_BITS) for content, number in pairs))


def matched_places(partners: Partners) -> Iterable[int]:
    """The rows of the baseline that have a partner."""
    if isinstance(partners, range):
        return partners
    return (place for place, partner in enumerate(partners) if partner != NO_PARTNER)


def beside(column: array[int], partners: Partners, missing: int) -> array[int]:
    """A column of another run in the order of the baseline's rows, with `missing` where there is no partner."""
    if isinstance(partners, range):
        return column
    # NO_PARTNER, minus one, is the last place, where `missing` stands.
    return array(column.typecode, map((column + array(column.typecode, [missing])).__getitem__, partners))


def _meet_by_number(
    baseline: Columns, vendor: Columns, partners: array[int], taken: bytearray, *, same_content: bool
) -> None:
    places = _places_by_number(vendor.index)
    size, ours, theirs = len(places), baseline.content, vendor.content
    for place, number in enumerate(baseline.index):
        found = places[number] if number < size else NO_PARTNER
        if found >= 0 and not taken[found] and (not same_content or ours[place] == theirs[found]):
            partners[place] = found
            taken[found] = 1


def _places_by_number(numbers: array[int]) -> array[int]:
    """First place of each row number; numbers far beyond the count of rows are left to dictionaries."""
    size = min(max(numbers) + 1, _dense(numbers))
    places = array("i", [NO_PARTNER]) * size
    for place in range(len(numbers) - 1, -1, -1):
        if numbers[place] < size:
            places[numbers[place]] = place
    return places


def _dense(numbers: array[int]) -> int:
    """Up to here row numbers are looked up in an array."""
    return _SPARSE * len(numbers) + _PART


def _meet_in_order(ours: array[int], theirs: array[int], partners: array[int], taken: bytearray) -> None:
    """Rows that moved or are repeated: the first free one with the same key, in file order."""
    left = array("I", (place for place, partner in enumerate(partners) if partner == NO_PARTNER))
    parts = 1 + len(left) // _PART
    for part in range(parts if left and 0 in taken else 0):
        free: dict[int, list[int]] = {}
        for place, key in enumerate(theirs):
            if not taken[place] and key % parts == part:
                free.setdefault(key, []).append(place)
        for found in free.values():
            found.reverse()
        for place in left:
            key = ours[place]
            if key % parts == part and free.get(key):
                partners[place] = free[key].pop()
                taken[partners[place]] = 1


def repeated_questions(columns: Columns) -> frozenset[int]:
    """Questions that more than one row asks."""
    if columns.questions is columns.index and columns.in_order:
        return frozenset()
    found: set[int] = set()
    for part in _parts(columns.questions):
        if len(set(part)) < len(part):
            found.update(first for first, second in pairwise(sorted(part)) if first == second)
    return frozenset(found)


def _parts(keys: array[int]) -> Iterator[Sequence[int]]:
    """The keys in parts of bounded size; equal keys are in the same part."""
    parts = 1 + len(keys) // _PART
    return iter([keys]) if parts == 1 else ([key for key in keys if key % parts == part] for part in range(parts))


def count_matching(
    baseline: Columns, vendor: Columns, partners: Partners, match: Match, baseline_repeats: int
) -> Matching:
    """The figures to print about a match."""
    matched = len(partners) - partners.count(NO_PARTNER)
    alike = matched == len(baseline) == len(vendor)
    return Matching(
        matched=matched,
        baseline_only=len(baseline) - matched,
        vendor_only=len(vendor) - matched,
        baseline_repeats=baseline_repeats,
        vendor_repeats=baseline_repeats if alike else count_repeats(vendor, match),
    )


def count_repeats(columns: Columns, match: Match) -> int:
    """Rows that ask what an earlier one asked, or have its number."""
    if match is Match.INDEX and columns.in_order:
        return 0
    keys = columns.content if match is Match.CONTENT else columns.index
    return sum(len(part) - len(set(part)) for part in _parts(keys))
