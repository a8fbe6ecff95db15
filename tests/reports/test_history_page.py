"""The page of a history: what it says, that it is safe, and that it stands alone."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from support.histories import GOOD, TELLING, Counts, made, stored
from toolcert.history.csv_import import import_csv
from toolcert.history.daily_status import DayStatus
from toolcert.history.overview import Overview, overview
from toolcert.history.store import HistoryStore
from toolcert.reports.history.html import history_html, history_section
from toolcert.reports.history.notes import Note, notes
from toolcert.reports.history.phrases import chance, window_text
from toolcert.reports.html.charts.calendar import Mark, days_chart


@pytest.fixture
def found(tmp_path: Path) -> Overview:
    return made(tmp_path, TELLING)


def note_on(noted: list[Note], model: str) -> Note:
    (note,) = [note for note in noted if note.models == (model,)]
    return note


def test_the_notes_are_written_from_the_data(found: Overview) -> None:
    """One for everything that stands out, none for what does not."""
    noted = notes(found)
    assert [note.number for note in noted] == list(range(1, len(noted) + 1))
    assert {name for note in noted for name in note.models} == {
        "outage", "transport", "deaf", "sagging", "gone", "just-broke",
    }  # fmt: skip
    outage = note_on(noted, "outage")
    assert (outage.when, outage.status) == ("21 to 26 April", DayStatus.BROKEN)
    assert outage.text == (
        "No call in 300 tries on 6 days; 50/50 calls, 50/50 used the day before, "
        "50/50 calls, 50/50 used on the first day back."
    )
    assert "That says nothing about the models." in note_on(noted, "transport").text
    assert note_on(noted, "deaf").text == "Calls on 60 days and did not use a result once: 0/3\u202f000."
    sag = note_on(noted, "sagging")
    assert (sag.word, sag.first, sag.last) == ("declined", "2026-04-21", "2026-05-10")
    assert "from 99.0 % to 87.9 %" in sag.text
    assert "back to 100.0 % on 11 May" in sag.text
    assert note_on(noted, "gone").when == "10 May"


def test_an_endpoint_that_is_down_is_one_note(tmp_path: Path) -> None:
    models = {f"m{number}": [GOOD, None, GOOD] for number in range(5)}
    (note,) = notes(made(tmp_path, models))
    assert note.models == ("m0 and 4 more",)
    assert note.text == "5 models could not be measured: HTTP 503. That says nothing about the models."


def test_the_height_of_a_bar_tells_the_state_without_colour() -> None:
    """Full, full with a gap, two thirds, short, cut in two, base line, hatched, point."""
    heights = {
        status: [float(number) for number in re.findall(r"v([\d.]+)", str(days_chart([status], [], "x")))]
        for status in DayStatus
    }
    assert heights == {
        DayStatus.WORKING: [24],
        DayStatus.PARTIAL: [16, 4],
        DayStatus.UNRELIABLE: [16],
        DayStatus.CALLS_ONLY: [8],
        DayStatus.BROKEN: [10, 10],
        DayStatus.NOT_SUPPORTED: [1.5],
        DayStatus.NOT_MEASURED: [3, 3, 3, 3],
        DayStatus.NOT_TESTED: [1.2],
    }


def test_a_mark_spans_its_days_and_leads_to_its_note() -> None:
    chart = str(days_chart([DayStatus.WORKING] * 40, [Mark(number=3, first=8, last=19)], "x"))
    assert 'href="#note-3"' in chart
    assert 'x1="20%" x2="50%"' in chart


def test_a_young_history_is_not_stretched() -> None:
    """Ten days stand at the right of thirty places."""
    chart = str(days_chart([DayStatus.WORKING] * 10, [Mark(number=1, first=0, last=9)], "x"))
    assert 'viewBox="-20 0 30 24"' in chart
    assert 'x1="66.67%" x2="100%"' in chart


def test_the_page_says_what_changed_first(found: Overview) -> None:
    page = history_html(found)
    assert "<h1>just-broke stopped calling tools; 4 of 7 models pass.</h1>" in page
    places = [page.index(mark) for mark in ("stopped calling</span>", 'id="timeline"', 'id="trends"', 'id="drift"')]
    assert places == sorted(places)
    assert "worse than the last good run" in page
    assert "<code>call.in_text</code>" in page


def test_what_a_vendor_wrote_stays_text(tmp_path: Path) -> None:
    """A model's name with markup in it is shown, never obeyed, in the page and in the section."""
    evil = "<script>alert(1)</script>\u202e|\"'x"
    found = made(tmp_path, {evil: [GOOD, (0, 0), None], f"{evil}/b": [GOOD, GOOD, (0, 0)]})
    for page in (history_html(found), history_section(found).html):
        assert "<script>alert" not in page
        assert "\u202e" not in page
        assert "&lt;/script&gt;" in page


@pytest.mark.heavy
def test_a_long_history_stays_small(tmp_path: Path) -> None:
    """Three years: at most a hundred bars a model, called by their worst day."""
    course: list[Counts] = [GOOD] * 1095
    course[500] = (0, 0)
    page = history_html(made_days(tmp_path, course))
    assert "One bar for 28 days, showing the worst of them" in page
    bars = re.search(r'viewBox="0 0 (\d+) 24"', page)
    assert bars is not None
    assert int(bars.group(1)) == 40
    assert page.count('class="d-broken"') == 2  # one bar, and the legend


def made_days(folder: Path, course: list[Counts]) -> Overview:
    with HistoryStore(stored(str(folder / "h"), {"m": course})) as store:
        return overview(store, days=len(course))


@pytest.mark.heavy
def test_the_real_history_tells_its_three_stories(recorded: Path, tmp_path: Path) -> None:
    """mistral-large-2512 calls and never uses a result, mistral-medium-2505 broke, llama-3-3-70b sagged."""
    with HistoryStore(str(tmp_path / "h")) as store:
        import_csv(store, recorded / "watsonx-history")
        found = overview(store)
    noted = {(note.models[0], note.word): note for note in notes(found)}
    assert noted["mistral-medium-2505", "stopped calling"].when == "18 to 23 April"
    assert "did not use a result once: 0/4\u202f372" in noted["mistral-large-2512", "results not used"].text
    sag = noted["llama-3-3-70b-instruct", "declined"]
    assert sag.when == "11 April to 7 May"
    assert "from 99.6 % to 96.2 %" in sag.text
    page = history_html(found)
    assert "No status changed on 24 June; 8 of 24 models pass." in page
    assert "16 models" in page


def test_the_first_day_is_called_that(tmp_path: Path) -> None:
    """There is no day before: nothing "did not change", and one day is no span."""
    page = history_html(made(tmp_path, {"a": [GOOD], "b": [(0, 0)]}))
    assert "<h1>First measured on 1 April; 1 of 2 models passes.</h1>" in page
    assert "<span>1 April 2026</span>" in page
    assert "there is nothing to compare it with" in page
    assert "No model was measured on 10 days yet" in page
    assert "No change point found" not in page
    assert "1 days" not in page


def test_a_short_look_at_a_long_history_is_not_its_beginning(tmp_path: Path) -> None:
    with HistoryStore(stored(str(tmp_path / "h"), {"m": [GOOD] * 5})) as store:
        page = history_html(overview(store, days=1))
    assert "No status changed on 5 April" in page


def test_a_span_over_the_turn_of_a_year_names_both() -> None:
    assert window_text("2025-12-30", "2026-01-02") == "30 December 2025 to 2 January 2026"
    assert window_text("2026-03-27", "2026-06-24") == "27 March to 24 June 2026"


def test_dates_over_a_young_history_do_not_overlap(tmp_path: Path) -> None:
    """There is room for thirty days: a date at each of five would be one above the other."""
    page = history_html(made(tmp_path, {"m": [GOOD] * 5}))
    axis = page[page.index('<th scope="col" class="days">') :].partition("</th>")[0]
    assert [text for text in ("1 Apr", "2 Apr", "3 Apr") if f">{text}<" in axis] == ["1 Apr"]


@pytest.mark.parametrize(("p", "written"), [(0.0294, "p = 0.029"), (0.00098, "p = 9.8e-04"), (0.0, "p < 1e-300")])
def test_a_p_value_is_written_as_in_comparisons(p: float, written: str) -> None:
    assert chance(p) == written
