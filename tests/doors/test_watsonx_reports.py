"""What watsonx-tool-tester prints, writes and logs: one meaning on console, page and files."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from support.greeting import MODEL, call, greeter, right_call, second_turn
from support.scripted import Answer, Received, Scripted, refusal
from toolcert.runs.writer import hold
from toolcert.simulate import Vendor
from toolcert.simulate.watsonx import WatsonxVendor
from watsonx_tool_tester import Config, ModelTester, ResultHandler
from watsonx_tool_tester.cli import cli

GRANITE, LLAMA = "ibm/granite-20b-instruct", "meta-llama/llama-2-70b-chat"
LISTING = Answer({"object": "list", "data": [{"id": MODEL, "object": "model"}]})
OVERLOADED = "The engine is currently overloaded, please try again later"


def run(*words: str, code: int = 0, **env: str | None) -> Result:
    result = CliRunner().invoke(cli, ["test", *words], env=env, catch_exceptions=False)
    assert result.exit_code == code, result.output
    return result


def litellm(url: str, *words: str, code: int = 0) -> Result:
    return run("--client", "litellm", "--litellm-url", url, *words, code=code)


def row(result: Result, model: str) -> str:
    return next(line for line in result.stdout.splitlines() if line.startswith(model))


@pytest.fixture(scope="module")
def vendor() -> Iterator[Vendor]:
    with Vendor(models=["slow:0.05", "faithful", "never-reads-results", "text-caller"]) as running:
        yield running


@pytest.mark.parametrize(
    ("sort", "title", "column"),
    [
        ("name", "Models by name", "Model"),
        ("tool_call_time", "Models, fastest call first", "Call, s"),
        ("response_time", "Models, fastest answer first", "Answer, s"),
        ("total_time", "Models, fastest first", "Total, s"),
    ],
)
def test_heading_and_arrow_of_the_page_follow_sort(
    sort: str, title: str, column: str, vendor: Vendor, folder: Path
) -> None:
    said = litellm(vendor.url, "--iterations", "1", "--sort", sort, "--html-output", "r.html").stdout
    page = (folder / "r.html").read_text("utf-8")
    assert f">{title}" in page
    (sorted_by,) = re.findall(r'aria-sort="ascending"><button type="button">([^<]+)<', page)
    assert sorted_by == column
    in_table = [line.split()[0] for line in said.splitlines()[1:5]]
    ranking = page.partition('<h2 id="speed"')[0]
    assert re.findall(r'<th scope="row" class="break"><a class="plain" href="#m-([^"]+)"', ranking) == [
        name.replace(":", "-") for name in in_table
    ]


def test_console_and_page_mean_the_same_by_full_partial_and_no_support(vendor: Vendor, folder: Path) -> None:
    said = litellm(vendor.url, "--iterations", "1", "--html-output", "r.html").stdout
    page = (folder / "r.html").read_text("utf-8")
    told = dict(re.findall(r'data-f-text="([^"]+)" data-f-verdict="([^"]+)"', page))
    assert told == {
        "faithful": "full support",
        "slow:0.05": "full support",
        "never-reads-results": "partial support",
        "text-caller": "no support",
    }
    assert "Full support (calls the tool and uses its result): 2: faithful, slow:0.05" in said
    assert "Partial support (calls the tool and ignores its result): 1: never-reads-results" in said
    assert "No support (does not call the tool): 1: text-caller" in said
    assert "2 of 4 models call the tool and use its result." in page
    assert "Full support: calls the tool and uses its result." in page


def test_full_support_below_the_threshold_is_called_unreliable_on_both(folder: Path) -> None:
    with Scripted(greeter(3, 3)) as server:
        said = litellm(server.url, "--iterations", "5", "--html-output", "r.html").stdout
    assert f"Full support (calls the tool and uses its result): 1: {MODEL} (unreliable)" in said
    assert 'data-f-verdict="full support, unreliable"' in (folder / "r.html").read_text("utf-8")


@pytest.mark.heavy
def test_total_time_is_on_the_page_and_is_the_median_of_totals(folder: Path) -> None:
    """Calls of 1, 0 and 1 s, answers of 1, 1 and 0 s: the sum of medians is 2, the median of sums 1."""
    greet = greeter(50, 50)
    delays = iter([1.0, 1.0, 0.0, 1.0, 1.0, 0.0])

    def respond(received: Received) -> Answer:
        if received.method == "POST":
            time.sleep(next(delays))
        return greet(received)

    with Scripted(respond) as server:
        words = ("--iterations", "3", "--concurrency", "1", "--output", "r.json", "--html-output", "r.html")
        litellm(server.url, *words)
    (result,) = json.loads((folder / "r.json").read_text())["results"]
    assert 1.0 <= result["timings"]["total_time_seconds"] < 1.9
    page = (folder / "r.html").read_text("utf-8")
    assert ">Total, s</button>" in page
    assert f'data-label="total" data-value="{result["timings"]["total_time_seconds"]}"' in page


def test_the_page_offers_no_command_that_needs_a_folder_which_is_gone(vendor: Vendor, folder: Path) -> None:
    litellm(vendor.url, "--iterations", "1", "--html-output", "gone.html")
    litellm(vendor.url, "--iterations", "1", "--html-output", "kept.html", "--log-dir", "logs")
    assert "<code>toolcert report</code>" not in (folder / "gone.html").read_text("utf-8")
    assert "<code>toolcert report</code>" in (folder / "kept.html").read_text("utf-8")


def test_which_files_were_written_is_printed(vendor: Vendor, folder: Path) -> None:
    words = ("--output", "r.json", "--html-output", "r.html", "--save-history", "--log-dir", "logs")
    said = litellm(vendor.url, "--iterations", "1", *words).stderr
    history = "reports/history/"
    names = ("test_results.csv", "models_registry.csv", "daily_summary.csv")
    wanted = ["r.json", ", ".join(history + name for name in names), "r.html"]
    written = [line for line in said.splitlines() if line.startswith("Wrote ")]
    assert written[:3] == [f"Wrote {place}." for place in wanted]
    assert re.fullmatch(r"Wrote logs/\S+ \(evidence\) and logs/tool_test\.log\.", written[3])


@pytest.mark.heavy
def test_a_model_that_was_not_measured_has_null_rates(folder: Path) -> None:
    with Scripted(lambda received: LISTING if received.method == "GET" else refusal(500, "down")) as server:
        litellm(server.url, "--iterations", "1", "--output", "r.json", code=1)
        config = Config(client_type="litellm", litellm_url=server.url, iterations=1)
        (in_python,) = ModelTester(config).test_all_models()
    (in_json,) = json.loads((folder / "r.json").read_text())["results"]
    for one in (in_json["reliability"], in_python["reliability"]):
        assert one["iterations"] == 0
        for name in ("tool_call_success_rate", "response_handling_success_rate", "is_reliable"):
            assert one[name] is None


def test_a_model_that_never_called_has_a_rate_and_nothing_to_handle(vendor: Vendor, folder: Path) -> None:
    litellm(vendor.url, "--iterations", "1", "--model", "text-caller", "--output", "r.json")
    (one,) = json.loads((folder / "r.json").read_text())["results"]
    reliability = one["reliability"]
    assert (reliability["tool_call_success_rate"], reliability["is_reliable"]) == (0.0, False)
    assert reliability["response_handling_success_rate"] is None
    assert reliability["iterations"] == 1  # asked as often as was said, whatever was found


def test_a_wrong_project_id_stops_after_the_first_refusals(folder: Path) -> None:
    with WatsonxVendor(models={f"ibm/m{number}": "faithful" for number in range(30)}) as watsonx:
        env = {"WATSONX_URL": watsonx.url, "WATSONX_IAM_URL": watsonx.iam_url, "REQUESTS_CA_BUNDLE": watsonx.ca_bundle}
        env |= {"WATSONX_APIKEY": watsonx.api_key, "WATSONX_PROJECT_ID": "elsewhere"}
        result = run("--iterations", "10", "--concurrency", "4", code=1, **env)
        assert watsonx.requests.count() <= 10
    assert result.stderr.count("WARNING") <= 10
    assert "does not accept project id elsewhere (--watsonx-project-id)" in result.stderr.splitlines()[-1]


@pytest.mark.parametrize(
    "words", [["--output", "taken/r.json"], ["--html-output", "taken/r.html"], ["--output", "x", "--html-output", "x"]]
)
def test_places_are_checked_before_anything_is_asked(words: list[str], folder: Path) -> None:
    (folder / "taken").write_text("")
    with Scripted(greeter(1, 1)) as server:
        litellm(server.url, *words, code=1)
        assert server.received == []


def test_history_files_are_checked_before_anything_is_asked(folder: Path) -> None:
    place = folder / "reports/history"
    place.mkdir(parents=True)
    (place / "test_results.csv").write_text("a,b\n1,2\n")
    with Scripted(greeter(1, 1)) as server:
        assert "has no column" in litellm(server.url, "--save-history", code=1).stderr
        (place / "test_results.csv").unlink()
        place.rmdir()
        place.write_text("a file where the folder should be")
        assert "cannot write" in litellm(server.url, "--save-history", code=1).stderr
        assert server.received == []


def test_html_is_written_even_where_the_history_cannot_be(folder: Path) -> None:
    """The history is spoilt while the models are tested."""
    answer = greeter(50, 50)

    def respond(received: Received) -> Answer:
        if received.method == "POST":
            (folder / "reports/history").mkdir(parents=True, exist_ok=True)
            (folder / "reports/history/test_results.csv").write_text("a,b\n1,2\n")
        return answer(received)

    with Scripted(respond) as server:
        result = litellm(server.url, "--iterations", "1", "--save-history", "--html-output", "r.html", code=1)
    assert "has no column" in result.stderr
    assert "Wrote r.html." in result.stderr
    assert MODEL in (folder / "r.html").read_text("utf-8")


def test_debug_twice_in_one_folder_works(vendor: Vendor, folder: Path) -> None:
    """One after the other, beside a run that is still going on, and after one of other models was interrupted."""
    words = (vendor.url, "--iterations", "1", "-d", "--model")
    litellm(*words, "faithful")
    litellm(*words, "faithful")
    for model in ("faithful", "text-caller"):
        manifest = max((folder / "tool_test_logs").glob("*/manifest.json"))  # the one that would be continued
        content = json.loads(manifest.read_text())
        content.pop("finished_at", None)
        manifest.write_text(json.dumps(content))
        with hold(manifest.parent) if model == "faithful" else (folder / "other").open("w"):
            table = litellm(*words, model).stdout.split("\n\n")[0]
        assert [line.split()[0] for line in table.splitlines()[1:]] == [model]
    assert len(list((folder / "tool_test_logs").glob("*/manifest.json"))) == 4


def test_log_dir_alone_logs_at_info(vendor: Vendor, folder: Path) -> None:
    said = litellm(vendor.url, "--iterations", "1", "--model", "faithful", "--log-dir", "logs").stderr
    assert "INFO litellm/faithful/hello_world/1 passed" in (folder / "logs/tool_test.log").read_text()
    assert "INFO" not in said
    litellm(vendor.url, "--iterations", "1", "--model", "faithful", "--log-dir", "quiet", "--log-level", "ERROR")
    assert (folder / "quiet/tool_test.log").read_text() == ""


def test_an_exclusion_that_matches_nothing_is_said(vendor: Vendor, folder: Path) -> None:
    said = litellm(vendor.url, "--iterations", "1", "--exclude", "gpt-9", "--exclude", "slow").stderr
    assert "the exclusion 'gpt-9' matches none of the 4 listed models" in said
    assert "'slow'" not in said


@pytest.mark.heavy
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("{}", "(a required one is missing)"),
        ("not json", "(not JSON)"),
        ('{"name": 1, "language": "english"}', "(a value of the wrong type)"),
        ('{"name": "Ada", "language": "klingon"}', "(a value that the tool does not allow)"),
    ],
)
def test_details_are_in_words_and_not_in_codes(arguments: str, words: str, folder: Path) -> None:
    with Scripted(lambda received: LISTING if received.method == "GET" else call(arguments)) as server:
        said = row(litellm(server.url, "--iterations", "1"), MODEL)
    assert said.endswith(f"calls hello_world with invalid arguments {words}")


def test_overloaded_inside_a_200_is_not_measured_and_not_unsupported(folder: Path) -> None:
    error = Answer({"error": {"message": OVERLOADED, "code": "overloaded"}})
    with Scripted(lambda received: LISTING if received.method == "GET" else error) as server:
        said = row(litellm(server.url, "--iterations", "1", "--html-output", "r.html", code=1), MODEL)
    assert "NOT SUPPORTED" not in said
    assert "not measured" in said
    assert OVERLOADED in said
    assert 'data-f-verdict="not measured"' in (folder / "r.html").read_text("utf-8")


def test_overloaded_inside_the_second_200_takes_no_support_away(folder: Path) -> None:
    error = Answer({"error": {"message": OVERLOADED}})

    def respond(received: Received) -> Answer:
        if received.method == "GET":
            return LISTING
        return error if second_turn(received) else right_call(received)

    with Scripted(respond) as server:
        told = litellm(server.url, "--iterations", "2", "--output", "r.json")
    assert row(told, MODEL).split()[1:3] == ["✅", "n/a"]
    assert "calls 2/2, handled not measured" in row(told, MODEL)
    assert row(told, MODEL).endswith("2 not measured")
    assert "Partial support (calls the tool and ignores its result): 0" in told.stdout
    (result,) = json.loads((folder / "r.json").read_text())["results"]
    rates = [result["reliability"][name] for name in ("tool_call_success_rate", "response_handling_success_rate")]
    assert (*rates, result["reliability"]["error_count"]) == (1.0, None, 2)


def test_a_web_page_inside_a_200_is_not_measured(folder: Path) -> None:
    page = Answer(b"<html>Bad gateway</html>", headers={"Content-Type": "text/html"})
    with Scripted(lambda received: LISTING if received.method == "GET" else page) as server:
        said = row(litellm(server.url, "--iterations", "1", code=1), MODEL)
    assert "NOT SUPPORTED" not in said
    assert "Bad gateway" in said


@pytest.mark.heavy
def test_concurrency_and_timeout_are_options_and_variables(folder: Path) -> None:
    with Vendor(models=["slow:0.6"]) as vendor:
        slow = litellm(vendor.url, "--iterations", "1", "--timeout", "0.1", "--concurrency", "1", code=1)
        assert "not measured" in row(slow, "slow:0.6")
    endpoint = ModelTester(Config(client_type="litellm", timeout=7.0, concurrency=3)).client.endpoint()
    assert (endpoint.spec.timeouts.total, endpoint.spec.concurrency) == (7.0, 3)
    env = {"WATSONX_TOOL_TIMEOUT": "soon", "WATSONX_TOOL_CLIENT": "litellm"}
    assert "WATSONX_TOOL_TIMEOUT=soon" in run(code=1, **env).stderr


def test_names_of_the_older_packages_config(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    config = Config(test_iterations=3, sort_key="total_time", output_file="o.json", watsonx_model_spec_version="x")
    assert (config.iterations, config.sort, config.output) == (3, "total_time", "o.json")
    config.test_iterations, config.sort_key, config.output_file = 4, "name", None
    assert (config.iterations, config.sort, config.output, config.test_iterations) == (4, "name", None, 4)


OLDER_SCRIPT = """
from watsonx_tool_tester.clients.base import BaseClient
from watsonx_tool_tester.clients.litellm import LiteLLMClient
from watsonx_tool_tester.clients.watsonx import WatsonXClient
from watsonx_tool_tester.config import ClientType, Config, load_config_from_env
from watsonx_tool_tester.testers import ModelTester as Tester, ResultHandler as Handler
from watsonx_tool_tester.testers.model_tester import ModelTester
from watsonx_tool_tester.testers.result_handler import ResultHandler
from watsonx_tool_tester.tools.base import BaseTool
from watsonx_tool_tester.tools.hello_world import HelloWorldTool
from watsonx_tool_tester.utils import errors
from watsonx_tool_tester.utils.errors import ClientError, CredentialError
from watsonx_tool_tester.utils.history_manager import HistoryManager
import watsonx_tool_tester.testers.model_tester as module
import watsonx_tool_tester as package

assert module.ModelTester is ModelTester is package.ModelTester is Tester
assert ResultHandler is Handler
assert issubclass(LiteLLMClient, BaseClient) and issubclass(HelloWorldTool, BaseTool)
assert issubclass(CredentialError, ClientError) and errors.ConfigurationError
config = load_config_from_env()
config.client_type, config.test_iterations = ClientType.LITELLM, 2
results = ModelTester(config).test_all_models()
handler = ResultHandler()
handler.print_summary(results, "total_time")
assert "RELIABILITY (2x)" in handler.format_table(handler.sort_results(results, "name"))
assert handler.summarize_results(results)["total_models"] == 4
history = HistoryManager()
history.record_test_results(results)
plain = {"model": "elsewhere", "tool_call_support": True, "handles_response": False}
history.record_test_results([{**plain, "response_times": {"tool_call_time": 1.0}}])
history.cleanup_old_data(days_to_keep=90)
assert len(history.get_model_history("faithful")) == 1
assert len(history.get_daily_summary_history()) == 1
print(sorted(row["model_id"] for row in history.get_trackable_models()))
"""


@pytest.mark.heavy
def test_a_script_with_the_older_packages_imports_runs(vendor: Vendor, folder: Path) -> None:
    env = {"LITELLM_URL": vendor.url, "PYTHONPATH": ":".join(sys.path)}
    done = subprocess.run([sys.executable, "-c", OLDER_SCRIPT], capture_output=True, text=True, env=env, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "['elsewhere', 'faithful', 'never-reads-results', 'slow:0.05']"
    saved = (folder / "reports/history/test_results.csv").read_text()
    assert saved.count("\n") == 6


def test_the_result_handler_knows_the_iterations_it_is_told(vendor: Vendor, folder: Path) -> None:
    config = Config(client_type="litellm", litellm_url=vendor.url, iterations=1, model="faithful")
    results = ModelTester(config).test_all_models()
    assert "RELIABILITY (7x)" in ResultHandler(7).format_table(results)
    assert json.loads(ResultHandler(7).format_json_output(results))["summary"]["reliability"]["iterations"] == 7
