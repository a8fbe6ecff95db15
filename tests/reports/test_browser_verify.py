"""The verify and compare pages in a real Chromium."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from reports.verify_samples import write_verify_run
from toolcert.comparison.result import Comparison
from toolcert.reports.formats import Extras, render
from toolcert.verification.summary.tally import summarise

pytestmark = pytest.mark.needs("browser")

NO_OVERFLOW = "document.documentElement.scrollWidth <= innerWidth"
OPEN_ALL = "document.querySelectorAll('details').forEach(details => { details.open = true })"


def page_of(run: Path) -> str:
    return str(render("verify", "html", summarise(run), Extras(run=str(run))))


@pytest.fixture(scope="module")
def verify(verify_run: Path) -> str:
    return page_of(verify_run)


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> str:
    """1,000 rows, of which some 80 fail."""
    return page_of(write_verify_run(tmp_path_factory.mktemp("many") / "run", rows=1000))


@pytest.fixture(scope="module")
def compare(comparison: Comparison) -> str:
    return str(render("compare", "html", comparison))


def test_an_example_leads_to_request_and_answer(visit: Callable[..., Page], verify: str) -> None:
    page = visit(verify)
    cause = page.locator("#f-args\\.schema\\.required")
    cause.locator("summary").first.click()
    cause.locator(".examples a").first.click()
    row = page.locator(".failing > details[open]")
    expect(row).to_be_in_viewport()
    expect(row.get_by_label("Request of row").first).to_contain_text('"role": "user"')
    expect(row.get_by_label("Answer to row").first).to_contain_text('"tool_calls"')


def test_a_row_has_an_address(visit: Callable[..., Page], verify: str) -> None:
    page = visit(verify, at="#row-2")
    expect(page.locator("#row-2")).to_have_attribute("open", "")
    expect(page.get_by_label("Request of row 2", exact=True)).to_be_visible()


def test_failing_rows_are_read_in_pages(visit: Callable[..., Page], many: str) -> None:
    page = visit(many)
    rows = page.locator(".failing > details:visible")
    pager = page.get_by_role("group", name="Pages of rows")
    expect(rows).to_have_count(25)
    before = rows.first.get_attribute("id")
    pager.get_by_role("button", name="Next").click()
    expect(pager).to_contain_text("26 to 50 of")
    assert rows.first.get_attribute("id") != before
    pager.get_by_role("button", name="Previous").click()
    assert rows.first.get_attribute("id") == before
    expect(pager.get_by_role("button", name="Previous")).to_be_disabled()


def test_a_search_looks_into_requests_and_answers_of_all_pages(visit: Callable[..., Page], many: str) -> None:
    page = visit(many)
    last = page.locator(".failing > details:has(.r-bad)").last.get_attribute("id") or ""
    number = last.removeprefix("row-")
    page.get_by_placeholder("Search in rows").fill(f"question {number}: ")
    expect(page.locator(".failing > details:visible")).to_have_count(1)
    expect(page.locator(f"#{last}")).to_be_visible()
    assert page.evaluate("location.hash") == f"#?rows.text=question+{number}%3A"
    expect(page.get_by_role("group", name="Pages of rows")).to_be_hidden()


def test_a_link_turns_to_the_page_of_its_row(visit: Callable[..., Page], many: str) -> None:
    last = re.findall(r'id="(row-\d+)"', many)[-1]
    page = visit(many, at=f"#{last}")
    expect(page.locator(f"#{last}")).to_be_in_viewport()
    expect(page.locator(f"#{last}")).to_have_attribute("open", "")


def test_a_finding_leads_to_all_of_its_rows(visit: Callable[..., Page], many: str) -> None:
    page = visit(many)
    cause = page.locator("#f-args\\.schema\\.required")
    cause.locator("summary").click()
    cause.get_by_role("link", name="rows on this page").click()
    expect(page.locator("#row-browser select[name=finding]")).to_have_value("args.schema.required")
    shown = page.locator(".failing > details:visible")
    assert shown.count() > 5
    assert set(shown.evaluate_all("rows => rows.map(r => r.dataset.fFinding.includes('args.schema.required'))")) == {
        True
    }


def test_tools_are_limited_until_asked_for(visit: Callable[..., Page], verify: str) -> None:
    page = visit(verify)
    rows = page.locator("#tools-section tbody tr:visible")
    assert rows.count() == 15
    page.get_by_role("button", name="Show all 48 tools").click()
    assert rows.count() == 48


def test_a_filter_looks_at_all_tools(visit: Callable[..., Page], verify: str) -> None:
    page = visit(verify)
    page.get_by_placeholder("Filter tools").fill("tool_h")
    assert page.locator("#tools-section tbody tr:visible").count() == 6
    page.get_by_label("with invalid calls only").check()
    assert page.locator("#tools-section tbody tr:visible").count() < 6
    assert page.evaluate("document.querySelectorAll('#tools-section .more').length") == 0


def test_tools_sort_by_share_of_valid_calls(visit: Callable[..., Page], verify: str) -> None:
    page = visit(verify)
    page.locator("#tools-section thead").get_by_role("button", name="Valid").click()
    shares = page.locator("#tools-section tbody td:nth-child(4)").evaluate_all(
        "cells => cells.map(c => c.dataset.value)"
    )
    known = [float(share) for share in shares if share]
    assert known == sorted(known)
    assert known[0] < 1


def test_the_course_of_the_run_is_drawn(visit: Callable[..., Page], verify: str) -> None:
    page = visit(verify)
    labels = page.locator(".course svg[role=img]").evaluate_all(
        "charts => charts.map(c => c.getAttribute('aria-label'))"
    )
    assert any(label.startswith("Answers, per second") for label in labels)
    assert any(label.startswith("First token") for label in labels)


def test_rows_that_differ_can_be_narrowed(visit: Callable[..., Page], compare: str) -> None:
    page = visit(compare)
    rows = page.locator(".differing > details:visible")
    assert rows.count() == 25
    page.locator("select[name=kind]").select_option("arguments")
    kinds = set(page.locator(".differing > details:visible summary .sign").all_inner_texts())
    assert kinds == {"arguments"}
    page.get_by_label("only where the baseline agrees with itself").check()
    assert page.get_by_text("(baseline differs from itself)").locator("visible=true").count() == 0
    page.get_by_role("button", name="Reset").click()
    page.get_by_placeholder("Search in rows").fill("no such tool")
    expect(page.get_by_text("No row fits these filters.")).to_be_visible()


def test_differing_rows_are_searched_by_question_and_answer(visit: Callable[..., Page], compare: str) -> None:
    page = visit(compare)
    page.get_by_placeholder("Search in rows").fill("which word do you mean")
    found = page.locator(".differing > details:visible")
    assert 0 < found.count() <= 25
    assert all("answers in text" in text for text in found.locator(":scope > summary").all_inner_texts())
    assert page.evaluate("location.hash") == "#?text=which+word+do+you+mean"


def test_a_difference_is_red(visit: Callable[..., Page], compare: str) -> None:
    page = visit(compare)
    red = "rgb(176, 53, 26)"
    assert page.locator(".kind .sign svg").evaluate("sign => getComputedStyle(sign).color") == red
    assert page.locator(".signs .sign", has_text="different").first.locator("svg").evaluate(
        "sign => getComputedStyle(sign).color"
    ) == red  # fmt: skip


def test_differing_arguments_stand_side_by_side(visit: Callable[..., Page], compare: str) -> None:
    page = visit(compare)
    page.locator("select[name=kind]").select_option("arguments")
    row = page.locator(".differing > details:visible").first
    row.evaluate("row => { row.open = true }")
    other, same = row.locator(".diff tr.other"), row.locator(".diff tbody tr:not(.other)")
    expect(other).to_contain_text("different")
    expect(other.locator("code")).to_have_count(3)
    expect(same.first).to_contain_text("same")


def test_the_ceiling_is_drawn_under_every_figure(visit: Callable[..., Page], compare: str) -> None:
    page = visit(compare)
    figures = page.locator(".forest tbody td.plot svg[role=img]")
    assert figures.count() == 11
    assert page.locator(".forest tbody td.plot .band").count() == 11


@pytest.mark.parametrize("name", ["verify", "compare"])
def test_a_phone_needs_no_sideways_scrolling(
    visit: Callable[..., Page], name: str, request: pytest.FixtureRequest
) -> None:
    page = visit(request.getfixturevalue(name), width=390)
    assert page.evaluate(NO_OVERFLOW)
    page.evaluate(OPEN_ALL)
    assert page.evaluate(NO_OVERFLOW)


@pytest.mark.parametrize("name", ["verify", "compare"])
def test_without_scripts_everything_can_be_read(
    visit: Callable[..., Page], name: str, request: pytest.FixtureRequest
) -> None:
    page = visit(request.getfixturevalue(name), java_script_enabled=False)
    assert page.locator("form:visible, button.needs-script:visible").count() == 0
    rows = page.locator("#tools-section tbody tr:visible" if name == "verify" else ".differing > details:visible")
    assert rows.count() >= 40
    opened = page.locator("main details[open]")
    before = opened.count()
    page.locator("main details:not([open]) > summary").first.click()
    expect(opened).to_have_count(before + 1)


def test_hostile_pages_do_nothing(
    visit: Callable[..., Page], hostile_verify_run: Path, hostile_comparison: Comparison
) -> None:
    for html in (page_of(hostile_verify_run), str(render("compare", "html", hostile_comparison))):
        page = visit(html, width=390)
        page.evaluate(OPEN_ALL)
        assert "<script>" in page.locator("main").inner_text()
        assert page.evaluate("window.ran") is None
        assert page.evaluate("document.querySelectorAll('main img, main script').length") == 0
        assert page.evaluate(NO_OVERFLOW)
