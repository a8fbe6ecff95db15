"""`toolcert models`, `endpoints` and `doctor` as users call them."""

from __future__ import annotations

import json
import os
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from support.scripted import Answer, Received, Script, Scripted, completion, in_turn, refusal
from toolcert.cli.main import cli
from toolcert.simulate import Vendor

KEY = "sk-very-secret-0123456789"
PAGE = Answer(b"<!DOCTYPE html><html><title>Sign in</title></html>", headers={"Content-Type": "text/html"})
DIALECTS = ("openai", "litellm", "watsonx")


@pytest.fixture(autouse=True)
def empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """No toolcert.toml but the test's own."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*words: str, **environment: str) -> Result:
    environment = {"TOOLCERT_API_KEY": KEY, **environment}
    return CliRunner().invoke(cli, list(words), env=environment, catch_exceptions=False, prog_name="toolcert")


def address(dialect: str, root: str) -> list[str]:
    more = ["--iam-url", root, "--project-id", "p"] if dialect == "watsonx" else []
    return ["--base-url", root, "--dialect", dialect, "--retries", "0", *more]


def with_tokens(script: Script) -> Script:
    """Issue tokens for watsonx.ai, and answer everything else by the script."""

    def respond(received: Received) -> Answer:
        return Answer({"access_token": "token-0123456789"}) if "/identity/token" in received.path else script(received)

    return respond


def is_one_clear_error(result: Result) -> None:
    """One line that says what happened, perhaps a remedy, never a traceback or the key."""
    lines = result.stderr.strip().splitlines()
    assert 1 <= len(lines) <= 2, result.stderr
    assert lines[0].startswith("Error: ")
    assert KEY not in result.output
    assert result.stdout == ""


@pytest.mark.parametrize("command", ["models", "doctor"])
@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("url", ["ftp://x/v1", "http://", "http://user:pw@x", "http://a b"])
def test_a_bad_address_is_a_usage_error(command: str, dialect: str, url: str) -> None:
    result = run(command, *address(dialect, url))
    assert result.exit_code == 2
    is_one_clear_error(result)


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("root", ["http://127.0.0.1:9", "http://nowhere.invalid"])
def test_an_unreachable_host(dialect: str, root: str) -> None:
    began = time.monotonic()
    result = run("models", *address(dialect, root))
    assert result.exit_code == 3
    is_one_clear_error(result)
    assert time.monotonic() - began < 60


@pytest.mark.sampled(every=8)
@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize(
    "answer",
    [
        PAGE,
        Answer({"data": [], "resources": []}),
        Answer({"data": None}),
        Answer(b"pong"),
        Answer({"unexpected": True}),
        refusal(500, "boom"),
        refusal(404, "Not Found"),
    ],
)
def test_no_usable_list_is_never_an_invented_model(dialect: str, answer: Answer) -> None:
    with Scripted(with_tokens(in_turn(answer))) as server:
        result = run("models", *address(dialect, server.root))
    assert result.exit_code == 3
    is_one_clear_error(result)


@pytest.mark.parametrize(
    ("dialect", "answer"),
    [
        ("openai", refusal(401, f"Incorrect API key provided: {KEY}")),
        ("litellm", refusal(400, "No connected db.")),
        ("watsonx", Answer({"errorCode": "BXNIM0415E", "errorMessage": f"{KEY} could not be found"}, 400)),
    ],
)
def test_a_wrong_key_names_its_variable(dialect: str, answer: Answer) -> None:
    with Scripted(in_turn(answer)) as server:
        result = run("models", *address(dialect, server.root))
    assert result.exit_code == 3
    is_one_clear_error(result)
    assert "TOOLCERT_API_KEY" in result.stderr


def test_models_as_table() -> None:
    with Vendor(models=["faithful", "text-embedding-small"]) as vendor:
        result = run("models", vendor.url)
    assert result.exit_code == 0
    assert "2 models, 1 can chat" in result.stdout
    assert "an embedding model" in result.stdout


def test_models_as_json_and_by_pattern() -> None:
    with Vendor(models=["faithful", "fault:args.empty"]) as vendor:
        result = run("models", vendor.url, "--model", "fault:*", "--json", "-")
    [endpoint] = json.loads(result.stdout)["endpoints"]
    assert endpoint["base_url"] == vendor.url
    assert [info["id"] for info in endpoint["models"]] == ["fault:args.empty"]


def test_several_endpoints_and_one_that_is_down(empty_folder: Path) -> None:
    with Vendor(models=["faithful"]) as vendor:
        config = f"[endpoints.up]\nbase_url = '{vendor.url}'\n[endpoints.down]\nbase_url = 'http://127.0.0.1:9'\n"
        (empty_folder / "toolcert.toml").write_text(config)
        result = run("models", "up", "down", "--retries", "0")
    assert result.exit_code == 0
    assert "faithful" in result.stdout
    assert "down: no answer" in result.stderr


def test_vendor_text_cannot_write_to_the_terminal() -> None:
    listing = Answer({"data": [{"id": "evil\x1b[31m\nmodel", "owned_by": "\u202egnp.exe"}]})
    with Scripted(in_turn(listing)) as server:
        result = run("models", server.url)
    assert "\x1b" not in result.stdout
    assert "\u202e" not in result.stdout


def test_endpoints_lists_configured_ones_first_and_says_which_keys_are_set(empty_folder: Path) -> None:
    (empty_folder / "toolcert.toml").write_text("[endpoints.mine]\npreset = 'groq'\napi_key_env = 'MINE'\n")
    result = run("endpoints", MINE="x", OPENAI_API_KEY="")
    lines = result.stdout.splitlines()
    assert lines[1].split() == ["mine", "https://api.groq.com/openai/v1", "MINE", "(set)"]
    assert lines[2].strip() == "From toolcert.toml:1."
    assert max(len(line) for line in lines if not line.startswith("     ")) <= 80, "notes apart, it fits a terminal"
    assert "OPENAI_API_KEY (set)" not in result.stdout
    as_json = json.loads(run("endpoints", "--json", "-").stdout)["endpoints"]
    assert {"openai", "openrouter", "watsonx", "ollama"} <= {entry["name"] for entry in as_json}


def steps(result: Result) -> dict[str, dict[str, Any]]:
    [endpoint] = json.loads(result.stdout)["endpoints"]
    return {step["name"]: step for step in endpoint["steps"]}


def test_doctor_finds_a_good_vendor_healthy() -> None:
    with Vendor(models=["faithful"]) as vendor:
        result = run("doctor", "--endpoint", vendor.url, "--json", "-")
    assert result.exit_code == 0
    assert {name: step["health"] for name, step in steps(result).items()} == dict.fromkeys(
        ("DNS", "TLS", "authentication", "model listing", "chat", "clock", "tool call", "stream"), "ok"
    )
    assert all(step["seconds"] >= 0 for step in steps(result).values())


def test_doctor_for_people() -> None:
    with Vendor(models=["faithful"]) as vendor:
        result = run("doctor", vendor.url)
    assert result.exit_code == 0
    assert "✓ tool call" in result.stdout


def test_doctor_stops_where_nothing_more_can_succeed() -> None:
    result = run("doctor", "http://127.0.0.1:9", "--json", "-")
    assert result.exit_code == 3
    seen = steps(result)
    assert seen["TLS"]["health"] == "failed"
    assert seen["TLS"]["remedy"]
    assert seen["chat"]["health"] == "skipped"


def test_doctor_tells_a_wrong_key() -> None:
    with Vendor(models=["faithful"], api_key="another") as vendor:
        result = run("doctor", vendor.url, "--json", "-")
    assert result.exit_code == 3
    step = steps(result)["authentication"]
    assert step["health"] == "failed"
    assert "TOOLCERT_API_KEY" in step["detail"]
    assert KEY not in result.output


def test_doctor_sees_clocks_that_differ_and_answers_that_are_not_streamed() -> None:
    def script(received: Received) -> Answer:
        if received.method == "GET":
            return Answer({"data": [{"id": "m"}]})
        return completion()._replace(headers={"Date": "Thu, 01 Jan 2015 00:00:00 GMT"})

    with Scripted(script) as server:
        result = run("doctor", server.url, "--json", "-")
    assert result.exit_code == 1
    seen = steps(result)
    assert seen["clock"]["health"] == "warning"
    assert "ahead of the server's" in seen["clock"]["detail"]
    assert seen["tool call"]["health"] == "warning"
    assert seen["stream"]["health"] == "failed"


def test_doctor_names_a_ca_bundle_that_is_none(empty_folder: Path) -> None:
    (empty_folder / "ca.pem").write_text("no certificate")
    result = run("doctor", "https://127.0.0.1:9", "--ca-bundle", "ca.pem", "--json", "-")
    assert result.exit_code == 3
    assert "ca.pem" in steps(result)["TLS"]["detail"]


def test_doctor_goes_by_the_same_proxies_as_requests_do() -> None:
    """Some tools read ALL_PROXY and some do not; ours must agree with itself."""
    with Vendor(models=["faithful"]) as vendor:
        direct = run("doctor", vendor.url, "--json", "-", ALL_PROXY="http://127.0.0.1:9", NO_PROXY="127.0.0.1")
        proxied = run("doctor", vendor.url, "--json", "-", ALL_PROXY="http://127.0.0.1:9", NO_PROXY="")
    assert steps(direct)["DNS"]["health"] == "ok"
    assert steps(proxied)["DNS"]["detail"] == "left to the proxy 127.0.0.1"
    assert steps(proxied)["TLS"]["health"] == "failed"
    assert steps(proxied)["chat"]["health"] == "skipped"


def test_doctor_without_a_list_asks_the_named_model() -> None:
    def script(received: Received) -> Answer:
        return refusal(404, "Not Found") if received.method == "GET" else completion()

    with Scripted(script) as server:
        seen = steps(run("doctor", server.url, "--model", "m", "--json", "-"))
    assert seen["model listing"]["health"] == "failed"
    assert seen["chat"]["health"] == "ok"
    assert "m answers" in seen["chat"]["detail"]


def test_names_of_endpoints_are_completed(empty_folder: Path) -> None:
    (empty_folder / "toolcert.toml").write_text("[endpoints.opal]\nbase_url = 'http://x'\n")
    result = run(_TOOLCERT_COMPLETE="bash_complete", COMP_WORDS="toolcert models op", COMP_CWORD="2")
    assert {"plain,opal", "plain,openai", "plain,openrouter"} <= set(result.stdout.split())


AWKWARD = "QUJD/verysecret+REVG/abcdefgh1234=="


def echoing(received: Received) -> Answer:
    """A server that tells callers their own key: escaped as some libraries do, or in pieces of a stream."""
    if received.method == "GET":
        return Answer({"object": "list", "data": [{"id": "m", "object": "model"}]})
    if received.json.get("stream"):
        parts = [AWKWARD[:9], AWKWARD[9:14], AWKWARD[14:]]
        chunks = [{"id": "c", "choices": [{"index": 0, "delta": {"content": part}}]} for part in parts]
        stream = "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks) + "data: [DONE]\n\n"
        return Answer(stream.encode(), headers={"Content-Type": "text/event-stream"})
    escaped = AWKWARD.replace("/", "\\/").replace("=", "\\u003d")
    return Answer(f'{{"error":{{"message":"Incorrect API key provided: {escaped}"}}}}'.encode(), 401)


@pytest.mark.parametrize("command", [["doctor"], ["probe", "--probe", "streaming"], ["probe"]])
def test_a_key_that_the_server_echoes_is_neither_shown_nor_kept(command: list[str], empty_folder: Path) -> None:
    reports = ["--html", "r.html", "--json", "r.json", "--markdown", "r.md", "--junit", "r.xml", "--output", "run"]
    with Scripted(echoing) as server:
        more = [*reports, "-n", "1", "--yes"] if command[0] == "probe" else []
        result = run(*command, *more, server.url, "--retries", "0", TOOLCERT_API_KEY=AWKWARD)
    kept = [path for path in empty_folder.rglob("*") if path.is_file()]
    assert kept or command[0] == "doctor"
    for text in [result.output, *(path.read_text("utf-8", "replace") for path in kept)]:
        assert "verysecret" not in text
        assert "abcdefgh1234" not in text
        assert "REVG" not in text
    assert "[secret]" in "".join([result.output, *(path.read_text("utf-8") for path in kept)])


@pytest.mark.parametrize("key", ["sk-verysecret-ABC123def456", "gsk_aVerySecretABC123def456ghi", "sk very secret", "é"])
@pytest.mark.parametrize("place", ["flag", "variable", "file"])
def test_a_key_given_as_the_name_of_its_variable_is_not_shown(key: str, place: str, empty_folder: Path) -> None:
    words, environment = ["models", "localhost:1"], {}
    if place == "flag":
        words += ["--api-key-env", key]
    elif place == "variable":
        environment = {"TOOLCERT_API_KEY_ENV": key}
    else:
        (empty_folder / "toolcert.toml").write_text(
            f'[endpoints.mine]\nbase_url = "localhost:1"\napi_key_env = "{key}"'
        )
    result = run(*words, **environment)
    assert result.exit_code == 2
    assert "expected the NAME of the environment variable" in result.stderr
    assert key not in result.output


def test_a_variable_that_is_empty_is_not_called_unset() -> None:
    words = ("models", "localhost:1", "--api-key-env", "MY_KEY_2")
    assert "MY_KEY_2, which should hold the key, is not set." in run(*words).stderr
    assert "MY_KEY_2, which should hold the key, is set but empty." in run(*words, MY_KEY_2="").stderr


@pytest.mark.skipif(os.name == "nt", reason="named pipes are POSIX")
def test_a_key_may_come_through_a_pipe(empty_folder: Path) -> None:
    """As `--api-key-file <(pass show key)` gives it: once, for however many endpoints."""
    os.mkfifo(empty_folder / "pipe")
    threading.Thread(target=(empty_folder / "pipe").write_text, args=(f"{KEY}\n",), daemon=True).start()
    with Vendor(["faithful"], api_key=KEY) as one, Vendor(["faithful"], api_key=KEY) as two:
        result = run("models", one.url, two.url, "--api-key-file", "pipe", TOOLCERT_API_KEY="")
    assert result.exit_code == 0, result.output
    assert result.stdout.count("faithful") == 2


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["probe", "--base-url", "localhost:1", "localhost:2", "--dry-run"], "localhost:2 and --base-url are two"),
        (["models", "-e", "localhost:2", "--base-url", "localhost:1"], "localhost:2 and --base-url are two"),
        (["models", "--base-url", "localhost:1", "--base-url", "localhost:2"], "--base-url is given 2 times."),
    ],
)
def test_of_two_addresses_none_is_silently_left_out(words: list[str], told: str) -> None:
    result = run(*words)
    assert result.exit_code == 2
    assert told in result.stderr
    assert "--endpoint" in result.stderr


def test_base_url_still_says_where_a_known_endpoint_is() -> None:
    with Vendor(["faithful"]) as vendor:
        assert run("models", "ollama", "--base-url", vendor.url).exit_code == 0


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["verify", "requests.jsonl", "localhost:1"], "Name the endpoint with --endpoint (-e) or --base-url."),
        (["compare", "one", "two"], "Name the runs with --baseline RUN... --vendor RUN..."),
        (["probe", "faithful", "localhost:1"], "A model is named with --model."),
        (["models", "http:/localhost:1"], "two slashes follow http:"),
    ],
)
def test_words_in_the_wrong_place_are_told_the_right_one(words: list[str], told: str) -> None:
    result = run(*words)
    assert result.exit_code == 2
    assert told in result.stderr


def test_what_was_asked_for_is_named_when_no_model_fits() -> None:
    with Vendor(["faithful"]) as vendor:
        close = run("probe", vendor.url, "-m", "faithfull").stderr
        far = run("probe", vendor.url, "-m", "qwen*", "--exclude", "x").stderr
        models = run("models", f" {vendor.url.removesuffix('/v1')}//v1 ")
    assert "with --model faithfull no model is left to ask." in close
    assert "Did you mean faithful?\n" in close
    assert "with --model qwen* --exclude x no model is left to ask." in far
    assert models.exit_code == 0, models.output


@pytest.mark.parametrize(
    ("variable", "proxy", "told"),
    [
        ("HTTP_PROXY", "http://127.0.0.1:9", "cannot connect to the proxy 127.0.0.1:9 that HTTP_PROXY names"),
        ("http_proxy", "http://me:pass-word@127.0.0.1:9", "to the proxy 127.0.0.1:9 that http_proxy names"),
        ("ALL_PROXY", "no-such.invalid", "cannot resolve the proxy no-such.invalid that ALL_PROXY names"),
    ],
)
def test_a_proxy_that_fails_is_named_with_its_variable_and_the_way_round(variable: str, proxy: str, told: str) -> None:
    with Vendor(["faithful"]) as vendor:
        listed = run("models", vendor.url, "--retries", "0", **{variable: proxy})
        examined = steps(run("doctor", vendor.url, "--retries", "0", "--json", "-", **{variable: proxy}))
    assert told in listed.stderr
    assert "NO_PROXY" in listed.stderr
    assert "pass-word" not in listed.stderr
    assert examined["TLS"]["health"] == "failed"
    assert f"that {variable} names" in examined["TLS"]["detail"]
    assert "NO_PROXY" in examined["TLS"]["remedy"]


def test_the_doctor_does_not_send_people_to_the_doctor() -> None:
    def hang_up(_: Received) -> Answer:
        raise ConnectionAbortedError

    with Scripted(hang_up) as server:
        result = run("doctor", server.url, "--retries", "0")
    assert "toolcert doctor` looks" not in result.output
    assert "that the server runs." in result.output
