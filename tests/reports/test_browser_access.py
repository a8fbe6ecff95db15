"""Pages that keyboards and screen readers can use: axe-core finds nothing serious."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page

from reports.samples import probe_summary
from toolcert.comparison.result import Comparison
from toolcert.reports.formats import Extras, render
from toolcert.verification.summary.tally import summarise

pytestmark = [pytest.mark.needs("browser"), pytest.mark.needs("axe")]

OPEN_SOME = "document.querySelectorAll('.rows > details').forEach((row, n) => { row.open = row.open || n % 5 === 0 })"
RUN = "axe.run(document, {resultTypes: ['violations']})"


@pytest.fixture(scope="module")
def pages(verify_run: Path, comparison: Comparison) -> dict[str, str]:
    return {
        "probe": str(render("probe", "html", probe_summary(8))),
        "verify": str(render("verify", "html", summarise(verify_run), Extras(run=str(verify_run)))),
        "compare": str(render("compare", "html", comparison)),
    }


@pytest.fixture(scope="module")
def checker(part: Callable[[str], Path]) -> str:
    return part("axe").read_text(encoding="utf-8")


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("job", ["probe", "verify", "compare"])
def test_axe_finds_nothing_serious(
    visit: Callable[..., Page], pages: dict[str, str], checker: str, job: str, *, width: int, theme: str
) -> None:
    """In both themes and widths, with some rows open; the page's policy is set aside for the checker alone."""
    page = visit(pages[job], width=width, color_scheme=theme, bypass_csp=True)
    page.evaluate(OPEN_SOME)
    page.add_script_tag(content=checker)
    found = [
        f"{violation['id']}: {violation['nodes'][0]['target']} {violation['nodes'][0]['failureSummary']}"
        for violation in page.evaluate(RUN)["violations"]
        if violation["impact"] in ("serious", "critical")
    ]
    assert found == []


def test_every_chart_has_a_label(visit: Callable[..., Page], pages: dict[str, str]) -> None:
    for html in pages.values():
        page = visit(html)
        silent = page.evaluate(
            "[...document.querySelectorAll('main svg.chart')]"
            ".filter(c => !c.getAttribute('aria-label') && !c.closest('[aria-hidden]')).length"
        )
        assert silent == 0


def test_everything_that_opens_can_be_reached_by_tab(visit: Callable[..., Page], pages: dict[str, str]) -> None:
    page = visit(pages["probe"])
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the results"
    page.locator("#model-rows summary").first.focus()
    page.keyboard.press("Enter")
    assert page.locator("#model-rows > details").first.get_attribute("open") is not None
