"""Single statements of the older tools' texts: names, defaults, fields and parts of the page, one case each."""

from __future__ import annotations

import importlib
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from llm_tool_calling_tester import ModelTester
from llm_tool_calling_tester import config as weights
from llm_tool_calling_tester.main import cli as capabilities
from support.rows import row, write_rows
from toolcert.simulate import Vendor
from vendor_verifier import compare_results
from vendor_verifier.cli import cli as verifier
from watsonx_tool_tester.cli import cli as hello

NAMES = [
    *(
        f"llm_tool_calling_tester.models:{name}"
        for name in (
            *("TestStatus", "TestResult", "ModelTestResults", "ToolDefinition", "ToolCall", "ChatMessage"),
            *("ChatCompletionRequest", "TestSummary", "FullReport"),
        )
    ),
    *(f"llm_tool_calling_tester.models:TestStatus.{name}" for name in ("PASSED", "FAILED", "ERROR", "SKIPPED")),
    *(
        f"llm_tool_calling_tester.tester:ModelTester.{name}"
        for name in (
            *("chat_completion", "_stream_response", "test_basic_tool_calling", "test_tool_output_reasoning"),
            *("test_multi_tool_calling", "test_json_mode", "test_streaming_tool_calls", "run_all_tests"),
        )
    ),
    *(
        f"llm_tool_calling_tester.main:ModelTestRunner.{name}"
        for name in (
            *("fetch_models", "filter_models", "calculate_score", "get_recommendation", "test_model", "run_tests"),
            *("generate_summary", "print_console_summary", "save_json_report"),
        )
    ),
    *(
        f"llm_tool_calling_tester.tools:{name}"
        for name in ("WEATHER_TOOL", "CALCULATOR_TOOL", "SEARCH_TOOL", "get_test_tools", "get_mock_tool_response")
    ),
    *(
        f"llm_tool_calling_tester.config:{name}"
        for name in ("AUTONOMOUS_AGENT_WEIGHTS", "API_BASE_URL", "REQUEST_TIMEOUT", "MAX_RETRIES", "OUTPUT_DIR")
    ),
    *("watsonx_tool_tester:Config", "watsonx_tool_tester:ClientType.WATSONX", "watsonx_tool_tester:ModelTester"),
    *("watsonx_tool_tester:ModelTester.test_all_models", "watsonx_tool_tester:RELIABILITY_THRESHOLD"),
    *("vendor_verifier.models.base:ModelAdapter", "vendor_verifier.models.base:ModelAdapter.transform_messages"),
    *("vendor_verifier.models.base:ModelAdapter.model_patterns", "vendor_verifier.models.generic:GenericModel"),
    *("vendor_verifier.models.kimi:KimiModel", "vendor_verifier.models:_REGISTRY", "vendor_verifier.models:_TYPE_MAP"),
    *("vendor_verifier.cli:cli", "vendor_verifier.config:DEFAULT_RETRIES", "vendor_verifier.client:ApiClient"),
    *("vendor_verifier.validator:ToolCallsValidator", "vendor_verifier.validation:validate_tool_call"),
    "vendor_verifier.compare:compare_results",
]


@pytest.mark.parametrize("name", NAMES)
def test_a_name_of_the_text_is_where_it_says(name: str) -> None:
    module, _, path = name.partition(":")
    found = importlib.import_module(module)
    for part in path.split("."):
        found = getattr(found, part)
    assert found is not None


DEFAULTS = {
    "api_key": None,
    "model_type": None,
    "temperature": None,
    "max_tokens": None,
    "extra_body": {},
    "concurrency": 5,
    "output": "results.jsonl",
    "summary": "summary.json",
    "timeout": 600,
    "retries": 3,
    "incremental": False,
    "use_raw_completions": False,
    "tokenizer_model": None,
}


@pytest.mark.parametrize("option", DEFAULTS)
def test_a_default_of_vendor_verifier(option: str, folder: Path) -> None:
    words = ["rows.jsonl", "--model", "m", "--base-url", "http://127.0.0.1:9"]
    (folder / "rows.jsonl").touch()
    assert verifier.make_context("door", words).params[option] == DEFAULTS[option]


@pytest.mark.parametrize(
    ("test", "weight"),
    {
        "tool_output_reasoning": 35,
        "basic_tool_calling": 25,
        "multi_tool_calling": 25,
        "json_mode": 10,
        "streaming_tool_calls": 5,
    }.items(),
)
def test_a_weight_of_the_text(test: str, weight: int) -> None:
    assert weights.AUTONOMOUS_AGENT_WEIGHTS[test] == weight


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Any]]:
    """What each door writes about the same vendor, by the name that the texts give it."""
    place = tmp_path_factory.mktemp("written")
    models = ["faithful", "never-reads-results", "text-caller"]
    sent: dict[Any, list[Any]] = {}
    write_rows(place / "rows.jsonl", [row(1), row(2)])
    with pytest.MonkeyPatch.context() as patch, Vendor(models=models) as vendor:
        patch.chdir(place)
        asked = ["test", "--client", "litellm", "--litellm-url", vendor.url, "--iterations", "2", "--save-history"]
        for door, words in (
            (capabilities, ["--api-url", vendor.url]),
            (verifier, ["rows.jsonl", "--model", "faithful", "--base-url", vendor.url]),
            (hello, [*asked, "--html-output", "page.html"]),
        ):
            vendor.requests.clear()
            done = CliRunner().invoke(door, words, catch_exceptions=False)
            sent[door] = [one for one in vendor.requests if one.model == "faithful"]
            assert done.exit_code == 0, done.output
        (report,) = place.glob("output/*.json")
        yield {
            "capabilities": json.loads(report.read_text()),
            "results": json.loads((place / "results.jsonl").read_text().splitlines()[0]),
            "summary": json.loads((place / "summary.json").read_text()),
            "comparison": compare_results("results.jsonl", "results.jsonl"),
            "asked": {"capabilities": sent[capabilities], "hello": sent[hello]},
            "console": done.stdout,
            "page": (place / "page.html").read_text("utf-8"),
        }


FIELDS = {
    "capabilities": "summary.timestamp:str summary.api_endpoint:str summary.total_models:int summary.tested_models:int "
    "summary.recommended:list summary.partial_support:list summary.no_tool_calling:list summary.test_statistics:dict "
    "results:list results.0.model_id:str results.0.owned_by:str results.0.tests.basic_tool_calling:dict "
    "results.0.overall_score:float results.0.recommendation:str results.0.total_latency_ms:float metadata:dict",
    "results": "data_index:int request:dict response:dict status:str finish_reason:str tool_calls_valid:bool "
    "duration_ms:int hash:str",
    "summary": "model:str success_count:int failure_count:int finish_stop:int finish_tool_calls:int "
    "successful_tool_call_count:int schema_validation_error_count:int usage.prompt_tokens:int "
    "usage.completion_tokens:int usage.total_tokens:int",
    "comparison": "total_baseline:int total_vendor:int common_indices:int matched_success:int "
    + " ".join(f"tool_call_trigger_similarity.{cell}:int" for cell in ("TP", "FP", "FN", "TN"))
    + " "
    + " ".join(f"tool_call_trigger_similarity.{rate}:float" for rate in ("precision", "recall", "f1"))
    + " tool_call_schema_accuracy.count_finish_reason_tool_calls:int"
    + " tool_call_schema_accuracy.count_successful_tool_call:int tool_call_schema_accuracy.schema_accuracy:str",
}


@pytest.mark.parametrize(
    ("file", "field"), [(file, field) for file, fields in FIELDS.items() for field in fields.split()]
)
def test_a_field_of_the_text_is_written(file: str, field: str, written: dict[str, Any]) -> None:
    path, _, kind = field.partition(":")
    found = written[file]
    for part in path.split("."):
        found = found[int(part)] if part.isdigit() else found[part]
    expected = {"str": str, "int": int, "float": (int, float), "list": list, "dict": dict, "bool": bool}[kind]
    assert isinstance(found, expected)


ASKED = {
    "basic": ("capabilities", '"content": "Get the weather in Tokyo.".*"tools": '),
    "reasoning": ("capabilities", r'"role": "tool".*\\"temperature\\"'),
    "two tools": ("capabilities", "weather in Tokyo.*calculate"),
    "JSON": ("capabilities", "JSON object with the keys name, age and city.*json_object"),
    "stream": ("capabilities", 'weather in Tokyo.*"stream": true'),
    "greeting asked for": ("hello", r"(?i)greet.*(english|spanish|french|german|japanese)"),
    "greeting given back": ("hello", r'"role": "tool".*greeting'),
}


@pytest.mark.parametrize(("door", "pattern"), ASKED.values(), ids=ASKED)
def test_a_request_of_the_text_is_sent(door: str, pattern: str, written: dict[str, Any]) -> None:
    sent = written["asked"][door]
    assert {one.path for one in sent} == {"/v1/chat/completions"}
    assert any(re.search(pattern, json.dumps(one.body)) for one in sent)


def test_waits_between_retries_grow() -> None:
    policy = ModelTester().session.policy
    first, second = (policy.decide(attempt, status=500, draw=lambda: 1.0) for attempt in (1, 2))
    assert (first, second, policy.decide(3, status=500)) == (policy.base, 2 * policy.base, None)


CONSOLE = {
    "total models": r"Total models tested: 3",
    "models that call": r"Models that support tool calls: 2",
    "models that handle": r"Models that handle tool responses: 1",
    "average call time": r"Average tool call time: [\d.]+",
    "average response time": r"Average response processing time: [\d.]+",
    "average total time": r"Average total time: [\d.]+",
    "fastest model": r"Fastest model: faithful",
    "iterations": r"iterations per model: 2",
    "threshold": r"≥90%",
    "reliable and unreliable": r"Reliable models: 1, unreliable models: 1",
    "average rates": r"Average .*success rate",
    "full support": r"Full support .*: 1: faithful",
    "partial support": r"Partial support .*: 1: never-reads-results",
    "no support": r"No support .*: 1: text-caller",
}


@pytest.mark.parametrize("pattern", CONSOLE.values(), ids=CONSOLE)
def test_a_line_of_the_summary(pattern: str, written: dict[str, Any]) -> None:
    assert re.search(pattern, written["console"], re.IGNORECASE)


PAGE = {
    "filter by model": r'<input type="search"',
    "filter by support": r'<select name="verdict"',
    "sorting": r'aria-sort="ascending"',
    "charts": r"<svg ",
    "small screens": r"@media \(max-width",
    "a viewport": r'<meta name="viewport"',
    "hover effects": r":hover",
    "reliability": r"2/2",
    "times": r"Total, s",
    "headline": r"1 of 3 models call the tool and use its result",
    "history": r'id="history"',
}


@pytest.mark.parametrize("pattern", PAGE.values(), ids=PAGE)
def test_a_part_of_the_page(pattern: str, written: dict[str, Any]) -> None:
    assert re.search(pattern, written["page"])


def test_the_page_loads_nothing_from_elsewhere(written: dict[str, Any]) -> None:
    assert not re.search(r'(?:src|href)="(?:https?:)?//|@import|url\(["\']?http', written["page"])
