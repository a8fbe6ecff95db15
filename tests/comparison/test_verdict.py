"""The word and the sentence at the edges: nobody calls, too few rows, chance after Holm, one baseline run only."""

from __future__ import annotations

import re

import msgspec
import pytest

from support.comparison_runs import Row, same_rows, write_run
from toolcert.comparison.pipeline import compare
from toolcert.comparison.result import CompareVerdict, VendorComparison
from toolcert.comparison.stats.significance import Discordance, rows_to_show
from toolcert.core.statistics.p_values import mcnemar, p_words

CALLING = [Row(index=index) for index in range(1, 401)]
SILENT = [Row(index=index, called=False) for index in range(1, 401)]


def flipped(rows: list[Row], first: int, last: int) -> list[Row]:
    """Rows of which some decide the other way."""
    return [msgspec.structs.replace(row, called=not row.called) if first <= row.index <= last else row for row in rows]


@pytest.fixture
def judge(tmp_path):
    def judged(baseline: list[Row], *vendors: list[Row], further: list[Row] | None = None) -> list[VendorComparison]:
        runs = [baseline] if further is None else [baseline, further]
        own = [str(write_run(tmp_path / f"b{number}", rows)) for number, rows in enumerate(runs)]
        others = [str(write_run(tmp_path / f"v{number}", rows)) for number, rows in enumerate(vendors)]
        found = {vendor.side.label: vendor for vendor in compare(own, others).vendors}
        return [found[f"v{number}"] for number in range(len(vendors))]

    return judged


def needed(vendor: VendorComparison) -> int:
    """The number of rows that the headline asks for."""
    asked_for = re.search(r"about ([\d\u202f]+)", vendor.headline)
    assert asked_for is not None, vendor.headline
    return int(asked_for[1].replace("\u202f", ""))


@pytest.mark.parametrize("further", [None, SILENT])
def test_where_nobody_calls_there_is_no_validity_to_lose(judge, further):
    [vendor] = judge(SILENT, SILENT, further=further)
    assert vendor.verdict is CompareVerdict.EQUIVALENT


def test_the_rows_that_would_decide_are_rows_of_the_dataset(judge):
    """Calls are rare here: 400 rows hold too few of them, so more than 400 rows are needed, not 125 calls."""
    rows = same_rows(400, called=0.1)
    [vendor] = judge(rows, rows, further=rows)
    assert vendor.verdict is CompareVerdict.INCONCLUSIVE
    calls = sum(bool(row.called) for row in rows)
    assert needed(vendor) == pytest.approx(125 * 400 / calls, rel=0.02)


def test_a_loss_that_chance_may_explain_names_the_rows_that_would_show_it(judge):
    """Six calls of twenty lost miss the margin, but not after the correction for four tests."""
    [vendor] = judge(CALLING[:20], flipped(CALLING[:20], 1, 6), further=CALLING[:20])
    assert vendor.verdict is CompareVerdict.INCONCLUSIVE
    assert needed(vendor) > 20
    [told] = [reason for reason in vendor.reasons if "fewer calls (" in reason]
    assert "6 lost, 0 gained of 20 rows" in told
    assert "may be chance" in told


def test_more_vendors_make_the_same_loss_less_sure(judge):
    lossy = flipped(CALLING[:60], 1, 8)
    [alone] = judge(CALLING[:60], lossy)
    assert alone.verdict is CompareVerdict.DEGRADED
    in_company = judge(CALLING[:60], lossy, *[CALLING[:60]] * 4)[0]
    assert in_company.verdict is CompareVerdict.INCONCLUSIVE
    assert needed(in_company) > 60


def test_one_baseline_run_needs_a_second_beside_more_rows(judge):
    rows = same_rows(100)
    [vendor] = judge(rows, flipped(rows, 1, 20))
    assert vendor.verdict is CompareVerdict.INCONCLUSIVE
    assert "and a second run of the baseline" in vendor.headline
    assert needed(vendor) > 100


def test_no_number_of_rows_replaces_the_second_run(judge):
    """Every row differs: more rows would only confirm it, so they are not offered as the way to agreement."""
    [vendor] = judge(CALLING[:1], SILENT[:1])
    [agreement] = [test for test in vendor.margins if test.name == "agreement"]
    assert agreement.rows_needed is None


def test_one_row_is_said_in_the_singular(judge):
    assert "1 row is too few to tell" in judge(CALLING[:1], CALLING[:1])[0].headline


def test_the_direction_of_a_changed_call_rate_is_said(judge):
    fewer, more = judge(CALLING, SILENT)[0], judge(SILENT, CALLING)[0]
    assert any(reason.startswith("Calls less often") for reason in fewer.reasons)
    assert any(reason.startswith("Calls more often") for reason in more.reasons)
    assert (fewer.verdict, more.verdict) == (CompareVerdict.DEGRADED, CompareVerdict.DIFFERENT)


def test_f1_is_doubted_only_where_it_looks_good(judge):
    assert any("F1 alone" in reason for reason in judge(CALLING, CALLING)[0].reasons)
    assert not any("F1 alone" in reason for reason in judge(CALLING, SILENT)[0].reasons), "0.000 hides nothing"


def test_a_better_vendor_is_different_and_not_degraded(judge):
    invalid = [msgspec.structs.replace(row, arguments="{}", valid=False) if row.index % 2 else row for row in CALLING]
    [vendor] = judge(invalid, CALLING, further=invalid)
    assert vendor.verdict is CompareVerdict.DIFFERENT


def test_the_rows_that_would_show_a_loss_do_show_it():
    rows = Discordance(gained=1, lost=7, n=100)
    enough = rows_to_show(rows, 0.01)
    assert enough is not None
    assert mcnemar(round(7 * enough / 100), round(enough / 100)) < 0.01
    assert rows_to_show(Discordance(gained=3, lost=3, n=10), 0.01) is None


@pytest.mark.parametrize(("p", "words"), [(0.0294, "= 0.029"), (2.2e-7, "= 2.2e-07"), (0.0, "< 1e-300")])
def test_no_p_value_is_zero(p, words):
    assert p_words(p) == words
