"""The simulated LiteLLM proxy: its errors are not those of the server behind it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from support.raw_http import chat, fetch
from toolcert.simulate.litellm_proxy import LiteLlmVendor
from toolcert.simulate.situations import A_CALL, WORDS

BODY = WORDS.request("faithful")
KEY = {"Authorization": "Bearer sk-master"}


@pytest.fixture(scope="module")
def proxy() -> Iterator[LiteLlmVendor]:
    with LiteLlmVendor(models=["faithful", "no-tools", "text-embedding-small"], master_key="sk-master") as running:
        yield running


def test_a_wrong_key_is_a_400_about_a_database(proxy: LiteLlmVendor) -> None:
    got = chat(proxy.url, BODY, {"Authorization": "Bearer sk-other"})
    assert got.status == 400
    assert got.json["error"] == {
        "message": "No connected db.",
        "type": "no_db_connection",
        "param": None,
        "code": "400",
    }


def test_no_key_breaks_it(proxy: LiteLlmVendor) -> None:
    got = chat(proxy.url, BODY)
    assert (got.status, got.payload) == (500, b"Internal Server Error")
    assert got.headers["content-type"].startswith("text/plain")


def test_an_unknown_model_is_a_400_and_codes_are_strings(proxy: LiteLlmVendor) -> None:
    got = chat(proxy.url, {**BODY, "model": "nobody"}, KEY)
    assert (got.status, got.json["error"]["code"]) == (400, "400")
    assert "Invalid model name" in got.json["error"]["message"]


@pytest.mark.parametrize(
    ("kind", "status", "name"),
    [
        ("429", 429, "RateLimitError"),
        ("500", 500, "InternalServerError"),
        ("503", 503, "ServiceUnavailableError"),
        ("timeout", 408, "Timeout"),
        ("reset", 500, "InternalServerError"),
    ],
)
def test_upstream_trouble_is_wrapped(proxy: LiteLlmVendor, kind: str, status: int, name: str) -> None:
    proxy.outage(kind, count=1, retry_after=3)
    got = chat(proxy.url, BODY, KEY)
    assert (got.status, got.json["error"]["code"]) == (status, str(status))
    assert got.json["error"]["message"].startswith(f"litellm.{name}: ")


def test_the_wait_moves_to_another_header(proxy: LiteLlmVendor) -> None:
    proxy.outage("429", count=1, retry_after=3)
    got = chat(proxy.url, BODY, KEY)
    assert got.headers["llm_provider-retry-after"] == "3"
    assert "retry-after" not in got.headers


def test_a_cut_stream_gets_an_end_that_nobody_sent(proxy: LiteLlmVendor) -> None:
    got = chat(proxy.url, A_CALL.request("fault:stream.cut", stream=True), KEY)
    assert got.payload.endswith(b"data: [DONE]\n\n")
    assert got.events[-1]["choices"][0]["finish_reason"] == "stop"


def test_usage_in_a_stream_comes_with_a_choice(proxy: LiteLlmVendor) -> None:
    last = chat(proxy.url, WORDS.request("faithful", stream=True), KEY).events[-1]
    assert last["usage"]["total_tokens"] > 0
    assert len(last["choices"]) == 1


def test_it_tells_what_it_believes_of_its_models(proxy: LiteLlmVendor) -> None:
    data = fetch("GET", f"{proxy.root}/model/info", None, KEY).json["data"]
    declared = {entry["model_name"]: entry["model_info"]["supports_function_calling"] for entry in data}
    assert declared == {"faithful": True, "no-tools": False, "text-embedding-small": None}
    assert fetch("GET", f"{proxy.root}/health/liveliness").status == 200
    assert len(fetch("GET", f"{proxy.url}/models", None, KEY).json["data"]) == 3
