"""Whatever a vendor sends, examining it gives findings and never an exception."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from diagnose.answers import asked
from support.examples import examples
from toolcert.core.exchanges import Exchange
from toolcert.core.requests import Request
from toolcert.core.text.excerpt import MOST
from toolcert.diagnose import examine, kind_of
from toolcert.protocol.reply import read_reply

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=30),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)
TEXTS = st.sampled_from(
    ["<tool_call>{", "[TOOL_CALLS][", '{"name": "get_weather", "arguments": {}}', "</think>", "{}", "\ud800", "a" * 400]
)
ANYTHING = JSON | TEXTS
CALL = ANYTHING | st.fixed_dictionaries(
    {},
    optional={
        "id": ANYTHING,
        "type": ANYTHING,
        "index": ANYTHING,
        "function": ANYTHING
        | st.fixed_dictionaries({}, optional={"name": st.just("get_weather") | ANYTHING, "arguments": ANYTHING}),
    },
)
CALLS = JSON | st.lists(CALL, max_size=3)
MESSAGE = JSON | st.fixed_dictionaries(
    {}, optional={"role": ANYTHING, "content": ANYTHING, "reasoning": ANYTHING, "tool_calls": CALLS}
)
CHOICE = JSON | st.fixed_dictionaries({}, optional={"message": MESSAGE, "delta": MESSAGE, "finish_reason": JSON})
BODY = JSON | st.fixed_dictionaries(
    {}, optional={"choices": JSON | st.lists(CHOICE, max_size=2), "usage": JSON, "model": JSON, "provider": JSON}
)
FIELDS = st.fixed_dictionaries(
    {},
    optional={
        "tools": JSON,
        "messages": JSON,
        "tool_choice": JSON | st.sampled_from(["none", "required"]),
        "response_format": JSON | st.just({"type": "json_object"}) | st.just({"type": "json_schema", "json_schema": 1}),
        "provider": JSON,
        "max_tokens": JSON,
        "stream_options": JSON,
    },
)


def examined(request: Request, payload: bytes, *, stream: bool) -> None:
    exchange = Exchange(request=request, status=200, payload=payload, event_stream=stream)
    for finding in examine(exchange, read_reply(exchange)):
        assert kind_of(finding.code)
        assert len(finding.evidence) <= 6 * MOST


@given(FIELDS, BODY)
@settings(max_examples=examples(150), deadline=None)
def test_any_plain_answer_to_any_request(fields: dict[str, Any], body: Any) -> None:
    examined(asked(**fields), json.dumps(body).encode(), stream=False)


@given(FIELDS, st.lists(BODY, max_size=4))
@settings(max_examples=examples(150), deadline=None)
def test_any_stream_to_any_request(fields: dict[str, Any], chunks: list[Any]) -> None:
    frames = [f"data: {json.dumps(chunk)}\n\n" for chunk in chunks]
    examined(asked(stream=True, **fields), "".join([*frames, "data: [DONE]\n\n"]).encode(), stream=True)


@pytest.mark.sampled
@pytest.mark.parametrize(
    "text",
    [
        "```json\n" + " " * 200_000,
        "<tool_call>" * 20_000,
        "{" * 100_000,
        "\\" * 200_000,
        '{"name": ' * 20_000,
        "[get_weather(" * 20_000,
        "{}" * 50_000,
        "<think>" * 30_000,
        '{"name": "get_weather", "arguments": {"n": ' + "9" * 200_000,
        "é" * 200_000,
    ],
    ids=lambda text: text[:12],
)
def test_hostile_text_costs_little(text: str) -> None:
    """Linear in its length: a second for a few hundred kilobytes would be a hundred times too much."""
    request = asked(response_format={"type": "json_object"})
    message = {"content": text, "reasoning_content": text}
    call = {"id": "a", "type": "function", "function": {"name": "get_weather", "arguments": text}}
    began = time.process_time()
    for body in (message, message | {"tool_calls": [call]}):
        payload = json.dumps({"choices": [{"message": body, "finish_reason": "stop"}]}).encode()
        examined(request, payload, stream=False)
    assert time.process_time() - began < 2.0
