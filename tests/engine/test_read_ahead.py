"""Cases are read several at a time, before they are asked for, and nothing of that can be seen but speed."""

from __future__ import annotations

import time
from collections.abc import Iterator
from itertools import chain

import pytest

from toolcert.core.cases import Case
from toolcert.engine import read_ahead
from toolcert.engine.local import CaseQueue
from toolcert.engine.read_ahead import CASES_AHEAD, READ_SECONDS, ReadAhead


def row(number: int) -> Case:
    return Case(key=str(number), endpoint="e", model="m", index=number)


class Rows:
    """Rows that take a while to read, and how many were read."""

    def __init__(self, rows: int, seconds: float = 0.0, damaged_at: int | None = None) -> None:
        self.read = 0
        self._rows, self._seconds, self._damaged_at = rows, seconds, damaged_at

    def __iter__(self) -> Iterator[Case]:
        for number in range(self._rows):
            if number == self._damaged_at:
                raise ValueError("the file is cut")
            time.sleep(self._seconds)
            self.read += 1
            yield row(number)


@pytest.mark.parametrize("rows", [0, 1, CASES_AHEAD, CASES_AHEAD + 1, 100])
@pytest.mark.parametrize("refilled_every", [1, 3, 1000])
def test_every_row_comes_once_and_in_order(rows: int, refilled_every: int) -> None:
    cases = ReadAhead(iter(Rows(rows)))
    came = []
    for number, case in enumerate(cases):
        came.append(case.index)
        if number % refilled_every == 0:
            cases.refill()
    assert came == list(range(rows))
    cases.refill()
    assert next(cases, None) is None


def test_at_most_a_few_rows_are_read_ahead(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(read_ahead, "READ_SECONDS", 60)
    rows = Rows(1000)
    cases = ReadAhead(iter(rows))
    next(cases)
    assert rows.read == CASES_AHEAD
    cases.refill()
    assert rows.read == CASES_AHEAD
    for _ in range(CASES_AHEAD // 2):
        next(cases)
    cases.refill()
    assert rows.read == CASES_AHEAD + 1 + CASES_AHEAD // 2


async def test_what_a_queue_reads_ahead_is_there_when_it_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(read_ahead, "READ_SECONDS", 60)
    rows = Rows(1000)
    queue = CaseQueue({"e": ReadAhead(iter(rows)), "lazy": iter(lazy := Rows(1000))})
    queue.read_ahead()
    assert (rows.read, lazy.read) == (CASES_AHEAD, 0)
    for number in range(CASES_AHEAD - 1):
        taken = await queue.take("e")
        assert taken is not None
        assert taken.index == number
    assert rows.read == CASES_AHEAD
    queue.close()
    queue.read_ahead()
    assert rows.read == CASES_AHEAD


def test_of_rows_that_take_long_to_read_only_the_next_is_read() -> None:
    rows = Rows(10, seconds=2 * READ_SECONDS)
    cases = ReadAhead(iter(rows))
    for number, _ in enumerate(cases, 1):
        cases.refill()
        assert rows.read == number


def test_of_slow_rows_behind_quick_ones_one_at_most_is_held(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(read_ahead, "READ_SECONDS", 0.05)
    quick, slow = 20, Rows(10, seconds=0.06)
    cases = ReadAhead(chain(Rows(quick), slow, Rows(100)))
    for taken, _ in enumerate(cases, 1):
        cases.refill()
        assert slow.read - min(10, max(0, taken - quick)) <= 1
    assert taken == quick + 10 + 100


class FalseError(Exception):
    """An error that counts as false, as one with a length of 0 does."""

    def __bool__(self) -> bool:
        return False


def test_no_damage_is_taken_for_the_end() -> None:
    def damaged() -> Iterator[Case]:
        yield row(0)
        raise FalseError

    cases = ReadAhead(damaged())
    next(cases)
    with pytest.raises(FalseError):
        next(cases)


def test_what_stands_before_the_damage_in_a_file_is_asked() -> None:
    cases = ReadAhead(iter(Rows(30, damaged_at=21)))
    cases.refill()
    assert [next(cases).index for _ in range(21)] == list(range(21))
    cases.refill()
    with pytest.raises(ValueError, match="the file is cut"):
        next(cases)
