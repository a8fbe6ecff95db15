"""Rows are read several at a time, and nothing of that can be seen but speed."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from toolcert.core.cases import Case
from toolcert.verification.run import row_plan
from toolcert.verification.run.row_plan import READ_AHEAD, READ_AHEAD_SECONDS, read_ahead


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


@pytest.mark.parametrize("rows", [0, 1, READ_AHEAD, READ_AHEAD + 1, 100])
def test_every_row_comes_once_and_in_order(rows: int) -> None:
    assert [case.index for case in read_ahead(iter(Rows(rows)))] == list(range(rows))


def test_at_most_a_few_rows_are_read_ahead(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(row_plan, "READ_AHEAD_SECONDS", 60)
    rows = Rows(1000)
    cases = read_ahead(iter(rows))
    next(cases)
    assert rows.read == READ_AHEAD


def test_of_rows_that_take_long_to_read_only_the_next_is_read() -> None:
    rows = Rows(10, seconds=2 * READ_AHEAD_SECONDS)
    for number, _ in enumerate(read_ahead(iter(rows)), 1):
        assert rows.read == number


def test_what_stands_before_the_damage_in_a_file_is_asked() -> None:
    cases = read_ahead(iter(Rows(30, damaged_at=21)))
    assert [next(cases).index for _ in range(21)] == list(range(21))
    with pytest.raises(ValueError, match="the file is cut"):
        next(cases)
