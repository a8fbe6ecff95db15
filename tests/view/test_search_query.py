"""What people type to find cases."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from toolcert.core.errors import UsageError
from toolcert.view.case_index import CaseIndex
from toolcert.view.search_query import condition_of, phrase, spaced, terms_of


@pytest.fixture(scope="module")
def index(small_run: Path, tmp_path_factory: pytest.TempPathFactory) -> CaseIndex:
    made = CaseIndex(small_run, tmp_path_factory.mktemp("cache"))
    while made.grow():
        pass
    return made


def found(index: CaseIndex, query: str, order: str = "place") -> list[int]:
    return [row["place"] for row in index.rows(index.found(condition_of(terms_of(query)), order))]


def test_a_word_is_searched_in_the_text(index: CaseIndex) -> None:
    assert found(index, '"Question 77"') == [77]
    assert found(index, "nowhere") == []


def test_several_words_must_all_be_there(index: CaseIndex) -> None:
    assert found(index, "Question nowhere") == []


def test_a_word_is_found_by_its_beginning(index: CaseIndex) -> None:
    assert len(found(index, "Quest")) == 120


def test_values_of_one_field_are_alternatives_and_fields_must_all_hold(index: CaseIndex) -> None:
    failed, passed = found(index, "outcome:failed"), found(index, "outcome:passed")
    assert sorted(failed + passed) == found(index, "outcome:failed outcome:passed")
    both = found(index, "outcome:failed finding:call.in_text")
    assert both
    assert set(both) < set(failed)


def test_a_finding_stands_for_its_family(index: CaseIndex) -> None:
    family = found(index, "finding:args.schema")
    assert set(found(index, "finding:args.schema.type")) < set(family)
    assert found(index, "finding:args.sch") == []


def test_a_minus_leaves_out(index: CaseIndex) -> None:
    assert not set(found(index, "-outcome:passed")) & set(found(index, "outcome:passed"))
    assert 77 not in found(index, "-Question") or found(index, "-Question") == []


def test_numbers_are_compared(index: CaseIndex) -> None:
    slow, fast = found(index, "latency>1.5"), found(index, "latency<=1500ms")
    assert slow
    assert fast
    assert not set(slow) & set(fast)
    assert found(index, "row:17") == [17]


def test_missing_values_come_last_in_both_directions(index: CaseIndex) -> None:
    unmeasured = set(found(index, "outcome:not_measured"))
    for order in ("latency", "-latency"):
        assert set(found(index, "", order)[-len(unmeasured) :]) == unmeasured


def test_a_field_without_a_number_says_what_is_wrong() -> None:
    with pytest.raises(UsageError, match="names no number"):
        condition_of(terms_of("latency>soon"))


def test_a_long_query_is_refused() -> None:
    with pytest.raises(UsageError, match="characters"):
        terms_of("x" * 3000)


@pytest.mark.parametrize(
    "query",
    ['"', '""', "*", "AND", "NEAR(a b)", "a:b:c",
     "finding:", 'finding:"', "-", "--", "(", "x OR y", "\x00", "^a", "%", "[*]",
     "finding:*", 'tool:"a\\"b"', "'; DROP TABLE cases; --", "-outcome:", "é ü", "\ud800"],
)  # fmt: skip
def test_whatever_is_typed_is_a_search_and_no_error(index: CaseIndex, query: str) -> None:
    try:
        found(index, query)
    except sqlite3.Error as error:
        pytest.fail(f"{query!r}: {error}")


def test_ideographs_are_words_of_their_own() -> None:
    assert spaced("北京 weather").split() == ["北", "京", "weather"]
    assert phrase("北京") == '"北  京" *'


def test_facets_count_the_cases_that_fit(index: CaseIndex) -> None:
    ids = index.found(condition_of(terms_of("outcome:failed")))
    facets = index.facets(ids)
    assert facets["outcome"] == [("failed", len(ids))]
    assert sum(number for _, number in index.facets(None)["outcome"]) == 120
