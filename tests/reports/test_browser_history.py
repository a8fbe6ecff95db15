"""The timeline and the trends in a real Chromium."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec import structs
from playwright.sync_api import Page, expect

from reports.samples import probe_summary
from support.histories import TELLING, made, stored
from toolcert.history.observation import StoredRun
from toolcert.history.overview import overview
from toolcert.history.store import HistoryStore
from toolcert.reports.formats import Extras, render
from toolcert.reports.history.html import history_html, history_section

pytestmark = pytest.mark.needs("browser")

NO_OVERFLOW = "document.documentElement.scrollWidth <= innerWidth"
OVERLAP = """() => {
  const found = [];
  for (const row of document.querySelectorAll('.timeline td.days .chart, .trend-plot .chart')) {
    const boxes = [...row.querySelectorAll('text')].map((text) => text.getBoundingClientRect());
    boxes.forEach((one, place) => boxes.slice(place + 1).forEach((other) => {
      const beside = one.right <= other.left || other.right <= one.left;
      const apart = beside || one.bottom <= other.top + 2 || other.bottom <= one.top + 2;
      if (!apart) found.push(row.getAttribute('aria-label'));
    }));
  }
  return found;
}"""


@pytest.fixture(scope="module")
def html(tmp_path_factory: pytest.TempPathFactory) -> str:
    return history_html(made(tmp_path_factory.mktemp("history"), TELLING))


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The same with a model at a second endpoint on the last day, and the page of another day beside it."""
    location = stored(str(tmp_path_factory.mktemp("two") / "h"), TELLING)
    with HistoryStore(location) as store:
        last = [one for one in store.observations() if one.model == "steady"][-1]
        run = StoredRun(run="7f3a21c9", day=last.day, started_at=1.0, source="probe")
        store.add(run, [structs.replace(last, run=run.run, endpoint="south")])
        return history_html(overview(store), {"2026-05-12": "report_2026-05-12.html"})


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_the_page_fits_and_no_label_covers_another(
    visit: Callable[..., Page], html: str, width: int, theme: str
) -> None:
    page = visit(html, width=width, color_scheme=theme)
    assert page.evaluate(NO_OVERFLOW)
    assert page.evaluate(OVERLAP) == []
    expect(page.locator(".timeline tbody tr")).to_have_count(7)
    assert page.locator(".trend-plot").count() >= 4


def test_states_differ_in_colour_and_height(visit: Callable[..., Page], html: str) -> None:
    """Bars of a broken stretch are drawn where the days are: a third of the way along."""
    page = visit(html)
    row = page.locator(".timeline tbody tr", has_text="vendor")
    bars, chart = row.locator(".d-broken").bounding_box(), row.locator(".bars-of-days").bounding_box()
    assert bars is not None
    assert chart is not None
    assert (bars["x"] - chart["x"]) / chart["width"] == pytest.approx(20 / 60, abs=0.01)
    assert bars["width"] / chart["width"] == pytest.approx(6 / 60, abs=0.01)
    colours = {
        state: page.locator(f".timeline .d-{state}").first.evaluate("bar => getComputedStyle(bar).fill")
        for state in ("working", "unreliable", "calls_only", "broken", "not_measured")
    }
    assert len(set(colours.values())) == 5


def test_the_window_can_be_shortened(visit: Callable[..., Page], html: str) -> None:
    """30 days: the outage of April leaves the picture with its number, the sag that ends in May stays."""
    page = visit(html)
    number = page.locator(".timeline tbody tr", has_text="vendor").locator(".mark")
    sag = page.locator(".timeline tbody tr", has_text="sagging").locator(".mark").first
    expect(number).to_be_visible()
    page.get_by_role("button", name="30 days").click()
    expect(page.get_by_role("button", name="30 days")).to_have_attribute("aria-pressed", "true")
    expect(number).to_be_hidden()
    expect(sag).to_be_visible()
    assert page.locator(".bars-of-days").first.get_attribute("viewBox") == "30 0 30 24"
    assert page.evaluate(OVERLAP) == []
    page.get_by_role("button", name="60 days").click()
    expect(number).to_be_visible()


def test_a_tip_says_what_a_day_was_like_in_both_windows(visit: Callable[..., Page], html: str) -> None:
    page = visit(html)
    chart = page.locator(".timeline tbody tr", has_text="transport").locator("td.days .chart").first
    chart.scroll_into_view_if_needed()

    def point_at(share: float) -> None:
        box = chart.bounding_box()
        assert box is not None
        page.mouse.move(box["x"] + box["width"] * share, box["y"] + 10)

    point_at(30.5 / 60)
    expect(page.locator("#tip")).to_have_text("1 Maynot measured")
    page.get_by_role("button", name="30 days").click()
    point_at(29.5 / 30)
    expect(page.locator("#tip")).to_have_text("30 Maypasses, 50/50 calls, 50/50 used, call 0.50 s")
    page.mouse.move(5, 5)
    expect(page.locator("#tip")).to_be_hidden()


def test_models_are_filtered_by_name_endpoint_and_status(visit: Callable[..., Page], two: str) -> None:
    page = visit(two)
    rows = page.locator(".timeline tbody tr:visible")
    everything = rows.count()
    page.locator("select[name=endpoint]").select_option("south")
    expect(rows).to_have_count(1)
    assert page.evaluate("location.hash") == "#?history.endpoint=south"
    page.get_by_role("button", name="Reset").click()
    expect(rows).to_have_count(everything)
    page.get_by_placeholder("Filter models").fill("just-broke")
    expect(rows).to_have_count(1)
    assert page.locator(".changes tbody tr:visible").all_inner_texts()
    assert all("just-broke" in text for text in page.locator(".changes tbody tr:visible").all_inner_texts())
    page.get_by_placeholder("Filter models").fill("")
    word = page.locator("select[name=standing] option").nth(1).inner_text()
    page.locator("select[name=standing]").select_option(word)
    assert 0 < rows.count() < everything
    assert all(word in text for text in rows.locator(".now").all_inner_texts())


def test_a_bar_opens_the_run_of_its_day(visit: Callable[..., Page], two: str) -> None:
    page = visit(two)
    chart = page.locator(".timeline tbody tr", has_text="transport").locator("td.days .chart").first
    box = chart.bounding_box()
    assert box is not None
    chart.click(position={"x": box["width"] * 41.5 / 60, "y": 10})
    card = page.locator(".day-card")
    expect(card).to_contain_text("12 May, transport")
    expect(card.get_by_role("link", name="Open the page of that day")).to_have_attribute(
        "href", "report_2026-05-12.html"
    )
    south = page.locator(".timeline tbody tr", has_text="at south").locator("td.days")
    south.focus()
    page.keyboard.press("Home")
    expect(page.locator("#tip")).to_contain_text("1 April")
    page.keyboard.press("End")
    page.keyboard.press("Enter")
    expect(card).to_contain_text("toolcert view 7f3a21c9")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Enter")
    expect(card).to_contain_text("No run of it is kept.")


def test_the_window_is_in_the_address(visit: Callable[..., Page], html: str) -> None:
    page = visit(html, at="#?days=30")
    expect(page.get_by_role("button", name="30 days")).to_have_attribute("aria-pressed", "true")
    page.get_by_role("button", name="60 days").click()
    assert page.evaluate("location.hash") == ""


def test_a_number_leads_to_its_note(visit: Callable[..., Page], html: str) -> None:
    page = visit(html)
    mark = page.locator(".timeline tbody tr", has_text="vendor").locator(".mark")
    number = (mark.text_content() or "").strip()
    mark.click()
    note = page.locator(f"#note-{number}")
    expect(note).to_be_in_viewport()
    expect(note).to_contain_text("No call in 300 tries on 6 days")


def test_without_scripts_everything_is_there_but_the_choice_of_window(visit: Callable[..., Page], html: str) -> None:
    page = visit(html, java_script_enabled=False)
    expect(page.get_by_role("button", name="30 days")).to_be_hidden()
    expect(page.locator(".timeline .d-broken").first).to_be_visible()
    expect(page.locator(".day-notes li")).to_have_count(6)


def test_the_probe_page_carries_the_history(visit: Callable[..., Page], tmp_path: Path) -> None:
    """As a section of its own, reached from the head of the page, with nothing broken around it."""
    section = history_section(made(tmp_path, TELLING))
    page = visit(str(render("probe", "html", probe_summary(8), Extras(history=section))), width=390)
    page.get_by_role("link", name="History").click()
    expect(page.locator("#history")).to_be_in_viewport()
    expect(page.locator(".timeline tbody tr")).to_have_count(7)
    assert page.evaluate(NO_OVERFLOW)
    ids = page.evaluate("[...document.querySelectorAll('[id]')].map((element) => element.id)")
    assert len(ids) == len(set(ids))


@pytest.mark.needs("axe")
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing_serious(
    visit: Callable[..., Page], html: str, part: Callable[[str], Path], theme: str
) -> None:
    page = visit(html, color_scheme=theme, bypass_csp=True)
    page.add_script_tag(content=part("axe").read_text(encoding="utf-8"))
    found = [
        f"{violation['id']}: {violation['nodes'][0]['target']} {violation['nodes'][0]['failureSummary']}"
        for violation in page.evaluate("axe.run(document, {resultTypes: ['violations']})")["violations"]
        if violation["impact"] in ("serious", "critical")
    ]
    assert found == []
