"""Cell P15: a run of 100,000 rows in the viewer, in a real browser: opened, searched, a row opened; and its memory."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, sync_playwright

import measure
from kit import Kit, Row

ROWS = 100_000
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]
OPENED, SEARCHED, ROW, MEMORY = 1.0, 0.3, 0.1, 150
SEARCHES = ("outcome:failed", '"row 4711"', "finding:args tokens>1", "city")
LISTED = ".vrow .vname"


def large_run(kit: Kit) -> Iterator[Row]:
    """Without an index, while it is made, and with it."""
    run = kit.folder / "viewed"
    measure.run(kit.verify(kit.requests(ROWS), kit.url(), output=str(run)))
    program = shutil.which("chromium") or shutil.which("google-chrome")
    if program is None:
        raise measure.CommandError("P15 needs chromium on the PATH")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=FLAGS)
        with viewer(kit, run) as (address, _):
            page = browser.new_page()
            first = _opened(page, address)
            yield Row("P15", f"open {ROWS:,} rows, no index yet", f"{first:.2f} s", "<= 1 s", "", first <= OPENED)
            made = _index_made(page)
            yield Row("P15", "make the index, shown as it grows", f"{made:.1f} s", "told", "", True)
        with viewer(kit, run) as (address, process):
            page = browser.new_page()
            again = _opened(page, address)
            yield Row("P15", f"open {ROWS:,} rows", f"{again:.2f} s", f"<= {OPENED:g} s", "", again <= OPENED)
            slowest = max(_searched(page, words) for words in SEARCHES)
            yield Row(
                "P15", "search, the slowest of four", f"{slowest:.2f} s", f"<= {SEARCHED:g} s", "", slowest <= SEARCHED
            )
            row = min(_row_opened(page) for _ in range(3))
            yield Row("P15", "open a row", f"{row:.3f} s", f"<= {ROW:g} s", "", row <= ROW)
            peak = _peak(process.pid)
            yield Row("P15", "peak memory of the viewer", f"{peak:.0f} MB", f"<= {MEMORY} MB", "", peak <= MEMORY)
        browser.close()


@contextmanager
def viewer(kit: Kit, run: Path) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """The first address of a viewer of its own, whose index stays for the next one."""
    words = [kit.toolcert, "view", str(run), "--no-browser", "--port", "0"]
    environment = os.environ | {"XDG_CACHE_HOME": str(kit.folder / "view-cache")}
    with subprocess.Popen(
        words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environment
    ) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().split()[-1], process
        finally:
            process.terminate()


def _opened(page: Page, address: str) -> float:
    begun = time.perf_counter()
    page.goto(address, wait_until="commit")
    page.wait_for_selector(LISTED)
    return time.perf_counter() - begun


def _told(page: Page) -> Any:
    return json.loads(page.evaluate("fetch('/api' + location.pathname).then(answer => answer.text())"))


def _index_made(page: Page) -> float:
    while (told := _told(page))["index"]["searchable"] < told["size"] or told["card"] is None:
        time.sleep(0.5)
    return float(told["index"]["seconds"])


def _searched(page: Page, words: str) -> float:
    """From the last key to the list, the pause before a search included."""
    before = page.locator("section .controls output").inner_text()
    field = page.locator("section input[type=search]")
    begun = time.perf_counter()
    field.fill(words)
    page.wait_for_function(
        "before => document.querySelector('section .controls output').textContent !== before", arg=before
    )
    return time.perf_counter() - begun


def _row_opened(page: Page) -> float:
    page.locator("section input[type=search]").fill("")
    page.wait_for_selector(LISTED)
    page.wait_for_timeout(600)
    begun = time.perf_counter()
    page.locator(".vrow").nth(5).click()
    page.wait_for_selector(".judgement")
    took = time.perf_counter() - begun
    page.keyboard.press("Escape")
    page.wait_for_selector(LISTED)
    return took


def _peak(process: int) -> float:
    status = Path(f"/proc/{process}/status").read_text(encoding="utf-8")
    found = re.search(r"VmHWM:\s+(\d+) kB", status)
    return int(found[1]) / 1024 if found else 0.0
