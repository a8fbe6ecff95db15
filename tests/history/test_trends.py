"""Status per day, changes, outages and drift."""

from __future__ import annotations

import random
from collections.abc import Sequence
from datetime import date, timedelta
from itertools import pairwise
from pathlib import Path

import pytest

from toolcert.core.statistics.rates import Rate
from toolcert.history.changes import ChangeKind, latest_changes, outages, recent_changes, standing
from toolcert.history.csv_import import import_csv
from toolcert.history.daily_status import Day, DayStatus, ModelHistory, histories
from toolcert.history.drift import Metric, find_drift, walk_range
from toolcert.history.observation import Observation
from toolcert.history.store import HistoryStore


def seen(day: str, called: int, handled: int = 0, n: int = 10, **fields: int) -> Observation:
    return Observation(
        run=day, endpoint="e", model="m", probe="p", day=day, at=0.0, called=called, callable=n, handled=handled,
        handleable=called, **fields,
    )  # fmt: skip


def statuses(*found: Observation, last: str) -> list[str]:
    (history,) = histories(found, first="2026-01-01", last=last)
    return [day.status.value for day in history.days]


def test_each_day_has_its_status() -> None:
    found = [
        seen("2026-01-01", 0),
        seen("2026-01-02", 10, 10),
        seen("2026-01-03", 9, 8),
        seen("2026-01-04", 10, 0),
        seen("2026-01-05", 0),
        seen("2026-01-07", 0, n=0, not_measured=10),
        seen("2026-01-08", 0, n=0, unsupported=10),
    ]
    assert statuses(*found, last="2026-01-08") == [
        "not_supported", "working", "unreliable", "calls_only", "broken", "not_tested", "not_measured", "broken",
    ]  # fmt: skip


def test_what_worked_before_the_window_is_broken_in_it() -> None:
    assert statuses(seen("2025-12-01", 10, 10), seen("2026-01-01", 0), last="2026-01-01") == ["broken"]


def test_nine_of_ten_is_working_the_threshold_included() -> None:
    assert statuses(seen("2026-01-01", 9, 9), last="2026-01-01") == ["working"]


@pytest.mark.parametrize(
    ("before", "after", "kind"),
    [
        ((50, 50), (0, 0), ChangeKind.NEWLY_BROKEN),
        ((0, 0), (50, 50), ChangeKind.NEWLY_WORKING),
        ((50, 50), (50, 0), ChangeKind.STOPPED_HANDLING),
        ((50, 50), (40, 40), ChangeKind.BECAME_UNRELIABLE),
        ((40, 40), (50, 50), ChangeKind.BECAME_RELIABLE),
        ((50, 0), (50, 25), ChangeKind.BEGAN_HANDLING),
    ],
)
def test_a_change_is_named(before: tuple[int, int], after: tuple[int, int], kind: ChangeKind) -> None:
    days = [seen("2026-01-01", *before, n=50), seen("2026-01-02", *after, n=50)]
    (change,) = latest_changes(histories(days, first="2026-01-01", last="2026-01-02"), "2026-01-02")
    assert change.kind is kind


@pytest.mark.parametrize(("before", "after"), [((10, 10), (8, 8)), ((8, 8), (10, 10)), ((10, 0), (10, 2))])
def test_what_chance_explains_is_no_news(before: tuple[int, int], after: tuple[int, int]) -> None:
    found = histories([seen("2026-01-01", *before), seen("2026-01-02", *after)], first="2026-01-01", last="2026-01-02")
    assert latest_changes(found, "2026-01-02") == []


def course_of(counts: Sequence[int], n: int) -> list[ModelHistory]:
    days = [date(2026, 1, 1) + timedelta(days=number) for number in range(len(counts))]
    found = [seen(day.isoformat(), k, k, n=n) for day, k in zip(days, counts, strict=True)]
    return histories(found, first=days[0].isoformat(), last=days[-1].isoformat())


@pytest.mark.sampled
@pytest.mark.parametrize("n", [1, 5, 10])
@pytest.mark.parametrize("rate", [0.7, 0.9])
def test_a_model_that_stays_as_it_is_makes_no_news(rate: float, n: int) -> None:
    """Its days go up and down; in 20 times 60 days no more changes are said than chance allows."""
    said = 0
    for seed in range(20):
        chance = random.Random(seed)
        found = course_of([sum(chance.random() < rate for _ in range(n)) for _ in range(60)], n)
        statuses = [day.status for day in found[0].days]
        assert len(set(statuses)) > 1
        said += len(recent_changes(found, found[0].days[-1].day, 60))
    assert said <= 0.01 * 20 * 60


@pytest.mark.heavy
@pytest.mark.parametrize("n", [3, 5, 10])
def test_a_model_of_70_percent_is_unreliable_every_day_and_not_by_turns(n: int) -> None:
    """After its first fortnight, in 20 histories; its single days pass and fail by turns."""
    flips = by_day = days = 0
    for seed in range(20):
        chance = random.Random(seed)
        (found,) = course_of([sum(chance.random() < 0.7 for _ in range(n)) for _ in range(60)], n)
        now = [standing(found, day.day, 0.9) for day in found.days if day.status is not DayStatus.BROKEN][14:]
        flips += sum(one is not other for one, other in pairwise(now))
        by_day += sum(one.status is not other.status for one, other in pairwise(found.days[14:]))
        days += len(now)
    assert by_day > 0.05 * days
    assert flips <= 0.01 * days


def test_a_good_model_stays_good_on_a_bad_day_and_a_real_loss_moves_it() -> None:
    (found,) = course_of([10, 9] * 7 + [8] + [10] * 3 + [5] * 4, 10)
    said = [standing(found, day.day, 0.9).value for day in found.days]
    assert said[14] == "working"
    assert found.days[14].status is DayStatus.UNRELIABLE
    assert said[18:] == ["unreliable"] * 4


def test_what_is_not_a_matter_of_rates_is_told_by_the_day() -> None:
    (found,) = course_of([10] * 5 + [0], 10)
    assert standing(found, found.days[-1].day, 0.9) is DayStatus.BROKEN
    assert standing(found, "2030-01-01", 0.9) is DayStatus.NOT_TESTED


def test_a_real_loss_is_said_once_and_so_is_the_recovery() -> None:
    found = course_of([10] * 14 + [6, 9, 6, 6, 5, 6, 6] + [10] * 14, 10)
    changes = recent_changes(found, found[0].days[-1].day, 60)
    assert [(change.kind, change.day) for change in reversed(changes)] == [
        (ChangeKind.BECAME_UNRELIABLE, "2026-01-15"),
        (ChangeKind.BECAME_RELIABLE, "2026-01-23"),
    ]


def test_with_one_try_a_day_a_break_is_said_when_it_is_proven() -> None:
    found = course_of([1] * 14 + [0] * 5, 1)
    [change] = recent_changes(found, found[0].days[-1].day, 60)
    assert (change.kind, change.day) == (ChangeKind.NEWLY_BROKEN, "2026-01-17")


def test_a_transport_outage_between_two_good_days_is_no_change() -> None:
    found = histories(
        [seen("2026-01-01", 10, 10), seen("2026-01-02", 0, n=0, not_measured=10), seen("2026-01-03", 10, 10)],
        first="2026-01-01",
        last="2026-01-03",
    )
    assert latest_changes(found, "2026-01-02") == []
    assert latest_changes(found, "2026-01-03") == []
    (outage,) = outages(found[0])
    assert (outage.first, outage.broken, outage.over) == ("2026-01-02", False, True)


def test_back_again_is_told_from_newly_working() -> None:
    found = histories(
        [seen("2026-01-01", 10, 10), seen("2026-01-02", 0), seen("2026-01-03", 10, 10)],
        first="2026-01-01",
        last="2026-01-03",
    )
    (change,) = latest_changes(found, "2026-01-03")
    assert change.kind is ChangeKind.RECOVERED


def series(values: list[float]) -> ModelHistory:
    days = [
        Day(day=f"2026-{1 + n // 28:02}-{1 + n % 28:02}", status=DayStatus.WORKING, calling=Rate(k=round(50 * v), n=50))
        for n, v in enumerate(values)
    ]
    return ModelHistory(endpoint="e", model="m", days=tuple(days))


@pytest.mark.heavy
def test_the_false_alarm_budget_holds() -> None:
    """500 reports of 20 unchanging series each: at most 37 have an alarm at 5 % (99 % binomial bound)."""
    chance = random.Random(11)
    alarms = 0
    for _ in range(500):
        report = find_drift(
            [series([sum(chance.random() < 0.96 for _ in range(20)) / 20 for _ in range(60)]) for _ in range(20)]
        )
        alarms += bool(report.changes)
    assert alarms <= 37


@pytest.mark.parametrize("seed", range(5))
def test_a_step_and_a_sag_are_found_where_they_are(seed: int) -> None:
    chance = random.Random(seed)
    rates = [0.98] * 30 + [0.88] * 30 + [0.98] * 30
    report = find_drift([series([sum(chance.random() < rate for _ in range(50)) / 50 for rate in rates])])
    days = sorted(change.day for change in report.changes if change.metric is Metric.CALLING)
    assert len(days) == 2
    assert abs(_index(days[0]) - 30) <= 3
    assert abs(_index(days[1]) - 60) <= 3


def _index(day: str) -> int:
    _, month, date = day.split("-")
    return (int(month) - 1) * 28 + int(date) - 1


def test_one_odd_day_is_no_drift() -> None:
    assert find_drift([series([1.0] * 40 + [0.2] + [1.0] * 40)]).changes == ()


def test_a_constant_series_has_no_p_value_to_speak_of() -> None:
    assert walk_range([1.0] * 50)[2] == 1.0


@pytest.mark.heavy
def test_the_real_history_shows_what_happened(recorded: Path, tmp_path: Path) -> None:
    """mistral-large never used a result, mistral-medium broke for six days in April, llama-3-3-70b sagged in April."""
    with HistoryStore(str(tmp_path / "h")) as store:
        import_csv(store, recorded / "watsonx-history")
        found = {one.model: one for one in histories(store.observations(), first="2026-03-26", last="2026-06-24")}
    large = found["mistral-large-2512"]
    assert {day.status for day in large.days} <= {DayStatus.CALLS_ONLY, DayStatus.BROKEN, DayStatus.NOT_TESTED}
    (outage,) = outages(found["mistralai/mistral-medium-2505"])
    assert (outage.first, outage.last, outage.broken, outage.over) == ("2026-04-18", "2026-04-23", True, True)
    sag = [
        change
        for change in find_drift(found.values()).changes
        if change.model.endswith("llama-3-3-70b-instruct") and change.metric is Metric.CALLING
    ]
    assert [(change.day, change.worse) for change in sorted(sag, key=lambda change: change.day)] == [
        ("2026-04-11", True),
        ("2026-05-08", False),
    ]
