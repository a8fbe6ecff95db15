"""The history files of watsonx-tool-tester: columns, one row per model and day, retention, older files continued."""

from __future__ import annotations

import csv
import json
import shutil
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from click.testing import CliRunner

from support.greeting import greeter, second_turn
from support.scripted import Answer, Received, Scripted
from toolcert.cli.main import cli as main
from toolcert.history.csv_import import REGISTRY, RESULTS, SUMMARY
from toolcert.simulate.watsonx import WatsonxVendor
from watsonx_tool_tester.cli import cli
from watsonx_tool_tester.history import result_of

GRANITE, LLAMA = "ibm/granite-20b-instruct", "meta-llama/llama-2-70b-chat"
TODAY = datetime.now(UTC).date()


def test_a_row_with_a_total_that_is_no_number_is_read() -> None:
    """Nothing else reads that column, so nothing has refused the file for it."""
    times = {"tool_call_time": "0.5", "response_time": " ", "total_time": "0,5 s"}
    found = result_of({"model_id": "m", "tool_call_support": "True", **times})
    assert found["response_times"] == {"tool_call_time": 0.5, "response_processing_time": 0.0, "total_time": 0.5}


def save(*words: str) -> str:
    result = CliRunner().invoke(cli, ["test", "--iterations", "2", "--save-history", *words], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stderr


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


@pytest.mark.heavy
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


@pytest.mark.sampled
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


def registry(folder: Path, **figures: object) -> None:
    """A models_registry.csv that speaks of one model."""
    with (folder / "reports/history/models_registry.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, REGISTRY, restval="")
        writer.writeheader()
        writer.writerow({"model_id": GRANITE, "first_seen": "2025-07-16", "last_seen": "2026-06-24"} | figures)


@pytest.mark.heavy
def test_lifetime_counters_of_an_existing_registry_are_continued(known: WatsonxVendor, folder: Path) -> None:
    """386 tests stay 386 when their rows are too old to be kept, and a day counts once."""
    older(folder, "2025-07-16")
    counters = {"total_tests": 386, "working_days": 300, "response_handling_days": 200}
    registry(
        folder, ever_worked=True, ever_handled_response=True, best_tool_time=0.00001, last_error="once", **counters
    )
    for _ in range(2):
        save("--model", GRANITE)
        (one,) = history(folder, "models_registry.csv")
        assert [one[name] for name in counters] == ["387", "301", "201"]
        assert (one["first_seen"], one["last_seen"]) == ("2025-07-16", TODAY.isoformat())
        assert (one["best_tool_time"], one["last_error"]) == ("1e-05", "once")
        assert float(one["consistency_score"]) == pytest.approx(301 / 387)


@pytest.mark.heavy
def test_an_error_inside_a_200_is_no_result_of_the_day(folder: Path) -> None:
    """Neither of the first turn nor of the second one, and it takes the place of no measurement."""
    errs = {"first": False, "second": False}

    def respond(received: Received) -> Answer:
        if received.method == "POST" and errs["second" if second_turn(received) else "first"]:
            return Answer({"error": {"message": "overloaded"}})
        return greeter(2, 2)(received)

    columns = ("tool_call_support", "handles_response", "is_reliable", "tool_success_rate", "response_success_rate")
    with Scripted(respond) as server:
        words = ["test", "--iterations", "2", "--save-history", "--client", "litellm", "--litellm-url", server.url]
        for erring, code, expected in [
            ("first", 1, ("", "", "", "", "")),
            ("second", 0, ("True", "", "", "1.0", "")),
            ("", 0, ("True", "True", "True", "1.0", "1.0")),
            ("first", 1, ("True", "True", "True", "1.0", "1.0")),
        ]:
            errs.update({name: name == erring for name in errs})
            assert CliRunner().invoke(cli, words, catch_exceptions=False).exit_code == code
            (one,) = history(folder, "test_results.csv")
            assert tuple(one[name] for name in columns) == expected
            (model,) = history(folder, "models_registry.csv")
            assert model["total_tests"] == str(int(expected[0] == "True"))


def test_the_times_of_a_row_are_those_of_the_report(known: WatsonxVendor, folder: Path) -> None:
    save("--output", "report.json")
    report = json.loads((folder / "report.json").read_text())
    columns = ("tool_call_time", "response_time", "total_time")
    found = {one["model_id"]: [float(one[name]) for name in columns] for one in history(folder, "test_results.csv")}
    for one in report["results"]:
        assert found[one["model"]] == pytest.approx([time or 0.0 for time in one["timings"].values()], abs=1e-4)
    (day,) = history(folder, "daily_summary.csv")
    means = [float(day[name]) for name in ("avg_tool_time", "avg_response_time", "avg_total_time")]
    figures = list(report["summary"]["performance"].values())[:3]
    assert means == pytest.approx(figures, abs=1e-4)
    registry = {one["model_id"]: one for one in history(folder, "models_registry.csv")}
    assert float(registry[GRANITE]["avg_tool_time"]) == pytest.approx(found[GRANITE][0])


def test_long_answers_are_cut_so_that_the_file_can_be_read(folder: Path) -> None:
    def respond(received: Received) -> Answer:
        answer = greeter(1, 1)(received)
        return answer._replace(body=answer.body | {"pad": "x" * 200_000})

    with Scripted(respond) as server:
        for _ in range(2):
            save("--client", "litellm", "--litellm-url", server.url)
    (one,) = history(folder, "test_results.csv")
    assert max(map(len, one.values())) == 32_000


def test_a_registry_without_results_is_continued(known: WatsonxVendor, folder: Path) -> None:
    place = folder / "reports/history"
    place.mkdir(parents=True)
    (place / "models_registry.csv").write_text(
        f"model_id,ever_worked,total_tests,avg_tool_time,working_days\n{GRANITE},True,386,9,3\nelsewhere/gone,True,91,,\n"
    )
    save("--model", GRANITE)
    save("--model", GRANITE)
    registry = {row["model_id"]: row for row in history(folder, "models_registry.csv")}
    assert [registry[model]["total_tests"] for model in (GRANITE, "elsewhere/gone")] == ["387", "91"]
    # The second run of the day took the place of the first one, also in the mean of four days.
    (today,) = history(folder, "test_results.csv")
    assert float(registry[GRANITE]["avg_tool_time"]) == pytest.approx(
        (3 * 9 + float(today["tool_call_time"])) / 4, rel=1e-3
    )


@pytest.mark.sampled
@pytest.mark.parametrize("model", ["ibm/textual", LLAMA])
def test_ever_worked_never_goes_back(model: str, known: WatsonxVendor, folder: Path) -> None:
    older(folder, "2025-07-16")
    registry(folder, model_id=model, ever_worked="True", ever_handled_response="True", total_tests=5, working_days=5)
    save("--model", model)
    one = next(row for row in history(folder, "models_registry.csv") if row["model_id"] == model)
    assert (one["ever_worked"], one["ever_handled_response"], one["total_tests"]) == ("True", "True", "6")


def test_an_outage_is_no_test_in_the_registry(known: WatsonxVendor, folder: Path) -> None:
    older(folder, (TODAY - timedelta(days=1)).isoformat())
    registry(folder, ever_worked="True", total_tests=9, working_days=9)
    words = ["test", "--iterations", "1", "--save-history", "--watsonx-project-id", "elsewhere", "--model", GRANITE]
    assert CliRunner().invoke(cli, words).exit_code == 1
    (one,) = history(folder, "models_registry.csv")
    assert (one["total_tests"], one["working_days"], one["consistency_score"]) == ("9", "9", "1.0")
    latest = history(folder, "test_results.csv")[-1]
    assert (latest["tool_call_support"], latest["tool_success_rate"], latest["response_success_rate"]) == ("", "", "")


@pytest.mark.heavy
def test_rows_that_go_by_the_retention_are_counted(known: WatsonxVendor, folder: Path) -> None:
    older(folder, *((TODAY - timedelta(days=age)).isoformat() for age in (200, 100, 20)))
    first = (TODAY - timedelta(days=89)).isoformat()
    said = save("--model", GRANITE)
    assert f"2 rows before {first} left reports/history/test_results.csv (--history-days)." in said
    assert not list((folder / "reports/history").glob("*backup*"))
    assert "left reports" not in save("--model", GRANITE)


def test_where_all_rows_would_go_a_backup_is_kept_and_named(known: WatsonxVendor, folder: Path) -> None:
    older(folder, *((TODAY - timedelta(days=age)).isoformat() for age in (200, 100)))
    before = (folder / "reports/history/test_results.csv").read_bytes()
    (folder / "reports/history/test_results.backup-1.csv").write_text("mine")
    said = save("--model", GRANITE)
    assert "The file as it was is reports/history/test_results.backup-2.csv." in said
    assert (folder / "reports/history/test_results.backup-2.csv").read_bytes() == before
    assert (folder / "reports/history/test_results.backup-1.csv").read_text() == "mine"
    assert len(history(folder, "test_results.csv")) == 1


def test_rows_that_are_joined_to_one_per_model_and_day_are_counted_once(known: WatsonxVendor, folder: Path) -> None:
    yesterday = (TODAY - timedelta(days=1)).isoformat()
    older(folder, yesterday, yesterday, yesterday)
    said = save("--model", GRANITE)
    assert "2 earlier rows left reports/history/test_results.csv: it now has one per model and day, the last." in said
    assert len(history(folder, "test_results.csv")) == 2
    assert "earlier row" not in save("--model", GRANITE)


@pytest.mark.heavy
def test_two_runs_at_the_same_time_keep_each_others_rows(known: WatsonxVendor, folder: Path) -> None:
    """Each reads the files, waits, and writes them; the second must have read what the first one wrote."""
    slow = (
        "import sys, time, watsonx_tool_tester.history as history\n"
        "write = history._write\n"
        "history._write = lambda *words: (time.sleep(1), write(*words))[1]\n"
        "from watsonx_tool_tester.cli import main\n"
        "main()\n"
    )
    models = [GRANITE, LLAMA, "ibm/granite-3-2b-instruct"]
    words = [sys.executable, "-c", slow, "test", "--iterations", "1", "--save-history", "--model"]
    running = [subprocess.Popen([*words, model], stderr=subprocess.PIPE, text=True) for model in models]
    for process in running:
        _, said = process.communicate(timeout=120)
        assert process.returncode == 0, said
    assert {row["model_id"] for row in history(folder, "test_results.csv")} == set(models)
    assert {row["model_id"] for row in history(folder, "models_registry.csv")} == set(models)
    assert sorted(path.name for path in (folder / "reports/history").iterdir()) == [
        "daily_summary.csv",
        "models_registry.csv",
        "test_results.csv",
    ]


def test_averages_of_a_day_are_over_one_population(known: WatsonxVendor, folder: Path) -> None:
    """LLAMA calls and never uses a result: its call time is in no average, as the text says."""
    save()
    (day,) = history(folder, "daily_summary.csv")
    full = [row for row in history(folder, "test_results.csv") if row["handles_response"] == "True"]
    assert len(full) == 2
    for average, column in (("avg_tool_time", "tool_call_time"), ("avg_total_time", "total_time")):
        assert float(day[average]) == pytest.approx(sum(float(row[column]) for row in full) / 2, abs=1e-4)
    assert float(day["fastest_time"]) == min(float(row["total_time"]) for row in full)


def test_a_run_of_some_models_reports_the_others_as_not_tested(known: WatsonxVendor, folder: Path) -> None:
    yesterday = (TODAY - timedelta(days=1)).isoformat()
    older(folder, yesterday)
    save("--model", LLAMA, "--html-output", "some.html")
    page = (folder / "some.html").read_text("utf-8")
    assert "no longer listed" not in page
    assert "not tested" in page


def test_a_run_of_all_models_says_which_left_the_list(known: WatsonxVendor, folder: Path) -> None:
    older(folder, (TODAY - timedelta(days=1)).isoformat())
    file = folder / "reports/history/test_results.csv"
    file.write_text(file.read_text().replace(GRANITE, "ibm/withdrawn"))
    save("--html-output", "all.html")
    assert "no longer listed" in (folder / "all.html").read_text("utf-8")


def test_an_import_is_continued_under_the_endpoints_name_and_warns_without_one(
    known: WatsonxVendor, folder: Path
) -> None:
    """The recipe of the migration page: `toolcert history import FOLDER --as watsonx`."""
    older(folder, (TODAY - timedelta(days=1)).isoformat())
    toolcert = CliRunner()
    named = toolcert.invoke(main, ["history", "import", "reports/history", "--as", "watsonx"])
    assert named.exit_code == 0
    assert "Warning" not in named.stderr
    unnamed = toolcert.invoke(main, ["history", "import", "reports/history", "--history", "other.sqlite"])
    assert "Give --as NAME" in unnamed.stderr
    Path("toolcert.toml").write_text(
        f'[endpoints.watsonx]\npreset = "watsonx"\nbase_url = "{known.url}"\nproject_id = "{known.project_id}"\n'
        f'iam_url = "{known.iam_url}"\nca_bundle = "{known.ca_bundle}"\napi_key_env = "WATSONX_APIKEY"\n'
    )
    probe = ["probe", "watsonx", "--suite", "hello", "-n", "1", "--model", GRANITE, "--save-history", "--yes"]
    done = toolcert.invoke(main, probe)
    assert done.exit_code == 0, done.output
    shown = toolcert.invoke(main, ["history", "show", "--json", "-"])
    (model,) = json.loads(shown.stdout)["history"]["models"]
    assert (model["endpoint"], model["first_seen"]) == ("watsonx", (TODAY - timedelta(days=1)).isoformat())


@pytest.mark.heavy
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
