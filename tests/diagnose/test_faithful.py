"""A faithful answer yields no finding at all: precision comes before recall."""

from __future__ import annotations

import pytest

from diagnose.answers import WEATHER, asked, call, called, codes, said
from toolcert.core.exchanges import CallsField, Reply
from toolcert.core.requests import Request, tool, user

NAMED = {"type": "function", "function": {"name": "get_weather"}}
USAGE_ASKED = {"stream": True, "stream_options": {"include_usage": True}}
FAITHFUL: dict[str, tuple[Request, Reply]] = {
    "a call": (asked(), called()),
    "a call with text beside it": (asked(), called(content="Let me look that up.")),
    "two calls": (asked(), called(call(id="call_a"), call("get_time", "{}", id="call_b"))),
    "the same tool twice": (asked(), called(call(id="call_a"), call(arguments='{"city": "Rome"}', id="call_b"))),
    "a streamed call": (asked(**USAGE_ASKED), called(streamed=True)),
    "words": (asked(), said("It is sunny in Tokyo.")),
    "words with an explicit null for calls": (asked(), said("Sunny.", calls_field=CallsField.NULL)),
    "a call to a tool without parameters": (asked(), called(call("get_time", "{}"))),
    "a tool without a schema": (asked(tools=[tool("ping", "")]), called(call("ping", '{"a": 1}'))),
    "a tool with an empty schema": (asked(tools=[tool("ping", "", {})]), called(call("ping", "{}"))),
    "stop under a named choice": (asked(tool_choice=NAMED), called(finish_reason="stop")),
    "an honest cut inside arguments": (asked(), called(call(arguments='{"city": "To'), finish_reason="length")),
    "an honest cut before a required call": (asked(tool_choice="required"), said("Well,", finish_reason="length")),
    "a tool without arguments twice": (asked(), called(call("get_time", "{}", id="a"), call("get_time", "{}", id="b"))),
    "a legacy function_call that was asked for": (asked(tools=None, functions=[WEATHER["function"]]), said("Hi.")),
    "an honest cut at the limit": (asked(max_tokens=12), said("Well,", finish_reason="length")),
    "a full context window": (
        asked(max_tokens=900),
        said("Well,", finish_reason="length", usage={"prompt_tokens": 4000, "completion_tokens": 96}),
    ),
    "required, obeyed": (asked(tool_choice="required"), called()),
    "none, obeyed": (asked(tool_choice="none"), said("I would call get_weather for that.")),
    "one call where one is allowed": (asked(parallel_tool_calls=False), called()),
    "reasoning and then a call": (asked(), called(reasoning="I should call get_weather with Tokyo.")),
    "reasoning and then words": (asked(), said("Sunny.", reasoning="The user greets me.")),
    "a streamed call with its index": (asked(stream=True), called(call(index=0), streamed=True)),
    "a plain call with an index": (asked(), called(call(index=0))),
    "a null index": (asked(), called(call(index=None))),
    "no usage at all": (asked(), called(usage=None)),
    "usage not asked for in a stream": (asked(stream=True), called(streamed=True, usage=None)),
    "JSON mode, honoured": (asked(response_format={"type": "json_object"}), said('{"city": "Tokyo"}')),
    "JSON mode with a call": (asked(response_format={"type": "json_object"}), called()),
    "a dated snapshot": (asked(model="gpt-4o"), called(model="gpt-4o-2024-08-06")),
    "Chinese answered in Chinese": (asked(user("东京的天气怎么样？")), said("我用Python查询了东京的天气：晴天。")),
    "a Kimi id": (asked(model="kimi-k2"), called(call(id="functions.get_weather:0"), model="kimi-k2")),
    "the letters of an emoji": (asked(), called(call(arguments='{"city": "東京 🗼"}'))),
}


@pytest.mark.parametrize("answer", FAITHFUL.values(), ids=list(FAITHFUL))
def test_no_finding(answer: tuple[Request, Reply]) -> None:
    assert codes(*answer) == []
