"""Rows find their partners, also where numbers repeat or lie far apart."""

from __future__ import annotations

from array import array

import pytest

from toolcert.comparison.match.partners import NO_PARTNER, Match, count_repeats, find_partners
from toolcert.comparison.read.columns import Columns


def columns(numbers: list[int], contents: list[int] | None = None) -> Columns:
    made = Columns()
    made.index = array("I", numbers)
    made.content = array("Q", contents or [])
    made.kind = array("H", [0] * len(numbers))
    return made


@pytest.mark.parametrize(
    ("ours", "theirs", "partners"),
    [
        ([1, 1, 2, 2, 3], [2, 2, 1, 1, 3], [2, 3, 0, 1, 4]),
        ([1, 1, 1], [1, 5], [0, NO_PARTNER, NO_PARTNER]),
        ([7, 4_000_000_000, 8], [8, 4_000_000_000, 9], [NO_PARTNER, 1, 0]),
        ([1, 2], [3, 4], [NO_PARTNER, NO_PARTNER]),
    ],
)
def test_by_number_repeats_meet_in_order_and_no_number_is_too_large(ours, theirs, partners):
    assert list(find_partners(columns(ours), columns(theirs), Match.INDEX)) == partners


def test_by_content_the_number_only_tells_repeats_apart():
    ours, theirs = columns([1, 2, 3], [9, 9, 8]), columns([1, 2, 3], [8, 9, 9])
    assert list(find_partners(ours, theirs, Match.CONTENT)) == [2, 1, 0]


def test_by_content_also_large_numbers_tell_repeats_apart():
    """Beyond what an array of places can hold."""
    far = 4_000_000_000
    ours, theirs = columns([far, far + 1, far + 2], [9, 9, 9]), columns([far + 2, far + 1, far], [9, 9, 9])
    assert list(find_partners(ours, theirs, Match.CONTENT)) == [2, 1, 0]


def test_by_number_rows_are_in_step_whatever_is_known_of_their_content():
    assert find_partners(columns([1, 2], [8, 9]), columns([1, 2]), Match.INDEX) == range(2)


@pytest.mark.parametrize(("numbers", "repeats"), [([1, 2, 3], 0), ([3, 2, 1], 0), ([1, 1, 2, 1], 2), ([], 0), ([5], 0)])
def test_repeats_are_rows_whose_number_came_before(numbers, repeats):
    assert count_repeats(columns(numbers), Match.INDEX) == repeats
