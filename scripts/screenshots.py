"""Take the pictures of the pages in docs/images: the probe page of a real demo run, the others of invented runs.

python scripts/screenshots.py [NAME ...]     probe, probe-phone, verify, compare, history, view, view-case; or all

Needs chromium and the development dependencies. Pictures are small: the top of each page, as a reader first sees it.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Literal, NamedTuple
from urllib.parse import quote

from playwright.sync_api import Browser, ViewportSize, sync_playwright

from toolcert.reports.formats import Extras, render
from toolcert.reports.history.html import history_html
from toolcert.verification.summary.tally import summarise

ROOT = Path(__file__).resolve().parents[1]
IMAGES = ROOT / "docs" / "images"
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]


class Picture(NamedTuple):
    """What is shown, and how much of it."""

    page: Callable[[Path], Path]
    width: int
    height: int
    theme: Literal["light", "dark"] = "light"
    opened: str = ""
    """A row that is opened first."""


def demo_page(folder: Path) -> Path:
    """The page of `toolcert demo`, kept for the second picture of it."""
    page = folder / "demo" / "report.html"
    if not page.exists():
        program = Path(sys.executable).with_name("toolcert")
        words = ["demo", "--no-local", "--suite", "full", "--iterations", "5", "--quiet", "--output", str(page.parent)]
        subprocess.run([program, *words], check=True, stdout=subprocess.DEVNULL)
    return page


def verify_page(folder: Path) -> Path:
    from reports.verify_samples import write_verify_run  # type: ignore[import-not-found]  # the tests join the path below

    run = write_verify_run(folder / "verify", rows=2000)
    return _written(folder / "verify.html", render("verify", "html", summarise(run), Extras(run=str(run))))


def compare_page(folder: Path) -> Path:
    from reports.compare_samples import make_comparison  # type: ignore[import-not-found]  # the same

    return _written(folder / "compare.html", render("compare", "html", make_comparison(folder / "compare", rows=600)))


def history_page(folder: Path) -> Path:
    from support.histories import TELLING, made  # type: ignore[import-not-found]  # the same

    place = folder / "history"
    place.mkdir()
    return _written(folder / "history.html", history_html(made(place, TELLING)))


def _written(path: Path, page: str | bytes) -> Path:
    path.write_text(str(page), encoding="utf-8")
    return path


PICTURES = {
    "probe": Picture(demo_page, 1180, 1440),
    "probe-phone": Picture(demo_page, 390, 844, theme="dark"),
    "verify": Picture(verify_page, 1180, 1000, opened="#f-args\\.schema\\.required > summary"),
    "compare": Picture(compare_page, 1180, 1000),
    "history": Picture(history_page, 1180, 1000),
}


class Scene(NamedTuple):
    """A page of the viewer over an invented run, and what is there when it is drawn."""

    path: str
    height: int
    ready: str


SCENES = {
    "view": Scene("runs/c41e88d0?q=outcome%3Afailed&sort=-latency", 1400, ".vrow .vname"),
    "view-case": Scene("runs/RUN?q=outcome%3Afailed&case=CASE", 1200, ".judgement"),
}


def picture_of_viewer(browser: Browser, name: str, folder: Path) -> None:
    """Picture a page of the viewer: of an invented verify run, or of a probe run at a simulated vendor."""
    from reports.verify_samples import write_verify_run
    from toolcert.api.endpoint import Endpoint
    from toolcert.api.probe import ProbeOptions, probe
    from toolcert.core.cases import Outcome
    from toolcert.runs.reader import RunReader, read_manifest
    from toolcert.simulate import Vendor
    from toolcert.view.viewer import Viewer

    runs, scene = folder / name, SCENES[name]
    if name == "view":
        write_verify_run(runs, rows=2000)
    else:
        with (
            Vendor(["seven-of-ten"]) as vendor,
            ThreadPoolExecutor() as beside,
        ):  # playwright's event loop runs here
            options = ProbeOptions(output=str(runs), seed=1)
            beside.submit(probe, Endpoint(vendor.url, name="simulated"), options=options).result()
    failed = next(record.case for record in RunReader(runs).heads() if record.outcome is Outcome.FAILED)
    run = read_manifest(runs).run
    with Viewer(runs, port=0, cache=folder / "cache") as viewer:
        page = browser.new_page(viewport=ViewportSize(width=1180, height=scene.height))
        page.goto(viewer.first_address)
        page.wait_for_selector(".vrow .vname")
        page.wait_for_selector(".certificate .tally, .certificate .sign")
        page.goto(viewer.address + scene.path.replace("RUN", run).replace("CASE", quote(failed, safe="")))
        page.wait_for_selector(scene.ready)
        page.wait_for_timeout(1500)
        place = f"toolcert-runs/20260624-0647-{run}"  # not that of this machine
        page.evaluate(
            "place => { const at = document.querySelector('.actions .label'); if (at) at.textContent = place; }", place
        )
        page.screenshot(path=IMAGES / f"{name}.png")
        page.close()


def main(*names: str) -> int:
    sys.path.insert(0, str(ROOT / "tests"))
    program = shutil.which("chromium") or shutil.which("google-chrome")
    if program is None:
        print("chromium is not on the PATH", file=sys.stderr)
        return 1
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=FLAGS)
        for name in names or (*PICTURES, *SCENES):
            if name in SCENES:
                picture_of_viewer(browser, name, Path(folder))
                continue
            picture = PICTURES[name]
            size = ViewportSize(width=picture.width, height=picture.height)
            page = browser.new_page(viewport=size, color_scheme=picture.theme)
            page.goto(picture.page(Path(folder)).as_uri())
            if picture.opened:
                page.click(picture.opened)
                page.evaluate("scrollTo(0, 0)")
            page.screenshot(path=IMAGES / f"{name}.png")
            page.close()
        browser.close()
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
