"""The schedule of a load run: levels, order, early ends, and going on with an earlier run."""

from __future__ import annotations

from collections import deque

import pytest

from support.loads import Asked, answer, vendor
from toolcert.core.cases import Outcome, SkipKind
from toolcert.core.records import LoadPhase
from toolcert.load_test.plan import LoadPlan
from toolcert.probes.summary.load_tally import LoadTally


def phases(asked: Asked) -> list[tuple[LoadPhase, int]]:
    """Each step once, in the order of its first answer."""
    return list(dict.fromkeys((one.load.phase, one.load.level) for one in asked.records if one.load))


def test_a_few_more_cases_are_ready_than_the_level_says_and_none_when_alone() -> None:
    asked = Asked(vendor(1), pairs=100)
    assert asked.most == {1: 1, 2: 4, 4: 6, 8: 10, 16: 20}


def test_every_question_is_asked_alone_and_under_load() -> None:
    asked = Asked(vendor(1), pairs=100)
    pairs = [
        (one.load.level, one.load.number) for one in asked.records if one.load and one.load.phase is LoadPhase.PAIR
    ]
    assert sorted(pairs) == [(level, number) for level in (1, 16) for number in range(1, 101)]
    assert asked.tally.measured_pairs == 100


def test_the_order_of_the_two_sides_changes_from_block_to_block() -> None:
    asked = Asked(vendor(1), pairs=128)
    sides = [one.load.level for one in asked.records if one.load and one.load.phase is LoadPhase.PAIR]
    assert [sides[place] for place in (0, 64, 128, 192)] == [1, 16, 16, 1]


def test_no_more_pairs_are_asked_when_three_foreign_values_were_seen() -> None:
    asked = Asked(vendor(1, crosstalk=0.2))
    assert asked.tally.crosstalk >= 3
    assert asked.tally.measured_pairs < 64


def test_a_model_that_never_calls_is_not_asked_on() -> None:
    asked = Asked(lambda _level: (Outcome.FAILED, ()))
    assert len(asked.records) == 16


def test_a_sound_vendor_needs_no_search() -> None:
    asked = Asked(vendor(1), pairs=70, bisect=True)
    assert [phase for phase, _ in phases(asked)] == [LoadPhase.PAIR] * 2 + [LoadPhase.RAMP] * 3


def test_levels_of_the_search_are_not_asked_again_for_their_times() -> None:
    asked = Asked(vendor(1, level=9, corrupts=0.5), bisect=True)
    assert {level for phase, level in phases(asked) if phase is LoadPhase.RAMP}.isdisjoint(asked.tally.trials)


@pytest.mark.parametrize("kind", [SkipKind.BUDGET, SkipKind.OUTAGE])
def test_nothing_is_released_once_the_run_must_stop(kind: SkipKind) -> None:
    plan = LoadPlan("here", "model", LoadTally(16), pairs=50)
    (case,) = plan.sources()["here"]
    assert plan.after(answer(case, Outcome.SKIPPED, skip=kind)) == []
    assert plan.tally.stopped_by is kind


def test_an_earlier_run_is_gone_on_with_where_it_ended() -> None:
    """Whatever was answered is counted and not asked again; the whole comes out the same."""
    whole = Asked(vendor(7, corrupts=0.05), pairs=200)
    for cut in (1, 40, 100, len(whole.records) - 1):
        earlier = {record.case: record for record in whole.records[:cut]}
        plan = LoadPlan("here", "model", LoadTally(16), pairs=200, bisect=False, earlier=earlier)
        later = {record.case: record for record in whole.records[cut:]}
        waiting, asked = deque(plan.sources()["here"]), 0
        while waiting:
            case = waiting.popleft()
            assert case.key not in earlier
            asked += 1
            waiting.extend(plan.after(later.get(case.key) or answer(case)))
        assert plan.tally.test.worse == whole.tally.test.worse
        assert asked <= len(later) + 20


def test_the_load_is_held_for_as_long_as_told_minus_what_was_held_before() -> None:
    now = 1000.0
    plan = LoadPlan("here", "model", LoadTally(2), pairs=1, hold=60, clock=lambda: now)
    waiting, records = deque(plan.sources()["here"]), []
    while waiting:
        case = waiting.popleft()
        held = case.extra["phase"] == LoadPhase.HOLD
        now += 2.0 if held else 0.0
        records.append(answer(case, at=now, seconds=2.0))
        waiting.extend(plan.after(records[-1]))
    held_answers = [one for one in records if one.load and one.load.phase is LoadPhase.HOLD]
    assert 29 <= len(held_answers) <= 34
    first, last = plan.tally.thirds()
    assert abs(len(first) - len(last)) <= 1
    now = 5000.0
    earlier = {one.case: one for one in records[: len(records) - 15]}
    again = LoadPlan("here", "model", LoadTally(2), pairs=1, hold=60, clock=lambda: now, earlier=earlier)
    again_cases = deque(again.sources()["here"])
    asked = 0
    while again_cases:
        case = again_cases.popleft()
        assert case.key not in earlier
        asked += 1
        now += 2.0
        again_cases.extend(again.after(answer(case, at=now, seconds=2.0)))
    assert 13 <= asked <= 20
