"""Error bodies as servers write them, reduced to cause and kind. The bodies are in the forms of real servers."""

from __future__ import annotations

import json
import time

import pytest

from toolcert.core.exchanges import FaultKind
from toolcert.core.requests import Request
from toolcert.endpoints.dialects.base import refused_parameter, without_parameter
from toolcert.endpoints.dialects.error_answer import LONGEST, kind_of_error, read_error_text


def text_of(body: object) -> str:
    return read_error_text(json.dumps(body).encode()).message


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({"error": {"message": "Bad thing", "type": "invalid_request_error", "code": None}}, "Bad thing"),
        ({"error": "model 'x' not found"}, "model 'x' not found"),
        ({"detail": "Not Found"}, "Not Found"),
        ({"detail": [{"loc": ["body", "messages"], "msg": "field required"}]}, "field required"),
        ({"message": "Unauthorized", "request_id": "1"}, "Unauthorized"),
        ([{"error": {"code": 400, "message": "Invalid argument", "status": "INVALID"}}], "Invalid argument"),
        ({"errors": [{"code": "json_type_error", "message": "wrong type"}], "trace": "t"}, "wrong type"),
        (
            {"errorCode": "BXNIM0415E", "errorMessage": "Provided API key could not be found."},
            "Provided API key could not be found.",
        ),
        ({"object": "error", "message": "max length", "type": "BadRequestError", "code": 400}, "max length"),
    ],
)
def test_shapes_in_use(body: object, message: str) -> None:
    assert text_of(body) == message


@pytest.mark.parametrize(
    "message",
    [
        'litellm.BadRequestError: OpenAIException - {"error": {"message": "the cause", "code": "x"}}',
        "litellm.RateLimitError: RateLimitError: OpenAIException - the cause",
        "litellm.BadRequestError: WatsonxException - {'errors': [{'code': 'x', 'message': 'the cause'}]} words",
    ],
)
def test_a_proxys_error_is_unwrapped_to_its_cause(message: str) -> None:
    assert text_of({"error": {"message": message, "type": None, "code": "400"}}) == "the cause"


def test_the_providers_own_words_are_taken_from_the_metadata() -> None:
    raw = json.dumps({"error": {"message": "the cause"}})
    error = {"message": "Provider returned error", "code": 400, "metadata": {"raw": raw, "provider_name": "P"}}
    assert text_of({"error": error}) == "the cause"


def test_a_web_page_is_told_by_its_title() -> None:
    page = b"<!DOCTYPE html><html><head><title>502 Bad\nGateway</title></head></html>"
    assert read_error_text(page).message == "a web page, not JSON: 502 Bad Gateway"


@pytest.mark.parametrize(
    "payload",
    [
        *(b"", b"\xff\xfe", b"[]", b"{}", b"null", b'{"error": {}}', b'{"error": null}', b"{" * 5000),
        b'{"error":' * 3000 + b"1" + b"}" * 3000,
        b'words {"error":' + b"[" * 3000 + b"]" * 3000 + b"}",
        b"words {'error': " + b"9" * 5000 + b"}",
    ],
    ids=lambda payload: payload[:12],
)
def test_nothing_readable_is_no_exception(payload: bytes) -> None:
    assert isinstance(read_error_text(payload).message, str)


@pytest.mark.parametrize(
    "payload",
    [b"<html>" + b"<title>" * 50_000, b"xError: " * 200_000, b"words {'a': [" + b"1," * 500_000 + b"]}"],
    ids=lambda payload: payload[:12],
)
def test_an_error_without_end_costs_little(payload: bytes) -> None:
    began = time.process_time()
    read_error_text(payload)
    assert time.process_time() - began < 0.5


def test_messages_fit_on_a_line() -> None:
    message = text_of({"error": {"message": "long\nwords " * 500}})
    assert len(message) == LONGEST
    assert "\n" not in message


def kind(status: int, message: str, code: str | None = None) -> FaultKind:
    body = {"error": {"message": message, "code": code}}
    return kind_of_error(status, read_error_text(json.dumps(body).encode()))


@pytest.mark.parametrize(
    ("status", "message"),
    [
        (400, "registry.ollama.ai/library/gemma:2b does not support tools"),
        (404, "No endpoints found that support tool use."),
        (400, '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set'),
        (500, "tools param requires --jinja flag"),
        (400, "Function calling is not enabled for this model"),
        (400, "`tool calling` is not supported with this model"),
        (404, "This is not a chat model and thus not supported in the v1/chat/completions endpoint."),
        (400, "This model doesn't support function calling"),
    ],
)
def test_saying_it_cannot_is_unsupported(status: int, message: str) -> None:
    assert kind(status, message) is FaultKind.UNSUPPORTED


def test_watsonx_code_for_missing_function_is_unsupported() -> None:
    assert kind(400, "Model 'x' cannot do that", "model_no_support_for_function") is FaultKind.UNSUPPORTED


@pytest.mark.parametrize(
    ("status", "message", "code"),
    [
        (404, "The model `x` does not exist or you do not have access to it.", "model_not_found"),
        (404, "model 'x' not found", None),
        (400, "Invalid model: x", None),
        (400, "Invalid model name passed in model=x. Call `/v1/models` to view available models for your key.", None),
        (404, "The API deployment for this resource does not exist.", "DeploymentNotFound"),
        (404, "Model 'x' is not supported for this environment.", "model_not_supported"),
    ],
)
def test_unknown_models(status: int, message: str, code: str | None) -> None:
    assert kind(status, message, code) is FaultKind.UNKNOWN_MODEL


@pytest.mark.parametrize(
    ("status", "message", "expected"),
    [
        (401, "Incorrect API key", FaultKind.AUTH),
        (403, "Forbidden", FaultKind.AUTH),
        (402, "Insufficient balance", FaultKind.PAYMENT),
        (402, "", FaultKind.PAYMENT),
        (403, "Sorry, your account balance is insufficient", FaultKind.PAYMENT),
        (400, "Your credit balance is too low to access the API.", FaultKind.PAYMENT),
        (400, "tools[0]: the balance parameter is unknown", FaultKind.REJECTED),
        (408, "Timeout", FaultKind.TIMEOUT),
        (429, "Slow down", FaultKind.RATE_LIMITED),
        (429, "this model does not support tools so often", FaultKind.RATE_LIMITED),
        (500, "boom", FaultKind.SERVER_ERROR),
        (503, "overloaded", FaultKind.SERVER_ERROR),
        (404, "Not Found", FaultKind.CONFIGURATION),
        (307, "", FaultKind.CONFIGURATION),
        (400, "messages: field required", FaultKind.REJECTED),
        (400, "model m: tool_choice value is wrong", FaultKind.REJECTED),
        (422, "schema too deep", FaultKind.REJECTED),
    ],
)
def test_kinds_by_status(status: int, message: str, expected: FaultKind) -> None:
    assert kind(status, message) is expected


BODY = {"model": "m", "max_tokens": 5, "temperature": 0.0, "tools": [], "messages": []}


@pytest.mark.parametrize(
    ("error", "parameter"),
    [
        (
            {
                "message": "Unsupported parameter: 'max_tokens' is not supported. Use 'max_completion_tokens' instead.",
                "param": "max_tokens",
                "code": "unsupported_parameter",
            },
            "max_tokens",
        ),
        (
            {
                "message": "Unsupported value: 'temperature' does not support 0.0",
                "param": "temperature",
                "code": "unsupported_value",
            },
            "temperature",
        ),
        ({"message": "`temperature` is deprecated for this model."}, "temperature"),
        (
            {"message": "litellm.UnsupportedParamsError: x does not support parameters: ['temperature'], for model=m"},
            "temperature",
        ),
        ({"message": "max_tokens is too large: 99999"}, None),
        ({"message": "Unsupported parameter: 'tools'", "param": "tools", "code": "unsupported_parameter"}, None),
        ({"message": "Unsupported parameter: 'top_p'", "param": "top_p"}, None),
    ],
)
def test_which_parameter_was_refused(error: dict[str, str], parameter: str | None) -> None:
    """Only sampling parameters that were sent; never a feature that is being measured."""
    text = read_error_text(json.dumps({"error": error}).encode())
    assert refused_parameter(Request(body=BODY), text) == parameter


def test_max_tokens_is_sent_under_its_newer_name() -> None:
    adapted = without_parameter(Request(body=BODY), "max_tokens")
    assert adapted.request.body["max_completion_tokens"] == 5
    assert "max_tokens" not in adapted.request.body
    assert adapted.note == "sent max_completion_tokens instead of max_tokens, which the server refuses"
    assert BODY["max_tokens"] == 5


def test_no_odd_literal_of_a_server_is_told_to_the_user(recwarn: pytest.WarningsRecorder) -> None:
    read_error_text(b"Error code: 400 - {'a': 0x1for, 'b': '\\d', 5: 1if 1else 2}")
    assert not recwarn.list
