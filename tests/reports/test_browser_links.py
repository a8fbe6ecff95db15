"""Links in a real Chromium: the address shows filters, order and what is open; cells lead to conversations."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from reports.probe_run_samples import write_probe_run
from reports.samples import probe_summary
from toolcert.probes.summary.summariser import summarise_run
from toolcert.reports.formats import Extras, render

pytestmark = pytest.mark.needs("browser")

NO_OVERFLOW = "document.documentElement.scrollWidth <= innerWidth"


@pytest.fixture(scope="module")
def html() -> str:
    return str(render("probe", "html", probe_summary(14)))


def page_of(run: Path) -> str:
    return str(render("probe", "html", summarise_run(run), Extras(run=str(run))))


@pytest.fixture(scope="module")
def evidence(tmp_path_factory: pytest.TempPathFactory) -> str:
    return page_of(write_probe_run(tmp_path_factory.mktemp("probe") / "run"))


def hash_of(page: Page) -> str:
    return str(page.evaluate("location.hash"))


def test_filters_and_order_are_in_the_address(visit: Callable[..., Page], html: str) -> None:
    page = visit(html)
    page.locator("select[name=verdict]").select_option("partial")
    page.get_by_placeholder("Filter models").fill("model-1")
    page.locator(".ranking thead").get_by_role("button", name="Score").click()
    assert hash_of(page) == "#?verdict=partial&text=model-1&sort=2-"
    page.get_by_role("button", name="Reset").click()
    expect(page.locator("form output").first).to_have_text("14 of 14 models")
    assert hash_of(page) == "#?sort=2-"


def test_an_address_shows_what_was_seen(visit: Callable[..., Page], html: str) -> None:
    page = visit(html, at="#m-vendor-model-1-instruct?verdict=partial&sort=2")
    expect(page.locator("form output").first).to_have_text("3 of 14 models")
    expect(page.locator(".ranking th[aria-sort]")).to_have_attribute("aria-sort", "ascending")
    section = page.locator("#m-vendor-model-1-instruct")
    expect(section).to_have_attribute("open", "")
    expect(section).to_be_in_viewport()


def test_a_link_within_the_page_keeps_the_filters(visit: Callable[..., Page], html: str) -> None:
    page = visit(html, at="#?verdict=partial")
    page.get_by_role("link", name="Capabilities").click()
    page.wait_for_function("location.hash === '#capabilities?verdict=partial'")
    expect(page.locator("#capabilities")).to_be_in_viewport()


@pytest.mark.parametrize("odd", ["#%", "#?verdict=nothing", "#?sort=99", "#nobody?=&&&", "#c-%00?text=%"])
def test_an_odd_address_breaks_nothing(visit: Callable[..., Page], html: str, odd: str) -> None:
    page = visit(html, at=odd)
    assert page.locator(".ranking tbody tr").count() == 14


def test_the_link_of_an_open_row_can_be_copied(visit: Callable[..., Page], html: str) -> None:
    page = visit(html, permissions=["clipboard-read", "clipboard-write"])
    row = page.locator("#model-rows > details").nth(1)
    row.locator("summary").click()
    row.get_by_role("button", name="Copy link to").click()
    page.wait_for_function("navigator.clipboard.readText().then((text) => text.endsWith('#m-vendor-model-1-instruct'))")
    page.locator("select[name=verdict]").select_option("partial")
    page.get_by_role("button", name="Copy link", exact=True).click()
    page.wait_for_function("navigator.clipboard.readText().then((text) => text.endsWith('instruct?verdict=partial'))")


def test_a_cell_opens_its_conversation_and_gives_the_focus_back(visit: Callable[..., Page], evidence: str) -> None:
    page = visit(evidence)
    case = page.locator("#c-south-shy\\.basic")
    expect(case).to_be_hidden()
    page.locator(".matrix tbody tr", has_text="south: shy").locator("td").first.click()
    expect(case).to_be_visible()
    expect(case).to_contain_text("How is the weather in Oslo?")
    expect(case).to_contain_text("<tool_call>")
    page.keyboard.press("Escape")
    expect(case).to_be_hidden()
    assert page.evaluate("document.activeElement.querySelector('a').hash") == "#c-south-shy.basic"
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    expect(page.locator("#c-south-shy\\.result_use")).to_be_visible()
    page.get_by_role("link", name="Close").locator("visible=true").click()
    expect(page.locator(".case:visible")).to_have_count(0)


def test_a_conversation_has_an_address(visit: Callable[..., Page], evidence: str) -> None:
    page = visit(evidence, at="#c-north-good.parallel?verdict=passes")
    expect(page.locator("#c-north-good\\.parallel")).to_be_in_viewport()
    expect(page.locator(".case:visible")).to_have_count(1)


def test_without_scripts_a_cell_opens_its_conversation_too(visit: Callable[..., Page], evidence: str) -> None:
    page = visit(evidence, java_script_enabled=False)
    page.locator('.matrix a[href="#c-south-shy.basic"]').click()
    expect(page.locator("#c-south-shy\\.basic")).to_be_visible()
    expect(page.locator(".case:visible")).to_have_count(1)


def test_hostile_conversations_do_nothing(visit: Callable[..., Page], tmp_path: Path) -> None:
    page = visit(page_of(write_probe_run(tmp_path / "run", hostile=True)), width=390)
    page.evaluate("document.querySelectorAll('.case').forEach((one) => one.classList.add('aimed'))")
    assert page.locator(".case:visible").count() == 12
    assert page.evaluate("window.ran") is None
    assert page.evaluate("document.querySelectorAll('main img, main script').length") == 0
    assert page.evaluate(NO_OVERFLOW)


@pytest.mark.needs("axe")
@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_axe_finds_nothing_serious_in_conversations(
    visit: Callable[..., Page], evidence: str, part: Callable[[str], Path], *, width: int, theme: str
) -> None:
    page = visit(evidence, at="#c-south-shy.basic", width=width, color_scheme=theme, bypass_csp=True)
    page.add_script_tag(content=part("axe").read_text(encoding="utf-8"))
    found = [
        f"{violation['id']}: {violation['nodes'][0]['target']} {violation['nodes'][0]['failureSummary']}"
        for violation in page.evaluate("axe.run(document, {resultTypes: ['violations']})")["violations"]
        if violation["impact"] in ("serious", "critical")
    ]
    assert found == []
    assert page.evaluate(NO_OVERFLOW)
