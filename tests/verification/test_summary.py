"""Counting a run: incremental, in bounded memory, in any order."""

from __future__ import annotations

import random

import msgspec

from toolcert.core.cases import Outcome
from toolcert.core.findings import Finding, Severity
from toolcert.core.records import Detail, Manifest, Record, RowFacts
from toolcert.core.statistics.rates import wilson
from toolcert.verification.dataset.lines import SeenRows
from toolcert.verification.summary import breakdown as likeness
from toolcert.verification.summary.breakdown import MOST_STRETCHES, Moments, Slices
from toolcert.verification.summary.figures import VerifySummary
from toolcert.verification.summary.tally import Tally, summary_of

MANIFEST = Manifest(run="r", job="verify", started_at=0.0, finished_at=9.0, toolcert="1", parameters={"model": "m"})


def record(index: int, **facts: object) -> Record:
    """A passed row with one valid call, unless said otherwise."""
    codes = facts.pop("codes", ())
    outcome = facts.pop("outcome", Outcome.PASSED)
    given = {"called": True, "finish": "tool_calls", "names": ("f",), "verdicts": (True,), "valid": True} | facts
    findings = tuple(Finding(code=code, severity=Severity.ERROR, evidence=f"row {index}") for code in codes)
    return Record(
        case=str(index),
        endpoint="e",
        model="m",
        outcome=outcome,
        codes=codes,
        at=1000.0 + index,
        row=RowFacts(index=index, content="c", **given),
        detail=Detail(findings=findings),
    )


def many() -> list[Record]:
    chance = random.Random(3)
    rows = []
    for index in range(1, 501):
        if chance.random() < 0.1:
            wrong = {"valid": False, "verdicts": (False,), "buckets": ("InvalidJson",)}
            rows.append(record(index, outcome=Outcome.FAILED, codes=("args.invalid_json",), **wrong))
        elif chance.random() < 0.1:
            rows.append(record(index, outcome=Outcome.NOT_MEASURED, codes=("transport.timeout",)))
        else:
            rows.append(record(index, seconds=chance.random(), names=(chance.choice("fgh"),)))
    return rows


def summed(records: list[Record]) -> VerifySummary:
    tally = Tally()
    for one in records:
        tally.add(one)
    return summary_of(tally, MANIFEST)


def test_the_order_of_records_does_not_matter() -> None:
    """So a run that was interrupted says what an uninterrupted one says."""
    records = many()
    shuffled = records.copy()
    random.Random(1).shuffle(shuffled)
    assert summed(shuffled) == summed(records)


def test_counting_in_small_portions_changes_nothing(monkeypatch) -> None:
    whole = summed(many())
    monkeypatch.setattr(likeness, "MOST_KINDS", 1)
    assert summed(many()) == whole


def test_shares_are_counts_with_wilson_intervals() -> None:
    summary = summed([record(n, valid=n > 1, verdicts=(n > 1, True)) for n in range(1, 85)])
    assert (summary.valid.k, summary.valid.n) == (83, 84)
    interval = wilson(83, 84)
    assert interval is not None
    assert (summary.valid.low, summary.valid.high) == (interval.lower, interval.upper)
    assert round(interval.lower, 3) == 0.936
    assert round(interval.upper, 3) == 0.998
    assert (summary.valid_calls.k, summary.valid_calls.n) == (167, 168)


def test_rows_that_cannot_be_judged_are_left_out_of_schema_accuracy() -> None:
    summary = summed([record(1), record(2, valid=None, verdicts=(None,), buckets=("BadSchema",))])
    assert (summary.valid.k, summary.valid.n) == (1, 1)
    assert summary.rows.unjudged == 1
    assert summary.buckets == {"BadSchema": 1}


def test_nothing_measured_has_no_rates() -> None:
    summary = summed([record(1, outcome=Outcome.NOT_MEASURED, codes=("transport.timeout",))])
    assert summary.nothing_measured
    assert summary.valid.value is None
    assert summary.not_measured_by == {"timeout": 1}
    assert summary.headline == "not measured: none of 1 row got an answer."


def test_the_headline_names_the_share_that_decides() -> None:
    """Calls written as text are no invalid calls, yet no agent can live with them."""
    silent = {"called": False, "names": (), "verdicts": (), "valid": None}
    in_text = [record(n, outcome=Outcome.FAILED, codes=("call.in_text",), **silent) for n in range(1, 4)]
    headline = summed([*in_text, record(4)]).headline
    assert headline == "fails: 25.0 % of 4 answers are sound (4.6 to 69.9); most often call.in_text (3 rows)."
    assert summed([record(1)]).headline.startswith("passes: 100.0 % of 1 answer is sound (20.7 to 100.0)")


def test_examples_are_the_first_rows_of_the_dataset() -> None:
    wrong = [record(n, outcome=Outcome.FAILED, codes=("call.in_text",)) for n in (40, 7, 99, 3, 12, 60)]
    (line,) = summed(wrong).vendor
    assert line.rows == 6
    assert [example.row for example in line.examples] == [3, 7, 12, 40, 60]
    assert line.examples[0].evidence == "row 3"


def test_empty_arguments_that_are_fine_are_a_warning_and_those_that_are_not_an_error() -> None:
    fine = record(1, codes=("args.empty",), buckets=("Empty",))
    wrong = record(2, codes=("args.empty",), buckets=("Empty",), valid=False, verdicts=(False,), outcome=Outcome.FAILED)
    summary = summed([fine, wrong])
    assert summary.of_dataset == ()
    assert [(line.code, line.rows, line.examples[0].row) for line in summary.vendor] == [
        ("args.empty", 1, 2),
        ("args.empty", 1, 1),
    ]


def test_the_worst_case_counts_what_is_missing_as_wrong() -> None:
    summary = summed([record(1), record(2, outcome=Outcome.NOT_MEASURED, codes=("transport.reset",))])
    assert (summary.if_missing_were_wrong.k, summary.if_missing_were_wrong.n) == (1, 2)


def test_a_summary_is_plain_json() -> None:
    summary = summed(many())
    assert msgspec.json.decode(msgspec.json.encode(summary), type=VerifySummary) == summary


def test_a_long_run_keeps_a_bounded_number_of_stretches() -> None:
    moments = Moments()
    for second in range(10_000):
        moments.add(record(second))
    stretches = moments.result()
    assert len(stretches) <= MOST_STRETCHES
    assert sum(stretch.answered for stretch in stretches) == 10_000


def test_slices_and_names_of_a_hostile_run_stay_bounded() -> None:
    summary = summed([record(n, names=(f"tool{n}",), answered_as=f"model{n}", tags=(f"t{n}",)) for n in range(3000)])
    assert len(summary.answered_as) <= 201
    assert len([line for line in summary.slices if line.slice == "tag"]) <= 1001
    assert len(summary.tools) <= 1001
    assert sum(line.answered for line in summary.slices if line.slice == "tag") == 3000


def test_slices_are_in_natural_order() -> None:
    slices = Slices()
    assert slices.result() == ()
    summary = summed([record(n, tools=tools) for n, tools in enumerate((12, 2, 10, 1, 300, 40))])
    values = [line.value for line in summary.slices if line.slice == "n_tools"]
    assert values == ["1", "2", "9 to 16", "33 to 64", "65 and more"]


def test_repeats_are_told_apart_and_the_first_is_remembered() -> None:
    """Checked against a dictionary over enough keys for the table to grow several times."""
    seen, expected = SeenRows(), {}
    chance = random.Random(5)
    for line in range(1, 8001):
        key = f"key{chance.randrange(5000)}"
        first, count = expected.get(key, (line, 0))
        expected[key] = (first, count + 1)
        assert seen.occurrence(key, line) == (count + 1, first)


def test_the_time_of_a_run_begins_with_its_first_request() -> None:
    """Not with its first answer: two answers of ten seconds at once are no thousand a second."""
    traffic = summed([record(1, seconds=10.0), record(2, seconds=10.0)]).traffic
    assert traffic.seconds == 11.0
    assert traffic.per_second == 2 / 11


def test_results_without_times_have_no_rate() -> None:
    undated = [msgspec.structs.replace(record(number, seconds=2.0), at=0.0) for number in (1, 2)]
    assert (summed(undated).traffic.seconds, summed(undated).traffic.per_second) == (None, None)
