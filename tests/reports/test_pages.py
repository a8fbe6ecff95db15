"""Pages as files: self-contained, small, whole, and free of any markup but our own."""

from __future__ import annotations

import base64
import hashlib
import re
import shlex
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path

import pytest
from markupsafe import escape
from msgspec import structs

from reports import verify_samples
from reports.compare_samples import make_comparison
from reports.hostile import HOSTILE
from reports.samples import probe_summary
from reports.verify_samples import write_verify_run
from support.comparison_runs import Row, write_run
from toolcert.comparison.compare_options import CompareOptions
from toolcert.comparison.pipeline import compare
from toolcert.comparison.result import Comparison
from toolcert.core.findings import Severity
from toolcert.reports.compare import html as compare_page
from toolcert.reports.display_text import visible
from toolcert.reports.formats import Extras, Section, render
from toolcert.reports.html.page import style_sheet
from toolcert.reports.verify import row_evidence
from toolcert.verification.summary.tally import summarise

MEGABYTE = 1_000_000
URL_ATTRIBUTES = {"href", "src", "action", "formaction", "data", "poster", "xlink:href", "srcset", "background"}


class Page(HTMLParser):
    """The elements of a page."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: Counter[str] = Counter()
        self.ids: Counter[str] = Counter()
        self.links: list[str] = []
        self.attributes: set[str] = set()
        self.text = ""
        self._inside = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags[tag] += 1
        self._inside = tag if tag in ("script", "style") else ""
        for name, value in attrs:
            self.attributes.add(name)
            if name == "id":
                self.ids[value or ""] += 1
            if name in URL_ATTRIBUTES:
                self.links.append(value or "")

    def handle_endtag(self, tag: str) -> None:  # noqa: ARG002 - signature of HTMLParser
        self._inside = ""

    def handle_data(self, data: str) -> None:
        if not self._inside:
            self.text += data


def verify_page(run: Path) -> str:
    return str(render("verify", "html", summarise(run), Extras(run=str(run))))


@pytest.fixture(scope="module")
def pages(verify_run: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    folder = tmp_path_factory.mktemp("compare")
    return {
        "probe": str(render("probe", "html", probe_summary(14))),
        "verify": verify_page(verify_run),
        "compare": str(render("compare", "html", make_comparison(folder, vendors=2, rows=60))),
    }


@pytest.fixture(scope="module")
def hostile_pages(hostile_verify_run: Path, hostile_comparison: Comparison) -> dict[str, str]:
    return {
        "probe": str(render("probe", "html", probe_summary(4, hostile=True))),
        "verify": verify_page(hostile_verify_run),
        "compare": str(render("compare", "html", hostile_comparison)),
    }


JOBS = ["probe", "verify", "compare"]


@pytest.mark.parametrize("job", JOBS)
def test_nothing_outside_the_page_is_named(pages: dict[str, str], job: str) -> None:
    """Every address leads to a place on the page, and that place exists once."""
    page = Page(pages[job])
    assert page.links
    assert all(link.startswith("#") for link in page.links)
    assert {link[1:] for link in page.links} <= page.ids.keys()
    assert max(page.ids.values()) == 1


@pytest.mark.parametrize("job", JOBS)
def test_the_policy_allows_exactly_our_style_and_script(pages: dict[str, str], job: str) -> None:
    text = pages[job]
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]+)"', text)
    assert policy is not None
    allowed = policy.group(1).replace("&#39;", "'")
    assert allowed.startswith("default-src 'none'")
    for tag in ("style", "script"):
        blocks = re.findall(rf"<{tag}>(.*?)</{tag}>", text, re.DOTALL)
        assert len(blocks) == 1
        digest = base64.b64encode(hashlib.sha256(blocks[0].encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in allowed
    assert not re.search(r'\sstyle="', text)


@pytest.mark.parametrize("job", JOBS)
def test_hostile_text_adds_no_element_and_no_attribute(
    pages: dict[str, str], hostile_pages: dict[str, str], job: str
) -> None:
    calm, hostile = Page(pages[job]), Page(hostile_pages[job])
    assert hostile.tags["script"] == hostile.tags["style"] == hostile.tags["title"] == 1
    assert hostile.tags.keys() <= calm.tags.keys() | {"wbr"}
    assert hostile.attributes <= calm.attributes
    assert all(link.startswith("#") for link in hostile.links)


@pytest.mark.parametrize("job", JOBS)
def test_hostile_text_is_shown(hostile_pages: dict[str, str], job: str) -> None:
    """Harmless, but there: a report that hides what a vendor sent would hide a finding."""
    page = Page(hostile_pages[job])
    assert visible(HOSTILE)[:60] in page.text
    assert "7*7" in page.text
    assert not set(page.text) & set("\x00\x1b\x07\u202e\u2066")


def test_fifty_models_stay_under_a_megabyte() -> None:
    page = str(render("probe", "html", probe_summary(50, probes=25, iterations=50)))
    assert len(page.encode()) < MEGABYTE


@pytest.mark.heavy
def test_all_failing_rows_of_two_thousand_are_on_a_page_of_a_megabyte(tmp_path: Path) -> None:
    """With requests of 4 kB each."""
    run = write_verify_run(tmp_path / "run", rows=2000, body_size=4000)
    summary = summarise(run)
    page = verify_page(run)
    assert len(page.encode()) < MEGABYTE
    assert "2\u202f000" in page
    assert page.count('id="row-') > summary.rows.failed > 100
    assert "All of them, each with request and answer." in page


@pytest.mark.heavy
def test_a_run_that_fails_everywhere_stays_under_three_megabytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first rows are there, some of them with request and answer, and the viewer is named for the rest."""
    monkeypatch.setitem(verify_samples.FAULTS, "args.schema.required", 1.0)
    monkeypatch.setattr(row_evidence, "MOST_ROWS", 400)
    monkeypatch.setattr(row_evidence, "BUDGET", 200_000)
    run = write_verify_run(tmp_path / "run", rows=600, body_size=4000)
    page = verify_page(run)
    assert len(page.encode()) < 200_000 + 500_000
    assert 'id="row-400"' in page
    assert 'id="row-599"' not in page
    assert re.search("The first 400 of them, [0-9]+ with request and answer", page)
    assert f"toolcert view {run}" in page


def test_a_code_that_is_an_error_here_and_harmless_there_has_two_addresses(verify_run: Path) -> None:
    summary = summarise(verify_run)
    harmless = structs.replace(summary.vendor[0], severity=Severity.WARNING)
    page = Page(str(render("verify", "html", structs.replace(summary, vendor=(*summary.vendor, harmless)))))
    assert max(page.ids.values()) == 1
    assert f"f-{harmless.code}-warning" in page.ids


def test_lost_calls_are_counted_for_their_tool(verify_run: Path) -> None:
    summary = summarise(verify_run)
    lost = [structs.replace(tool, lost=3 * (number == 0)) for number, tool in enumerate(summary.tools)]
    page = str(render("verify", "html", structs.replace(summary, tools=tuple(lost))))
    assert '<b class="t-bad">3</b>' in page
    assert "no agent sees it" in page


def test_rows_without_an_answer_and_rows_never_asked_are_two_things(tmp_path: Path) -> None:
    rows = [Row(index=index) for index in range(1, 41)]
    gaps = [structs.replace(row, called=None) if row.index < 4 else row for row in rows[:30]]
    one, two = write_run(tmp_path / "one", rows), write_run(tmp_path / "two", gaps)
    page = str(render("compare", "html", compare([str(one)], [str(two)])))
    assert ">3: no answer in time (3)<" in page
    assert re.search(r"<dt>Only in the baseline</dt><dd[^>]*>10<", page)


def test_a_parameter_that_one_side_does_not_give_is_named_as_such(tmp_path: Path) -> None:
    rows = [Row(index=index) for index in range(1, 4)]
    bare = [structs.replace(row, arguments="{}", valid=False) for row in rows]
    one, two = write_run(tmp_path / "one", rows), write_run(tmp_path / "two", bare)
    page = str(render("compare", "html", compare([str(one)], [str(two)])))
    assert "<code></code>" not in page
    assert "not given" in page
    assert "vendor&#39;s call is invalid: Schema mismatch: required" in page


def test_intervals_are_named_by_the_confidence_they_have(comparison: Comparison) -> None:
    sure = structs.replace(comparison, alpha=0.01)
    page = str(render("compare", "html", sure))
    assert "99 % interval" in page
    assert "95 % interval" not in page
    assert "| Measure | Vendor | 99 % | Ceiling | 99 % |" in str(render("compare", "markdown", sure))


@pytest.mark.heavy
def test_a_comparison_begins_with_a_sentence_and_what_to_do(comparison: Comparison) -> None:
    page = Page(str(render("compare", "html", comparison))).text
    (vendor,) = comparison.vendors
    sentence, todo, numbers = (page.index(text) for text in (vendor.sentence, "What to do", "In numbers"))
    assert sentence < todo < numbers < page.index("Agreement, with its ceiling")
    assert not re.search(r"\d", vendor.sentence)


@pytest.mark.heavy
def test_all_rows_that_differ_are_on_the_page(tmp_path: Path) -> None:
    rows = [Row(index=index, question=f"question {index}") for index in range(1, 601)]
    other = [structs.replace(row, arguments='{"word": "z"}') for row in rows]
    one, two = write_run(tmp_path / "one", rows), write_run(tmp_path / "two", other)
    found = compare([str(one)], [str(two)], CompareOptions(rows=2000))
    page = str(render("compare", "html", found))
    assert "All of them, the clearest first." in page
    assert page.count("data-counted") == 600 + 1  # and the script's own mention
    assert len(page.encode()) < 2 * MEGABYTE
    assert render("compare", "json", found).count(b'"noisy"') == 100  # type: ignore[arg-type]  # bytes


def test_rows_beyond_the_room_of_a_page_are_left_to_the_viewer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compare_page, "BUDGET", 30_000)
    rows = [Row(index=index, question=f"question {index}") for index in range(1, 101)]
    other = [structs.replace(row, arguments='{"word": "z"}') for row in rows]
    one, two = write_run(tmp_path / "one", rows), write_run(tmp_path / "two", other)
    page = str(render("compare", "html", compare([str(one)], [str(two)])))
    assert 5 < page.count('<details id="v-two-row-') < 50
    assert f"toolcert view {one} {two}" in page


@pytest.mark.heavy
def test_many_vendors_stay_under_three_megabytes(tmp_path: Path) -> None:
    """With all the rows that differ."""
    page = str(render("compare", "html", make_comparison(tmp_path, vendors=8, rows=200)))
    assert len(page.encode()) < 3 * MEGABYTE


def test_a_megabyte_of_evidence_is_cut() -> None:
    page = str(render("probe", "html", probe_summary(3, hostile=True)))
    assert len(page.encode("utf-8", "replace")) < MEGABYTE
    assert "x" * 3000 not in page


def test_a_good_verdict_beside_an_error_has_a_visible_caveat() -> None:
    page = str(render("probe", "html", probe_summary(1)))
    ranking = page[page.index('id="ranking"') : page.index('id="capabilities"')]
    assert re.search(r'class="caveat" href="#f-finish\.stop_with_calls">.*?1 error</a>', ranking, re.DOTALL)


def test_dataset_problems_stand_apart_from_the_vendor(verify_run: Path) -> None:
    page = verify_page(verify_run)
    vendor, dataset = page.index('id="vendor"'), page.index('<h2 id="dataset"')
    assert "dataset.bad_schema" not in page[vendor:dataset]
    assert "dataset.bad_schema" in page[dataset:]


def test_examples_open_to_request_and_answer(verify_run: Path) -> None:
    page = Page(verify_page(verify_run))
    assert "Request" in page.text
    assert '"role": "user"' in page.text
    assert '"finish_reason": "tool_calls"' in page.text
    assert f"toolcert replay {verify_run}" in page.text


def test_a_verify_page_without_its_run_still_has_all_figures(verify_run: Path) -> None:
    """A summary alone, such as one that was sent by mail, makes a page without requests and answers."""
    page = Page(str(render("verify", "html", summarise(verify_run))))
    assert "Problems of the vendor" in page.text
    assert '"role": "user"' not in page.text


def test_a_history_section_is_inserted_and_linked() -> None:
    section = Section(anchor="history", title="History", html="<p>90 of 90 days</p>")
    page = Page(str(render("probe", "html", probe_summary(2), Extras(history=section))))
    assert "90 of 90 days" in page.text
    assert "#history" in page.links
    assert page.ids["history"] == 1


def test_models_with_like_names_have_addresses_of_their_own() -> None:
    import msgspec

    summary = probe_summary(3)
    names = ("a/b", "a b", "a?b")
    models = [msgspec.structs.replace(one, model=name) for one, name in zip(summary.models, names, strict=True)]
    page = Page(str(render("probe", "html", msgspec.structs.replace(summary, models=tuple(models)))))
    assert {"m-a-b", "m-a-b-2", "m-a-b-3"} <= page.ids.keys()


def test_text_on_a_solid_cell_can_be_read_in_both_themes() -> None:
    """White text of 11 pixels needs a contrast of 4.5."""
    pair = re.search(r"--bad-fill: light-dark\(#(\w{6}), #(\w{6})\)", style_sheet())
    assert pair is not None
    for colour in pair.groups():
        parts = [int(colour[at : at + 2], 16) / 255 for at in (0, 2, 4)]
        light = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        assert 1.05 / (0.2126 * light[0] + 0.7152 * light[1] + 0.0722 * light[2] + 0.05) >= 4.5


def test_a_command_to_copy_runs_nothing_of_a_name(tmp_path: Path) -> None:
    run = write_verify_run(tmp_path / "a; $(touch x)", rows=60)
    page = str(render("verify", "html", summarise(run), Extras(run=str(run))))
    assert f"toolcert replay {escape(shlex.quote(str(run)))} " in page
