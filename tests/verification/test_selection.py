"""Choosing rows."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.rows import TIME, row, write_rows
from toolcert.core.errors import UsageError
from toolcert.verification.dataset.lines import Dataset
from toolcert.verification.dataset.selection import Selection, parse_where
from toolcert.verification.dataset.source import Source


@pytest.fixture
def dataset(tmp_path: Path) -> Dataset:
    rows = [row(n, **({"tools": [TIME]} if n % 2 else {}), toolcert={"tags": [f"tag{n % 3}"]}) for n in range(1, 31)]
    return Dataset(Source(write_rows(tmp_path / "data.jsonl", rows)))


def chosen(dataset: Dataset, *where: str, **more: int) -> list[int]:
    import msgspec

    selection = msgspec.structs.replace(parse_where(where), **more)
    return [line.index for line in selection.lines(dataset)]


def test_by_place(dataset: Dataset) -> None:
    assert chosen(dataset, "index=3-5") == [3, 4, 5]
    assert chosen(dataset, "index=7,9,28-") == [7, 9, 28, 29, 30]
    assert chosen(dataset, "index=-2") == [1, 2]


def test_by_tool_and_tag(dataset: Dataset) -> None:
    """Alternatives of one kind add up; kinds restrict each other."""
    assert chosen(dataset, "tool=get_t*", "index=1-6") == [1, 3, 5]
    assert chosen(dataset, "tag=tag0,tag1", "index=1-6") == [1, 3, 4, 6]
    assert chosen(dataset, "tool=get_time", "tag=tag0", "index=1-10") == [3, 9]


def test_the_limit_counts_what_the_filters_leave(dataset: Dataset) -> None:
    assert chosen(dataset, "tool=get_weather", limit=3) == [2, 4, 6]


def test_a_sample_is_repeatable_ordered_and_of_the_size_asked(dataset: Dataset) -> None:
    one, again, other = (chosen(dataset, sample=10, seed=seed) for seed in (1, 1, 2))
    assert one == again == sorted(one)
    assert one != other
    assert len(one) == len(other) == 10
    assert chosen(dataset, sample=100, seed=1) == list(range(1, 31))


def test_every_row_is_equally_likely_in_a_sample(dataset: Dataset) -> None:
    """Over 300 seeds each of 30 rows is drawn about 100 times; six standard deviations are allowed."""
    counts = dict.fromkeys(range(1, 31), 0)
    for seed in range(300):
        for index in chosen(dataset, sample=10, seed=seed):
            counts[index] += 1
    assert sum(counts.values()) == 3000
    assert all(abs(count - 100) < 50 for count in counts.values())


def test_a_sample_of_filtered_rows_holds_only_those(dataset: Dataset) -> None:
    drawn = chosen(dataset, "tool=get_time", sample=5, seed=4)
    assert len(drawn) == 5
    assert all(index % 2 for index in drawn)


def test_the_total_is_known_where_no_row_must_be_read_for_it(dataset: Dataset) -> None:
    assert Selection().total(dataset) == 30
    assert Selection(limit=4).total(dataset) == 4
    assert Selection(sample=7, limit=3).total(dataset) == 3
    assert parse_where(["index=29-99"]).total(dataset) == 2
    assert parse_where(["tool=x"]).total(dataset) is None


@pytest.mark.parametrize("where", ["tools>3", "colour=red", "tool=", "index=9-3", "index=0-4", "index=a-b"])
def test_a_condition_that_is_not_understood_is_a_usage_error(where: str) -> None:
    with pytest.raises(UsageError):
        parse_where([where])
