"""Stretches of days, choice of models, patterns of errors, and the changes of the last days."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from support.histories import GOOD, TELLING, day_of, made, seen, stored
from toolcert.core.errors import InputError
from toolcert.history.changes import ChangeKind
from toolcert.history.daily_status import DayStatus, size_for, stretches
from toolcert.history.observation import Observation, StoredRun
from toolcert.history.overview import matching, overview
from toolcert.history.store import HistoryStore
from toolcert.reports.history.notes import notes

NAMES = ["ibm/granite-8b", "meta/llama-70b", "meta/llama-8b"]


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        (None, NAMES),
        ("meta/llama-8b", ["meta/llama-8b"]),
        ("llama-8b", ["meta/llama-8b"]),
        ("meta/*", ["meta/llama-70b", "meta/llama-8b"]),
        ("LLAMA", ["meta/llama-70b", "meta/llama-8b"]),
    ],
)
def test_a_model_is_found_by_id_last_part_pattern_or_piece(wanted: str | None, found: list[str]) -> None:
    assert matching(NAMES, wanted) == found


def test_an_unknown_model_is_an_error_of_the_user() -> None:
    with pytest.raises(InputError, match="has no model 'gpt'"):
        matching(NAMES, "gpt")


def test_a_week_is_called_by_its_worst_day_and_the_newest_is_whole(tmp_path: Path) -> None:
    """Nine days are a rest of two and a week; one broken day names the week, its counts are pooled."""
    (model,) = made(tmp_path, {"m": [GOOD, GOOD, *[GOOD] * 5, (0, 0), GOOD]}).models
    first, second = stretches(model.days, 7)
    assert (first.first, first.last, second.last) == ("2026-04-01", "2026-04-02", "2026-04-09")
    assert (first.status, second.status) == (DayStatus.WORKING, DayStatus.BROKEN)
    assert (second.calling.k, second.calling.n) == (300, 350)


def test_the_shortest_stretch_that_fits_is_taken() -> None:
    assert [size_for(days, 31) for days in (30, 32, 90, 400, 1095)] == [1, 7, 7, 28, 91]


def test_patterns_of_errors_are_counted_by_day_and_model(tmp_path: Path) -> None:
    found = made(tmp_path, {"a": [GOOD, (0, 0), (0, 0)], "b": [GOOD, GOOD, (0, 0)]})
    (pattern,) = found.patterns
    assert (pattern.code, pattern.count, pattern.models) == ("call.in_text", 150, ("a", "b"))
    assert pattern.by_day == {"2026-04-02": 50, "2026-04-03": 100}


def test_a_model_that_left_over_a_weekend_without_runs_is_news_on_the_next_run(tmp_path: Path) -> None:
    """The run before counts, not the day before."""
    found = made(tmp_path, {"left": [GOOD, "-", "-", "-"], "stays": [GOOD, "-", "-", GOOD]})
    assert [(change.model, change.kind) for change in found.changes] == [("left", ChangeKind.GONE)]


def test_a_run_of_some_models_does_not_say_that_the_others_left_the_list(tmp_path: Path) -> None:
    """Whether a model is still listed is known from a run of all models only."""
    location = stored(str(tmp_path / "h"), {"asked": [GOOD, GOOD], "other": [GOOD, GOOD]})
    day = day_of(2)
    chosen = StoredRun(run="chosen", day=day, started_at=1.0, source="probe", partial=True)
    with HistoryStore(location) as store:
        store.add(chosen, [msgspec.structs.replace(seen("asked", day, GOOD), run="chosen")])
        found = overview(store)
    assert [(change.model, change.kind) for change in found.changes] == [("other", ChangeKind.NOT_TESTED)]
    assert [(note.models, note.word) for note in notes(found)] == [(("other",), "not tested")]


def test_recent_changes_are_those_of_the_last_tested_days_newest_first(tmp_path: Path) -> None:
    found = made(tmp_path, {"m": [GOOD, (0, 0), GOOD, (40, 30)]})
    assert [(change.day, change.kind) for change in found.recent] == [
        ("2026-04-04", ChangeKind.BECAME_UNRELIABLE),
        ("2026-04-03", ChangeKind.RECOVERED),
        ("2026-04-02", ChangeKind.NEWLY_BROKEN),
    ]


def test_a_history_shorter_than_the_window_begins_with_its_first_day(tmp_path: Path) -> None:
    assert made(tmp_path, {"m": [GOOD] * 3}).first == "2026-04-01"


def test_an_empty_history_says_how_to_fill_it(tmp_path: Path) -> None:
    with HistoryStore(str(tmp_path / "h")) as store, pytest.raises(InputError, match=r"empty\..*--save-history"):
        overview(store)


@pytest.mark.heavy
def test_the_same_overview_on_both_kinds_of_store(location: str, tmp_path: Path) -> None:
    """SQLite and PostgreSQL tell the same story, drift and patterns included."""
    with HistoryStore(stored(location, TELLING)) as store:
        assert overview(store) == made(tmp_path, TELLING)


def test_a_day_without_a_run_is_looked_at_through_the_probe_of_the_day_before(tmp_path: Path) -> None:
    seen = Observation(run="r", endpoint="e", model="m", probe="result_use", day="2026-04-01", at=0.0, passed=1)
    with HistoryStore(str(tmp_path / "h")) as store:
        store.add_all([(StoredRun(run="r", day="2026-04-01", started_at=0.0, source="probe"), [seen])])
        assert overview(store, until="2026-04-03").probe == "result_use"
