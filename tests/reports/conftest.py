"""Runs and comparisons that several tests of reports read, made once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from reports.compare_samples import make_comparison
from reports.verify_samples import write_verify_run
from toolcert.comparison.result import Comparison

if TYPE_CHECKING:
    from playwright.sync_api import Browser, ConsoleMessage, Page


@pytest.fixture(scope="session")
def verify_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A verify run of 300 rows."""
    return write_verify_run(tmp_path_factory.mktemp("runs") / "verify", rows=300)


@pytest.fixture(scope="session")
def hostile_verify_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same with hostile text wherever a vendor or a dataset can write."""
    return write_verify_run(tmp_path_factory.mktemp("runs") / "hostile", rows=60, hostile=True)


@pytest.fixture(scope="session")
def comparison(tmp_path_factory: pytest.TempPathFactory) -> Comparison:
    """A vendor against two runs of a baseline."""
    return make_comparison(tmp_path_factory.mktemp("compare"))


@pytest.fixture(scope="session")
def three_vendors(tmp_path_factory: pytest.TempPathFactory) -> Comparison:
    """Three vendors against the same baseline."""
    return make_comparison(tmp_path_factory.mktemp("three"), vendors=3)


@pytest.fixture(scope="session")
def hostile_comparison(tmp_path_factory: pytest.TempPathFactory) -> Comparison:
    """Two vendors with hostile text in names, questions, answers and arguments."""
    return make_comparison(tmp_path_factory.mktemp("hostile"), vendors=2, rows=80, hostile=True)


class Visit:
    """A page in a browser, and everything that went wrong on it."""

    def __init__(self, page: Page, address: str) -> None:
        self.page = page
        self.problems: list[str] = []
        page.on("console", self._heard)
        page.on("pageerror", lambda error: self.problems.append(f"page error: {error}"))
        page.on("request", lambda request: self._requested(request.url, address))

    def _heard(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self.problems.append(f"{message.type}: {message.text}")

    def _requested(self, url: str, address: str) -> None:
        if url.partition("#")[0] != address:
            self.problems.append(f"request: {url}")


@pytest.fixture(scope="module")
def browser(part: Callable[[str], Path]) -> Iterator[Browser]:
    """One Chromium for the tests of a module; while it runs, playwright's own event loop allows no other."""
    from playwright.sync_api import sync_playwright

    flags = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]
    flags += ["--disable-sync", "--no-first-run"]
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=str(part("browser")), args=flags)
        yield started
        started.close()


@pytest.fixture
def visit(browser: Browser, tmp_path: Path) -> Iterator[Callable[..., Page]]:
    """Open a page's text; at the end nothing may have been reported, asked for or run."""
    visits: list[Visit] = []

    def open_page(html: str, *, at: str = "", width: int = 1280, **context: Any) -> Page:
        path = tmp_path / "page.html"
        path.write_text(html, encoding="utf-8", errors="backslashreplace")
        page = browser.new_context(viewport={"width": width, "height": 900}, **context).new_page()
        visits.append(Visit(page, path.as_uri()))
        page.goto(path.as_uri() + at)
        return page

    yield open_page
    for one in visits:
        one.page.context.close()
        assert one.problems == []
