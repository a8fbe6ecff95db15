"""Whole comparisons of made-up runs and results files."""

from __future__ import annotations

import random

import msgspec
import pytest

from support.comparison_runs import Row, same_rows, write_results, write_run
from toolcert.comparison.compare_options import CompareOptions
from toolcert.comparison.match.partners import Match
from toolcert.comparison.pipeline import compare, measured_noise
from toolcert.comparison.read.packed_run import By
from toolcert.comparison.result import CompareVerdict, RowKind
from toolcert.comparison.stats.confusion import Confusion, Trigger
from toolcert.core.errors import InputError, NothingMeasuredError, UsageError
from toolcert.core.statistics.rates import Rate
from toolcert.runs.encoding import Keep
from toolcert.runs.row_code import CODE_END


def changed(rows: list[Row], **by_index: dict) -> list[Row]:
    """Rows with some of them replaced: changed(rows, r3={"called": False})."""
    return [msgspec.structs.replace(row, **by_index.get(f"r{row.index}", {})) for row in rows]


def pair(tmp_path, baseline, vendor, options=None, **how):
    first = write_run(tmp_path / "baseline", baseline, **how)
    second = write_run(tmp_path / "vendor", vendor, **how)
    return compare([str(first)], [str(second)], options or CompareOptions()).vendors[0]


def test_identical_runs_are_equivalent(tmp_path):
    """Without any disagreement no second baseline run is needed to say so."""
    rows = same_rows(400)
    vendor = pair(tmp_path, rows, rows)
    assert vendor.verdict is CompareVerdict.EQUIVALENT
    assert vendor.figure("agreement").rate == Rate(k=400, n=400)
    assert vendor.rows == ()


def test_no_differing_row_still_leaves_doubt_about_f1_and_kappa(tmp_path):
    """Resampling rows that all agree would call twenty of them certain; the ends are those of agreement."""
    rows = same_rows(20)
    vendor = pair(tmp_path, rows, rows)
    doubt = 1 - vendor.figure("agreement").interval.lower
    calls = sum(bool(row.called) for row in rows)
    allowed = Confusion(
        tp=calls * (1 - doubt), fn=calls * doubt, fp=(20 - calls) * doubt, tn=(20 - calls) * (1 - doubt)
    )
    for name, lower in (("f1", allowed.f1), ("kappa", allowed.kappa), ("mcc", allowed.mcc)):
        interval = vendor.figure(name).interval
        assert interval.upper == pytest.approx(1)
        assert interval.lower == pytest.approx(lower)
        assert interval.lower < 0.95


def test_three_runs_that_all_agree_leave_the_doubt_of_one(tmp_path):
    rows = same_rows(30)
    runs = [str(write_run(tmp_path / str(number), rows)) for number in range(4)]
    agreement = compare(runs[:3], runs[3:]).vendors[0].figure("agreement")
    assert agreement.ceiling_interval == agreement.interval


def test_where_all_rows_call_there_is_no_kappa_and_no_interval_of_it(tmp_path):
    rows = same_rows(30, called=1.0)
    vendor = pair(tmp_path, rows, rows)
    assert (vendor.figure("kappa").value, vendor.figure("kappa").interval) == (None, None)
    assert vendor.figure("f1").interval.lower < 1


@pytest.mark.heavy
def test_the_generated_confusion_comes_out(tmp_path):
    """510, 475, 173 and 842 rows in files made for it: precision 0.5178, recall 0.7467, F1 0.6115."""
    cells = [(True, True)] * 510 + [(False, True)] * 475 + [(True, False)] * 173 + [(False, False)] * 842
    random.Random(1).shuffle(cells)
    baseline = write_results(tmp_path / "a.jsonl", [Row(index=i, called=b) for i, (b, _) in enumerate(cells, 1)])
    other = write_results(tmp_path / "b.jsonl", [Row(index=i, called=v) for i, (_, v) in enumerate(cells, 1)])
    vendor = compare([str(baseline)], [str(other)]).vendors[0]
    assert vendor.cells == Confusion(tp=510, fp=475, fn=173, tn=842)
    assert vendor.figure("precision").value == pytest.approx(0.5178, abs=5e-5)
    assert vendor.figure("recall").value == pytest.approx(0.7467, abs=5e-5)
    assert vendor.figure("f1").value == pytest.approx(0.6115, abs=5e-5)
    assert vendor.schema.accuracy == Rate(k=985, n=985)


def test_schema_accuracy_counts_calls(tmp_path):
    """1825 of 1827 calls valid is 99.89 %."""
    bad = {"arguments": '{"wrong": 1}', "valid": False}
    baseline = [Row(index=i) for i in range(1, 1828)]
    vendor = pair(tmp_path, baseline, changed(baseline, r5=bad, r900=bad))
    assert vendor.schema.accuracy == Rate(k=1825, n=1827)
    assert f"{vendor.schema.accuracy.value:.2%}" == "99.89%"
    assert vendor.schema.buckets == {"SchemaMismatch.required": 2}
    assert vendor.schema.rows == {"SchemaMismatch.required": (5, 900)}


def test_runs_and_results_files_can_be_mixed(tmp_path):
    rows = same_rows(300)
    run = write_run(tmp_path / "run", rows)
    file = write_results(tmp_path / "file.jsonl", changed(rows, r1={"arguments": '{"word":"x"}'}))
    for baseline, vendor in ((run, file), (file, run)):
        result = compare([str(baseline)], [str(vendor)]).vendors[0]
        assert result.figure("agreement").rate == Rate(k=300, n=300)
        assert result.figure("arguments").value == 1.0, "spaces in arguments do not matter"


def test_braces_in_texts_do_not_confuse_the_quick_reader(tmp_path):
    """Rows are cut out of their lines by searching braces; a brace inside a text must not end them."""
    rows = [Row(index=index, name="odd}name", tags=('},"detail":{', "}")) for index in range(1, 101)]
    vendor = pair(tmp_path, rows, changed(rows, r7={"name": "other}"}), CompareOptions(by=By.TAG))
    assert vendor.figure("tool_name").rate == Rate(k=99, n=100)
    assert {group.name for group in vendor.groups} == {'},"detail":{', "}"}


def test_runs_written_before_codes_are_read_from_their_facts(tmp_path):
    """Lines without a code, or with and without in one file, give the same comparison."""
    rows = same_rows(200)
    new = changed(rows, r3={"called": False}, r9={"arguments": "{}", "valid": False})
    expected = pair(tmp_path, rows, new)
    log = tmp_path / "vendor" / "records.jsonl"
    lines = log.read_bytes().splitlines(keepends=True)
    older = [b"{" + line[CODE_END + 2 :] if number % 3 else line for number, line in enumerate(lines)]
    log.write_bytes(b"".join(older))
    again = compare([str(tmp_path / "baseline")], [str(tmp_path / "vendor")]).vendors[0]
    assert again == expected


def test_reordered_rows_are_matched_by_content(tmp_path):
    rows = same_rows(200)
    moved = [msgspec.structs.replace(row, index=201 - row.index, question=f"question {row.index}") for row in rows]
    vendor = pair(tmp_path, rows, list(reversed(moved)))
    assert vendor.matching.matched == 200
    assert vendor.figure("agreement").rate == Rate(k=200, n=200)


def test_overlapping_runs_are_compared_on_what_they_share(tmp_path):
    rows = same_rows(120)
    vendor = pair(tmp_path, rows[:100], rows[20:])
    assert (vendor.matching.matched, vendor.matching.baseline_only, vendor.matching.vendor_only) == (80, 20, 20)
    assert vendor.missing.vendor_absent == 20
    assert vendor.missing.rows == 20


def test_repeated_questions_are_told_apart_by_their_number(tmp_path):
    """Three times the same question with different answers: each meets the one of its own number."""
    called = [True, False, True]
    rows = [Row(index=i, question="again", called=c) for i, c in enumerate(called, 1)]
    vendor = pair(tmp_path, rows, list(reversed(rows)))
    assert vendor.figure("agreement").rate == Rate(k=3, n=3)
    assert vendor.matching.baseline_repeats == 2


def test_more_repeats_on_one_side_stay_without_partner(tmp_path):
    three = [Row(index=i, question="again") for i in (1, 2, 3)]
    vendor = pair(tmp_path, three, three[:2])
    assert (vendor.matching.matched, vendor.matching.baseline_only) == (2, 1)


def test_missing_is_not_negative(tmp_path):
    rows = same_rows(200, called=1.0)
    vendor = pair(tmp_path, rows, changed(rows, r1={"called": None}, r2={"called": None}))
    assert vendor.compared == 198
    assert vendor.cells == Confusion(tp=198)
    assert vendor.missing.vendor_failed == 2
    assert vendor.missing.reasons == {"no answer in time": 2}
    assert vendor.missing.worst_agreement == pytest.approx(198 / 200)
    assert vendor.missing.worst_f1 == pytest.approx(2 * 198 / (2 * 198 + 2))
    assert vendor.score < vendor.figure("agreement").interval.lower


def test_rows_the_baseline_failed_on_are_nobodys_fault(tmp_path):
    rows = same_rows(50)
    vendor = pair(tmp_path, changed(rows, r7={"called": None}), rows)
    assert vendor.missing.baseline_failed == 1
    assert vendor.missing.rows == 0


def test_a_second_baseline_run_gives_the_ceiling(tmp_path):
    rng = random.Random(3)
    sure = same_rows(900, called=0.7)

    def noisy() -> list[Row]:
        return [msgspec.structs.replace(row, called=row.called ^ (rng.random() < 0.02)) for row in sure]

    first, second, third = (write_run(tmp_path / name, noisy()) for name in ("one", "two", "vendor"))
    comparison = compare([str(first), str(second)], [str(third)])
    vendor = comparison.vendors[0]
    assert vendor.verdict is CompareVerdict.EQUIVALENT
    assert vendor.ceiling_cells is not None
    assert vendor.figure("kappa").share == pytest.approx(1.0, abs=0.05)
    assert [side.label for side in comparison.further] == ["two"]


def test_three_baseline_runs_are_pooled(tmp_path):
    rng = random.Random(5)
    sure = same_rows(300)

    def noisy() -> list[Row]:
        return [msgspec.structs.replace(row, called=row.called ^ (rng.random() < 0.03)) for row in sure]

    runs = [str(write_run(tmp_path / str(number), noisy())) for number in range(4)]
    vendor = compare(runs[:3], runs[3:]).vendors[0]
    assert vendor.ceiling_cells is not None
    assert vendor.ceiling_cells.n == 600
    assert vendor.figure("agreement").ceiling_interval is not None
    assert vendor.verdict is not CompareVerdict.DIFFERENT


def test_other_prompt_tokens_decide_alone(tmp_path):
    rows = same_rows(300)
    vendor = pair(tmp_path, rows, changed(rows, r4={"tokens": 104}))
    assert vendor.verdict is CompareVerdict.DIFFERENT
    assert "prompt tokens differ on 1 of 300 rows" in vendor.headline
    assert vendor.tokens.histogram == {0: 299, 4: 1}
    assert [finding.code for finding in vendor.findings] == ["usage.prompt_tokens_differ"]


def test_prompt_tokens_that_vary_in_the_baseline_too_do_not_decide(tmp_path):
    rows = same_rows(300)
    one = write_run(tmp_path / "one", rows)
    two = write_run(tmp_path / "two", changed(rows, r8={"tokens": 99}, r9={"tokens": 98}))
    other = write_run(tmp_path / "vendor", changed(rows, r4={"tokens": 104}))
    assert compare([str(one), str(two)], [str(other)]).vendors[0].verdict is CompareVerdict.EQUIVALENT


def test_many_invalid_calls_are_degraded(tmp_path):
    rows = same_rows(400, called=1.0)
    bad = [msgspec.structs.replace(row, arguments="{}", valid=False) if row.index % 5 == 0 else row for row in rows]
    vendor = pair(tmp_path, rows, bad)
    assert vendor.verdict is CompareVerdict.DEGRADED
    assert "valid calls" in vendor.headline
    assert vendor.rows[0].kind is RowKind.INVALID
    assert vendor.rows[0].vendor.buckets == ("SchemaMismatch.required",)
    assert vendor.schema.coercible == Rate(k=0, n=30)


def test_expectations_of_the_dataset_count(tmp_path):
    rows = same_rows(400, called=1.0, correct=True)
    wrong = [msgspec.structs.replace(row, correct=row.index % 4 != 0) for row in rows]
    vendor = pair(tmp_path, rows, wrong)
    assert vendor.verdict is CompareVerdict.DEGRADED
    assert "expectations met" in vendor.headline


def test_calling_less_often_is_a_finding(tmp_path):
    rows = same_rows(400, called=1.0)
    vendor = pair(tmp_path, rows, [msgspec.structs.replace(row, called=row.index % 10 != 0) for row in rows])
    assert "trigger.under" in [finding.code for finding in vendor.findings]
    more = pair(tmp_path, [msgspec.structs.replace(row, called=row.index % 10 != 0) for row in rows], rows)
    assert "trigger.over" in [finding.code for finding in more.findings]


def test_payload_and_finish_reason_are_two_facts(tmp_path):
    rows = same_rows(100, called=1.0)
    says_stop = [msgspec.structs.replace(row, finish="stop") for row in rows]
    assert pair(tmp_path, rows, says_stop).figure("agreement").rate == Rate(k=100, n=100)
    by_reason = pair(tmp_path, rows, says_stop, CompareOptions(trigger=Trigger.FINISH_REASON))
    assert by_reason.cells == Confusion(fn=100)
    sign = next(sign for sign in by_reason.signs if sign.name == "Finish reason agrees with calls")
    assert (sign.vendor, sign.baseline, sign.same) == ("0 of 100", "100 of 100", False)


def test_groups_by_tag_may_overlap(tmp_path):
    rows = [
        Row(index=1, tags=("easy",)),
        Row(index=2, tags=("easy", "long")),
        Row(index=3),
    ]
    vendor = pair(tmp_path, rows, changed(rows, r2={"called": False}), CompareOptions(by=By.TAG))
    assert {group.name: group.agreement for group in vendor.groups} == {
        "easy": Rate(k=1, n=2),
        "long": Rate(k=0, n=1),
        "(none)": Rate(k=1, n=1),
    }


def test_groups_by_the_tool_the_baseline_calls(tmp_path):
    rows = [Row(index=1), Row(index=2, called=False), Row(index=3, name="other")]
    vendor = pair(tmp_path, rows, rows, CompareOptions(by=By.TOOL))
    assert {group.name for group in vendor.groups} == {"look_up", "(no call)", "other"}


def test_a_leaderboard_is_sorted_by_the_lower_bound(tmp_path):
    rows = same_rows(200, called=1.0)
    base = write_run(tmp_path / "base", rows)
    good = write_run(tmp_path / "good", changed(rows, r1={"called": False}))
    gaps = write_run(
        tmp_path / "gaps", [msgspec.structs.replace(r, called=None if r.index < 30 else True) for r in rows]
    )
    poor = write_run(tmp_path / "poor", [msgspec.structs.replace(row, called=row.index % 3 != 0) for row in rows])
    comparison = compare([str(base)], [str(poor), str(gaps), str(good)])
    assert [vendor.side.label for vendor in comparison.vendors] == ["good", "gaps", "poor"]
    lone = compare([str(base)], [str(poor)]).vendors[0]
    in_company = comparison.vendors[2]
    assert [test.p for test in lone.tests] == [test.p for test in in_company.tests]
    assert all(one.adjusted <= many.adjusted for one, many in zip(lone.tests, in_company.tests, strict=True))


def test_a_vendor_whose_calls_are_broken_does_not_lead_the_list(tmp_path):
    """It decides like the baseline on every row, and not one of its calls can be used."""
    rows = same_rows(200)
    base = write_run(tmp_path / "base", rows)
    fewer = write_run(tmp_path / "fewer", changed(rows, **{f"r{index}": {"called": False} for index in range(1, 31)}))
    broken = [msgspec.structs.replace(row, arguments="{}", valid=False if row.called else None) for row in rows]
    useless = write_run(tmp_path / "broken", broken)
    comparison = compare([str(base)], [str(useless), str(fewer)])
    assert [vendor.side.label for vendor in comparison.vendors] == ["fewer", "broken"]


def test_other_sampling_settings_are_refused_unless_forced(tmp_path):
    rows = same_rows(20)
    hot = [msgspec.structs.replace(row, temperature=1.0) for row in rows]
    with pytest.raises(InputError, match=r"temperature 0\.6 against 1\.0") as refused:
        pair(tmp_path, rows, hot)
    assert "--force" in refused.value.remedy
    forced = compare([str(tmp_path / "baseline")], [str(tmp_path / "vendor")], CompareOptions(force=True))
    assert forced.vendors[0].matching.matched == 20
    assert "temperature 0.6 against 1.0" in forced.warnings[0], "who insists is told all the same"


@pytest.mark.parametrize("write", [write_run, write_results])
def test_a_whole_number_is_the_same_setting_with_and_without_point(tmp_path, write):
    one, two = (
        write(tmp_path / "a", same_rows(20, temperature=1)),
        write(tmp_path / "b", same_rows(20, temperature=1.0)),
    )
    assert compare([str(one)], [str(two)]).vendors[0].matching.matched == 20


def test_another_model_name_is_shown_and_never_refused(tmp_path):
    rows = same_rows(20)
    first = write_run(tmp_path / "a", rows, model="m")
    second = write_run(tmp_path / "b", rows, model="provider/m-fast")
    comparison = compare([str(first)], [str(second)])
    assert comparison.baseline.model == "m"
    assert comparison.vendors[0].side.model == "provider/m-fast"


def test_different_datasets_are_refused(tmp_path):
    other = [Row(index=row.index, question=f"other {row.index}") for row in same_rows(20)]
    with pytest.raises(InputError, match="no row in common"):
        pair(tmp_path, same_rows(20), other)


def test_different_datasets_matched_by_number_are_compared_with_a_warning(tmp_path):
    """Matching by number is the user's choice; that it says nothing here is told first."""
    one = write_results(tmp_path / "a.jsonl", same_rows(20))
    other = [Row(index=row.index, question=f"other {row.index}") for row in same_rows(20)]
    two = write_results(tmp_path / "b.jsonl", other)
    comparison = compare([str(one)], [str(two)], CompareOptions(match=Match.INDEX))
    assert comparison.vendors[0].matching.matched == 20
    assert "20 of 20 rows looked at ask something else" in comparison.warnings[0]
    forced = compare([str(one)], [str(two)], CompareOptions(match=Match.INDEX, force=True))
    assert forced.warnings == comparison.warnings


def test_other_sampling_settings_are_noticed_by_number_too(tmp_path):
    one = write_results(tmp_path / "a.jsonl", same_rows(20))
    two = write_results(tmp_path / "b.jsonl", same_rows(20, temperature=1.0))
    with pytest.raises(InputError, match="temperature"):
        compare([str(one)], [str(two)], CompareOptions(match=Match.INDEX))
    forced = compare([str(one)], [str(two)], CompareOptions(match=Match.INDEX, force=True))
    assert "temperature" in forced.warnings[0]


def unanswered(rows: list[Row]) -> list[Row]:
    return [msgspec.structs.replace(row, called=None) for row in rows]


def test_nothing_answered_is_nothing_measured(tmp_path):
    rows = same_rows(20)
    with pytest.raises(NothingMeasuredError, match="answered by both baseline and vendor"):
        pair(tmp_path, rows, unanswered(rows))


def test_a_baseline_that_answered_nothing_is_not_the_vendors_fault(tmp_path):
    rows = same_rows(20)
    with pytest.raises(NothingMeasuredError, match="the baseline baseline answered none of its 20 rows"):
        pair(tmp_path, unanswered(rows), rows)


def test_a_vendor_that_answered_nothing_does_not_spoil_the_leaderboard(tmp_path):
    rows = same_rows(200)
    base, good = write_run(tmp_path / "base", rows), write_run(tmp_path / "good", rows)
    silent = write_run(tmp_path / "silent", unanswered(rows))
    first, last = compare([str(base)], [str(silent), str(good)]).vendors
    assert (first.side.label, first.verdict) == ("good", CompareVerdict.EQUIVALENT)
    assert (last.verdict, last.headline) == (CompareVerdict.INCONCLUSIVE, "Inconclusive: no row was answered by both.")
    assert last.figure("agreement").value is None
    assert last.missing.rows == 200


def test_a_run_without_answers_kept_still_compares(tmp_path):
    rows = same_rows(60)
    vendor = pair(tmp_path, rows, changed(rows, r2={"called": False}, r3={"called": True}), keep=Keep.VERDICTS)
    assert vendor.compared == 60
    assert vendor.figure("parameters").value is None
    assert all(row.baseline.called is None for row in vendor.rows), "nothing was kept to show"


def test_the_same_run_twice_is_refused(tmp_path):
    run = write_run(tmp_path / "run", same_rows(5))
    with pytest.raises(UsageError, match="given twice"):
        compare([str(run)], [str(run)])


@pytest.mark.parametrize("options", [{"margin": 0.0}, {"margin": 1.0}, {"alpha": 0.0}, {"alpha": 1.0}])
def test_senseless_settings_are_refused(options):
    with pytest.raises(UsageError):
        CompareOptions(**options)


def test_a_comparison_is_a_plain_value(tmp_path):
    rows = same_rows(40)
    base, other = write_run(tmp_path / "a", rows), write_run(tmp_path / "b", changed(rows, r1={"called": False}))
    comparison = compare([str(base)], [str(other)], CompareOptions(by=By.TURNS))
    assert msgspec.json.decode(msgspec.json.encode(comparison), type=type(comparison)) == comparison


@pytest.mark.sampled
@pytest.mark.parametrize("match", Match)
def test_repeats_are_resampled_together_however_rows_are_matched(tmp_path, match):
    """Thirty questions asked twenty times are thirty prompts, not six hundred."""
    rng = random.Random(5)
    chances = [rng.choice((0.1, 0.5, 0.9)) for _ in range(30)]
    asked = [(number, f"question {number}") for number in range(30) for _ in range(20)]
    one, two = (
        [Row(index=number, question=text, called=rng.random() < chances[number]) for number, text in asked]
        for _ in range(2)
    )
    base, other = write_results(tmp_path / "a.jsonl", one), write_results(tmp_path / "b.jsonl", two)
    vendor = compare([str(base)], [str(other)], CompareOptions(match=match)).vendors[0]
    interval = vendor.figure("kappa").interval
    assert interval.upper - interval.lower > 0.2
    assert any("570 rows repeat an earlier question" in note for note in vendor.notes)


@pytest.mark.parametrize("given", ["", "  ", "null", "{}"])
def test_no_arguments_are_the_same_in_a_run_and_in_a_results_file(tmp_path, given):
    rows = same_rows(40, called=1.0)
    base = write_run(tmp_path / "own", [msgspec.structs.replace(row, arguments=given) for row in rows])
    other = write_results(tmp_path / "f.jsonl", [msgspec.structs.replace(row, arguments="{}") for row in rows])
    assert compare([str(base)], [str(other)]).vendors[0].figure("arguments").rate == Rate(k=40, n=40)


def test_runs_of_different_datasets_are_not_compared_by_number(tmp_path):
    rows = same_rows(60)
    base = write_run(tmp_path / "a", rows, dataset="d1")
    other = write_run(
        tmp_path / "b", [msgspec.structs.replace(row, question=f"other {row.index}") for row in rows], dataset="d2"
    )
    with pytest.raises(InputError, match="60 of 60 rows looked at"):
        compare([str(base)], [str(other)], CompareOptions(match=Match.INDEX))
    forced = compare([str(base)], [str(other)], CompareOptions(match=Match.INDEX, force=True))
    assert any("different datasets" in warning for warning in forced.warnings)


def test_another_version_of_the_dataset_is_told(tmp_path):
    rows = same_rows(60)
    base, other = write_run(tmp_path / "a", rows, dataset="d1"), write_run(tmp_path / "b", rows, dataset="d2")
    vendor = compare([str(base)], [str(other)]).vendors[0]
    assert any("another dataset or another version of it" in note for note in vendor.notes)


def test_planning_looks_at_the_only_baseline_it_is_given(tmp_path):
    with pytest.raises(InputError, match="no run, results file or blessed baseline"):
        measured_noise([str(tmp_path / "nothing")])


def test_a_run_that_was_not_finished_is_told(tmp_path):
    rows = same_rows(60)
    base = write_run(tmp_path / "a", rows, unfinished=True)
    other = write_run(tmp_path / "b", rows[:40], unfinished=True)
    comparison = compare([str(base)], [str(other)])
    assert "a was not finished; only its 60 rows are compared." in comparison.notes
    assert "b was not finished; only its 40 rows are compared." in comparison.vendors[0].notes
