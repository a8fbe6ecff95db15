"""Every option and variable of watsonx-tool-tester: who wins, and what it does."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from support.greeting import greeter
from support.patience import PATIENCE, until
from support.scripted import Scripted
from toolcert.simulate import Vendor
from toolcert.simulate.litellm_proxy import LiteLlmVendor
from toolcert.simulate.watsonx import WatsonxVendor
from watsonx_tool_tester import Config, ModelTester
from watsonx_tool_tester import cli as door
from watsonx_tool_tester.cli import cli

GRANITE, LLAMA, SMALL = "ibm/granite-20b-instruct", "meta-llama/llama-2-70b-chat", "ibm/granite-3-2b-instruct"
# flag, variable, setting, and a (text, value) for the flag, the environment, .env and the default
OPTIONS: list[tuple[str, str, str, list[tuple[str, Any]], Any]] = [
    ("--client", "WATSONX_TOOL_CLIENT", "client_type", [("litellm", "litellm"), ("watsonx", "watsonx")], "watsonx"),
    ("--watsonx-url", "WATSONX_URL", "watsonx_url", [("https://a", "https://a"), ("https://b", "https://b")], None),
    ("--watsonx-apikey", "WATSONX_APIKEY", "watsonx_apikey", [("key-a", "key-a"), ("key-b", "key-b")], None),
    ("--watsonx-project-id", "WATSONX_PROJECT_ID", "watsonx_project_id", [("a", "a"), ("b", "b")], None),
    ("--watsonx-region", "WATSONX_REGION", "watsonx_region", [("eu-de", "eu-de"), ("jp-tok", "jp-tok")], None),
    ("--watsonx-api-version", "WATSONX_API_VERSION", "watsonx_api_version", [("1", "1"), ("2", "2")], "2023-05-29"),
    ("--litellm-url", "LITELLM_URL", "litellm_url", [("http://a", "http://a"), ("b", "b")], "http://localhost:8000"),
    ("--litellm-token", "LITELLM_TOKEN", "litellm_token", [("tok-a", "tok-a"), ("tok-b", "tok-b")], None),
    ("--model", "WATSONX_TOOL_MODEL", "model", [("a", "a"), ("b", "b")], None),
    ("--exclude", "WATSONX_TOOL_EXCLUDE", "exclude_models", [("a", ["a"]), ("b, c", ["b", "c"])], []),
    ("--exclude-file", "WATSONX_TOOL_EXCLUDE_FILE", "exclude_file", [("a.txt", "a.txt"), ("b.txt", "b.txt")], None),
    ("--sort", "WATSONX_TOOL_SORT", "sort", [("total_time", "total_time"), ("response_time", "response_time")], "name"),
    ("--iterations", "WATSONX_TOOL_ITERATIONS", "iterations", [("2", 2), ("3", 3)], 5),
    ("--timeout", "WATSONX_TOOL_TIMEOUT", "timeout", [("2.5", 2.5), ("30", 30.0)], None),
    ("--concurrency", "WATSONX_TOOL_CONCURRENCY", "concurrency", [("2", 2), ("8", 8)], None),
    ("--log-level", "LOG_LEVEL", "log_level", [("DEBUG", "DEBUG"), ("info", "INFO")], "WARNING"),
    ("--log-dir", "WATSONX_TOOL_LOG_DIR", "log_dir", [("a", "a"), ("b", "b")], "tool_test_logs"),
    ("--output", "WATSONX_TOOL_OUTPUT", "output", [("a.json", "a.json"), ("b.json", "b.json")], None),
    ("--html-output", "WATSONX_TOOL_HTML_OUTPUT", "html_output", [("a.html", "a.html"), ("b.html", "b.html")], False),
    ("--history-dir", "WATSONX_TOOL_HISTORY_DIR", "history_dir", [("a", "a"), ("b", "b")], "reports/history"),
    ("--history-days", "WATSONX_TOOL_HISTORY_DAYS", "history_days", [("7", 7), ("30", 30)], 90),
]
FLAGS = [
    ("--debug", "--no-debug", "WATSONX_TOOL_DEBUG", "debug"),
    ("--save-history", "--no-save-history", "WATSONX_TOOL_SAVE_HISTORY", "save_history"),
]


@pytest.fixture
def resolved(monkeypatch: pytest.MonkeyPatch, folder: Path) -> list[Config]:
    """What a call of `test` resolves, without testing anything."""
    seen: list[Config] = []

    class Captured:
        last = None

    def capture(config: Config) -> Captured:
        seen.append(config)
        return Captured()

    monkeypatch.setattr(door, "_test", capture)
    return seen


def resolve(seen: list[Config], setting: str, *words: str, **env: str) -> Any:
    result = CliRunner().invoke(cli, ["test", *words], env=env, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return getattr(seen[-1], setting)


@pytest.mark.sampled(every=8)
@pytest.mark.parametrize(("flag", "variable", "setting", "values", "default"), OPTIONS, ids=[one[0] for one in OPTIONS])
def test_flag_beats_environment_beats_dotenv_beats_default(
    *,
    flag: str,
    variable: str,
    setting: str,
    values: list[tuple[str, Any]],
    default: Any,
    resolved: list[Config],
    folder: Path,
) -> None:
    (first, first_value), (second, second_value) = values
    assert resolve(resolved, setting) == default
    (folder / ".env").write_text(f'{variable}="{second}" # a comment\n')
    assert resolve(resolved, setting) == second_value
    env = {variable: first}
    assert resolve(resolved, setting, **env) == first_value
    if "," not in second:
        assert resolve(resolved, setting, flag, second, **env) == second_value


@pytest.mark.parametrize(("on", "off", "variable", "setting"), FLAGS)
def test_switches_have_the_same_precedence(
    *, on: str, off: str, variable: str, setting: str, resolved: list[Config], folder: Path
) -> None:
    assert resolve(resolved, setting) is False
    (folder / ".env").write_text(f"{variable}=true\n")
    assert resolve(resolved, setting) is True
    assert resolve(resolved, setting, **{variable: "0"}) is False
    assert resolve(resolved, setting, on, **{variable: "0"}) is True
    assert resolve(resolved, setting, off) is False


@pytest.mark.parametrize(("text", "value"), [("true", True), ("1", True), ("no", False), ("page.html", "page.html")])
def test_the_variable_of_html_output_is_a_switch_or_a_path(
    text: str, value: Any, resolved: list[Config], folder: Path
) -> None:
    env = {"WATSONX_TOOL_HTML_OUTPUT": text}
    assert resolve(resolved, "html_output", "--output", "o", **env) == value


@pytest.mark.parametrize(
    ("variable", "text"),
    [
        ("WATSONX_TOOL_ITERATIONS", "many"),
        ("WATSONX_TOOL_ITERATIONS", "0"),
        ("WATSONX_TOOL_SORT", "size"),
        ("WATSONX_TOOL_CLIENT", "azure"),
        ("WATSONX_TOOL_DEBUG", "perhaps"),
        ("WATSONX_TOOL_TIMEOUT", "0"),
        ("WATSONX_TOOL_CONCURRENCY", "0"),
        ("LOG_LEVEL", "LOUD"),
    ],
)
def test_a_wrong_variable_is_a_configuration_error_that_names_it(variable: str, text: str, folder: Path) -> None:
    result = CliRunner().invoke(cli, ["test"], env={variable: text})
    assert result.exit_code == 1
    assert f"{variable}={text}" in result.stderr


def test_the_short_options(resolved: list[Config], folder: Path) -> None:
    assert resolve(resolved, "model", "-m", "x", "-o", "y", "-d") == "x"
    assert (resolved[-1].output, resolved[-1].debug) == ("y", True)


def run(*words: str, code: int = 0, **env: str | None) -> Result:
    result = CliRunner().invoke(cli, words, env=env, catch_exceptions=False)
    assert result.exit_code == code, result.output
    return result


def asked(vendor: WatsonxVendor) -> set[str]:
    return {one.model for one in vendor.requests if one.model}


def test_iterations_from_the_environment_without_a_flag(known: WatsonxVendor, folder: Path) -> None:
    result = run("test", "--model", GRANITE, WATSONX_TOOL_ITERATIONS="3")
    assert "RELIABILITY (3x)" in result.stdout
    assert known.requests.count(GRANITE) == 6


def test_five_iterations_unless_told_otherwise(known: WatsonxVendor, folder: Path) -> None:
    run("test", "--model", GRANITE)
    assert known.requests.count(GRANITE) == 10


def test_model_is_a_substring_in_any_letter_case(known: WatsonxVendor, folder: Path) -> None:
    run("test", "--model", "GRANITE", "--iterations", "1")
    assert asked(known) == {GRANITE, SMALL}


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("words", "env", "left"),
    [
        (["--exclude", GRANITE, "--exclude", LLAMA], {}, {SMALL, "ibm/textual"}),
        (["--exclude", "^ibm/.*"], {}, {LLAMA}),
        ([], {"WATSONX_TOOL_EXCLUDE": f"{GRANITE}, {LLAMA}"}, {SMALL, "ibm/textual"}),
        (["--exclude-file", "excludes.txt"], {}, {LLAMA}),
        ([], {"WATSONX_TOOL_EXCLUDE_FILE": "./excludes.txt"}, {LLAMA}),
        (["--exclude", LLAMA, "--exclude-file", "excludes.txt", "--exclude", "nobody"], {}, set()),
    ],
)
def test_exclusions(words: list[str], env: dict[str, str], left: set[str], known: WatsonxVendor, folder: Path) -> None:
    (folder / "excludes.txt").write_text("# all of IBM\n\nibm/.*instruct # the family\nibm/(textual|slate.*)\n")
    run("test", "--iterations", "1", *words, code=0 if left else 1, **env)
    assert asked(known) == left


def test_files_as_windows_writes_them_are_read(known: WatsonxVendor, folder: Path) -> None:
    """With a mark at the beginning and other line ends."""
    (folder / "excludes.txt").write_bytes(f"\ufeff{GRANITE}\r\n{LLAMA}\r\n".encode())
    (folder / ".env").write_bytes("\ufeffWATSONX_TOOL_EXCLUDE_FILE=excludes.txt\r\n".encode())
    run("test", "--iterations", "1")
    assert asked(known) == {SMALL, "ibm/textual"}


def test_an_exact_id_excludes_only_itself(known: WatsonxVendor, folder: Path) -> None:
    with Vendor(models={"gpt-4": "faithful", "gpt-4o": "faithful"}) as vendor:
        run("test", "--client", "litellm", "--litellm-url", vendor.url, "--exclude", "gpt-4", "--iterations", "1")
        assert vendor.requests.count("gpt-4") == 0
        assert vendor.requests.count("gpt-4o") == 2


def test_an_exclusion_that_is_no_regular_expression_is_named(known: WatsonxVendor, folder: Path) -> None:
    assert "'gra(nite'" in run("test", "--exclude", "gra(nite", code=2).stderr
    assert "'gra(nite'" in run("test", WATSONX_TOOL_EXCLUDE="gra(nite", code=1).stderr
    assert known.requests.count() == 0


def test_an_exclude_file_that_is_not_there_is_an_error(known: WatsonxVendor, folder: Path) -> None:
    assert "nowhere.txt" in run("test", "--exclude-file", "nowhere.txt", code=1).stderr


@pytest.mark.sampled
@pytest.mark.parametrize("sort", ["tool_call_time", "response_time", "total_time"])
def test_sorting_by_time_puts_missing_values_last(sort: str, folder: Path) -> None:
    with Vendor(models=["slow:0.15", "faithful", "text-caller"]) as vendor:
        words = ["test", "--client", "litellm", "--litellm-url", vendor.url, "--iterations", "1", "--sort", sort]
        lines = run(*words).stdout.splitlines()[1:4]
    assert [line.split()[0] for line in lines] == ["faithful", "slow:0.15", "text-caller"]


def test_sorting_by_name_is_the_default(known: WatsonxVendor, folder: Path) -> None:
    run("test", "--iterations", "1", "--output", "r.json")
    models = [one["model"] for one in json.loads((folder / "r.json").read_text())["results"]]
    assert models == sorted(models)


def test_the_region_chooses_the_address(folder: Path) -> None:
    given = {"watsonx_apikey": "k", "watsonx_project_id": "p"}
    assert ModelTester(Config(**given)).client.endpoint().spec.base_url == ""
    options = ModelTester(Config(**given, watsonx_region="eu-de")).client.endpoint().spec.options
    assert options["region"] == "eu-de"
    assert (
        "no watsonx.ai region 'mars'"
        in run("list-models", "--watsonx-region", "mars", WATSONX_APIKEY="k", WATSONX_PROJECT_ID="p", code=1).stderr
    )


def test_api_version_and_project_reach_the_server(known: WatsonxVendor, folder: Path) -> None:
    run("test", "--model", GRANITE, "--iterations", "1", "--watsonx-api-version", "2024-01-01")
    endpoint = ModelTester(Config(watsonx_api_version="2024-01-01")).client.endpoint()
    assert endpoint.spec.options["api_version"] == "2024-01-01"
    bodies = [one for one in known.requests if one.model == GRANITE]
    assert bodies[0].body["project_id"] == known.project_id
    wrong = run("test", "--model", GRANITE, "--iterations", "1", "--watsonx-project-id", "elsewhere", code=1)
    assert "elsewhere" in wrong.output


def test_the_token_reaches_the_proxy_and_no_file(folder: Path) -> None:
    with LiteLlmVendor(models=["faithful"], master_key="sk-very-secret-token") as proxy:
        words = ["test", "--client", "litellm", "--litellm-url", proxy.url, "--iterations", "1", "--debug"]
        words += ["--output", "r.json", "--html-output", "r.html", "--save-history"]
        result = run(*words, "--litellm-token", "sk-very-secret-token")
    written = b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())
    assert b"sk-very-secret-token" not in written
    assert "sk-very-secret-token" not in result.output


def test_the_log_folder_is_made_only_when_it_is_used(known: WatsonxVendor, folder: Path) -> None:
    run("test", "--model", GRANITE, "--iterations", "1")
    assert not list(folder.iterdir())
    run("test", "--model", GRANITE, "--iterations", "1", "--debug")
    assert (folder / "tool_test_logs/tool_test.log").is_file()
    run("test", "--model", GRANITE, "--iterations", "1", "--log-dir", "elsewhere", "--log-level", "INFO")
    assert "passed" in (folder / "elsewhere/tool_test.log").read_text()


def test_debug_logs_every_attempt_and_the_default_only_what_is_wrong(known: WatsonxVendor, folder: Path) -> None:
    assert "attempt 1: status 200" in run("test", "--model", GRANITE, "--iterations", "1", "--debug").stderr
    assert "attempt 1" not in run("test", "--model", GRANITE, "--iterations", "1").stderr


def test_an_interrupted_run_is_gone_on_with_where_logs_are_kept(folder: Path) -> None:
    """What was measured is not asked again; a finished run is not taken up."""
    with Scripted(greeter(50, 50)) as server:
        words = ["test", "--client", "litellm", "--litellm-url", server.url, "--iterations", "3", "--log-dir", "logs"]
        run(*words)
        (manifest,) = (folder / "logs").glob("*/manifest.json")
        content = json.loads(manifest.read_text())
        del content["finished_at"]
        manifest.write_text(json.dumps(content))
        asked_before = len(server.received)
        assert "calls 3/3" in run(*words).stdout
        assert [one.method for one in server.received[asked_before:]] == ["GET"] * (len(server.received) - asked_before)
        run(*words)
        assert len(list((folder / "logs").glob("*/manifest.json"))) == 2


@pytest.mark.heavy
@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGINT to send there")
def test_after_an_interruption_the_way_to_go_on_is_said(folder: Path) -> None:
    with Vendor(models=["faithful"], latency=0.3) as vendor:
        command = [
            sys.executable,
            "-m",
            "watsonx_tool_tester",
            "test",
            "--client",
            "litellm",
            "--litellm-url",
            vendor.url,
        ]
        command += ["--iterations", "30", "--concurrency", "1", "--save-history"]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        until(lambda: vendor.requests.count() >= 2)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130
    assert "Interrupted and not entered into the history. With --log-dir the same command would go on" in said
    assert not Path("reports").exists()
