"""`toolcert daily` over simulated days: an outage, a regression, recovery, retention, the README."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from support.patience import PATIENCE, free_port
from toolcert.api.daily import Publication, prune
from toolcert.history.daily_status import DayStatus
from toolcert.history.observation import today
from toolcert.history.overview import Overview, overview
from toolcert.history.store import HistoryStore
from toolcert.simulate import Vendor

pytestmark = pytest.mark.heavy  # simulates or starts many processes; `make test-fast` does without

GOOD = {"alpha": "faithful", "beta": "faithful"}
MARKED = "# Mine\n\n<!-- TOOL_TEST_REPORT_START -->\nold\n<!-- TOOL_TEST_REPORT_END -->\n\nThe end, with a ø.\r\n"


class Days:
    """A folder in which one day after another is run."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.asked = 0
        self.port = free_port()

    def run(
        self, day: str, models: dict[str, str], *words: str, outage: dict[str, Any] | None = None
    ) -> subprocess.CompletedProcess[str]:
        """One daily run against a vendor with these models."""
        with Vendor(models=models, port=self.port) as vendor:
            if outage is not None:
                vendor.outage("503", **outage)
            (self.folder / "toolcert.toml").write_text(
                '[defaults]\nsuite = "agent"\niterations = 5\nretries = 0\nhistory = "h.sqlite"\n'
                f'[endpoints.v]\nbase_url = "{vendor.url}"\n'
            )
            command = [sys.executable, "-m", "toolcert", "daily", "v", "--config", "toolcert.toml", "--date", day]
            done = subprocess.run(
                [*command, "--quiet", *words],
                cwd=self.folder,
                capture_output=True,
                text=True,
                check=False,
                timeout=PATIENCE,
            )
            self.asked = len(vendor.requests)
        return done

    def overview(self) -> Overview:
        with HistoryStore(str(self.folder / "h.sqlite")) as store:
            return overview(store)

    def pages(self) -> list[str]:
        return sorted(path.name for path in (self.folder / "reports").glob("report_*"))

    def content(self) -> dict[str, bytes]:
        return {path.name: path.read_bytes() for path in (self.folder / "reports").iterdir()}


@pytest.fixture
def days(tmp_path: Path) -> Days:
    return Days(tmp_path)


def statuses(found: Overview) -> dict[str, list[str]]:
    return {history.model: [day.status.value for day in history.days] for history in found.models}


def test_an_outage_a_regression_and_recovery_over_days(days: Days) -> None:
    """Each day says what happened: transport trouble is never a regression, a model that stops calling is."""
    codes = [
        days.run("2024-06-01", GOOD).returncode,
        days.run("2024-06-02", GOOD, outage={"model": "beta"}).returncode,
        days.run("2024-06-03", GOOD, outage={}).returncode,
        days.run("2024-06-04", {**GOOD, "beta": "text-caller"}, "--fail-on", "call.in_text").returncode,
        days.run("2024-06-05", GOOD, "--fail-on", "call.in_text").returncode,
    ]
    assert codes == [0, 0, 3, 1, 0]
    found = days.overview()
    working, lost, broken = DayStatus.WORKING.value, DayStatus.NOT_MEASURED.value, DayStatus.BROKEN.value
    assert statuses(found) == {
        "alpha": [working, working, lost, working, working],
        "beta": [working, lost, lost, broken, working],
    }
    assert [(change.model, change.kind.value) for change in found.changes] == [("beta", "back again")]
    assert [(one.model, one.first, one.last, one.broken) for one in found.outages] == [
        ("beta", "2024-06-02", "2024-06-03", False),
        ("alpha", "2024-06-03", "2024-06-03", False),
        ("beta", "2024-06-04", "2024-06-04", True),
    ]
    assert found.drift.changes == ()


def test_every_day_has_its_page_the_latest_is_the_newest_and_the_index_leads_to_all(days: Days) -> None:
    for day in ("2024-06-02", "2024-06-03", "2024-06-01"):  # the last one is made up for
        assert days.run(day, GOOD, outage={} if day == "2024-06-03" else None).returncode in (0, 3)
    content = days.content()
    assert days.pages() == ["report_2024-06-01.html", "report_2024-06-02.html", "report_2024-06-03.html"]
    assert content["latest_report.html"] == content["report_2024-06-03.html"]
    index = content["index.html"].decode()
    places = [index.index(f'href="{name}"') for name in reversed(days.pages())]
    assert places == sorted(places)
    assert "could not be measured: an outage, not a regression" in content["report_2024-06-03.html"].decode()
    assert 'id="history"' in content["report_2024-06-02.html"].decode()


def test_the_second_run_of_a_day_asks_and_changes_nothing(days: Days) -> None:
    assert days.run("2024-06-01", GOOD).returncode == 0
    before, runs = days.content(), days.overview().runs
    assert days.run("2024-06-01", GOOD).returncode == 0
    assert days.asked == 0
    assert days.content() == before
    assert days.overview().runs == runs == 1


def test_a_dry_run_of_a_day_prints_the_plan_and_writes_nothing(days: Days) -> None:
    done = days.run("2024-03-01", GOOD, "--dry-run")
    assert done.returncode == 0, done.stderr
    assert "none was sent" in done.stdout
    assert days.asked == 1, "only the models are listed"
    assert [path.name for path in days.folder.iterdir()] == ["toolcert.toml"]


def test_the_second_run_of_a_day_asks_what_could_not_be_measured(days: Days) -> None:
    """After an outage in the morning the day is made whole, and the outage is forgotten."""
    days.run("2024-06-01", GOOD)
    whole = days.asked
    assert days.run("2024-06-02", GOOD, outage={}).returncode == 3
    assert statuses(days.overview()) == {"alpha": ["working", "not_measured"], "beta": ["working", "not_measured"]}
    assert days.run("2024-06-02", GOOD, outage={"model": "beta"}).returncode == 0
    assert statuses(days.overview())["beta"] == ["working", "not_measured"]
    assert days.run("2024-06-02", GOOD).returncode == 0
    assert 0 < days.asked < whole
    found = days.overview()
    assert statuses(found) == {"alpha": ["working", "working"], "beta": ["working", "working"]}
    assert [(day.calling.k, day.calling.n) for history in found.models for day in history.days] == [(5, 5)] * 4


def test_another_machine_may_run_the_day_again(days: Days) -> None:
    """Without the folder of the run everything is asked again, and replaces what the history had of the day."""
    days.run("2024-06-01", GOOD)
    shutil.rmtree(days.folder / "toolcert-runs")
    assert days.run("2024-06-01", GOOD).returncode == 0
    assert days.asked > 0
    found = days.overview()
    assert found.runs == 1
    assert [day.calling.n for history in found.models for day in history.days] == [5, 5]


def test_an_outage_in_the_evening_leaves_the_morning_as_it_was(days: Days) -> None:
    days.run("2024-06-01", GOOD)
    shutil.rmtree(days.folder / "toolcert-runs")
    page = days.folder / "reports" / "report_2024-06-01.html"
    morning = page.read_bytes()
    assert days.run("2024-06-01", GOOD, outage={}).returncode == 3
    assert statuses(days.overview()) == {"alpha": ["working"], "beta": ["working"]}
    assert page.read_bytes() == morning


def test_an_endpoint_that_never_answered_is_an_outage_and_no_word_about_the_others(days: Days) -> None:
    days.run("2024-06-01", GOOD)
    command = [sys.executable, "-m", "toolcert", "daily", "http://127.0.0.1:9", "--history", "h.sqlite"]
    done = subprocess.run(
        [*command, "--date", "2024-06-02", "--quiet", "--retries", "0"],
        cwd=days.folder, capture_output=True, text=True, check=False, timeout=PATIENCE,
    )  # fmt: skip
    assert done.returncode == 3
    assert "no answer from http://127.0.0.1:9" in done.stderr
    assert days.pages() == ["report_2024-06-01.html"]
    assert statuses(days.overview()) == {"alpha": ["working"], "beta": ["working"]}


def test_what_is_older_than_the_retention_goes_by_the_date_of_the_run(days: Days) -> None:
    """An old page with a young file time goes; a young page with an old file time stays; other files stay."""
    for day in ("2024-01-01", "2024-03-01"):
        days.run(day, GOOD)
    other = days.folder / "reports" / "notes.txt"
    other.write_text("mine")
    os.utime(days.folder / "reports" / "report_2024-03-01.html", (0, 0))
    done = days.run("2024-03-02", GOOD, "--retention", "30")
    assert (
        "Deleted, because older than the retention: 1 page, 1 run folder and 1 run of the history before 2024-02-02."
        in done.stderr
    )
    assert days.pages() == ["report_2024-03-01.html", "report_2024-03-02.html"]
    assert other.exists()
    assert sorted(path.name for path in (days.folder / "toolcert-runs").iterdir()) == [
        "daily-2024-03-01",
        "daily-2024-03-02",
    ]
    with HistoryStore(str(days.folder / "h.sqlite")) as store:
        assert [run.day for run in store.runs()] == ["2024-03-01", "2024-03-02"]


def test_a_day_that_is_yet_to_come_is_refused_and_deletes_nothing(days: Days) -> None:
    """A mistyped year would make all that was ever measured too old to keep."""
    days.run("2024-06-01", GOOD)
    before = days.content()
    done = days.run("2999-06-02", GOOD)
    assert done.returncode == 2
    assert "--date 2999-06-02 is in the future" in done.stderr
    assert days.asked == 0
    assert days.content() == before
    assert days.overview().runs == 1


def test_the_retention_counts_from_today_at_the_latest(tmp_path: Path) -> None:
    page = tmp_path / f"report_{today()}.html"
    page.write_text("today's")
    what = Publication(
        history=str(tmp_path / "h.sqlite"),
        day="2999-01-01",
        run="",
        runs=str(tmp_path),
        report_dir=str(tmp_path),
        readme=None,
        retention=1,
        days=1,
    )
    assert not prune(what)
    assert page.exists()


def test_only_the_marked_section_of_the_readme_changes(days: Days) -> None:
    readme = days.folder / "README.md"
    readme.write_bytes(MARKED.encode())
    assert days.run("2024-06-01", GOOD, "--readme", "README.md").returncode == 0
    text = readme.read_bytes().decode()
    start, end = MARKED.index("old"), MARKED.index("<!-- TOOL_TEST_REPORT_END -->")
    assert text.startswith(MARKED[:start])
    assert text.endswith(MARKED[end:])
    assert "| alpha | passes | 1/1 |" in text
    assert "[Full report](reports/latest_report.html)" in text
    days.run("2024-06-01", GOOD, "--readme", "README.md")
    assert readme.read_bytes().decode() == text


@pytest.mark.parametrize(
    "text",
    [
        MARKED.replace("<!-- TOOL_TEST_REPORT_START -->", ""),
        MARKED.replace("<!-- TOOL_TEST_REPORT_END -->", ""),
        MARKED * 2,
        "<!-- TOOL_TEST_REPORT_END -->\n<!-- TOOL_TEST_REPORT_START -->\n",
    ],
)
def test_a_readme_without_both_markers_is_refused_before_anything_is_asked(days: Days, text: str) -> None:
    readme = days.folder / "README.md"
    readme.write_text(text, newline="")
    before = readme.read_bytes()
    done = days.run("2024-06-01", GOOD, "--readme", "README.md")
    assert done.returncode == 2
    assert "left alone" in done.stderr
    assert readme.read_bytes() == before
    assert days.asked == 0


def test_a_first_day_without_any_answer_publishes_nothing(days: Days) -> None:
    done = days.run("2024-06-01", GOOD, outage={})
    assert done.returncode == 3
    assert not (days.folder / "reports").exists()


def test_a_history_that_cannot_be_used_is_told_before_anything_is_asked(days: Days) -> None:
    """And its password reaches neither the error nor a file."""
    done = days.run("2024-06-01", GOOD, "--history", "postgresql://me:hunter2-very@127.0.0.1:1/db?connect_timeout=2")
    assert done.returncode == 2
    assert days.asked == 0
    assert "hunter2-very" not in done.stdout + done.stderr
    assert "me:[secret]@127.0.0.1:1" in done.stderr
    assert "other users of this machine can see a password on the command line" in done.stderr


def test_the_password_of_the_history_is_in_no_file_of_the_run(days: Days) -> None:
    """A run keeps its command line; not the secrets in it."""
    words = ["probe", "--suite", "quick", "-n", "1", "--output", "run", "--quiet"]
    with Vendor(models=GOOD) as vendor:
        command = [
            sys.executable,
            "-m",
            "toolcert",
            *words,
            vendor.url,
            "--history",
            "postgresql://me:hunter2-very@h/d",
        ]
        done = subprocess.run(command, cwd=days.folder, capture_output=True, text=True, check=False, timeout=PATIENCE)
    assert done.returncode == 0, done.stderr
    manifest = json.loads((days.folder / "run" / "manifest.json").read_text())
    assert "postgresql://me:[secret]@h/d" in manifest["argv"]
    assert not any(b"hunter2-very" in path.read_bytes() for path in days.folder.rglob("*") if path.is_file())
