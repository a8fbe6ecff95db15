"""The simulated vendor over real HTTP: ids, usage, errors and streams like a real server's."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from support.raw_http import Got, chat, fetch
from toolcert.core.requests import tool, tool_result, user
from toolcert.simulate import Vendor
from toolcert.simulate.situations import A_CALL, A_RESULT, JSON_OBJECT, NAMED, TWO_CALLS, TWO_RESULTS, WORDS

WEATHER = tool(
    "get_weather",
    "Get the weather.",
    {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
)


@pytest.fixture(scope="module")
def vendor() -> Iterator[Vendor]:
    with Vendor(models=["faithful", "slow"]) as running:
        yield running


def ask(vendor: Vendor, prompt: str = "Good morning!", **more: Any) -> Got:
    return chat(vendor.url, {"model": "faithful", "messages": [user(prompt)], **more})


def test_the_listing_names_the_models_served(vendor: Vendor) -> None:
    got = fetch("GET", f"{vendor.url}/models")
    assert [entry["id"] for entry in got.json["data"]] == ["faithful", "slow"]
    assert fetch("GET", f"{vendor.url}/models/slow").json["object"] == "model"
    assert fetch("GET", f"{vendor.url}/models/nobody").status == 404


def test_a_call_has_the_shape_of_the_protocol(vendor: Vendor) -> None:
    body = chat(vendor.url, A_CALL.request("faithful")).json
    choice = body["choices"][0]
    call = choice["message"]["tool_calls"][0]
    assert body["id"].startswith("chatcmpl-")
    assert body["object"] == "chat.completion"
    assert body["system_fingerprint"].startswith("fp_")
    assert choice["finish_reason"] == "tool_calls"
    assert choice["message"]["content"] is None
    assert call["id"].startswith("call_")
    assert call["type"] == "function"
    assert json.loads(call["function"]["arguments"]) == {
        "name": "Zoë Quillam",
        "guests": 4,
        "area": "terrace",
        "wishes": ["window seat"],
    }


def test_ids_are_never_repeated(vendor: Vendor) -> None:
    bodies = [chat(vendor.url, TWO_CALLS.request("faithful")).json for _ in range(5)]
    ids = [call["id"] for body in bodies for call in body["choices"][0]["message"]["tool_calls"]]
    assert len(set(ids)) == 10
    assert len({body["id"] for body in bodies}) == 5


def test_usage_adds_up_and_grows_with_the_prompt(vendor: Vendor) -> None:
    short, long = ask(vendor, "Hi").json["usage"], ask(vendor, "Hi " * 400).json["usage"]
    assert short["total_tokens"] == short["prompt_tokens"] + short["completion_tokens"]
    assert long["prompt_tokens"] > short["prompt_tokens"] + 200


def test_a_stream_carries_the_same_answer_in_small_pieces(vendor: Vendor) -> None:
    plain = chat(vendor.url, A_CALL.request("faithful")).json
    got = chat(vendor.url, A_CALL.request("faithful", stream=True))
    assert got.headers["content-type"].startswith("text/event-stream")
    assert got.payload.endswith(b"data: [DONE]\n\n")
    pieces = [
        piece["function"]["arguments"]
        for event in got.events
        for choice in event["choices"]
        for piece in choice["delta"].get("tool_calls", ())
    ]
    assert "".join(pieces) == plain["choices"][0]["message"]["tool_calls"][0]["function"]["arguments"]
    assert len(pieces) > 10
    assert max(map(len, pieces)) <= 8
    assert len({event["id"] for event in got.events}) == 1


def test_usage_comes_last_in_a_stream_and_only_when_asked_for(vendor: Vendor) -> None:
    asked = chat(vendor.url, WORDS.request("faithful", stream=True)).events
    assert asked[-1]["choices"] == []
    assert asked[-1]["usage"] == chat(vendor.url, WORDS.request("faithful")).json["usage"]
    assert all(event["usage"] is None for event in asked[:-1])
    unasked = chat(vendor.url, {**WORDS.request("faithful"), "stream": True}).events
    assert not any("usage" in event for event in unasked)


def test_the_same_request_gives_the_same_answer(vendor: Vendor) -> None:
    answers = [chat(vendor.url, WORDS.request("faithful")).message["content"] for _ in range(3)]
    assert len(set(answers)) == 1


def test_named_tool_choice_finishes_with_stop_like_the_reference(vendor: Vendor) -> None:
    choice = chat(vendor.url, NAMED.request("faithful")).json["choices"][0]
    assert choice["finish_reason"] == "stop"
    assert choice["message"]["tool_calls"][0]["function"]["name"] == "look_up_code"


@pytest.mark.parametrize("stream", [False, True])
def test_max_tokens_cuts_text_and_says_length(vendor: Vendor, stream: bool) -> None:
    body = {"model": "faithful", "messages": [user("Count from 1 to 400.")], "max_tokens": 20, "stream": stream}
    got = chat(vendor.url, body)
    if stream:
        reasons = [choice["finish_reason"] for event in got.events for choice in event["choices"]]
        assert [reason for reason in reasons if reason] == ["length"]
    else:
        assert got.json["choices"][0]["finish_reason"] == "length"
        assert got.json["usage"]["completion_tokens"] == 20


def test_max_tokens_cuts_a_call_in_its_arguments(vendor: Vendor) -> None:
    choice = chat(vendor.url, {**A_CALL.request("faithful"), "max_tokens": 16}).json["choices"][0]
    assert choice["finish_reason"] == "length"
    with pytest.raises(ValueError, match=r"Unterminated|Expecting"):
        json.loads(choice["message"]["tool_calls"][0]["function"]["arguments"])


def test_a_limit_too_small_for_any_call_gives_none(vendor: Vendor) -> None:
    choice = chat(vendor.url, {**A_CALL.request("faithful"), "max_tokens": 2}).json["choices"][0]
    assert (choice["finish_reason"], choice["message"].get("tool_calls")) == ("length", None)


def test_json_mode_gives_the_object_asked_for(vendor: Vendor) -> None:
    content = chat(vendor.url, JSON_OBJECT.request("faithful")).message["content"]
    assert json.loads(content) == {"name": "Ada", "age": 36, "city": "Oslo"}


def test_a_result_is_used(vendor: Vendor) -> None:
    assert "QX-7741" in chat(vendor.url, A_RESULT.request("faithful")).message["content"]


def test_results_are_matched_by_id_not_by_place(vendor: Vendor) -> None:
    lines = chat(vendor.url, TWO_RESULTS.request("faithful")).message["content"].splitlines()
    assert any("Amber" in line and "QX-7741" in line for line in lines)
    assert any("Cobalt" in line and "KV-2093" in line for line in lines)


CALLED = {
    "role": "assistant",
    "content": None,
    "tool_calls": [{"id": "call_1", "type": "function", "function": {"name": "get_weather", "arguments": "{}"}}],
}


@pytest.mark.parametrize(
    ("body", "param"),
    [
        ({}, "messages"),
        ({"messages": []}, "messages"),
        ({"messages": [{"role": "robot", "content": "x"}]}, "messages[0].role"),
        ({"messages": [user("x")], "tools": []}, "tools"),
        ({"messages": [user("x")], "tools": [WEATHER] * 129}, "tools"),
        ({"messages": [user("x")], "tools": [tool("bad name", "x")]}, "tools[0].function.name"),
        ({"messages": [user("x")], "tool_choice": "auto"}, "tool_choice"),
        ({"messages": [user("x")], "tools": [WEATHER], "tool_choice": "always"}, "tool_choice"),
        (
            {
                "messages": [user("x")],
                "tools": [WEATHER],
                "tool_choice": {"type": "function", "function": {"name": "other"}},
            },
            "tool_choice",
        ),
        ({"messages": [user("x")], "max_tokens": 0}, "max_tokens"),
        ({"messages": [user("x")], "temperature": 9}, "temperature"),
        ({"messages": [user("x")], "stream_options": {"include_usage": True}}, "stream_options"),
        ({"messages": [user("x")], "response_format": {"type": "json_object"}}, "messages"),
        ({"messages": [user("x")], "response_format": {"type": "yaml"}}, "response_format.type"),
        ({"messages": [user("x"), CALLED, user("y")]}, "messages[1].role"),
        ({"messages": [user("x"), CALLED, tool_result("call_2", "y")]}, "messages[2].tool_call_id"),
        ({"messages": [user("x"), {"role": "assistant", "content": None}]}, "messages[1].content"),
        (
            {"messages": [user("x")], "tools": [tool("t", "x", {"type": "object", "properties": {}}, strict=True)]},
            "tools[0].function.parameters",
        ),
    ],
)
def test_a_wrong_request_is_refused_with_the_parameter_at_fault(vendor: Vendor, body: Any, param: str) -> None:
    got = chat(vendor.url, {"model": "faithful", **body})
    assert got.status == 400
    assert got.json["error"]["param"] == param
    assert got.json["error"]["type"] == "invalid_request_error"
    assert got.json["error"]["message"]


def test_128_tools_are_taken(vendor: Vendor) -> None:
    tools = [tool(f"tool_{n}", f"Does thing {n}.") for n in range(127)]
    got = ask(vendor, "What is the weather in Oslo?", tools=[*tools, WEATHER])
    assert got.message["tool_calls"][0]["function"]["name"] == "get_weather"


def test_errors_of_address_method_model_and_syntax(vendor: Vendor) -> None:
    assert fetch("GET", f"{vendor.root}/v2/models").status == 404
    assert fetch("GET", f"{vendor.url}/chat/completions").status == 405
    assert chat(vendor.url, b"{not json").status == 400
    assert chat(vendor.url, b"[]").status == 400
    assert chat(vendor.url, {"messages": [user("x")]}).status == 400
    unknown = chat(vendor.url, {"model": "nobody", "messages": [user("x")]})
    assert (unknown.status, unknown.json["error"]["code"]) == (404, "model_not_found")
