"""The vectors on public results: two runs of one deployment and another vendor, 512 requests each."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.recorded import RUNS
from toolcert.comparison.compare_options import CompareOptions
from toolcert.comparison.match.partners import Match
from toolcert.comparison.pipeline import compare
from toolcert.comparison.read.packed_run import By
from toolcert.comparison.result import CompareVerdict, RowKind, Standing
from toolcert.comparison.stats.confusion import Confusion, Trigger
from toolcert.core.statistics.rates import Rate


@pytest.fixture(scope="module")
def results(recorded: Path) -> dict[str, str]:
    return {name: str(recorded / f"vendor-results/{name}.jsonl") for name in RUNS}


@pytest.fixture(scope="module")
def against_itself(results):
    return compare([results["official-run1"]], [results["official-run2"]]).vendors[0]


@pytest.fixture(scope="module")
def against_vendor(results):
    return compare([results["official-run2"], results["official-run1"]], [results["vendor-a"]]).vendors[0]


def test_two_runs_of_one_deployment(against_itself):
    assert against_itself.cells == Confusion(tp=440, fp=11, fn=13, tn=47)
    assert against_itself.compared == 511
    assert against_itself.figure("f1").value == pytest.approx(0.9735, abs=5e-5)
    assert against_itself.figure("kappa").value == pytest.approx(0.77, abs=5e-3)
    assert against_itself.tokens.equal == Rate(k=511, n=511)


def test_one_baseline_run_cannot_show_equivalence(against_itself):
    assert against_itself.verdict is CompareVerdict.INCONCLUSIVE
    assert "one baseline run" in against_itself.headline


def test_the_run_that_was_answered_by_another_name_is_told(against_itself):
    [finding] = [entry for entry in against_itself.findings if entry.code == "identity.model_differs"]
    assert finding.rows == 511
    assert "deepseek-reasoner" in finding.evidence
    assert "deepseek-chat" in finding.evidence


def test_the_other_vendor_is_different(against_vendor):
    assert against_vendor.cells == Confusion(tp=412, fp=22, fn=39, tn=38)
    assert against_vendor.ceiling_cells == Confusion(tp=440, fp=13, fn=11, tn=47)
    assert against_vendor.figure("f1").value == pytest.approx(0.9311, abs=5e-5)
    assert against_vendor.figure("f1").always == pytest.approx(0.9376, abs=5e-5)
    assert against_vendor.figure("kappa").value == pytest.approx(0.49, abs=5e-3)
    assert against_vendor.figure("kappa").ceiling == pytest.approx(0.77, abs=5e-3)
    assert against_vendor.verdict is CompareVerdict.DIFFERENT


def test_its_prompts_have_other_tokens_on_every_row(against_vendor):
    assert against_vendor.tokens.equal == Rate(k=0, n=511)
    assert against_vendor.tokens.ceiling_equal == Rate(k=511, n=511)
    assert min(against_vendor.tokens.histogram) == 4
    assert max(against_vendor.tokens.histogram) == 11
    assert next(sign for sign in against_vendor.signs if sign.decides).name == "Prompt tokens equal"


def test_its_excess_disagreement_is_no_chance(against_vendor):
    decision = next(test for test in against_vendor.tests if test.name == "decision")
    assert (decision.more, decision.less) == (46, 9)
    assert decision.p == pytest.approx(2.2e-7, rel=0.03)
    assert decision.detected
    call_rate = next(test for test in against_vendor.tests if test.name == "call_rate")
    assert call_rate.p == pytest.approx(0.040, abs=5e-4)
    assert not call_rate.detected, "not after Holm's correction"


def test_payloads_agree_less_than_the_ceiling(against_vendor):
    assert against_vendor.figure("tool_name").rate == Rate(k=412, n=412)
    assert against_vendor.figure("arguments").value == pytest.approx(0.905, abs=5e-4)
    assert against_vendor.figure("arguments").ceiling == pytest.approx(0.964, abs=5e-4)
    assert against_vendor.figure("parameters").value == pytest.approx(0.924, abs=5e-4)
    assert against_vendor.figure("parameters").ceiling == pytest.approx(0.979, abs=5e-4)
    assert against_vendor.figure("tool_name").standing is Standing.WITHIN
    assert against_vendor.figure("precision").standing is Standing.OVERLAPS
    assert against_vendor.figure("recall").standing is Standing.BELOW


def test_calls_are_judged_by_our_rules(against_itself, against_vendor):
    """Official run 1: 452 valid and 1 invalid answer (older rules 449 and 4); vendor-a: 434 and 0, row 344 left out."""
    official = against_itself.baseline_schema
    assert (official.responses_valid, official.responses_invalid, official.responses_unjudged) == (452, 1, 0)
    assert official.rows == {"Empty": (13, 44, 365), "SchemaMismatch.required": (176,)}
    vendor = against_vendor.schema
    assert (vendor.responses_valid, vendor.responses_invalid, vendor.responses_unjudged) == (434, 0, 1)
    assert vendor.rows == {"BadSchema": (344,)}


def test_the_row_the_baseline_was_refused_on_is_left_out_and_charged_to_nobody(against_vendor):
    assert against_vendor.missing.baseline_failed == 1
    assert against_vendor.missing.rows == 0


def test_the_telling_rows_come_with_both_answers(against_vendor):
    assert against_vendor.differing == {RowKind.MISSED: 39, RowKind.EXTRA: 22, RowKind.ARGUMENTS: 39}
    first_three = against_vendor.rows[:3]
    assert [row.kind for row in first_three] == [RowKind.MISSED, RowKind.EXTRA, RowKind.ARGUMENTS]
    for row in first_three:
        assert row.asked
        assert row.curl.startswith("curl ")
        assert not row.noisy
    missed = first_three[0]
    assert missed.baseline.calls
    assert not missed.vendor.calls
    assert missed.vendor.text
    assert len(against_vendor.rows) == 100


def test_matching_by_index_gives_the_same_figures(results, against_vendor):
    by_index = compare(
        [results["official-run2"], results["official-run1"]], [results["vendor-a"]], CompareOptions(match=Match.INDEX)
    ).vendors[0]
    assert by_index.cells == against_vendor.cells
    assert by_index.schema == against_vendor.schema
    assert [figure.value for figure in by_index.figures] == [figure.value for figure in against_vendor.figures]


def test_by_finish_reason_the_figures_are_the_same_here(results, against_vendor):
    older = CompareOptions(trigger=Trigger.FINISH_REASON)
    by_reason = compare([results["official-run2"]], [results["vendor-a"]], older).vendors[0]
    assert by_reason.cells == against_vendor.cells


def test_figures_apart_for_each_number_of_tools(results):
    vendor = compare([results["official-run2"]], [results["vendor-a"]], CompareOptions(by=By.N_TOOLS)).vendors[0]
    assert {group.name: round(group.cells.n) for group in vendor.groups} == {"1": 363, "2": 148}
    assert sum(group.cells.tp for group in vendor.groups) == vendor.cells.tp


@pytest.mark.needs("material")
@pytest.mark.heavy
def test_the_texts_give_the_figures_of_their_facts(material: Path, against_vendor):
    folder = material / "data/vendor-results"
    official, vendor = (
        [str(folder / f"official-run{number}.jsonl") for number in (2, 1)],
        str(folder / "vendor-a.jsonl"),
    )
    of_texts = compare(official, [vendor]).vendors[0]
    assert of_texts.cells == against_vendor.cells
    assert of_texts.schema == against_vendor.schema
    assert of_texts.tokens == against_vendor.tokens
    assert of_texts.figures == against_vendor.figures
    assert of_texts.tests == against_vendor.tests


@pytest.mark.heavy
def test_intervals_are_reproducible(results, against_vendor):
    again = compare([results["official-run2"], results["official-run1"]], [results["vendor-a"]]).vendors[0]
    assert again == against_vendor
