"""The text of watsonx-tool-tester from top to bottom, against a simulated watsonx.ai (TLS) and LiteLLM proxies."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from click.testing import CliRunner, Result

from support.greeting import MODEL, call, greeter, right_call, second_turn
from support.litellm_proxy import MASTER_KEY, litellm_proxy
from support.scripted import Answer, Received, Scripted, refusal
from support.walking import blocks, commands, replaced
from toolcert.simulate import Vendor
from toolcert.simulate.litellm_proxy import LiteLlmVendor
from toolcert.simulate.watsonx import WatsonxVendor
from watsonx_tool_tester import (
    RELIABILITY_THRESHOLD,
    BaseClient,
    BaseTool,
    ClientType,
    Config,
    HelloWorldTool,
    LiteLLMClient,
    ModelTester,
    WatsonXClient,
)
from watsonx_tool_tester.cli import cli

pytestmark = pytest.mark.heavy  # starts many processes; `make test-fast` does without

GRANITE, LLAMA, SMALL = "ibm/granite-20b-instruct", "meta-llama/llama-2-70b-chat", "ibm/granite-3-2b-instruct"
ALL = [GRANITE, LLAMA, SMALL, "ibm/textual", "ibm/slate-embedding"]
HEADS = ["MODEL", "TOOL SUPPORT", "HANDLED", "RELIABILITY (2x)", "CALL TIME", "RESP TIME", "TOTAL TIME", "DETAILS"]
NUMBER = {"type": ["number", "null"]}
VERDICT = {"type": ["boolean", "null"]}
RESULT_SCHEMA: dict[str, Any] = {
    "type": "object",
    "required": ["model", "supports_tool_calls", "handles_response", "details", "timings", "timestamp", "reliability"],
    "properties": {
        "model": {"type": "string"},
        "supports_tool_calls": VERDICT,
        "handles_response": VERDICT,
        "details": {"type": "string", "minLength": 1},
        "timings": {
            "type": "object",
            "required": ["tool_call_time_seconds", "response_processing_time_seconds", "total_time_seconds"],
            "additionalProperties": NUMBER,
        },
        "timestamp": {"type": "string", "pattern": r"^\d{4}-\d\d-\d\dT"},
        "reliability": {
            "type": "object",
            "required": [
                "iterations",
                "tool_call_success_rate",
                "response_handling_success_rate",
                "is_reliable",
                "error_count",
                "tool_calls",
                "responses_handled",
            ],
        },
    },
}
REPORT_SCHEMA: dict[str, Any] = {
    "type": "object",
    "required": ["results", "summary"],
    "properties": {
        "results": {"type": "array", "items": RESULT_SCHEMA},
        "summary": {
            "type": "object",
            "required": ["total_models", "performance", "reliability", "support_categories"],
        },
    },
}


def run(*words: str, code: int = 0, **env: str | None) -> Result:
    result = CliRunner().invoke(cli, words, env=env, catch_exceptions=False)
    assert result.exit_code == code, result.output
    return result


def row(result: Result, model: str) -> str:
    return next(line for line in result.stdout.splitlines() if line.startswith(model))


@pytest.mark.needs("material")
def test_every_command_of_the_text_runs_as_written(material: Path, reachable: WatsonxVendor, folder: Path) -> None:
    """URLs and keys are replaced; nothing else."""
    text = (material / "seeds/watsonx-tool-tester.md").read_text("utf-8")
    (folder / "excludes.txt").write_text(f"# not these\n{GRANITE}\n^ibm/text.*  # a pattern\n\n")
    keys = {"WATSONX_APIKEY": reachable.api_key, "WATSONX_PROJECT_ID": reachable.project_id}
    with LiteLlmVendor(models=["faithful"], master_key="sk-litellm-token") as proxy:
        values = {"YOUR_API_KEY": reachable.api_key, "YOUR_PROJECT_ID": reachable.project_id}
        values |= {"http://localhost:8000": proxy.url, "YOUR_TOKEN": "sk-litellm-token"}
        walked = [
            one for block in blocks(text, "bash") for one in commands(replaced(block, values), "watsonx-tool-tester")
        ]
        assert len(walked) == 14
        for exported, words in walked:
            run(*words, **(keys | exported))
        assert proxy.requests.count("faithful") == 2 * 5 * 2
    assert (folder / "report.html").read_text("utf-8").startswith("<!doctype html>")
    assert (folder / "detailed_report.html").is_file()


@pytest.mark.needs("material")
def test_the_python_snippet_of_the_text_runs_as_written(material: Path, reachable: WatsonxVendor, folder: Path) -> None:
    text = (material / "seeds/watsonx-tool-tester.md").read_text("utf-8")
    (snippet,) = blocks(text, "python")
    values = {"YOUR_API_KEY": reachable.api_key, "YOUR_PROJECT_ID": reachable.project_id, '"model1"': f'"{GRANITE}"'}
    names: dict[str, Any] = {}
    exec(replaced(snippet, values), names)
    assert [result["model"] for result in names["results"]] == sorted(set(ALL) - {GRANITE})
    assert (folder / "tool_test_logs").is_dir()
    assert reachable.api_key.encode() not in b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())


async def test_the_names_work_in_a_notebook_too(known: WatsonxVendor, folder: Path) -> None:
    """There a loop is running already, and the calls are synchronous all the same."""
    tester = ModelTester(Config(iterations=1))
    assert sorted(tester.get_available_models()) == sorted(ALL)
    assert tester.test_model(GRANITE)["tool_call_support"] is True


def test_the_console_script_and_the_module_are_the_same_program(known: WatsonxVendor, folder: Path) -> None:
    script = [str(Path(sys.executable).with_name("watsonx-tool-tester"))]
    module = [sys.executable, "-m", "watsonx_tool_tester"]
    for program in (script, module):
        said = subprocess.run([*program, "--version"], capture_output=True, text=True, check=True).stdout
        assert said.startswith("watsonx-tool-tester, version ")
    listed = subprocess.run([*script, "list-models"], capture_output=True, text=True, check=True).stdout
    assert sorted(listed.split()) == sorted(ALL)
    failing = subprocess.run([*module, "test"], capture_output=True, text=True, env={}, check=False)
    assert failing.returncode == 1
    assert failing.stderr.count("\n") == 1
    assert "WATSONX_APIKEY" in failing.stderr


def test_the_table_has_the_columns_of_the_text_and_the_real_reason(known: WatsonxVendor, folder: Path) -> None:
    result = run("test", "--iterations", "2")
    heads = result.stdout.splitlines()[0]
    for head in (
        "MODEL",
        "TOOL SUPPORT",
        "HANDLED",
        "RELIABILITY (2x)",
        "CALL TIME",
        "RESP TIME",
        "TOTAL TIME",
        "DETAILS",
    ):
        assert head in heads
    assert row(result, GRANITE).split()[1:7] == ["✅", "✅", "✅", "calls", "2/2,", "handled"]
    assert "⚠️ calls 2/2, handled 0/2" in row(result, LLAMA)
    assert "does not repeat the tool's greeting" in row(result, LLAMA)
    assert "NOT SUPPORTED 0/2" in row(result, "ibm/textual")
    assert "leaves the call of hello_world as text" in row(result, "ibm/textual")
    assert "has no chat function (only embedding)" in row(result, "ibm/slate-embedding")


def test_the_summary_has_the_four_blocks_and_times_of_successful_models_only(
    known: WatsonxVendor, folder: Path
) -> None:
    said = run("test", "--iterations", "2", "--output", "results.json").stdout
    summary = json.loads((folder / "results.json").read_text())["summary"]
    blocks_said = said.split("\n\n")[1:]
    assert [block.splitlines()[0].partition(" (")[0] for block in blocks_said] == [
        "Basic Statistics",
        "Performance Metrics",
        "Reliability Assessment",
        "Support Categories",
    ]
    assert "Total models tested: 5" in said
    assert "Models that support tool calls: 3" in said
    assert "Models that handle tool responses: 2" in said
    assert summary["performance"]["fastest_model"] in (GRANITE, SMALL)
    assert "≥90%" in said
    assert "Reliable models: 2, unreliable models: 1" in said
    assert sorted(summary["support_categories"]["full"]) == [GRANITE, SMALL]
    assert summary["support_categories"]["partial"] == [LLAMA]
    assert sorted(summary["support_categories"]["none"]) == ["ibm/slate-embedding", "ibm/textual"]


def test_a_wrong_project_is_an_error_and_is_told_in_this_tools_words(known: WatsonxVendor, folder: Path) -> None:
    """The embedding model was never to be asked: that nothing else answered is no finished test."""
    result = CliRunner().invoke(cli, ["test", "--iterations", "1", "--watsonx-project-id", "elsewhere"])
    assert result.exit_code == 1
    assert "nothing could be measured: HTTP 403" in result.output
    assert "(--watsonx-project-id)" in result.output
    assert "(--project-id)" not in result.output


def test_errors_end_their_sentences_and_name_this_tools_options(folder: Path) -> None:
    words = ["list-models", "--client", "litellm", "--litellm-url", "http://127.0.0.1:9"]
    refused = CliRunner().invoke(cli, words).output
    assert ". Check the address" in refused
    words = ["list-models", "--watsonx-region", "atlantis", "--watsonx-apikey", "k", "--watsonx-project-id", "p"]
    unknown = CliRunner().invoke(cli, words).output
    assert unknown.rstrip().endswith("or give --watsonx-url.")


def test_one_iteration_has_no_reliability_block(known: WatsonxVendor, folder: Path) -> None:
    assert "Reliability Assessment" not in run("test", "--iterations", "1", "--model", GRANITE).stdout


def test_the_json_has_the_fields_of_the_text(known: WatsonxVendor, folder: Path) -> None:
    run("test", "--iterations", "2", "--output", "results.json")
    report = json.loads((folder / "results.json").read_text())
    jsonschema.validate(report, REPORT_SCHEMA)
    by_model = {result["model"]: result for result in report["results"]}
    assert by_model[GRANITE]["reliability"]["tool_calls"] == 2
    assert by_model["ibm/textual"]["handles_response"] is None


@pytest.mark.parametrize("words", [["--html-output", "report.html"], ["--output", "report.html", "--html-output"]])
def test_both_forms_of_html_output(words: list[str], known: WatsonxVendor, folder: Path) -> None:
    run("test", "--iterations", "1", "--model", "granite-20b", *words)
    page = (folder / "report.html").read_text("utf-8")
    assert page.startswith("<!doctype html>")
    assert GRANITE in page
    assert "http://" not in page.replace("http://www.w3.org", "").replace(known.url, "")


def test_html_and_json_side_by_side(known: WatsonxVendor, folder: Path) -> None:
    run("test", "--iterations", "1", "--model", GRANITE, "--output", "r.json", "--html-output", "r.html")
    assert json.loads((folder / "r.json").read_text())["results"]
    assert (folder / "r.html").is_file()


def test_html_output_without_any_file_is_said_before_anything_is_asked(known: WatsonxVendor, folder: Path) -> None:
    assert "--output FILE" in run("test", "--html-output", code=1).stderr
    assert known.requests.count() == 0


def test_a_file_that_cannot_be_written_is_an_error(known: WatsonxVendor, folder: Path) -> None:
    (folder / "taken").write_text("")
    result = run("test", "--model", GRANITE, "--iterations", "1", "--output", "taken/results.json", code=1)
    assert "cannot write taken/results.json" in result.stderr


@pytest.mark.parametrize(
    ("calls", "handled", "cell"),
    [
        (45, 45, "✅ calls 45/50, handled 45/45"),
        (44, 44, "⚠️ calls 44/50, handled 44/44"),
        (45, 40, "⚠️ calls 45/50, handled 40/45"),
        (29, 29, "⚠️ calls 29/50, handled 29/29"),
        (0, 0, "NOT SUPPORTED 0/5"),
    ],
)
def test_the_vectors_are_counted_as_they_are(calls: int, handled: int, cell: str, folder: Path) -> None:
    """The 0.9 rule includes its threshold, and no call in the first five ends it."""
    with Scripted(greeter(calls, handled)) as server:
        words = ("--client", "litellm", "--litellm-url", server.url, "--iterations", "50", "--output", "r.json")
        said = row(run("test", *words), MODEL)
    assert cell in said
    if 0 < calls < 50:
        assert f"{50 - handled} of 50 failed: " in said
    reliability = json.loads((folder / "r.json").read_text())["results"][0]["reliability"]
    assert reliability["is_reliable"] is cell.startswith("✅")
    if calls:
        assert reliability["tool_call_success_rate"] == calls / 50


def test_the_threshold_is_the_texts() -> None:
    assert RELIABILITY_THRESHOLD == 0.9


def scripted(respond: Callable[[Received], Answer]) -> Scripted:
    listing = Answer({"object": "list", "data": [{"id": MODEL, "object": "model"}]})
    return Scripted(lambda received: listing if received.method == "GET" else respond(received))


def litellm(server: Scripted | Vendor | LiteLlmVendor, *words: str, code: int = 0) -> Result:
    return run("test", "--client", "litellm", "--litellm-url", server.url, *words, code=code)


def test_only_finish_reason_tool_calls_counts_as_support(folder: Path) -> None:
    with scripted(lambda received: right_call(received, finish="stop")) as server:
        said = row(litellm(server, "--iterations", "1"), MODEL)
    assert "NOT SUPPORTED" in said
    assert "finish_reason is stop" in said


@pytest.mark.parametrize("arguments", ["{}", '{"name": 1}', "not json", '{"name": "Else", "language": "english"}'])
def test_arguments_must_carry_what_was_asked(arguments: str, folder: Path) -> None:
    with scripted(lambda _: call(arguments)) as server:
        assert "NOT SUPPORTED" in row(litellm(server, "--iterations", "1"), MODEL)


def test_every_iteration_greets_another_person_and_keeps_the_tools_in_the_second_turn(folder: Path) -> None:
    with Scripted(greeter(50, 50)) as server:
        litellm(server, "--iterations", "5")
        asked = [received.json for received in server.received if received.method == "POST"]
    first = {body["messages"][0]["content"] for body in asked}
    assert len(first) == 5
    assert all(body["tools"][0]["function"]["name"] == "hello_world" for body in asked)


def test_a_second_turn_that_fails_to_come_takes_no_support_away(folder: Path) -> None:
    def respond(received: Received) -> Answer:
        return refusal(500, "broken pipe") if second_turn(received) else right_call(received)

    with scripted(respond) as server:
        said = row(litellm(server, "--iterations", "1"), MODEL)
    assert said.split()[1:3] == ["✅", "n/a"]
    assert "1 not measured" in said
    assert "broken pipe" in said


def test_an_outage_is_not_measured_and_not_the_models_failure(folder: Path) -> None:
    with scripted(lambda _: refusal(500, "down for maintenance")) as server:
        result = litellm(server, "--iterations", "1", "--output", "r.json", code=1)
    assert "not measured" in row(result, MODEL)
    assert "down for maintenance" in result.stderr
    (one,) = json.loads((folder / "r.json").read_text())["results"]
    assert one["supports_tool_calls"] is None
    assert one["reliability"]["error_count"] == 1


def test_a_429_is_waited_out(folder: Path) -> None:
    with Vendor(models=["faithful"]) as vendor:
        vendor.outage("429", count=1, retry_after=0.05)
        assert "✅ calls 1/1, handled 1/1" in row(litellm(vendor, "--iterations", "1"), "faithful")


@pytest.mark.parametrize("command", ["test", "list-models"])
@pytest.mark.parametrize("status", [401, 404, 500])
def test_a_listing_that_fails_is_an_error_and_no_model_is_made_up(command: str, status: int, folder: Path) -> None:
    with Scripted(lambda _: refusal(status, "no list for you")) as server:
        result = run(command, "--client", "litellm", "--litellm-url", server.url, code=1)
    assert result.stdout == ""
    assert result.stderr.splitlines()[-1].startswith("Error: ")
    assert not any(received.method == "POST" for received in server.received)


def test_a_server_that_is_not_there_is_an_error_of_one_line(folder: Path) -> None:
    result = run("list-models", "--client", "litellm", "--litellm-url", "http://127.0.0.1:9", code=1)
    assert result.stderr.count("\n") == 1


def test_a_wrong_key_is_an_error_that_names_its_source_and_not_the_key(reachable: WatsonxVendor, folder: Path) -> None:
    env = {"WATSONX_APIKEY": "wrong-key-0123456789", "WATSONX_PROJECT_ID": reachable.project_id}
    result = run("test", **env, code=1)
    assert "WATSONX_APIKEY" in result.stderr
    assert "wrong-key-0123456789" not in result.output


@pytest.mark.parametrize("missing", ["WATSONX_APIKEY", "WATSONX_PROJECT_ID"])
def test_missing_credentials_are_named(missing: str, known: WatsonxVendor, folder: Path) -> None:
    assert missing in run("test", **{missing: None}, code=1).stderr


@pytest.mark.parametrize("words", [["--iterations", "0"], ["--sort", "size"], ["--client", "azure"], ["--nonsense"]])
def test_wrong_usage_is_exit_code_2(words: list[str], folder: Path) -> None:
    run("test", *words, code=2)


def test_the_python_names(known: WatsonxVendor, folder: Path) -> None:
    tester = ModelTester(Config(iterations=1))
    assert isinstance(tester.client, WatsonXClient | BaseClient)
    assert tester.validate_credentials() is True
    assert sorted(tester.get_available_models()) == sorted(ALL)
    result = tester.test_model(LLAMA)
    assert (result["model"], result["tool_call_support"], result["handles_response"]) == (LLAMA, True, False)
    assert set(result["response_times"]) == {"tool_call_time", "response_processing_time", "total_time"}
    wanted = {"iterations", "tool_call_success_rate", "response_handling_success_rate", "is_reliable", "error_count"}
    assert wanted <= set(result["reliability"])
    assert [one["iteration"] for one in result["iteration_results"]] == [1]
    assert isinstance(ModelTester(Config(client_type=ClientType.LITELLM)).client, LiteLLMClient)


@pytest.mark.parametrize(
    ("language", "greeting"),
    [
        ("english", "Hello, Ada!"),
        ("spanish", "¡Hola, Ada!"),
        ("french", "Bonjour, Ada!"),
        ("german", "Hallo, Ada!"),
        ("japanese", "こんにちは, Adaさん!"),
    ],
)
def test_the_hello_world_tool_greets_in_five_languages(language: str, greeting: str) -> None:
    tool = HelloWorldTool()
    assert isinstance(tool, BaseTool)
    assert tool.execute(name="Ada", language=language) == {
        "greeting": greeting,
        "language": language,
        "name": "Ada",
        "message": greeting,
    }
    parameters = tool.get_definition()["function"]["parameters"]
    assert parameters["required"] == ["name"]
    assert language in parameters["properties"]["language"]["enum"]


@pytest.fixture(scope="module")
def proxied(part: Callable[[str], Path], tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with Vendor(models=["faithful", "text-caller"]) as vendor:
        models = [
            {"model_name": name, "litellm_params": {"model": f"openai/{name}", "api_base": vendor.url, "api_key": "x"}}
            for name in ("faithful", "text-caller")
        ]
        with litellm_proxy(part("proxy"), tmp_path_factory.mktemp("proxy"), models) as url:
            yield url


@pytest.mark.heavy
@pytest.mark.needs("proxy")
def test_a_real_litellm_proxy(proxied: str, folder: Path) -> None:
    env = {"LITELLM_URL": proxied, "LITELLM_TOKEN": MASTER_KEY, "WATSONX_TOOL_CLIENT": "litellm"}
    assert run("list-models", **env).stdout.split() == ["faithful", "text-caller"]
    words = ("--iterations", "3", "--output", "r.json", "--save-history", "--html-output", "r.html")
    result = run("test", *words, **env)
    assert "✅ calls 3/3, handled 3/3" in row(result, "faithful")
    assert "NOT SUPPORTED 0/3" in row(result, "text-caller")
    jsonschema.validate(json.loads((folder / "r.json").read_text()), REPORT_SCHEMA)
    with (folder / "reports/history/test_results.csv").open() as file:
        assert [line["model_id"] for line in csv.DictReader(file)] == ["faithful", "text-caller"]
    assert "refus" in run("test", **(env | {"LITELLM_TOKEN": "sk-wrong-0123456789"}), code=1).stderr


@pytest.mark.heavy
@pytest.mark.needs("proxy")
@pytest.mark.needs("material")
def test_the_litellm_examples_of_the_text_with_a_real_proxy(proxied: str, material: Path, folder: Path) -> None:
    text = (material / "seeds/watsonx-tool-tester.md").read_text("utf-8")
    values = {"http://localhost:8000": proxied, "YOUR_TOKEN": MASTER_KEY}
    shell = [replaced(block, values) for block in blocks(text, "bash")]
    walked = [one for block in shell for one in commands(block, "watsonx-tool-tester")]
    examples = [(env, words) for env, words in walked if "litellm" in words or "LITELLM_URL" in env]
    assert len(examples) == 2
    for env, words in examples:
        assert "✅ calls 5/5, handled 5/5" in row(run(*words, **env), "faithful")
