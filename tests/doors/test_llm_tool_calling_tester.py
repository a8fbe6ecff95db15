"""The text of llm-tool-calling-tester from top to bottom, against personas and scripted servers."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import time
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import jsonschema
import msgspec
import pytest
from click.testing import CliRunner, Result

import llm_tool_calling_tester as door
from llm_tool_calling_tester import ModelTester, ModelTestRunner, TestResult, TestStatus, config
from llm_tool_calling_tester.main import cli
from support.patience import PATIENCE, until
from support.scripted import Answer, Received, Scripted, completion, refusal
from support.walking import blocks, replaced
from toolcert.core.errors import ConfigurationError, NothingMeasuredError, UsageError
from toolcert.core.targets import ModelInfo
from toolcert.simulate import Vendor
from toolcert.simulate.persona import MALFORMED, SCORING

pytestmark = pytest.mark.heavy  # starts many processes; `make test-fast` does without

TESTS = ["basic_tool_calling", "tool_output_reasoning", "multi_tool_calling", "json_mode", "streaming_tool_calls"]
PAGE = Path(__file__).resolve().parents[2] / "docs/migrating/llm-tool-calling-tester.md"
STATUSES = ["passed", "failed", "error", "skipped"]
CATEGORIES = ["recommended", "partial_support", "no_tool_calling"]
IDS = {"type": "array", "items": {"type": "string"}}
TEST_SCHEMA = {
    "type": "object",
    "required": ["status", "latency_ms", "error"],
    "properties": {
        "status": {"enum": STATUSES},
        "latency_ms": {"type": "number"},
        "error": {"type": ["string", "null"]},
    },
}
REPORT_SCHEMA: dict[str, Any] = {
    "type": "object",
    "required": ["summary", "results", "metadata"],
    "properties": {
        "summary": {
            "type": "object",
            "required": ["timestamp", "api_endpoint", "total_models", "tested_models", *CATEGORIES, "test_statistics"],
            "properties": {
                "timestamp": {"type": "string", "pattern": r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d.*\+00:00$"},
                "total_models": {"type": "integer"},
                "tested_models": {"type": "integer"},
                "test_statistics": {"type": "object", "additionalProperties": {"required": STATUSES}},
                **dict.fromkeys(CATEGORIES, IDS),
            },
        },
        "results": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["model_id", "owned_by", "tests", "overall_score", "recommendation", "total_latency_ms"],
                "properties": {
                    "tests": {"type": "object", "additionalProperties": TEST_SCHEMA},
                    "overall_score": {"type": "number", "minimum": 0, "maximum": 100},
                    "recommendation": {"enum": CATEGORIES},
                    "total_latency_ms": {"type": "number"},
                },
            },
        },
        "metadata": {"type": "object"},
    },
}


def run(url: str, *words: str, code: int = 0, **env: str) -> Result:
    result = CliRunner().invoke(cli, ["--api-url", url, *words], env=env, catch_exceptions=False)
    assert result.exit_code == code, result.output
    return result


def report(folder: Path, place: str = "output") -> dict[str, Any]:
    (path,) = (folder / place).glob("model_capabilities_*.json")
    content: dict[str, Any] = json.loads(path.read_text("utf-8"))
    jsonschema.validate(content, REPORT_SCHEMA)
    return content


def results(folder: Path) -> dict[str, dict[str, Any]]:
    return {one["model_id"]: one for one in report(folder)["results"]}


def one_model(respond: Any, model: str = "m") -> Scripted:
    listing = Answer({"object": "list", "data": [{"id": model, "object": "model", "owned_by": "me"}]})
    return Scripted(lambda received: listing if received.method == "GET" else respond(received))


def test_full_mode_gives_the_five_scores_and_categories(folder: Path) -> None:
    with Vendor(models=SCORING) as vendor:
        said = run(vendor.url).stdout
    found = results(folder)
    scores = {model: (one["overall_score"], one["recommendation"]) for model, one in found.items()}
    assert scores == {
        "score-100": (100.0, "recommended"),
        "score-90": (90.0, "recommended"),
        "score-65": (65.0, "partial_support"),
        "score-50": (50.0, "partial_support"),
        "score-30": (30.0, "no_tool_calling"),
    }
    assert list(found["score-100"]["tests"]) == TESTS
    summary = report(folder)["summary"]
    assert summary["recommended"] == ["score-100", "score-90"]
    assert summary["test_statistics"]["json_mode"] == {"passed": 2, "failed": 3, "error": 0, "skipped": 0}
    assert "Recommended: 2: score-100, score-90" in said
    assert "1. score-100: 100.0 points" in said
    assert "json_mode: 2 passed, 3 failed" in said


def test_quick_mode_asks_the_basic_test_only(folder: Path) -> None:
    with Vendor(models=SCORING) as vendor:
        run(vendor.url, "--quick")
        assert all(vendor.requests.count(model) == 1 for model in SCORING)
    found = results(folder)
    assert {model: one["tests"]["basic_tool_calling"]["status"] for model, one in found.items()} == {
        "score-100": "passed",
        "score-90": "passed",
        "score-65": "passed",
        "score-50": "passed",
        "score-30": "failed",
    }
    assert (found["score-100"]["overall_score"], found["score-100"]["recommendation"]) == (25.0, "partial_support")
    assert found["score-30"]["recommendation"] == "no_tool_calling"
    assert report(folder)["metadata"]["mode"] == "quick"


def test_malformed_answers_appear_with_a_verdict(folder: Path) -> None:
    with Vendor(models=MALFORMED) as vendor:
        run(vendor.url)
    found = results(folder)
    assert set(found) == set(MALFORMED)
    for model, one in found.items():
        status = "error" if model in ("html-page", "error-200") else "failed"
        assert {result["status"] for result in one["tests"].values()} == {status}
        assert all(result["error"] for result in one["tests"].values())


HIDDEN = {
    "error-200": ("basic_tool_calling", "status 200 with an error: "),
    "html-page": ("basic_tool_calling", "the body is HTML or XML: "),
    "fault:stream.error_inside": ("streaming_tool_calls", "Internal error during generation."),
}


@pytest.mark.parametrize(("model", "test", "message"), [(model, *told) for model, told in HIDDEN.items()])
async def test_an_error_inside_a_200_is_an_error_with_its_message(model: str, test: str, message: str) -> None:
    """An upstream error, a web page, an error in mid-stream: for the five tests and for `chat_completion`."""
    with Vendor(models=[model]) as vendor:
        async with ModelTester(vendor.url) as tester:
            result = await tester.run_test(test, model)
            body = {
                "model": model,
                "messages": [{"role": "user", "content": "Weather in Tokyo?"}],
                "tools": door.get_test_tools(),
                "stream": test.startswith("streaming"),
            }
            with pytest.raises(NothingMeasuredError, match=re.escape(message)):
                await tester.chat_completion(body)
    assert result.status is TestStatus.ERROR
    assert message in str(result.error)


def test_nothing_but_429s_is_exit_code_3(folder: Path) -> None:
    busy = refusal(429, "slow down")._replace(headers={"Retry-After": "0"})
    with one_model(lambda _: busy) as server:
        done = program("llm_tool_calling_tester", "--api-url", server.url)
    assert done.returncode == 3
    assert "nothing could be measured: rate limited" in done.stderr
    assert {test["status"] for test in results(folder)["m"]["tests"].values()} == {"failed"}


def test_json_with_other_values_passes_with_a_warning(folder: Path) -> None:
    """As the text says: valid JSON with all required fields."""
    with Vendor(models=["fault:json.other_values"]) as vendor:
        said = run(vendor.url).stdout
    test = results(folder)["fault:json.other_values"]["tests"]["json_mode"]
    assert (test["status"], test["error"]) == ("passed", None)
    assert test["details"]["findings"] == ["json.other_values"]
    assert "json_mode: json.other_values" in said


@pytest.mark.parametrize("content", ['{"name": "Ann", "age": 7}', "[1]", '{"name": "Ann", ', "Ann, 7, Rome"])
def test_json_without_a_required_field_fails(content: str, folder: Path) -> None:
    with one_model(lambda _: completion(content)) as server:
        run(server.url)
    assert results(folder)["m"]["tests"]["json_mode"]["status"] == "failed"


async def test_timed_out_tests_have_the_time_that_they_took() -> None:
    class MyTester(ModelTester):
        async def test_mine(self, model: str) -> TestResult:
            await self.chat_completion({"model": model, "messages": [{"role": "user", "content": "Hi"}]})
            raise AssertionError("there is no answer")

    with one_model(lambda _: completion("late")._replace(delay=0.6)) as server:
        async with MyTester(server.url, timeout=0.15) as tester:
            for name in ("basic_tool_calling", "mine"):
                result = await tester.run_test(name, "m")
                assert result.status is TestStatus.ERROR
                assert result.latency_ms >= 140


def test_the_tester_and_the_runner_read_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    assert ModelTester().endpoint.spec.base_url == "http://localhost:8317/v1"
    monkeypatch.setenv("MODEL_TESTER_API_URL", "http://one.example/v1")
    monkeypatch.setenv("MODEL_TESTER_TIMEOUT", "7.5")
    monkeypatch.setenv("MODEL_TESTER_MAX_WORKERS", "3")
    for tester in (ModelTester(), ModelTestRunner().tester):
        spec = tester.endpoint.spec
        assert (spec.base_url, spec.timeouts.total, spec.concurrency) == ("http://one.example/v1", 7.5, 3)
    assert (ModelTestRunner().max_workers, config.TIMEOUT_SECONDS, config.API_BASE_URL) == (3, 7.5, spec.base_url)
    assert ModelTester("http://two.example/v1", max_workers=2).endpoint.spec.concurrency == 2
    monkeypatch.setenv("MODEL_TESTER_MAX_WORKERS", "many")
    with pytest.raises(ConfigurationError, match="MODEL_TESTER_MAX_WORKERS is 'many'"):
        ModelTester()


def test_the_settings_of_the_text_exist_as_names(monkeypatch: pytest.MonkeyPatch) -> None:
    """Retries and rate limits work; the database is used by nobody."""
    names = "MAX_RETRIES RETRY_DELAY DELAY_BETWEEN_TESTS DB_HOST DB_PORT DB_NAME DB_USER DB_PASSWORD OUTPUT_DIR"
    assert all(hasattr(config, name) for name in names.split())
    assert not hasattr(config, "DB_COLOUR")
    monkeypatch.setenv("MODEL_TESTER_DB_HOST", "db.example")
    assert config.DB_HOST == "db.example"
    monkeypatch.setattr(config, "RETRY_DELAY", 0.25)
    assert ModelTester().session.policy.base == 0.25


async def test_a_delay_between_tests_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(config, "DELAY_BETWEEN_TESTS", 0.2)
    with Vendor(models=["faithful"]) as vendor:
        async with ModelTester(vendor.url) as tester:
            began = time.monotonic()
            await tester.run_all_tests("faithful", tests=["basic_tool_calling", "json_mode"])
    assert time.monotonic() - began >= 0.4


def test_two_runs_in_one_second_have_two_reports(folder: Path) -> None:
    runner = ModelTestRunner("http://127.0.0.1:9")
    paths = {runner.save_json_report([]) for _ in range(12)}
    assert len(paths) == 12
    assert all(json.loads(path.read_text())["results"] == [] for path in paths)


def test_two_runs_at_the_same_time_do_not_disturb_each_other(folder: Path) -> None:
    with Vendor(models=["faithful"], latency=0.3) as vendor:
        command = [sys.executable, "-m", "llm_tool_calling_tester", "--api-url", vendor.url]
        running = [subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) for _ in range(2)]
        outputs = [process.communicate(timeout=PATIENCE) for process in running]
    assert [process.returncode for process in running] == [0, 0], outputs
    reports = [json.loads(path.read_text()) for path in (folder / "output").glob("*.json")]
    assert [one["results"][0]["overall_score"] for one in reports] == [100.0, 100.0]


def test_a_run_without_models_replaces_nothing(folder: Path) -> None:
    """Neither the report of the same second nor an unfinished run."""
    with Vendor(models=["faithful"]) as vendor:
        run(vendor.url)
        (manifest,) = (folder / "output/runs").glob("*/manifest.json")
        content = json.loads(manifest.read_text())
        del content["finished_at"]
        manifest.write_text(json.dumps(content))
        before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
        with pytest.raises(UsageError, match="none of the 1 listed models"):
            run(vendor.url, "--filter", "nothing")
    assert all(path.read_bytes() == content for path, content in before.items())


@pytest.mark.skipif(sys.platform == "win32", reason="processes are interrupted otherwise there")
def test_after_an_interruption_what_was_never_asked_is_not_tested(folder: Path) -> None:
    with Vendor(models={f"model-{number}": "faithful" for number in range(6)}, latency=0.3) as vendor:
        command = [sys.executable, "-m", "llm_tool_calling_tester", "--api-url", vendor.url, "--max-workers", "1"]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        until(lambda: vendor.requests.count() >= 4)
        process.send_signal(signal.SIGINT)
        said, errors = process.communicate(timeout=PATIENCE)
        assert process.returncode == 130
        assert re.search(r"Interrupted; \d+ tests left. The same command goes on within a day.", errors)
        last = results(folder)["model-5"]["tests"].values()
        assert {(one["status"], one["error"]) for one in last} == {
            ("skipped", "not tested: the run was interrupted before")
        }
        assert "not tested" in said
        for path in (folder / "output").glob("*.json"):
            path.unlink()
        asked = vendor.requests.count()
        run(vendor.url)
        assert vendor.requests.count() - asked < 6 * 6
    assert {one["overall_score"] for one in results(folder).values()} == {100.0}


def test_a_strict_server_sees_no_tool_choice_without_tools(folder: Path) -> None:
    with Vendor(models=["faithful"]) as vendor:

        def strict(received: Received) -> Answer:
            if "tool_choice" in received.json and "tools" not in received.json:
                return refusal(400, "tool_choice is only allowed when tools are specified")
            return forward(vendor.url, received)

        with one_model(strict, "faithful") as server:
            run(server.url)
            bodies = [received.json for received in server.received if received.method == "POST"]
    assert results(folder)["faithful"]["overall_score"] == 100.0
    assert any("tools" not in body for body in bodies)


def forward(url: str, received: Received) -> Answer:
    import urllib.request

    request = urllib.request.Request(
        f"{url}/chat/completions", data=received.body, headers={"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(request) as answer:
        return Answer(answer.read(), headers={"Content-Type": answer.headers["Content-Type"]})


@pytest.mark.heavy
def test_five_workers_are_about_five_times_as_fast_as_one(folder: Path) -> None:
    for latency in (0.2, 0.6, 1.8):  # listing and reports are in both, and take long on a slow machine
        taken, peaks = [], []
        for workers in ("1", "5"):
            with Vendor(models={f"model-{number}": "faithful" for number in range(10)}, latency=latency) as vendor:
                began = time.monotonic()
                run(vendor.url, "--quick", "--max-workers", workers, "--output-dir", f"out{workers}-{latency}")
                taken.append(time.monotonic() - began)
                peaks.append(vendor.peak)
        assert peaks == [1, 5]
        if taken[0] / taken[1] > 3.5:
            return
    pytest.fail(str(taken))


@pytest.mark.parametrize("workers", ["0", "-1", "many"])
def test_workers_that_make_no_sense_are_refused(workers: str) -> None:
    run("http://127.0.0.1:9", "--max-workers", workers, code=2)


@pytest.mark.parametrize(
    ("answer", "status", "error"),
    [
        (refusal(429, "slow down")._replace(headers={"Retry-After": "0"}), "failed", "rate limited"),
        (refusal(404, "The model `m` does not exist", code="model_not_found"), "skipped", "model not supported"),
        (refusal(400, "m does not support tools"), "skipped", "does not support tools"),
        (refusal(403, "your key may not"), "error", "your key may not"),
    ],
)
def test_errors_become_statuses(answer: Answer, status: str, error: str, folder: Path) -> None:
    with one_model(lambda _: answer) as server, suppress(NothingMeasuredError):
        run(server.url, "--quick")
    (test,) = results(folder)["m"]["tests"].values()
    assert test["status"] == status
    assert error in test["error"]


async def test_a_timeout_is_retried_twice_and_then_an_error() -> None:
    with one_model(lambda _: completion("late")._replace(delay=0.6)) as server:
        async with ModelTester(server.url, timeout=0.15) as tester:
            result = await tester.test_basic_tool_calling("m")
        assert len(server.received) == 1 + config.MAX_RETRIES
    assert result.status is TestStatus.ERROR
    assert "0.15" in str(result.error)


def test_what_is_not_measured_counts_nothing_and_the_model_stays(folder: Path) -> None:
    def respond(received: Received) -> Answer:
        return refusal(403, "no JSON for you") if "tools" not in received.json else completion("no call")

    with one_model(respond) as server:
        run(server.url)
    one = results(folder)["m"]
    assert one["overall_score"] == 0.0
    assert one["tests"]["json_mode"]["status"] == "error"
    assert one["tests"]["basic_tool_calling"]["status"] == "failed"


def test_json_is_asked_by_mode_first_and_plainly_where_that_is_refused(folder: Path) -> None:
    def respond(received: Received) -> Answer:
        if "response_format" in received.json:
            return refusal(400, "response_format is not supported", param="response_format")
        words = received.json["messages"][0]["content"].rpartition(". ")[2]
        return completion(json.dumps(dict(pair.split(": ") for pair in words.split(", "))))

    with one_model(respond) as server:
        run(server.url)
    test = results(folder)["m"]["tests"]["json_mode"]
    assert test["status"] == "passed"
    assert "response_format is not supported" in str(test["details"])


def test_fenced_json_is_a_finding(folder: Path) -> None:
    with Vendor(models=["json-fencer"]) as vendor:
        run(vendor.url)
    test = results(folder)["json-fencer"]["tests"]["json_mode"]
    assert test["status"] == "failed"
    assert "json.fenced" in test["details"]["findings"]


def test_gpt_models_are_left_out_and_said_to_be(folder: Path) -> None:
    with Vendor(models={"my-GPT-4": "faithful", "other": "faithful"}) as vendor:
        said = run(vendor.url, "--quick").stdout
        summary = report(folder)["summary"]
        assert (summary["total_models"], summary["tested_models"]) == (2, 1)
        assert list(summary["left_out"]) == ["my-GPT-4"]
        assert "Left out: my-GPT-4" in said
        run(vendor.url, "--quick", "--include-gpt", "--output-dir", "all")
    assert report(folder, "all")["summary"]["tested_models"] == 2


def test_filter_is_a_regular_expression(folder: Path) -> None:
    with Vendor(models={"qwen-7b": "faithful", "qwen-72b": "faithful", "llama": "faithful"}) as vendor:
        run(vendor.url, "--quick", "--filter", r"^qwen-\d+b$")
        assert vendor.requests.count("llama") == 0
    assert set(results(folder)) == {"qwen-7b", "qwen-72b"}


def program(module: str, *words: str, **env: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-W", "error", "-m", module, *words]
    return subprocess.run(command, capture_output=True, text=True, env=env, check=False)


def test_a_filter_that_is_no_regular_expression_is_named() -> None:
    done = program("llm_tool_calling_tester", "--filter", "qw(")
    assert done.returncode == 2
    assert "'qw('" in done.stderr


@pytest.mark.parametrize("module", ["llm_tool_calling_tester", "llm_tool_calling_tester.main"])
def test_both_modules_are_the_program(module: str, folder: Path) -> None:
    with Vendor(models=["faithful"], api_key="sk-the-key-0123") as vendor:
        env = {"MODEL_TESTER_API_URL": vendor.url, "MODEL_TESTER_API_KEY": "sk-the-key-0123"}
        done = program(module, "--quick", **env)
    assert done.returncode == 0, done.stderr
    assert results(folder)["faithful"]["overall_score"] == 25.0
    assert b"sk-the-key-0123" not in b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())


def test_a_run_that_measured_nothing_is_reported_and_is_no_success(folder: Path) -> None:
    with one_model(lambda _: refusal(403, "your key may not")) as server:
        done = program("llm_tool_calling_tester", "--api-url", server.url)
    assert done.returncode == 3
    assert "nothing could be measured: " in done.stderr
    assert [test["status"] for test in results(folder)["m"]["tests"].values()] == ["error"] * 5


def test_a_filter_that_leaves_no_model_is_reported_and_is_no_success(folder: Path) -> None:
    with Vendor(models=["faithful", "slow"]) as vendor:
        done = program("llm_tool_calling_tester", "--api-url", vendor.url, "--filter", "nothing")
    assert done.returncode == 2
    assert "none of the 2 listed models was tested" in done.stderr
    assert list(report(folder)["summary"]["left_out"]) == ["faithful", "slow"]


def test_progress_counts_refusals_as_answers_and_retries_as_retries(folder: Path) -> None:
    with Vendor(models=["no-tools"]) as vendor:
        said = program("llm_tool_calling_tester", "--api-url", vendor.url, "--quick").stderr
        assert "0 retried" in said
        assert "0 not measured" in said
        vendor.outage("429", retry_after=0, count=1, model="no-tools")
        said = program("llm_tool_calling_tester", "--api-url", vendor.url, "--quick", "--output-dir", "b").stderr
    assert "1 retried" in said


def test_an_api_that_does_not_answer_is_exit_code_3(folder: Path) -> None:
    done = program("llm_tool_calling_tester", "--api-url", "http://127.0.0.1:9")
    assert done.returncode == 3
    assert "127.0.0.1:9" in done.stderr


OPTIONS = [
    ("--api-url", "MODEL_TESTER_API_URL", "api_url", ["http://one/v1", "http://two/v1", "http://localhost:8317/v1"]),
    ("--api-key", "MODEL_TESTER_API_KEY", "api_key", ["key-1", "key-2", None]),
    ("--timeout", "MODEL_TESTER_TIMEOUT", "timeout", [7.5, 9.5, 30.0]),
    ("--max-workers", "MODEL_TESTER_MAX_WORKERS", "max_workers", [2, 3, 5]),
]


@pytest.mark.parametrize(("flag", "variable", "name", "values"), OPTIONS)
def test_flag_beats_environment_beats_default(flag: str, variable: str, name: str, values: list[Any]) -> None:
    first, second, default = values

    def given(*words: str, **env: str) -> Any:
        with CliRunner(env=env).isolation():
            return cli.make_context("door", list(words)).params[name]

    assert given() == default
    assert given(**{variable: str(first)}) == first
    assert given(flag, str(second), **{variable: str(first)}) == second


def test_variables_of_the_database_are_accepted_and_said_to_be_unused(folder: Path) -> None:
    with Vendor(models=["faithful"]) as vendor:
        said = run(vendor.url, "--quick", MODEL_TESTER_DB_HOST="db", MODEL_TESTER_DB_PORT="5432").stderr
    assert "Not used: MODEL_TESTER_DB_HOST, MODEL_TESTER_DB_PORT" in said


def test_the_report_is_named_by_utc_time(folder: Path) -> None:
    with Vendor(models=["faithful"]) as vendor:
        run(vendor.url, "--quick")
    (path,) = (folder / "output").glob("*.json")
    stamp = datetime.strptime(path.stem.removeprefix("model_capabilities_"), "%Y%m%d_%H%M%S").replace(tzinfo=UTC)
    assert abs((datetime.now(UTC) - stamp).total_seconds()) < 60


def test_top_recommendations_are_ordered_by_score_then_latency(folder: Path) -> None:
    with Vendor(models={"slow": "slow:0.1", "quick": "faithful", "half": "score-90"}) as vendor:
        said = run(vendor.url).stdout
    top = said.partition("Top recommendations\n")[2].splitlines()[:3]
    assert [line.split()[1].rstrip(":") for line in top] == ["quick", "slow", "half"]


def test_the_weights_thresholds_and_names_of_the_text() -> None:
    assert dict(zip(TESTS, (25, 35, 25, 10, 5), strict=True)) == config.AUTONOMOUS_AGENT_WEIGHTS
    assert (config.RECOMMENDED_THRESHOLD, config.PARTIAL_THRESHOLD) == (90, 50)
    assert [status.value for status in TestStatus] == STATUSES
    names = "TestStatus TestResult ModelTestResults ToolDefinition ToolCall ChatMessage ChatCompletionRequest"
    for name in (*names.split(), "TestSummary", "FullReport", "ModelTester", "ModelTestRunner"):
        assert hasattr(door, name)
    tester = ["chat_completion", "_stream_response", "run_all_tests"] + [f"test_{name}" for name in TESTS]
    assert all(callable(getattr(ModelTester, name)) for name in tester)
    runner = "fetch_models filter_models calculate_score get_recommendation test_model run_tests generate_summary"
    for name in (*runner.split(), "print_console_summary", "save_json_report"):
        assert callable(getattr(ModelTestRunner, name))


def test_the_tools_of_the_text() -> None:
    tools = {tool["function"]["name"]: tool["function"]["parameters"] for tool in door.get_test_tools()}
    assert list(tools) == ["get_weather", "calculate", "search_web"]
    assert tools["get_weather"]["required"] == ["city"]
    assert tools["get_weather"]["properties"]["unit"]["enum"] == ["celsius", "fahrenheit"]
    assert door.WEATHER_TOOL in door.get_test_tools()
    assert json.loads(door.get_mock_tool_response("get_weather", {"city": "Tokyo"}))["city"] == "Tokyo"
    assert "error" in json.loads(door.get_mock_tool_response("nothing"))


async def test_the_methods_from_python(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with Vendor(models=["faithful"]) as vendor:
        runner = ModelTestRunner(vendor.url)
        async with runner.tester as tester:
            (model,) = runner.filter_models(await runner.fetch_models())
            one = await runner.test_model(model)
            tests = await tester.run_all_tests("faithful")
            request = door.ChatCompletionRequest(
                model="faithful", messages=[door.ChatMessage(role="user", content="Hi")], stream=True
            )
            streamed = await tester.chat_completion(request)
            plain = await tester.chat_completion({"model": "faithful", "messages": [{"role": "user", "content": "Hi"}]})
            (again,) = await runner.run_tests([model])
    assert one.overall_score == again.overall_score == 100.0
    assert runner.calculate_score(tests) == 100.0
    assert runner.get_recommendation(89.9) == "partial_support"
    assert streamed["choices"][0]["message"]["content"] == plain["choices"][0]["message"]["content"]
    runner.print_console_summary([again])
    assert "100.0  faithful" in capsys.readouterr().out
    assert runner.save_json_report([again]).is_file()


async def test_a_test_is_added_by_a_method_and_a_weight(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The recipe of the text in our form: run_all_tests and the display follow the weights."""

    class MyTester(ModelTester):
        async def test_politeness(self, model: str) -> TestResult:
            body = {"model": model, "messages": [{"role": "user", "content": "Say hello"}]}
            answer = await self.chat_completion(body)
            polite = bool(answer["choices"][0]["message"]["content"])
            return TestResult(test_name="politeness", status=TestStatus.PASSED if polite else TestStatus.FAILED)

    monkeypatch.setitem(config.AUTONOMOUS_AGENT_WEIGHTS, "politeness", 100)
    with Vendor(models=["score-90"]) as vendor:
        runner = ModelTestRunner(tester=MyTester(vendor.url))
        async with runner.tester:
            (one,) = await runner.run_tests([ModelInfo(id="score-90")])
    assert one.tests["politeness"].status is TestStatus.PASSED
    assert one.overall_score == 95.0
    runner.print_console_summary([one])
    assert "✅ politeness" in capsys.readouterr().out
    assert "politeness" in runner.generate_summary([one]).test_statistics


async def test_a_users_test_that_meets_a_sick_model_gives_an_error_for_that_model(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It never ends the run: not by an answer without choices, a status, its own bug, or a missing method."""

    class MyTester(ModelTester):
        async def test_mine(self, model: str) -> TestResult:
            answer = await self.chat_completion({"model": model, "messages": [{"role": "user", "content": "Hi"}]})
            status = TestStatus.PASSED if answer["choices"][0]["message"]["content"] else TestStatus.FAILED
            return TestResult(test_name="mine", status=status)

        def test_odd(self, model: str) -> str:
            return f"{model} is fine"

    weights = {"mine": 100, "odd": 10, "forgotten": 10}
    monkeypatch.setattr(config, "AUTONOMOUS_AGENT_WEIGHTS", weights)
    told = {
        "faithful": ("passed", "None"),
        "no-choices": ("error", "IndexError"),
        "error-200": ("error", "status 200 with an error"),
        "fault:transport.server_error": ("error", "500"),
        "fault:transport.rate_limited": ("failed", "rate limited"),
    }
    with Vendor(models=[*told]) as vendor:
        runner = ModelTestRunner(tester=MyTester(vendor.url))
        async with runner.tester:
            found = await runner.run_tests()
    assert {one.model_id for one in found} == set(told)
    for one in found:
        status, error = told[one.model_id]
        assert one.tests["mine"].status == status
        assert error in str(one.tests["mine"].error)
        assert one.tests["odd"].error == "TypeError: test_odd returned str, not a TestResult"
        assert one.tests["forgotten"].error == "AttributeError: there is no method test_forgotten"


def mine(status: TestStatus = TestStatus.PASSED) -> TestResult:
    return TestResult(test_name="mine", status=status)


class Overriding(ModelTester):
    """As the text says: the new test is added in `run_all_tests`."""

    async def run_all_tests(self, model: str) -> dict[str, TestResult]:  # type: ignore[override]  # as users write it
        found = await super().run_all_tests(model)
        if model == "sick":
            raise ValueError("this model is sick")
        return {**found, "mine": mine()}


class WithOwner(ModelTester):
    """As the older package has it."""

    async def run_all_tests(self, model: str, owned_by: str) -> dict[str, TestResult]:  # type: ignore[override]
        assert owned_by == "simulated"
        return {**await super().run_all_tests(model, owned_by), "mine": mine()}


class Plain(ModelTester):
    """Neither a coroutine nor a dictionary."""

    def run_all_tests(self, model: str) -> list[TestResult]:  # type: ignore[override]
        return [mine(), TestResult(test_name="basic_tool_calling", status=TestStatus.PASSED, details={"id": model})]


@pytest.mark.parametrize("kind", [Overriding, WithOwner, Plain])
async def test_an_override_of_run_all_tests_is_called_by_run_tests(
    kind: type[ModelTester], folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with Vendor(models={"faithful": "faithful", "sick": "faithful"}) as vendor:
        runner = ModelTestRunner(tester=kind(vendor.url))
        async with runner.tester:
            one, other = await runner.run_tests()
            again = await runner.test_model(ModelInfo(id="faithful", owned_by="simulated"))
    assert one.tests["mine"].status is again.tests["mine"].status is TestStatus.PASSED
    assert one.overall_score == (25.0 if kind is Plain else 100.0)
    if kind is Plain:
        assert one.tests["json_mode"].error == again.tests["json_mode"].error
        assert "interrupted" not in (one.tests["json_mode"].error or "")
    if kind is Overriding:
        assert {test.error for test in other.tests.values()} == {"ValueError: this model is sick"}
    runner.print_console_summary([one, other])
    assert "✅ mine" in capsys.readouterr().out
    assert runner.generate_summary([one, other]).test_statistics["mine"]["passed"] == (1 if kind is Overriding else 2)


async def test_an_override_of_test_model_is_called_by_run_tests(folder: Path) -> None:
    class Careful(ModelTestRunner):
        async def test_model(self, model: ModelInfo | str) -> door.ModelTestResults:
            assert isinstance(model, ModelInfo)
            if model.id == "sick":
                raise ValueError("not today")
            return msgspec.structs.replace(await super().test_model(model), owned_by="me")

    with Vendor(models={"faithful": "faithful", "sick": "faithful"}) as vendor:
        runner = Careful(vendor.url, quick_mode=True)
        async with runner.tester:
            one, other = await runner.run_tests()
    assert (one.owned_by, one.overall_score) == ("me", 25.0)
    assert {(test.status.value, test.error) for test in other.tests.values()} == {("error", "ValueError: not today")}


async def test_the_weight_of_a_test_that_run_all_tests_adds_counts(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(config.AUTONOMOUS_AGENT_WEIGHTS, "mine", 100)
    with Vendor(models=["score-90"]) as vendor:

        class Weighted(ModelTester):
            async def test_mine(self, model: str) -> TestResult:
                return mine(TestStatus.PASSED if model == "score-90" else TestStatus.FAILED)

            async def run_all_tests(self, model: str) -> dict[str, TestResult]:  # type: ignore[override]
                return {**await super().run_all_tests(model), "mine": await self.test_mine(model)}

        runner = ModelTestRunner(tester=Weighted(vendor.url))
        async with runner.tester:
            (one,) = await runner.run_tests()
    assert one.overall_score == 95.0


async def test_the_documented_way_to_add_a_test_works(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (snippet,) = blocks(PAGE.read_text("utf-8"), "python")
    monkeypatch.setattr(config, "AUTONOMOUS_AGENT_WEIGHTS", {**config.AUTONOMOUS_AGENT_WEIGHTS})
    with one_model(lambda _: completion("Hello!")) as server:
        names: dict[str, Any] = {}
        exec(replaced(snippet, {"http://localhost:8317/v1": server.url}), names)
        async with names["runner"].tester:
            (one,) = await names["runner"].run_tests([ModelInfo(id="m")])
    assert one.tests["greeting"].status is TestStatus.PASSED
    assert one.overall_score == round(100 * 10 / 110, 2)


def test_what_was_not_measured_is_asked_again_when_a_run_is_gone_on_with(folder: Path) -> None:
    with Vendor(models=["faithful"]) as vendor:
        vendor.outage("429", retry_after=0, model="faithful")
        with pytest.raises(NothingMeasuredError):
            run(vendor.url, "--quick", "--output-dir", "out")
        assert report(folder, "out")["results"][0]["tests"]["basic_tool_calling"]["status"] == "failed"
        vendor.restore()
        (manifest,) = (folder / "out/runs").glob("*/manifest.json")
        manifest.write_text(manifest.read_text().replace('"interrupted"', '"was"').replace('"finished_at"', '"ended"'))
        run(vendor.url, "--quick", "--output-dir", "out")
    latest = max((folder / "out").glob("*.json"), key=lambda path: path.stat().st_mtime_ns)
    assert json.loads(latest.read_text())["results"][0]["overall_score"] == 25.0


def test_the_evidence_behind_every_verdict_is_kept(folder: Path) -> None:
    with Vendor(models=["score-30"]) as vendor:
        run(vendor.url)
    (log,) = (folder / "output/runs").glob("*/records.jsonl")
    records = [json.loads(line) for line in log.read_text("utf-8").splitlines()]
    assert len(records) == 5
    assert all(record["detail"]["exchanges"] for record in records)


def test_an_interrupted_run_is_gone_on_with(folder: Path) -> None:
    with Vendor(models=["faithful"]) as vendor:
        run(vendor.url)
        (manifest,) = (folder / "output/runs").glob("*/manifest.json")
        content = json.loads(manifest.read_text())
        del content["finished_at"]
        manifest.write_text(json.dumps(content))
        before = vendor.requests.count()
        run(vendor.url, "--output-dir", "output")
        assert vendor.requests.count() == before
