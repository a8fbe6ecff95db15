"""JUnit XML as CI systems read it."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from msgspec.structs import replace

from reports.samples import probe_summary
from support.comparison_runs import Row, write_run
from toolcert.comparison.pipeline import compare
from toolcert.comparison.result import CompareVerdict, Comparison
from toolcert.probes.summary.scorecard import Cell, CellState
from toolcert.reports.formats import NOTHING, Extras, NotMeasuredAs, render
from toolcert.reports.junit import LONGEST_TEXT
from toolcert.verification.summary.tally import summarise

TAGS = {"failure": "failures", "error": "errors", "skipped": "skipped"}


def parsed(job: str, summary: object, extras: Extras = NOTHING) -> ET.Element:
    data = render(job, "junit", summary, extras)
    assert isinstance(data, bytes)
    return ET.fromstring(data)


def assert_sums_hold(root: ET.Element) -> None:
    """Readers trust the counters; they must be those of the cases."""
    for element in (root, *root.iter("testsuite")):
        cases = list(element.iter("testcase"))
        assert element.get("tests") == str(len(cases))
        for tag, counter in TAGS.items():
            assert element.get(counter) == str(sum(case.find(tag) is not None for case in cases)), counter


def test_a_case_per_model_and_probe() -> None:
    summary = probe_summary(4)
    root = parsed("probe", summary)
    assert root.tag == "testsuites"
    assert [len(suite) for suite in root] == [1 + len(summary.probes)] * 4
    assert_sums_hold(root)


def outcome_of(cell: Cell, threshold: float) -> str:
    if cell.state is CellState.NOT_MEASURED:
        return "error"
    if cell.state in (CellState.SKIPPED, CellState.UNSUPPORTED):
        return "skipped"
    return "passed" if (cell.rate.value or 0) >= threshold else "failure"


def test_every_cell_ends_as_its_state_says() -> None:
    summary = probe_summary(6)
    cells = [cell for model in summary.models for cell in model.cells]
    cases = [case for case in parsed("probe", summary).iter("testcase") if case.get("name") != "verdict"]
    ends = [next((tag for tag in TAGS if case.find(tag) is not None), "passed") for case in cases]
    assert ends == [outcome_of(cell, summary.threshold) for cell in cells]
    assert set(ends) == {"passed", "failure", "error", "skipped"}


def test_not_measured_is_an_error_or_skipped_by_choice() -> None:
    summary = probe_summary(6)
    as_error = parsed("probe", summary)
    as_skipped = parsed("probe", summary, Extras(not_measured=NotMeasuredAs.SKIPPED))
    missing = int(as_error.get("errors", "0"))
    assert missing > 0
    assert as_skipped.get("errors") == "0"
    assert int(as_skipped.get("skipped", "0")) == int(as_error.get("skipped", "0")) + missing


def test_failures_say_why() -> None:
    failure = next(parsed("probe", probe_summary(6)).iter("failure"))
    assert "the tool result is not in the answer" in (failure.get("message") or "")


def test_a_verdict_that_is_not_good_fails_with_its_reason() -> None:
    """Passes, partial, fails, unsupported without having been asked, not measured."""
    cases = [case for case in parsed("probe", probe_summary(5)).iter("testcase") if case.get("name") == "verdict"]
    ends = [next((tag for tag in TAGS if case.find(tag) is not None), "passed") for case in cases]
    assert ends == ["passed", "failure", "failure", "skipped", "error"]
    assert [failure.get("message") for case in cases for failure in case.iter("failure")] == [
        "partial: Calls, does not use the result",
        "fails: Calls, does not use the result",
    ]


def test_a_case_per_row_of_a_verify_run(verify_run: Path) -> None:
    summary = summarise(verify_run)
    root = parsed("verify", summary, Extras(run=str(verify_run)))
    assert_sums_hold(root)
    assert root.get("tests") == str(summary.rows.lines) == "300"
    assert root.get("failures") == str(summary.rows.failed)
    assert root.get("errors") == str(summary.rows.not_measured)
    assert [case.get("name") for case in root.iter("testcase")][:3] == ["row 1", "row 2", "row 3"]


def test_a_case_per_question_about_a_vendor(comparison: Comparison) -> None:
    root = parsed("compare", comparison)
    assert_sums_hold(root)
    vendor = comparison.vendors[0]
    assert root.get("tests") == str(2 + len(vendor.tests) + len(vendor.margins))
    detected = sum(test.detected for test in vendor.tests)
    assert detected > 0
    assert (
        len([case for case in root.iter("testcase") if "chance" in case.get("classname", "") and len(case)]) == detected
    )


def test_a_vendor_that_only_its_prompt_tokens_give_away_fails(tmp_path: Path) -> None:
    """No test of chance and no margin fails here; the verdict does."""
    rows = [Row(index=index) for index in range(1, 301)]
    one, two = write_run(tmp_path / "one", rows), write_run(tmp_path / "two", [replace(row, tokens=99) for row in rows])
    comparison = compare([str(one)], [str(two)])
    assert comparison.vendors[0].verdict is CompareVerdict.DIFFERENT
    failed = [case for case in parsed("compare", comparison).iter("testcase") if case.find("failure") is not None]
    assert [case.get("name") for case in failed] == ["neither degraded nor different"]


def test_hostile_text_stays_text_in_well_formed_xml(hostile_verify_run: Path, hostile_comparison: Comparison) -> None:
    """NUL and escape cannot stand in XML at all; a megabyte of evidence is cut."""
    probe = parsed("probe", probe_summary(3, hostile=True))
    verify = parsed("verify", summarise(hostile_verify_run), Extras(run=str(hostile_verify_run)))
    compare = parsed("compare", hostile_comparison)
    for root in (probe, verify, compare):
        assert {element.tag for element in root.iter()} <= {"testsuites", "testsuite", "testcase", *TAGS}
        assert "<script>" in ET.tostring(root, encoding="unicode", method="text") + str([e.attrib for e in root.iter()])
        assert all(len(element.text or "") <= LONGEST_TEXT for element in root.iter())


@pytest.mark.parametrize("junk", ["\x00", "\x1b", "\ufffe", "\ud800"])
def test_what_xml_cannot_hold_is_replaced(junk: str) -> None:
    from toolcert.reports.junit import Case, Tag, junit

    data = junit([(f"a{junk}", 0.0, [Case(classname=junk, name=junk, tag=Tag.FAILURE, message=junk, text=junk)])])
    case = next(ET.fromstring(data).iter("testcase"))
    assert case.get("name") == "\ufffd"
