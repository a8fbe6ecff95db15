"""`toolcert history` and `--save-history`, as a user runs them."""

from __future__ import annotations

import csv
import json
import sqlite3
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from support.histories import TELLING, stored
from toolcert.cli.main import cli
from toolcert.simulate import Vendor


@pytest.fixture
def history(tmp_path: Path) -> str:
    return stored(str(tmp_path / "h.sqlite"), TELLING)


def toolcert(*words: str, width: int = 80) -> Result:
    return CliRunner(env={"COLUMNS": str(width)}).invoke(cli, words)


def lines_of(result: Result) -> list[str]:
    assert result.exit_code == 0, result.output
    return result.stdout.splitlines()


def test_show_fits_80_columns_by_weeks_and_shows_days_where_there_is_room(history: str) -> None:
    """60 days do not fit into 80 columns one by one; the week that broke is marked all the same."""
    narrow = lines_of(toolcert("history", "show", "--history", history))
    assert max(map(len, narrow)) <= 80
    assert "one symbol is a week, the worst day of it" in "\n".join(narrow)
    (line,) = [line for line in narrow if line.startswith("outage ")]
    assert "██✗✗█" in line
    wide = lines_of(toolcert("history", "show", "--history", history, width=140))
    (line,) = [line for line in wide if line.startswith("outage ")]
    assert "█" * 20 + "✗" * 6 + "█" * 34 in line
    (line,) = [line for line in wide if line.startswith("transport ")]
    assert "█" * 30 + "░░" + "█" * 28 in line
    assert line.split()[-2] == "58/58"  # days of an outage count neither way


def test_show_says_first_what_changed_and_names_the_never_calling_last(history: str) -> None:
    shown = lines_of(toolcert("history", "show", "--history", history))
    assert shown[0] == "just-broke stopped calling tools; 4 of 7 models pass."
    (place,) = [number for number, line in enumerate(shown) if line.startswith("✗ stopped calling")]
    assert shown[place].split()[-1] == "just-broke"
    assert shown[place + 1].strip() == "50/50 calls, 50/50 used → 0/50 calls"
    assert shown[-1] == "1 model never called a tool: embedder"


def test_a_narrow_encoding_gets_plain_signs(history: str) -> None:
    result = CliRunner(env={"COLUMNS": "140"}, charset="ascii").invoke(cli, ["history", "show", "--history", history])
    assert "#" * 20 + "x" * 6 + "#" * 34 in result.stdout
    assert "->" in result.stdout


def test_trend_shows_weeks_with_counts_and_whiskers(history: str) -> None:
    shown = lines_of(toolcert("history", "trend", "outage", "--history", history))
    assert shown[0] == "vendor/outage"
    assert max(map(len, shown)) <= 80
    weeks = [line.split()[:2] for line in shown[2:]]
    assert weeks[2:5] == [["2026-04-12", "350/350"], ["2026-04-19", "100/350"], ["2026-04-26", "300/350"]]


def test_trend_of_all_models_is_a_line_a_day(history: str) -> None:
    shown = lines_of(toolcert("history", "trend", "--history", history, "--days", "2"))
    assert [line.split()[:5] for line in shown[1:3]] == [
        ["2026-05-29", "7", "6", "5", "5"],
        ["2026-05-30", "7", "5", "4", "4"],
    ]


def test_outages_tell_broken_from_not_measured(history: str) -> None:
    shown = "\n".join(lines_of(toolcert("history", "outages", "--history", history)))
    assert "✗ stopped calling 2026-04-21  2026-04-26        6" in shown
    assert "░ not measured    2026-05-01  2026-05-02        2" in shown
    assert "✗ stopped calling 2026-05-30  goes on           1" in shown


def test_drift_states_its_budget_and_finds_the_sag_but_not_the_transport_outage(history: str) -> None:
    shown = lines_of(toolcert("history", "drift", "--history", history))
    assert "the chance of any alarm below would be at most 5 %" in " ".join(shown)
    found = [line for line in shown if " → " in line]
    assert any(line.startswith("✗ sagging") and "call rate" in line and "21 April" in line for line in found)
    assert not any("transport" in line or "steady" in line for line in found)
    assert "✗ just-broke: 0/50 passed on 30 May, 50/50 in the last good run on 29 May" in " ".join(shown)


@pytest.mark.sampled
@pytest.mark.parametrize("view", ["show", "trend", "outages", "drift"])
def test_each_view_speaks_json(history: str, view: str) -> None:
    result = toolcert("history", view, "--history", history, "--json", "-")
    document = json.loads(result.stdout)
    assert document["format"] == "toolcert.history/2"
    assert {model["model"] for model in document["history"]["models"]} == set(TELLING)
    assert document["history"]["models"][0]["days"][0]["calling"] == {"k": 50, "n": 50}


def test_html_is_one_page(history: str, tmp_path: Path) -> None:
    assert toolcert("history", "html", str(tmp_path / "a.html"), "--history", history).exit_code == 0
    shown = toolcert("history", "show", "--history", history, "--html", str(tmp_path / "b.html"))
    assert lines_of(shown)[0].startswith("just-broke stopped")
    assert (tmp_path / "a.html").read_bytes() == (tmp_path / "b.html").read_bytes()


def test_export_and_import_go_round(history: str, tmp_path: Path) -> None:
    """What is exported as CSV is a history again."""
    folder, again = str(tmp_path / "csv"), str(tmp_path / "again.sqlite")
    assert toolcert("history", "export", folder, "--history", history).exit_code == 0
    taken = toolcert("history", "import", folder, "--history", again, "--as", "e")
    assert "460 rows, 8 models, 60 days" in taken.stderr
    assert toolcert("history", "export", folder + "2", "--history", again).exit_code == 0
    first, second = (
        [
            (row["date"], row["model_id"], row["tool_success_rate"], row["is_reliable"])
            for row in csv.DictReader((Path(place) / "test_results.csv").open(newline=""))
        ]
        for place in (folder, folder + "2")
    )
    assert first == second
    jsonl = toolcert("history", "export", str(tmp_path / "h.jsonl"), "--export-format", "jsonl", "--history", history)
    assert jsonl.exit_code == 0
    assert len((tmp_path / "h.jsonl").read_text().splitlines()) == 460


@pytest.mark.heavy
def test_a_probe_saves_itself_and_the_page_shows_the_history(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """--save-history puts the run in; the same run taken up again or added by hand is the same run."""
    monkeypatch.chdir(tmp_path)
    with Vendor(models=["faithful", "text-caller"]) as vendor:
        words = ["probe", vendor.url, "-s", "quick", "-n", "2", "-o", "run", "-q", "--save-history", "--html", "p.html"]
        assert toolcert(*words).exit_code == 0
        assert toolcert(*words).exit_code == 0
    assert toolcert("history", "add", "run").exit_code == 0
    shown = " ".join(lines_of(toolcert("history", "show")))
    assert "; 1 of 2 models passes (the use of results was not tested)." in shown
    document = json.loads(toolcert("history", "show", "--json", "-").stdout)
    days = {model["model"]: model["days"][0] for model in document["history"]["models"]}
    assert document["history"]["runs"] == 1
    assert (days["faithful"]["status"], days["faithful"]["calling"]) == ("working", {"k": 2, "n": 2})
    assert (days["text-caller"]["status"], days["text-caller"]["calling"]) == ("not_supported", {"k": 0, "n": 2})
    assert 'id="history"' in (tmp_path / "p.html").read_text()
    assert toolcert("report", "run", "--html", "q.html", "--history", "toolcert-history.sqlite").exit_code == 0
    assert 'id="history"' in (tmp_path / "q.html").read_text()
    assert toolcert("report", "run", "--html", "r.html").exit_code == 0
    assert 'id="history"' not in (tmp_path / "r.html").read_text()


def test_a_verify_run_is_no_run_for_the_history(tmp_path: Path) -> None:
    (tmp_path / "manifest.json").write_text('{"run":"r","job":"verify","started_at":0,"toolcert":"1"}')
    result = toolcert("history", "add", str(tmp_path), "--history", str(tmp_path / "h"))
    assert result.exit_code == 2
    assert "the history keeps probe runs" in result.stderr


@pytest.mark.parametrize("command", [["show"], ["drift"], ["html", "page.html"], ["export", "out"]])
def test_a_misspelt_history_is_an_error_and_makes_no_file(
    command: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    result = toolcert("history", *command, "--history", "histroy.sqlite")
    assert result.exit_code == 2
    assert list(tmp_path.iterdir()) == []


def test_an_export_of_nothing_leaves_the_files_that_are_there(tmp_path: Path) -> None:
    """The older tool's files know one probe only; a history without it must not empty them."""
    with Vendor(models=["faithful"]) as vendor:
        words = ["probe", vendor.url, "--suite", "quick", "-n", "1", "-q", "-o", str(tmp_path / "run")]
        place = ["--history", str(tmp_path / "h.sqlite")]
        assert toolcert(*words, "--save-history", *place).exit_code == 0
    kept = tmp_path / "out" / "test_results.csv"
    kept.parent.mkdir()
    kept.write_text("what was there")
    result = toolcert("history", "export", str(kept.parent), *place)
    assert result.exit_code == 2
    assert "no run of hello_world" in result.output
    assert kept.read_text() == "what was there"


@pytest.mark.parametrize(("days", "said"), [(1, "on 1 April 2026"), (3, "from 1 April to 3 April 2026")])
def test_a_time_without_an_outage_is_named(days: int, said: str, tmp_path: Path) -> None:
    place = stored(str(tmp_path / "calm.sqlite"), {"m": [(50, 50)] * days})
    assert lines_of(toolcert("history", "outages", "--history", place)) == [f"No outage {said}."]


@pytest.mark.sampled
@pytest.mark.parametrize(
    "change",
    [
        "toolcert_observations SET call_p50 = 'soon'",
        "toolcert_observations SET callable = '[]'",
        "toolcert_observations SET handleable = -1",
        "toolcert_observations SET called = 1000000",
        "toolcert_findings SET severity = 'worst'",
        "toolcert_runs SET day = '2026-13-45'",
        "toolcert_meta SET value = 'x'",
        "toolcert_meta SET value = 0",
    ],
)
def test_a_history_that_somebody_changed_is_read_or_refused_with_a_sentence(history: str, change: str) -> None:
    with sqlite3.connect(history) as connection:
        connection.execute(f"UPDATE {change}")
    connection.close()
    result = toolcert("history", "show", "--history", history)
    assert result.exit_code in (0, 2), result.output
    assert "Traceback" not in result.stderr
