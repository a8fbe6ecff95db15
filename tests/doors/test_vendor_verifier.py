"""The text of vendor-verifier from top to bottom: commands, options, files, resuming, adapters."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
import time
import types
from pathlib import Path
from typing import Any
from unittest.mock import ANY

import jsonschema
import pytest
from click.testing import CliRunner

import vendor_verifier
from support.patience import PATIENCE, until
from support.rows import WEATHER, row, write_rows
from support.scripted import Answer, Received, Scripted, completion, in_turn, refusal
from support.vendor_door import rows, run, summary, verify
from support.walking import blocks, commands, replaced
from toolcert.engine.outage import OutageWatch
from toolcert.simulate import Vendor
from vendor_verifier import ModelAdapter, ToolCallsValidator, get_adapter, register_adapter
from vendor_verifier import models as registry
from vendor_verifier.cli import cli
from vendor_verifier.client import ApiClient
from vendor_verifier.compare import cli as compare_cli
from vendor_verifier.models import KimiModel
from vendor_verifier.validation import compute_hash, validate_tool_call

pytestmark = pytest.mark.heavy  # starts many processes; `make test-fast` does without


@pytest.fixture
def dataset(folder: Path) -> Path:
    """Four rows: two plain, one streamed, one without tools."""
    without = {name: value for name, value in row(4).items() if name != "tools"}
    write_rows(folder / "rows.jsonl", [row(1), row(2), row(3, stream=True), without])
    return folder


@pytest.mark.needs("material")
def test_every_command_of_the_text_runs_as_written(material: Path, recorded: Path, folder: Path) -> None:
    text = (material / "seeds/vendor-verifier.md").read_text("utf-8")
    (folder / "tool-calls").mkdir()
    for name in ("samples_cleaned_cleaned.jsonl", "tool-calls/samples_cleaned_cleaned.jsonl"):
        write_rows(folder / name, [row(1), row(2)])
    for name in ("official-run1", "vendor-a"):
        target = {"official-run1": "kimi-k2-0905-preview_results", "vendor-a": "gpt-4o-results"}[name]
        shutil.copyfile(recorded / f"vendor-results/{name}.jsonl", folder / f"tool-calls/{target}.jsonl")
    names = dict.fromkeys(("gpt-4o", "kimi-k2-0905-preview", "moonshotai/kimi-k2-0905"), "faithful")
    with Vendor(models=names, api_key="sk-the-key-0123") as vendor:
        addresses = ("https://api.openai.com/v1", "https://api.moonshot.cn/v1", "https://openrouter.ai/api/v1")
        keys = ("YOUR_API_KEY", "$OPENAI_API_KEY", "$MOONSHOT_API_KEY", "$OPENROUTER_API_KEY")
        values = dict.fromkeys(addresses, vendor.url) | dict.fromkeys(keys, "sk-the-key-0123")
        shell = [replaced(block, values) for block in blocks(text, "bash")]
        walked = [words for block in shell for _, words in commands(block, "python -m vendor_verifier ")]
        examples = [words for words in walked if "<MODEL>" not in words]
        assert len(examples) == 5
        for words in examples:
            run(*words, OPENAI_API_KEY="sk-the-key-0123")
            assert rows()[0]["status"] == "success"
        provider = [one.body.get("provider") for one in vendor.requests if one.model.startswith("moonshotai")]
        assert provider == [{"only": ["fireworks"]}] * 2
    assert rows("gpt4o_results.jsonl")
    assert summary("gpt4o_summary.json")["model"] == "gpt-4o"
    (words,) = [words for block in shell for _, words in commands(block, "python -m vendor_verifier.compare")]
    assert CliRunner().invoke(compare_cli, words, catch_exceptions=False).exit_code == 0
    assert json.loads((folder / "tool-calls/gpt-4o-comparison.json").read_text())["common_indices"] == 512
    written = b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())
    assert b"sk-the-key-0123" not in written


def test_results_and_summary(dataset: Path) -> None:
    with Vendor(models=["faithful"]) as vendor:
        verify(vendor)
    found = rows()
    assert [one["data_index"] for one in found] == [1, 2, 3, 4]
    assert [one["finish_reason"] for one in found] == ["tool_calls"] * 3 + ["stop"]
    assert [one["tool_calls_valid"] for one in found] == [True, True, True, None]
    assert all(one["extra_body"] == {} and one["last_run_at"] for one in found)
    streamed = found[2]["response"]["choices"][0]["message"]["tool_calls"][0]["function"]
    assert streamed == {"name": "get_weather", "arguments": '{"city": "Paris"}'}
    assert found[2]["request"]["stream_options"] == {"include_usage": True}
    totals = summary()
    assert (totals["success_count"], totals["failure_count"]) == (4, 0)
    assert (totals["finish_tool_calls"], totals["finish_stop"], totals["finish_others"]) == (3, 1, 0)
    assert (totals["successful_tool_call_count"], totals["schema_validation_error_count"]) == (3, 0)
    assert totals["usage"]["total_tokens"] == sum(one["response"]["usage"]["total_tokens"] for one in found)


def test_invalid_calls_and_other_finish_reasons_are_counted(dataset: Path) -> None:
    with Vendor(models=["fault:args.invalid_json"]) as vendor:
        verify(vendor, model="fault:args.invalid_json")
    totals = summary()
    assert totals["schema_validation_error_count"] == 3
    assert totals["successful_tool_call_count"] == 0
    cut = completion("cut")
    cut.body["choices"][0]["finish_reason"] = "length"
    with Scripted(lambda _: cut) as server:
        verify(server)
    assert summary()["finish_others_detail"] == {"length": 4}


def test_a_call_without_finish_reason_tool_calls_is_no_trigger_here(dataset: Path) -> None:
    with Vendor(models=["fault:finish.stop_with_calls"]) as vendor:
        verify(vendor, model="fault:finish.stop_with_calls")
    assert {one["tool_calls_valid"] for one in rows() if one["finish_reason"] == "stop"} == {None}


def test_a_line_that_is_not_json_is_named_and_counted_and_the_run_goes_on(folder: Path) -> None:
    """It has no row, and it is no failure of the vendor."""
    write_rows(folder / "rows.jsonl", [row(1), "not json", row(2)])
    with Vendor(models=["faithful"]) as vendor:
        said = verify(vendor).stderr
    assert "line 2 is not asked" in said
    assert [(one["data_index"], one["status"]) for one in rows()] == [(1, "success"), (3, "success")]
    assert (summary()["failure_count"], summary()["invalid_line_count"]) == (0, 1)


def test_a_file_without_rows_is_said_to_be_one(folder: Path) -> None:
    write_rows(folder / "rows.jsonl", [])
    with Vendor(models=["faithful"]) as vendor:
        assert "There was no row to ask." in verify(vendor, code=3).stderr
    assert rows() == []


def test_rows_left_by_an_endpoint_that_died_fail_without_a_line_each(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("toolcert.verification.run.job.OutageWatch", lambda: OutageWatch(cases=3, seconds=0.0))
    write_rows(folder / "rows.jsonl", [row(n) for n in range(30)])
    with Vendor(models=["faithful"]) as vendor:
        url = vendor.url
    said = run("rows.jsonl", "--model", "m", "--base-url", url, "--retries", "0", code=3).stderr
    assert "is not asked" not in said
    assert "does not answer any more" in rows()[-1]["response"]["error"]
    assert summary()["failure_count"] == 30


def bodies(vendor: Vendor) -> list[dict[str, Any]]:
    return [one.body for one in vendor.requests if one.model]


def test_options_that_shape_the_request(dataset: Path) -> None:
    with Vendor(models=["faithful"]) as vendor:
        words = ("--temperature", "0.6", "--max-tokens", "77", "--extra-body", '{"top_p": 0.9, "temperature": 0.7}')
        verify(vendor, *words)
        assert all(body["temperature"] == 0.7 for body in bodies(vendor)), "the extra body is merged last"
        assert all((body["max_tokens"], body["top_p"]) == (77, 0.9) for body in bodies(vendor))
        assert rows()[0]["extra_body"] == {"top_p": 0.9, "temperature": 0.7}
        vendor.requests.clear()
        verify(vendor)
        assert all(body["temperature"] == 0.0 and "max_tokens" not in body for body in bodies(vendor))


def test_concurrency_and_the_two_files(dataset: Path) -> None:
    write_rows(dataset / "rows.jsonl", [row(number) for number in range(12)])
    with Vendor(models=["faithful"], latency=0.2) as vendor:
        verify(vendor, "--concurrency", "4", "--output", "a/r.jsonl", "--summary", "b/s.json")
        assert vendor.peak == 4
    assert len(rows("a/r.jsonl")) == summary("b/s.json")["success_count"] == 12


def test_the_default_concurrency_is_five(dataset: Path) -> None:
    write_rows(dataset / "rows.jsonl", [row(number) for number in range(12)])
    with Vendor(models=["faithful"], latency=0.2) as vendor:
        verify(vendor)
        assert vendor.peak == 5


@pytest.mark.parametrize("source", ["flag", "environment"])
def test_the_key_comes_from_the_flag_or_the_environment(source: str, dataset: Path) -> None:
    with Vendor(models=["faithful"], api_key="sk-the-key-0123") as vendor:
        words = ["rows.jsonl", "--model", "faithful", "--base-url", vendor.url]
        if source == "flag":
            run(*words, "--api-key", "sk-the-key-0123", OPENAI_API_KEY="sk-another-key-0123")
        else:
            run(*words, OPENAI_API_KEY="sk-the-key-0123")
    assert summary()["success_count"] == 4


def test_a_timeout_fails_the_row(folder: Path) -> None:
    write_rows(folder / "rows.jsonl", [row(1)])
    with Scripted(lambda _: completion()._replace(delay=3.0)) as server:
        verify(server, "--timeout", "1", "--retries", "0", code=3)
    (one,) = rows()
    assert one["status"] == "failed"
    assert "within 1 s" in one["response"]["error"]
    assert 950 <= one["duration_ms"] < 2900


def test_a_timeout_is_retried_so_many_times(folder: Path) -> None:
    write_rows(folder / "rows.jsonl", [row(1)])
    with Scripted(lambda _: completion()._replace(delay=1.0)) as server:
        verify(server, "--timeout", "0.2", "--retries", "2", code=3)
        assert len(server.received) == 3


def test_a_429_is_waited_out_once(folder: Path) -> None:
    write_rows(folder / "rows.jsonl", [row(1)])
    busy = refusal(429, "slow down")._replace(headers={"Retry-After": "1"})
    with Scripted(in_turn(busy, completion())) as server:
        began = time.monotonic()
        verify(server)
        assert time.monotonic() - began >= 1
        assert len(server.received) == 2
    (one,) = rows()
    assert one["status"] == "success"
    assert one["duration_ms"] < 1000, "waiting is not part of the attempt"


@pytest.mark.parametrize("retries", [0, 1, 2])
def test_a_500_is_retried_so_many_times(retries: int, folder: Path) -> None:
    write_rows(folder / "rows.jsonl", [row(1)])
    broken = refusal(500, "broken")._replace(headers={"Retry-After": "0"})
    with Scripted(lambda _: broken) as server:
        said = verify(server, "--retries", str(retries), code=3).stderr
        assert len(server.received) == 1 + retries
    assert "Every request failed" in said
    assert rows()[0]["response"] == {"error": "Error code: 500 - broken"}


def test_durations_do_not_contain_the_queue(folder: Path) -> None:
    write_rows(folder / "rows.jsonl", [row(number) for number in range(4)])
    with Vendor(models=["faithful"], latency=1.0) as vendor:
        verify(vendor, "--concurrency", "1")
    assert all(950 <= one["duration_ms"] <= 1900 for one in rows())
    assert summary()["eval_duration_ms"] >= 3900


@pytest.mark.parametrize(
    "words",
    [
        ["--concurrency", "0"],
        ["--timeout", "0"],
        ["--retries", "-1"],
        ["--extra-body", "{nonsense"],
        ["--extra-body", "[1]"],
        ["--temperature", "-1"],
        ["--max-tokens", "0"],
    ],
)
def test_bounds_are_checked(words: list[str], dataset: Path) -> None:
    run("rows.jsonl", "--model", "m", "--base-url", "http://127.0.0.1:9", *words, code=2)


@pytest.mark.parametrize("missing", ["--model", "--base-url", "file"])
def test_required_arguments(missing: str, dataset: Path) -> None:
    words = {"file": ["rows.jsonl"], "--model": ["--model", "m"], "--base-url": ["--base-url", "http://127.0.0.1:9"]}
    del words[missing]
    run(*(word for given in words.values() for word in given), code=2)


def test_incremental_asks_only_what_failed(dataset: Path) -> None:
    with Vendor(models=["faithful"]) as vendor:
        vendor.outage("500", after=2, count=2)
        verify(vendor, "--retries", "0", "--concurrency", "1")
        assert [one["status"] for one in rows()] == ["success", "success", "failed", "failed"]
        kept = rows()[:2]
        verify(vendor, "--incremental")
        assert vendor.requests.count() == 6
        assert rows()[:2] == kept
        assert summary()["success_count"] == 4
        before = summary()
        verify(vendor, "--incremental")
        assert vendor.requests.count() == 6
        assert summary() == before, "nothing left to do keeps the figures"


def test_without_incremental_everything_is_asked_anew(dataset: Path) -> None:
    with Vendor(models=["faithful"]) as vendor:
        verify(vendor)
        verify(vendor)
        assert vendor.requests.count() == 8


def test_what_can_change_the_answer_is_asked_again(dataset: Path) -> None:
    with Vendor(models=["faithful", "kimi-faithful"]) as vendor, Vendor(models=["faithful"]) as other:
        verify(vendor)
        before = Path("results.jsonl").read_bytes()
        said = verify(vendor, "--incremental", "--extra-body", '{"top_p": 0.5}').stderr
        assert vendor.requests.count() == 8
        assert "The results as they were are kept as results.jsonl.before.1." in said
        assert Path("results.jsonl.before.1").read_bytes() == before
        verify(vendor, "--incremental", model="kimi-faithful")
        assert vendor.requests.count("kimi-faithful") == 4
        verify(other, "--incremental")
        assert other.requests.count() == 4
        assert len(rows()) == 4


def test_moved_inserted_and_repeated_lines_resume_correctly(folder: Path) -> None:
    with Vendor(models=["faithful"]) as vendor:
        write_rows(folder / "rows.jsonl", [row(1), row(2)])
        verify(vendor)
        write_rows(folder / "rows.jsonl", [row(3), row(2), row(1), row(1)])
        verify(vendor, "--incremental")
        assert vendor.requests.count() == 4
    asked = [one["request"]["messages"][0]["content"][-2] for one in rows()]
    assert asked == ["3", "2", "1", "1"]
    assert len({one["hash"] for one in rows()}) == 4


def test_incremental_after_an_interruption(folder: Path) -> None:
    """Every row that was reported is on disk; the files are written at once, and the rest is asked later."""
    write_rows(folder / "rows.jsonl", [row(number) for number in range(40)])
    with Vendor(models=["faithful"], latency=0.15) as vendor:
        words = ["rows.jsonl", "--model", "faithful", "--base-url", vendor.url]
        command = [sys.executable, "-m", "vendor_verifier", *words, "--concurrency", "2"]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        until(lambda: vendor.requests.count() >= 6)
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=PATIENCE) == 130
        answered = len(rows())
        assert 4 <= answered < 40
        run(*words, "--incremental", "--concurrency", "20")
        assert vendor.requests.count() <= 40 + 2
    assert [one["data_index"] for one in rows()] == list(range(1, 41))


@pytest.mark.parametrize("number", [4, 30], ids=["to the end", "given up"])
@pytest.mark.parametrize("words", [[], ["--incremental"]], ids=["anew", "incremental"])
def test_a_run_without_any_answer_replaces_no_results(folder: Path, number: int, words: list[str]) -> None:
    write_rows(folder / "rows.jsonl", [row(one) for one in range(number)])
    with Vendor(models=["faithful"]) as vendor:
        verify(vendor)
        before = [(folder / name).read_bytes() for name in ("results.jsonl", "summary.json")]
        nowhere = ["rows.jsonl", "--model", "faithful", "--base-url", "http://127.0.0.1:9", "--retries", "0", *words]
        command = [sys.executable, "-m", "vendor_verifier", *nowhere]
        ended = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)
        assert ended.returncode == 3
        assert "results.jsonl has answers and stays as it was" in ended.stderr
        assert [(folder / name).read_bytes() for name in ("results.jsonl", "summary.json")] == before
        assert {one["status"] for one in rows("results.jsonl.failed")} == {"failed"}
        verify(vendor, "--incremental")
        assert vendor.requests.count() == number
    assert (folder / "results.jsonl").read_bytes() == before[0]


def test_results_of_another_tool_survive_a_run_without_any_answer(dataset: Path) -> None:
    (dataset / "results.jsonl").write_text('{"data_index": 1, "request": {}, "status": "success"}\n')
    run("rows.jsonl", "--model", "m", "--base-url", "http://127.0.0.1:9", "--retries", "0", code=3)
    assert (dataset / "results.jsonl").read_text().startswith('{"data_index": 1, "request": {}')
    assert len(rows("results.jsonl.failed")) == 4


def test_the_adapters_of_the_text() -> None:
    assert type(get_adapter("gpt-4o")).__name__ == "GenericModel"
    assert type(get_adapter("moonshotai/Kimi-K2")) is type(get_adapter("anything", "kimi"))
    messages = [
        {"role": "_input", "content": "x"},
        {"role": "assistant", "tool_calls": [{"id": "1"}]},
        {"role": "assistant", "content": "y"},
    ]
    before = json.dumps(messages)
    changed = get_adapter("moonshot-v1").transform_messages(messages)
    assert [message["role"] for message in changed] == ["system", "assistant", "assistant"]
    assert changed[1]["reasoning_content"] == " "
    assert json.dumps(messages) == before
    assert get_adapter("m", "kimi").supports_raw_completions() is False
    assert get_adapter("m", "kimi").get_tokenizer() is None
    text = (
        "<|tool_calls_section_begin|><|tool_call_begin|>functions.get_weather:0<|tool_call_argument_begin|>"
        '{"city": "Paris"}<|tool_call_end|><|tool_calls_section_end|>'
    )
    (call,) = get_adapter("kimi").extract_tool_calls_from_text(text) or []
    assert call["function"] == {"name": "get_weather", "arguments": '{"city": "Paris"}'}


async def test_the_client_and_the_validator_have_their_older_names(dataset: Path) -> None:
    """`ApiClient` and `ToolCallsValidator` with their older parameters, from a script that has an event loop."""
    with Vendor(models=["faithful"]) as vendor:
        adapter = get_adapter("faithful", force_type="generic")
        client = ApiClient(adapter=adapter, model="faithful", base_url=vendor.url, max_retries=0, max_tokens=77)
        parts = {"output_file": "r.jsonl", "summary_file": "s.json", "incremental": True}
        async with ToolCallsValidator(client=client, **parts) as validator:
            await validator.validate_file("rows.jsonl")
            status, response = await client.send_request(client.prepare_request(row(1)))
        assert all(body["max_tokens"] == 77 for body in bodies(vendor))
    assert (status, response["choices"][0]["finish_reason"]) == ("success", "tool_calls")
    assert validator.compute_summary() == summary("s.json")
    assert len(rows("r.jsonl")) == 4
    assert await ApiClient(adapter, "m", "http://127.0.0.1:9", max_retries=0).send_request(row(1)) == (
        "failed",
        {"error": ANY},
    )


def test_single_calls_are_validated_by_the_schema_of_their_tool() -> None:
    call = {"id": "c", "type": "function", "function": {"name": "get_weather", "arguments": '{"city": "Paris"}'}}
    assert validate_tool_call(call, [WEATHER])
    assert not validate_tool_call({**call, "function": {"name": "get_weather", "arguments": "{}"}}, [WEATHER])
    assert not validate_tool_call({**call, "function": {"name": "other", "arguments": "{}"}}, [WEATHER])
    assert not validate_tool_call({}, [WEATHER])
    assert compute_hash({"a": 1, "b": 2}) == compute_hash({"b": 2, "a": 1}) != compute_hash({"a": 2, "b": 2})


class Named(ModelAdapter):
    """An adapter as those of the older tool: it wants to know the model, and does not call its base class."""

    model_patterns = ["named"]

    def __init__(self, model_name: str) -> None:
        self.greeting = f"I am {model_name}"

    def transform_messages(self, messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return [{"role": "system", "content": self.greeting}, *messages]


@pytest.mark.parametrize("words", [(Named, "mine"), ("mine", Named), (Named,)], ids=["older", "ours", "pattern only"])
def test_adapters_are_registered_in_either_order_and_made_with_the_models_name(
    words: tuple[Any, ...], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(registry, "_REGISTRY", [*registry._REGISTRY])
    monkeypatch.setattr(registry, "_TYPE_MAP", {**registry._TYPE_MAP})
    register_adapter(*words)
    write_rows(folder / "rows.jsonl", [row(1)])
    with Scripted(lambda _: completion()) as server:
        verify(server, model="named-1")
        if len(words) > 1:
            verify(server, "--model-type", "MINE", model="other")
        said = [received.json["messages"][0]["content"] for received in server.received]
    assert said == ["I am named-1", "I am other"][: len(said)]
    assert type(get_adapter("named-2")) is Named


def test_model_types_are_known_in_any_case() -> None:
    assert type(get_adapter("m", force_type="Kimi")) is type(get_adapter("kimi")) is KimiModel
    assert KimiModel("kimi-k2", "a/tokenizer", True).tokenizer_model == "a/tokenizer"


def test_model_type_forces_an_adapter(folder: Path) -> None:
    odd = row(
        1, messages=[{"role": "_input", "content": "Be short."}, {"role": "user", "content": "Weather in Paris?"}]
    )
    write_rows(folder / "rows.jsonl", [odd])
    with Scripted(lambda _: completion()) as server:
        for words in ([], ["--model-type", "Kimi"], ["--model-type", "generic"]):
            verify(server, *words)
        verify(server, model="kimi-k2")
        roles = [received.json["messages"][0]["role"] for received in server.received]
        assert roles == ["_input", "system", "_input", "system"]
        program = [sys.executable, "-m", "vendor_verifier", "rows.jsonl", "--base-url", server.url, "--model", "m"]
        wrong = subprocess.run([*program, "--model-type", "nobody"], capture_output=True, text=True, check=False)
    assert wrong.returncode == 2
    assert "generic, kimi" in wrong.stderr


@pytest.mark.needs("material")
def test_a_model_adapter_is_added_by_the_recipe_of_the_text(material: Path, folder: Path) -> None:
    """The package is copied, the two steps are done as written, and the adapter is at work."""
    text = (material / "seeds/vendor-verifier.md").read_text("utf-8")
    adapter, registration = blocks(text, "python")
    package = folder / "lib/vendor_verifier"
    shutil.copytree(Path(vendor_verifier.__file__).parent, package)
    work = "return [{**message, 'name': 'adapted'} for message in messages]"
    (package / "models/your_model.py").write_text(adapter.replace("return messages", work))
    with (package / "models/__init__.py").open("a") as file:
        file.write("\n" + registration)
    write_rows(folder / "rows.jsonl", [row(1)])
    with Scripted(lambda _: completion()) as server:
        program = [sys.executable, "-m", "vendor_verifier", "rows.jsonl", "--base-url", server.url]
        env = {"PYTHONPATH": str(folder / "lib")}
        for words in (["--model", "My-Your-Model-Name-7b"], ["--model", "m", "--model-type", "your-model"]):
            done = subprocess.run([*program, *words], capture_output=True, text=True, env=env, check=False)
            assert done.returncode == 0, done.stderr
        assert [received.json["messages"][0].get("name") for received in server.received] == ["adapted"] * 2


def test_an_adapter_that_changes_messages_in_place_changes_no_row(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Rude(ModelAdapter):
        model_patterns = ["rude"]

        def transform_messages(self, messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
            for message in messages:
                message["content"] = "Say nothing."
            return messages

    monkeypatch.setattr(registry, "_REGISTRY", [*registry._REGISTRY])
    monkeypatch.setattr(registry, "_TYPE_MAP", {**registry._TYPE_MAP})
    register_adapter("rude", Rude)
    write_rows(folder / "rows.jsonl", [row(1), row(2)])
    with Scripted(lambda _: completion()) as server:
        verify(server, model="rude-1")
        assert {received.json["messages"][0]["content"] for received in server.received} == {"Say nothing."}
    assert len({one["hash"] for one in rows()}) == 2
    given = row(1)
    ApiClient(Rude(), "rude-1", "http://127.0.0.1:9").prepare_request(given)
    assert given == row(1)


def test_raw_completions_of_a_model_without_an_adapter_warn(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    library = types.ModuleType("transformers")
    library.AutoTokenizer = Tokenizer  # type: ignore[attr-defined]  # a module made here
    monkeypatch.setitem(sys.modules, "transformers", library)
    write_rows(folder / "rows.jsonl", [row(1)])
    words = ("--use-raw-completions", "--tokenizer-model", "moonshotai/tokenizer")
    with Scripted(raw_completion) as server:
        assert "there is no adapter for gpt-4o" in verify(server, *words, model="gpt-4o").stderr
        assert "no adapter" not in verify(server, *words, model="kimi-k2").stderr


def test_raw_completions_need_a_tokenizer(dataset: Path) -> None:
    program = [sys.executable, "-m", "vendor_verifier", "rows.jsonl", "--base-url", "http://127.0.0.1:9"]
    words = ["--model", "kimi-k2", "--use-raw-completions"]
    done = subprocess.run([*program, *words], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "--tokenizer-model" in done.stderr


MARKED = (
    "Let me look.<|tool_calls_section_begin|><|tool_call_begin|>functions.get_weather:0<|tool_call_argument_begin|>"
    '{"city": "Paris"}<|tool_call_end|><|tool_calls_section_end|>'
)


class Tokenizer:
    """Stands in for the library's, which the project does not depend on."""

    chat_template = "yes"

    @classmethod
    def from_pretrained(cls, name: str) -> Tokenizer:
        assert name == "moonshotai/tokenizer"
        return cls()

    def apply_chat_template(self, messages: list[dict[str, Any]], **settings: Any) -> str:
        return f"{len(settings['tools'])} tools|" + "|".join(str(message["content"]) for message in messages)


def raw_completion(received: Received) -> Answer:
    choice = {"index": 0, "text": MARKED, "finish_reason": "stop"}
    answer = {"id": "c", "object": "text_completion", "created": 1, "model": "kimi-k2", "choices": [choice]}
    if not received.json.get("stream"):
        return Answer(answer)
    parts = [{**answer, "choices": [{**choice, "text": part, "finish_reason": None}]} for part in MARKED.split("|")]
    for place, part in enumerate(parts[1:]):
        part["choices"][0]["text"] = "|" + MARKED.split("|")[place + 1]
    last = {**answer, "choices": [{**choice, "text": ""}]}
    lines = [f"data: {json.dumps(part)}\n\n" for part in (*parts, last)]
    return Answer("".join([*lines, "data: [DONE]\n\n"]).encode(), headers={"Content-Type": "text/event-stream"})


def test_raw_completions_are_rendered_and_read_streaming_and_not(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    library = types.ModuleType("transformers")
    library.AutoTokenizer = Tokenizer  # type: ignore[attr-defined]  # a module made here
    monkeypatch.setitem(sys.modules, "transformers", library)
    write_rows(folder / "rows.jsonl", [row(1), row(2, stream=True)])
    with Scripted(raw_completion) as server:
        verify(server, "--use-raw-completions", "--tokenizer-model", "moonshotai/tokenizer", model="kimi-k2")
        assert {received.path for received in server.received} == {"/v1/completions"}
        assert all(received.json["prompt"].startswith("1 tools|What is the weather") for received in server.received)
    for one in rows():
        (call,) = one["response"]["choices"][0]["message"]["tool_calls"]
        assert (one["finish_reason"], one["tool_calls_valid"]) == ("tool_calls", True)
        assert call["id"] == "functions.get_weather:0"
        assert call["function"] == {"name": "get_weather", "arguments": '{"city": "Paris"}'}


def test_the_tools_are_judged_by_the_rows_own_schema(folder: Path) -> None:
    """A strict reader of the results can repeat the verdict from the row alone."""
    write_rows(folder / "rows.jsonl", [row(1)])
    with Vendor(models=["faithful"]) as vendor:
        verify(vendor)
    (one,) = rows()
    (call,) = one["response"]["choices"][0]["message"]["tool_calls"]
    assert one["request"]["tools"] == [WEATHER]
    jsonschema.validate(json.loads(call["function"]["arguments"]), WEATHER["function"]["parameters"])


def test_an_answer_that_is_no_chat_completion_is_a_failure(folder: Path) -> None:
    def respond(_: Received) -> Answer:
        return Answer(b"<html>", headers={"Content-Type": "text/html"})

    write_rows(folder / "rows.jsonl", [row(1)])
    with Scripted(respond) as server:
        verify(server, code=3)
    assert rows()[0]["status"] == "failed"


ODD = {
    "half a surrogate pair": rb'"\ud800"',
    "a line break": rb'"one\ntwo"',
    "a line separator": b'"\xe2\x80\xa8"',
    "a number of 5000 digits": b'"n", "odd": ' + b"9" * 5000,
    "a number beyond doubles": b'null, "odd": 1e999',
}


@pytest.mark.parametrize("content", ODD.values(), ids=ODD)
def test_odd_answers_are_written_as_they_came(content: bytes, folder: Path) -> None:
    body = b'{\n "id": "c", "choices": [{"index": 0, "finish_reason": "stop",\r\n'
    body += b'"message": {"role": "assistant", "content": '
    write_rows(folder / "rows.jsonl", [row(1)])
    with Scripted(lambda _: Answer(body + content + b"}}]}\n")) as server:
        result = CliRunner().invoke(
            cli, ["rows.jsonl", "--model", "m", "--base-url", server.url], catch_exceptions=False
        )
    assert result.exit_code in (0, 3)
    (line,) = (folder / "results.jsonl").read_bytes().splitlines(keepends=True)
    assert line.endswith(b"}\n")
    assert summary()["success_count"] + summary()["failure_count"] == 1
