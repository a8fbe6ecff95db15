"""The viewer in a real browser: lists, cases, growth, keys, hostile text, access."""

from __future__ import annotations

import json
import re
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import pytest

from reports import verify_samples
from reports.hostile import HOSTILE
from reports.verify_samples import write_verify_run
from toolcert.core.records import Manifest
from toolcert.core.targets import EndpointSpec
from toolcert.runs.marks import MARKS, Mark, MarkKind, append_mark
from toolcert.runs.reader import read_manifest
from toolcert.runs.writer import RunWriter, write_manifest
from toolcert.view.viewer import Viewer

if TYPE_CHECKING:
    from playwright.sync_api import Page, Route

pytestmark = pytest.mark.needs("browser")
RUN = "runs/c41e88d0"
ROWS = ".vrow"


def shown(page: Page) -> list[str]:
    """The names of the cases in view."""
    page.wait_for_selector(f"{ROWS} .vname, .none.shown")
    return page.locator(f"{ROWS} .vname").all_inner_texts()


def total(page: Page, text: str) -> None:
    """Wait until the list says so."""
    page.wait_for_function(
        "text => document.querySelector('section .controls output').textContent.startsWith(text)", arg=text
    )


def another(run: Path, folder: Path, run_id: str) -> Path:
    """A copy of a run with an id and a day of its own."""
    shutil.copytree(run, folder)
    manifest = json.loads((folder / "manifest.json").read_bytes())
    (folder / "manifest.json").write_text(json.dumps(manifest | {"run": run_id, "started_at": 1_782_370_000.0}))
    return folder


def test_the_first_address_lets_the_browser_in_and_hides_the_token(
    viewed: Callable[..., Viewer], visit: Callable[..., Page], small_run: Path
) -> None:
    page = visit(viewed(small_run.parent))
    page.wait_for_selector("tbody tr")
    assert "token" not in page.url
    assert page.evaluate("document.cookie") == ""


def test_a_link_shows_what_was_seen(viewed: Callable[..., Viewer], visit: Callable[..., Page], small_run: Path) -> None:
    viewer = viewed(small_run.parent)
    page = visit(viewer, RUN)
    page.fill("section input[type=search]", "outcome:failed")
    page.wait_for_url("**q=outcome*")
    page.select_option("section select[name=sort]", "-latency")
    page.wait_for_url("**sort=-latency*")
    seen = shown(page)
    page.locator(ROWS).nth(2).click()
    page.wait_for_selector(".case-head h1")
    address = page.url
    heading = page.locator(".case-head h1").inner_text()
    other = visit(viewer)
    other.goto(address)
    other.wait_for_selector(".case-head h1")
    assert other.locator(".case-head h1").inner_text() == heading
    other.get_by_role("link", name="All cases").click()
    assert shown(other) == seen


def test_a_link_on_a_page_elsewhere_opens_in_a_browser_that_was_let_in(
    viewed: Callable[..., Viewer], visit: Callable[..., Page], small_run: Path
) -> None:
    viewer = viewed(small_run.parent)
    page = visit(viewer).context.new_page()
    page.goto(f"data:text/html,<a href='{viewer.address}{RUN}?case=row-2'>look</a>")
    page.click("a")
    page.wait_for_selector(".case-head h1:has-text('Row 2')")


def test_facets_narrow_the_list_and_count(
    viewed: Callable[..., Viewer], visit: Callable[..., Page], small_run: Path
) -> None:
    page = visit(viewed(small_run.parent), RUN)
    facet = page.locator(".facet", has_text="args.schema.type")
    facet.wait_for()
    number = int(facet.locator(".faint").inner_text())
    facet.click()
    total(page, f"{number} case")
    assert page.locator(".facet[aria-pressed=true]").inner_text().startswith("args.schema.type")
    page.fill("section input[type=search]", "-finding:args.schema.type.x finding:args.schema.type")
    total(page, f"{number} case")
    facet.click()
    page.wait_for_url("**q=-finding%3Aargs.schema.type.x")


def test_the_list_reaches_the_last_row(
    viewed: Callable[..., Viewer], visit: Callable[..., Page], small_run: Path
) -> None:
    page = visit(viewed(small_run.parent), RUN)
    assert shown(page)[0] == "1"
    page.keyboard.press("End")
    page.wait_for_function("() => document.querySelector('.vrow.selected')?.textContent.startsWith('120')")
    assert len(page.locator(ROWS).all()) < 60


def test_the_keyboard_alone_is_enough(
    viewed: Callable[..., Viewer], visit: Callable[..., Page], small_run: Path
) -> None:
    """From the list of runs to a case, its neighbour, a search, a mark field and back."""
    page = visit(viewed(small_run.parent))
    page.wait_for_selector("tbody tr")
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    page.wait_for_selector(f"{ROWS} .vname")
    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("k")
    page.keyboard.press("Enter")
    page.wait_for_selector(".case-head h1:has-text('Row 2')")
    page.wait_for_selector(".case-steps .label:has-text('2 of 120')")
    page.keyboard.press("j")
    page.wait_for_selector(".case-head h1:has-text('Row 3')")
    page.keyboard.press("m")
    assert page.evaluate("document.activeElement.name") == "note"
    page.keyboard.press("Escape")
    page.keyboard.press("Escape")
    page.wait_for_selector(".vrow.selected a:text-is('3')")  # the list is where it was left
    page.keyboard.press("/")
    page.keyboard.type("outcome:not_measured")
    page.wait_for_url("**q=outcome*")
    page.keyboard.press("Escape")
    page.keyboard.press("?")
    assert "next case" in page.locator("dialog[open]").inner_text()
    page.keyboard.press("Escape")
    page.keyboard.press("Escape")
    page.wait_for_selector("table.runs")


@pytest.mark.parametrize("act", ["End", "search"])
def test_what_is_done_while_the_run_is_read_is_not_undone(
    viewed: Callable[..., Viewer], visit: Callable[..., Page], small_run: Path, act: str
) -> None:
    """The list goes to the case that was open before; who has moved or searched since stays there."""
    page = visit(viewed(small_run.parent), f"{RUN}?q=outcome%3Afailed")
    shown(page)
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    page.wait_for_selector(".judgement")
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    page.route(re.compile(r"/api/runs/[^/?]+\?"), hold)
    page.keyboard.press("Escape")
    shown(page)
    page.fill("section input[type=search]", "")
    total(page, "120 cases in")
    if act == "End":
        page.locator(".vgrid").focus()
        page.keyboard.press("End")
    with page.expect_response(re.compile(r"/cases\?.*\bcase=")):  # where is the case that was open before?
        held.pop().continue_()
    page.wait_for_timeout(300)
    assert page.locator(".vrow.selected a").inner_text() == ("120" if act == "End" else "1")


def test_a_key_that_moves_nothing_does_not_keep_the_list_from_the_case_that_was_open(
    viewed: Callable[..., Viewer], visit: Callable[..., Page], small_run: Path
) -> None:
    page = visit(viewed(small_run.parent), f"{RUN}?case=row-6")
    page.wait_for_selector(".judgement")
    held: list[Route] = []
    pressed = False

    def hold(route: Route) -> None:
        if pressed:
            route.continue_()
        else:
            held.append(route)

    page.route(re.compile(r"/cases\?.*\bstart="), hold)
    page.keyboard.press("Escape")
    page.wait_for_selector(".vgrid", state="attached")
    page.keyboard.press("j")
    while not held:
        page.wait_for_timeout(50)
    pressed = True
    for route in held:
        route.continue_()
    page.wait_for_selector(".vrow.selected a:text-is('6')")


def test_an_address_with_an_order_that_is_not_known_shows_the_cases(
    viewed: Callable[..., Viewer], visit: Callable[..., Page], small_run: Path
) -> None:
    page = visit(viewed(small_run.parent), f"{RUN}?sort=bogus&q=%20%20")
    total(page, "120 cases in")
    assert shown(page)[0] == "1"
    assert page.locator("section [role=alert]").inner_text() == ""


def test_a_pause_of_a_stream_is_seen_in_the_waterfall(
    viewed: Callable[..., Viewer], visit: Callable[..., Page], stalled_runs: Path
) -> None:
    """The bar before the fifth event is by far the longest; what the event said opens with the keyboard."""
    page = visit(viewed(stalled_runs / "verify"))
    page.wait_for_selector(f"{ROWS} .vname")
    page.keyboard.press("Enter")
    page.wait_for_selector(".events .timed")
    bars = page.eval_on_selector_all(".track i", "all => all.map(one => one.getBoundingClientRect().width)")
    assert len(bars) == 7
    assert bars[4] > 2 * max(bars[:4] + bars[5:])
    lines = page.locator(".events summary")
    assert "longest pause" in lines.nth(4).inner_text()
    assert "first call" in lines.nth(3).inner_text()
    assert "\\u202e" in lines.nth(2).inner_text()
    lines.nth(4).focus()
    page.keyboard.press("Enter")
    assert '"arguments"' in page.locator(".events details[open] pre").inner_text()
    assert page.locator(".waterfall .w-event").count() >= 2


def test_a_mark_is_set_and_shown(
    viewed: Callable[..., Viewer], visit: Callable[..., Page], small_run: Path, tmp_path: Path
) -> None:
    folder = shutil.copytree(small_run, tmp_path / "run")
    page = visit(viewed(folder), f"{RUN}?case=row-2")
    page.fill(".marking input", "<b>known</b> since May")
    page.get_by_role("button", name="Known").click()
    page.wait_for_selector(".marks li:has-text('<b>known</b> since May')")
    assert (folder / MARKS).exists()
    page.get_by_role("link", name="All cases").click()
    page.wait_for_selector(".vrow .mark-sign")


def test_a_growing_run_appears_and_grows(
    viewed: Callable[..., Viewer], visit: Callable[..., Page], small_run: Path, tmp_path: Path
) -> None:
    """The list shows it by itself; its page counts by model while it runs, and ends with a verdict."""
    page = visit(viewed(another(small_run, tmp_path / "runs" / "first", "aaaa0001").parent))
    page.wait_for_selector("tbody tr")
    endpoint = EndpointSpec(name="vendor", base_url=verify_samples.URL)
    manifest = Manifest(
        run="bbbb0002",
        job="verify",
        started_at=time.time(),
        toolcert="0",
        endpoints=(endpoint,),
        parameters={"model": "m"},
    )
    lines = (small_run / "records.jsonl").read_bytes().splitlines(keepends=True)
    writer = RunWriter(tmp_path / "runs" / "second", manifest)
    for line in lines[:10]:
        writer.append_lines(line)
    row = page.locator("tr[data-run=bbbb0002]")
    row.wait_for()
    row.get_by_text("running").wait_for()
    row.locator("th a").click()
    total(page, "10 cases")
    page.get_by_text("So far, by model").wait_for()
    for line in lines[10:100]:
        writer.append_lines(line)
    total(page, "100 cases")
    page.locator(".progress", has_text="100 cases so far").wait_for()
    for line in lines[100:]:
        writer.append_lines(line)
    writer.finish()
    total(page, "120 cases")
    page.locator(".certificate .kind", has_text="fails").wait_for()


def test_two_viewers_look_at_one_folder(
    viewed: Callable[..., Viewer], visit: Callable[..., Page], small_run: Path, tmp_path: Path
) -> None:
    folder = shutil.copytree(small_run, tmp_path / "run")
    first, second = visit(viewed(folder), RUN), visit(viewed(folder), RUN)
    total(first, "120 cases")
    total(second, "120 cases")
    append_mark(folder / MARKS, Mark(case="row-5", kind=MarkKind.WRONG))
    for page in (first, second):
        page.fill("section input[type=search]", "mark:wrong")
        total(page, "1 case found")


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two runs of one dataset; the later one misses many more required arguments."""
    folder = tmp_path_factory.mktemp("pair")
    write_verify_run(folder / "before", rows=300)
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(verify_samples.FAULTS, "args.schema.required", 0.3)
        after = write_verify_run(folder / "after", rows=300)
    manifest = read_manifest(after)
    write_manifest(after, msgspec.structs.replace(manifest, run="dddd0004", started_at=manifest.started_at + 86400))
    return folder


def test_two_runs_side_by_side_say_what_changed_by_a_test(
    viewed: Callable[..., Viewer], visit: Callable[..., Page], pair: Path
) -> None:
    page = visit(viewed(pair))
    boxes = page.locator("td.choose input")
    boxes.nth(1).wait_for()  # the page is there before its list is
    for box in boxes.all():
        box.check()
    page.get_by_role("button", name="Side by side").click()
    page.wait_for_selector(".certificate .kind")
    assert page.url.endswith("runs=c41e88d0%2Cdddd0004"), "the list is newest first, and time runs forward"


def test_the_difference_shows_pairs_with_both_answers(
    viewed: Callable[..., Viewer], visit: Callable[..., Page], pair: Path
) -> None:
    page = visit(viewed(pair), "sides?runs=c41e88d0,dddd0004")
    page.locator(".certificate .kind", has_text="worse").wait_for()
    page.locator("tr", has_text="args.schema.required").get_by_text("more often").wait_for()
    page.locator(".pair-of-cases summary").first.click()
    assert page.locator(".pair-of-cases").first.get_by_text("Case after").is_visible()
    page.get_by_role("button", name="Swap").click()
    page.locator("tr", has_text="args.schema.required").get_by_text("less often").wait_for()


def test_hostile_text_runs_nothing_and_turns_nothing_around(
    viewed: Callable[..., Viewer], visit: Callable[..., Page], hostile_run: Path, tmp_path: Path
) -> None:
    """Script, svg, directions and terminal codes in names, arguments, tags, evidence, notes, dataset and folder."""
    folder = shutil.copytree(hostile_run, tmp_path / "<img src=x onerror=window.ran=1>" / "run")
    again = another(folder, folder.parent / "<svg onload=window.ran=1>\u202e", "eeee0005")
    append_mark(again / MARKS, Mark(case="row-2", kind=MarkKind.KNOWN, note=HOSTILE))
    viewer = viewed(folder.parent)
    run = "runs/eeee0005"
    places = ["", "?q=script", run, f"{run}?q=script", f"{run}?case=row-2", f"{run}?case=row-10"]
    places += ["sides?runs=c41e88d0,eeee0005", "runs/%3Cscript%3E", f"{run}?case=%3Csvg%3E"]
    for place in places:
        page = visit(viewer)
        page.on("console", lambda _: None)
        page.goto(viewer.address + place)
        page.wait_for_timeout(900)
        assert page.evaluate("window.ran") is None, place
        text = page.evaluate("document.body.innerText")
        assert not set(text) & set("\u202e\u2066\u200f\x1b\x00\x9b"), place
        assert page.locator("main img, main script, main iframe, main object").count() == 0


def test_a_facet_with_hostile_text_filters_by_it(
    viewed: Callable[..., Viewer], visit: Callable[..., Page], hostile_run: Path, tmp_path: Path
) -> None:
    """Two tags, one of them hostile: its facet is pressed, finds its cases, and is shown as pressed."""
    folder = shutil.copytree(hostile_run, tmp_path / "run")
    lines = (folder / "records.jsonl").read_bytes().splitlines(keepends=True)
    lines[0] = lines[0].replace(b'"tags":[', b'"tags":["plain",')
    (folder / "records.jsonl").write_bytes(b"".join(lines))
    page = visit(viewed(folder), RUN)
    facet = page.locator(".facet-group", has_text="Tag").locator(".facet", has_text="<script>")
    facet.click()
    total(page, "40 cases found")
    facet.and_(page.locator("[aria-pressed=true]")).click()
    total(page, "40 cases in")
    page.locator(".facet-group", has_text="Tag").locator(".facet", has_text="plain").click()
    total(page, "1 case found")


def test_a_run_of_100000_rows_is_opened_searched_and_a_row_opened(
    viewed: Callable[..., Viewer], visit: Callable[..., Page], tmp_path: Path
) -> None:
    """Soon, also without an index, on a machine that is busy with other tests; bench/viewing.py holds the figures."""
    viewer = viewed(write_verify_run(tmp_path / "run", rows=100_000, body_size=20))
    begun = time.monotonic()
    page = visit(viewer)
    page.wait_for_selector(f"{ROWS} .vname")
    assert time.monotonic() - begun < 60
    assert shown(page)[0] == "1"
    page.locator(".progress", has_text="index made in").wait_for(timeout=300_000)
    total(page, "100\u202f000 cases")
    begun = time.monotonic()
    page.fill("section input[type=search]", '"Question 4711"')
    total(page, "11 cases found")
    assert time.monotonic() - begun < 30
    begun = time.monotonic()
    page.locator(ROWS).first.click()
    page.wait_for_selector(".judgement")
    assert time.monotonic() - begun < 30
    page.keyboard.press("Escape")
    page.fill("section input[type=search]", "")
    total(page, "100\u202f000 cases in")
    page.locator(".vgrid").focus()
    page.keyboard.press("End")
    page.wait_for_function("() => document.querySelector('.vrow.selected')?.textContent.startsWith('100000')")


@pytest.mark.needs("axe")
@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_axe_finds_nothing_serious(
    viewed: Callable[..., Viewer],
    visit: Callable[..., Page],
    pair: Path,
    part: Callable[[str], Path],
    *,
    width: int,
    theme: str,
) -> None:
    viewer = viewed(pair)
    checker = part("axe").read_text(encoding="utf-8")
    waits = {
        "": "tbody tr",
        RUN: ".facet, .facet-fold",
        f"{RUN}?case=row-2": ".judgement",
        "sides?runs=c41e88d0,dddd0004": ".sides",
    }
    for place, ready in waits.items():
        page = visit(viewer, place, width=width, color_scheme=theme, bypass_csp=True)
        page.wait_for_selector(ready, state="attached")
        page.wait_for_timeout(500)
        page.add_script_tag(content=checker)
        found = [
            f"{place} {violation['id']}: {violation['nodes'][0]['target']} {violation['nodes'][0]['failureSummary']}"
            for violation in page.evaluate("axe.run(document, {resultTypes: ['violations']})")["violations"]
            if violation["impact"] in ("serious", "critical")
        ]
        assert found == []
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), f"{place} is wider than the window"
