"""The history files of watsonx-tool-tester: columns, one row per model and day, retention, older files continued."""

from __future__ import annotations

import csv
import json
import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from click.testing import CliRunner

from toolcert.history.csv_import import REGISTRY, RESULTS, SUMMARY
from toolcert.simulate.watsonx.service import WatsonxVendor
from watsonx_tool_tester.cli import cli

GRANITE, LLAMA = "ibm/granite-20b-instruct", "meta-llama/llama-2-70b-chat"
TODAY = datetime.now(UTC).date()


def save(*words: str) -> None:
    result = CliRunner().invoke(cli, ["test", "--iterations", "2", "--save-history", *words], catch_exceptions=False)
    assert result.exit_code == 0, result.output


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def history(folder: Path, name: str) -> list[dict[str, str]]:
    return rows(folder / "reports/history" / name)


def test_the_three_files_have_their_columns_filled(known: WatsonxVendor, folder: Path) -> None:
    save()
    results = {row["model_id"]: row for row in history(folder, "test_results.csv")}
    assert tuple(results[GRANITE]) == RESULTS
    assert len(RESULTS) == 21
    empty = {name for name, value in results[GRANITE].items() if not value}
    assert empty == {"error_message"}
    assert results[GRANITE]["expected_result"] in results[GRANITE]["actual_result"]
    assert json.loads(results[GRANITE]["test_config"])["iterations"] == 2
    assert json.loads(results[GRANITE]["tool_call_raw"])["choices"]
    assert (results[LLAMA]["tool_success_rate"], results[LLAMA]["response_success_rate"]) == ("1.0", "0.0")
    assert results["ibm/textual"]["error_message"] == "leaves the call of hello_world as text in the content"
    (registry,) = [row for row in history(folder, "models_registry.csv") if row["model_id"] == GRANITE]
    assert tuple(registry) == REGISTRY
    assert len(REGISTRY) == 15
    (day,) = history(folder, "daily_summary.csv")
    assert tuple(day) == SUMMARY
    assert (day["date"], day["total_models"], day["working_models"]) == (TODAY.isoformat(), "5", "3")
    assert known.api_key not in (folder / "reports/history/test_results.csv").read_text()


def test_a_later_run_of_the_day_takes_the_place_of_an_earlier_one(known: WatsonxVendor, folder: Path) -> None:
    save("--model", GRANITE)
    first = history(folder, "test_results.csv")
    save("--model", GRANITE)
    second = history(folder, "test_results.csv")
    assert len(first) == len(second) == 1
    assert first[0]["timestamp"] < second[0]["timestamp"]
    assert history(folder, "models_registry.csv")[0]["total_tests"] == "1"


def test_a_run_without_an_answer_takes_the_place_of_no_measurement(known: WatsonxVendor, folder: Path) -> None:
    """A wrong project is noticed, and costs the day nothing that was measured before."""
    save("--model", GRANITE)
    before = history(folder, "test_results.csv")
    words = ["test", "--iterations", "1", "--save-history", "--watsonx-project-id", "elsewhere"]
    failed = CliRunner().invoke(cli, words)
    assert failed.exit_code == 1
    after = {row["model_id"]: row for row in history(folder, "test_results.csv")}
    assert after[GRANITE] == before[0]
    assert after[LLAMA]["tool_call_support"] == ""
    assert after[LLAMA]["iterations"] == "0"


def older(folder: Path, *days: str) -> None:
    place = folder / "reports/history"
    place.mkdir(parents=True)
    with (place / "test_results.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, RESULTS, restval="x")
        writer.writeheader()
        for day in days:
            figures = {"iterations": 5, "tool_success_rate": 1.0, "response_success_rate": 1.0, "tool_call_time": 0.5}
            figures |= {"response_time": 0.5, "total_time": 1.0}
            flags = {"tool_call_support": True, "handles_response": True, "is_reliable": True}
            writer.writerow({"timestamp": f"{day}T06:00:00", "date": day, "model_id": GRANITE, **flags, **figures})


@pytest.mark.parametrize(("words", "kept"), [([], 3), (["--history-days", "30"], 2), (["--history-days", "1"], 1)])
def test_days_beyond_the_retention_are_dropped(words: list[str], kept: int, known: WatsonxVendor, folder: Path) -> None:
    older(folder, *((TODAY - timedelta(days=age)).isoformat() for age in (100, 60, 20)))
    save("--model", GRANITE, *words)
    found = history(folder, "test_results.csv")
    assert len(found) == kept
    assert found[-1]["date"] == TODAY.isoformat()
    assert all(row["details"] == "x" for row in found[:-1])


def test_first_seen_outlives_the_retention(known: WatsonxVendor, folder: Path) -> None:
    older(folder, (TODAY - timedelta(days=20)).isoformat())
    (folder / "reports/history/models_registry.csv").write_text(
        ",".join(REGISTRY) + "\n" + f"{GRANITE},2020-01-01" + "," * (len(REGISTRY) - 2) + "\n"
    )
    save("--model", GRANITE)
    (registry,) = history(folder, "models_registry.csv")
    assert (registry["first_seen"], registry["last_seen"]) == ("2020-01-01", TODAY.isoformat())


def test_the_older_tools_own_files_are_continued(recorded: Path, known: WatsonxVendor, folder: Path) -> None:
    place = folder / "reports/history"
    place.mkdir(parents=True)
    for name in ("test_results.csv", "models_registry.csv"):
        shutil.copyfile(recorded / "watsonx-history" / name, place / name)
    before = rows(place / "test_results.csv")
    save("--model", GRANITE, "--history-days", "36500")
    after = history(folder, "test_results.csv")
    latest = {(row["date"], row["model_id"]) for row in before}
    assert len(after) == len(latest) + 1
    assert after[-1]["model_id"] == GRANITE


def test_nothing_is_saved_unless_asked_for(known: WatsonxVendor, folder: Path) -> None:
    assert CliRunner().invoke(cli, ["test", "--iterations", "1", "--model", GRANITE]).exit_code == 0
    assert not (folder / "reports").exists()


def test_the_html_report_shows_the_history_when_it_is_saved(known: WatsonxVendor, folder: Path) -> None:
    older(folder, *((TODAY - timedelta(days=age)).isoformat() for age in (3, 2, 1)))
    save("--model", GRANITE, "--html-output", "with.html")
    result = CliRunner().invoke(cli, ["test", "--model", GRANITE, "--iterations", "1", "--html-output", "without.html"])
    assert result.exit_code == 0
    assert 'id="history"' in (folder / "with.html").read_text("utf-8")
    assert 'id="history"' not in (folder / "without.html").read_text("utf-8")
