"""The probe page in a real Chromium."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from reports.samples import probe_summary
from toolcert.reports.formats import render

pytestmark = pytest.mark.needs("browser")

NO_OVERFLOW = "document.documentElement.scrollWidth <= innerWidth"


@pytest.fixture(scope="module")
def html() -> str:
    return str(render("probe", "html", probe_summary(14)))


@pytest.fixture(scope="module")
def large() -> str:
    return str(render("probe", "html", probe_summary(60, probes=35)))


def shown(page: Page, selector: str) -> int:
    return page.locator(selector).locator("visible=true").count()


def test_filters_work_everywhere_at_once(visit: Callable[..., Page], html: str) -> None:
    """Text, verdict, cell state and finding narrow the ranking, the matrix and the sections together."""
    page = visit(html)
    assert shown(page, ".ranking tbody tr") == 14
    page.get_by_placeholder("Filter models").fill("model-1")
    assert [shown(page, one) for one in (".ranking tbody tr", ".matrix tbody tr", "#model-rows > details")] == [5, 5, 5]
    expect(page.locator("form output").first).to_have_text("5 of 14 models")
    page.locator("select[name=verdict]").select_option("passes")
    assert shown(page, ".ranking tbody tr") == 1
    page.get_by_role("button", name="Reset").click()
    expect(page.locator("form output").first).to_have_text("14 of 14 models")
    page.locator("select[name=finding]").select_option("call.in_text")
    assert 0 < shown(page, ".ranking tbody tr") < 14
    assert shown(page, ".findings > details") == 1


def test_a_filter_that_fits_nothing_says_so(visit: Callable[..., Page], html: str) -> None:
    page = visit(html)
    page.get_by_placeholder("Filter models").fill("no such model")
    expect(page.get_by_text("No model fits these filters.")).to_be_visible()


def test_a_verdict_of_the_certificate_filters(visit: Callable[..., Page], html: str) -> None:
    page = visit(html)
    page.locator(".tally a", has_text="partial").click()
    words = page.locator(".ranking tbody tr:visible .verdict").all_inner_texts()
    assert words
    assert all("partial" in word for word in words)


def test_columns_sort_both_ways_with_missing_values_last(visit: Callable[..., Page], html: str) -> None:
    page = visit(html)
    head = page.locator(".ranking thead th", has_text="Score").first

    def scores() -> list[str]:
        return page.locator(".ranking tbody tr td:nth-child(3)").evaluate_all(
            "cells => cells.map(c => c.dataset.value)"
        )

    for order, reverse in (("descending", True), ("ascending", False)):
        head.get_by_role("button").click()
        assert head.get_attribute("aria-sort") == order
        values = scores()
        known = [float(value) for value in values if value]
        assert known == sorted(known, reverse=reverse)
        assert values[len(known) :] == [""] * (len(values) - len(known))
        assert len(known) < len(values)
    assert page.locator(".ranking th[aria-sort]").count() == 1


def test_a_deep_link_opens_its_model(visit: Callable[..., Page], html: str) -> None:
    page = visit(html, at="#m-vendor-model-3-instruct")
    section = page.locator("#m-vendor-model-3-instruct")
    expect(section).to_have_attribute("open", "")
    expect(section).to_be_in_viewport()


def test_links_lead_from_model_to_finding_and_back(visit: Callable[..., Page], html: str) -> None:
    page = visit(html)
    page.locator(".ranking .caveat").first.click()
    finding = page.locator("details:target")
    expect(finding).to_have_attribute("open", "")
    expect(finding.get_by_text("What to do:")).to_be_visible()
    finding.locator("a").first.click()
    expect(page.locator("#model-rows details:target")).to_have_attribute("open", "")


def test_all_models_open_and_close(visit: Callable[..., Page], html: str) -> None:
    page = visit(html)
    page.get_by_role("button", name="Expand all").click()
    assert page.locator("#model-rows > details[open]").count() == 14
    page.get_by_role("button", name="Collapse all").click()
    assert page.locator("#model-rows > details[open]").count() == 0


def test_a_cell_tells_counts_interval_and_reason(visit: Callable[..., Page], html: str) -> None:
    page = visit(html)
    cell = page.locator(".matrix tbody td:has(.flaky)").first
    cell.hover()
    tip = page.locator("#tip")
    expect(tip).to_be_visible()
    expect(tip).to_contain_text("of 10,")
    expect(tip).to_contain_text("the tool result is not in the answer")
    page.locator("h1").hover()
    expect(tip).to_be_hidden()


def test_the_matrix_is_one_tab_stop_and_arrows_move(visit: Callable[..., Page], html: str) -> None:
    page = visit(html)
    assert page.locator('.matrix td[tabindex="0"]').count() == 1
    page.locator('.matrix td[tabindex="0"]').focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowDown")
    place = page.evaluate("[document.activeElement.cellIndex, document.activeElement.parentElement.rowIndex]")
    assert place == [2, 3]
    expect(page.locator("#tip")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator("#tip")).to_be_hidden()
    assert page.locator('.matrix td[tabindex="0"]').count() == 1


def test_groups_fold_into_their_sums(visit: Callable[..., Page], html: str) -> None:
    page = visit(html)
    before = page.locator(".matrix thead .probe:visible").count()
    button = page.locator(".matrix .group button").first
    button.click()
    assert button.get_attribute("aria-expanded") == "false"
    assert page.locator(".matrix thead .probe:visible").count() == before - 8
    assert page.locator(".matrix tbody td.sum:visible").first.inner_text().split()[0].endswith("/8")
    assert page.locator('.matrix td[tabindex="0"]:visible').count() == 1
    button.click()
    assert page.locator(".matrix thead .probe:visible").count() == before


def test_the_head_of_a_long_matrix_stays_in_view(visit: Callable[..., Page], large: str) -> None:
    page = visit(large)
    page.locator(".matrix tbody tr").nth(45).scroll_into_view_if_needed()
    expect(page.locator(".matrix thead .probe").first).to_be_in_viewport()


def test_a_large_matrix_fits_the_page(visit: Callable[..., Page], large: str) -> None:
    page = visit(large)
    assert page.evaluate("(e => e.scrollWidth <= e.clientWidth)(document.querySelector('.scroll'))")


def background(page: Page) -> str:
    return page.evaluate("getComputedStyle(document.body).backgroundColor")


def test_dark_follows_the_system_and_can_be_changed(visit: Callable[..., Page], html: str) -> None:
    page = visit(html, color_scheme="dark")
    assert background(page) == "rgb(18, 20, 22)"
    toggle = page.get_by_role("button", name="Dark theme")
    assert toggle.get_attribute("aria-pressed") == "true"
    toggle.click()
    assert background(page) == "rgb(251, 251, 249)"
    page.reload()
    assert background(page) == "rgb(251, 251, 249)", "the choice is remembered"


@pytest.mark.parametrize("size", ["html", "large"])
def test_a_phone_shows_everything_without_sideways_scrolling(
    visit: Callable[..., Page], size: str, request: pytest.FixtureRequest
) -> None:
    """Also with every section open; on a phone the groups of the matrix start folded."""
    page = visit(request.getfixturevalue(size), width=390)
    assert page.evaluate(NO_OVERFLOW)
    assert page.locator(".matrix thead .probe:visible").count() == 0
    page.evaluate("document.querySelectorAll('details').forEach(d => { d.open = true })")
    assert page.evaluate(NO_OVERFLOW)


def test_without_scripts_every_table_is_there(visit: Callable[..., Page], html: str) -> None:
    """Controls that would do nothing are not shown; sections open all the same."""
    page = visit(html, java_script_enabled=False)
    assert shown(page, ".ranking tbody tr") == shown(page, ".matrix tbody tr") == 14
    assert shown(page, "form") == shown(page, "#theme") == shown(page, "[data-expand]") == 0
    assert shown(page, ".matrix .sum") == 0
    page.locator("#model-rows > details summary").first.click()
    expect(page.locator("#model-rows > details").first.get_by_text("What fails, and why")).to_be_visible()


def test_paper_is_light_and_shows_the_evidence(visit: Callable[..., Page], html: str) -> None:
    page = visit(html, color_scheme="dark")
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert background(page) == "rgb(255, 255, 255)"
    assert page.locator(".findings > details:not([open])").count() == 0
    assert shown(page, ".controls") == shown(page, ".button") == 0


def test_a_curl_line_can_be_copied(visit: Callable[..., Page], html: str) -> None:
    page = visit(html, permissions=["clipboard-read", "clipboard-write"])
    page.locator(".findings summary").first.click()
    page.get_by_role("button", name="Copy: See it yourself").first.click()
    assert page.evaluate("navigator.clipboard.readText()").startswith("curl -sS http://inference.example.net")


def test_hostile_text_does_nothing(visit: Callable[..., Page]) -> None:
    """Filtering, sorting, pointing at cells and opening everything runs none of it."""
    page = visit(str(render("probe", "html", probe_summary(5, hostile=True))))
    page.get_by_placeholder("Filter models").fill("<script>")
    page.locator(".ranking thead button").nth(1).click()
    page.locator(".matrix tbody td:has(.flaky)").first.hover()
    page.get_by_role("button", name="Expand all").click()
    expect(page.locator("#tip")).to_contain_text("<script>")
    assert page.evaluate("window.ran") is None
    assert page.evaluate("document.querySelectorAll('main img, main script').length") == 0
    assert page.evaluate(NO_OVERFLOW)


def test_the_policy_stops_a_script_that_got_in(browser: object, tmp_path: object, html: str) -> None:
    """Should escaping ever fail, the browser still runs nothing and loads nothing."""
    page = browser.new_page()  # type: ignore[attr-defined]  # playwright's Browser
    blocked: list[str] = []
    page.on("console", lambda message: blocked.append(message.text))
    injected = "<script>window.ran = 1</script><img src='http://127.0.0.1:9/x.png'></main>"
    path = tmp_path / "page.html"  # type: ignore[operator]  # a Path
    path.write_text(html.replace("</main>", injected, 1), encoding="utf-8")
    page.goto(path.as_uri())
    assert page.evaluate("window.ran") is None
    assert any("Content Security Policy" in text for text in blocked)
    page.close()
