"""Raw completions: the prompt is a rendered template, the answer the model's own markup."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from support.raw_http import Got, fetch
from toolcert.core.requests import tool
from toolcert.simulate import Vendor

WEATHER = tool(
    "get_weather",
    "Get the weather.",
    {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
)
PROMPT = (
    f"<|im_system|>tool_declare<|im_middle|>{json.dumps([WEATHER])}<|im_end|>"
    "<|im_user|>user<|im_middle|>What is the weather in Oslo?<|im_end|><|im_assistant|>assistant<|im_middle|>"
)
CALL = (
    "<|tool_calls_section_begin|><|tool_call_begin|>functions.get_weather:0<|tool_call_argument_begin|>"
    '{"city": "Oslo"}<|tool_call_end|><|tool_calls_section_end|>'
)


@pytest.fixture(scope="module")
def vendor() -> Iterator[Vendor]:
    with Vendor(models=["faithful"]) as running:
        yield running


def complete(vendor: Vendor, **more: Any) -> Got:
    return fetch("POST", f"{vendor.url}/completions", {"model": "faithful", "prompt": PROMPT, **more})


def test_a_call_comes_as_markup(vendor: Vendor) -> None:
    body = complete(vendor).json
    assert body["object"] == "text_completion"
    assert (body["choices"][0]["text"], body["choices"][0]["finish_reason"]) == (CALL, "stop")


def test_a_stream_carries_the_same_text(vendor: Vendor) -> None:
    got = complete(vendor, stream=True, stream_options={"include_usage": True})
    assert "".join(choice["text"] for event in got.events for choice in event["choices"]) == CALL
    assert got.events[-1]["usage"]["total_tokens"] > 0


def test_words_come_as_words_and_limits_hold(vendor: Vendor) -> None:
    assert (
        "tool_call"
        not in complete(vendor, prompt="<|im_start|>user\nGood morning!<|im_end|>").json["choices"][0]["text"]
    )
    assert complete(vendor, max_tokens=3).json["choices"][0]["finish_reason"] == "length"
    assert complete(vendor, prompt="").status == 400
    assert complete(vendor, model="nobody").status == 404
