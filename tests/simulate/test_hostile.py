"""Whatever is asked, the simulated vendor answers: a wrong request with 400, never with a crash."""

from __future__ import annotations

from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from support.examples import examples
from toolcert.simulate.chat_completion import Identity
from toolcert.simulate.faults import all_faults
from toolcert.simulate.responder import respond
from toolcert.simulate.traffic import Ask, Raw

SWITCHES = [fault.switch() for fault in all_faults() if fault.code != "transport.oversized"]
IDENTITY = Identity(1)

words = st.sampled_from(
    [
        "Call t_0 with city Oslo",
        "weather in Paris and Rome?",
        "- a\n- b",
        "我要去北京",
        "JSON with keys a, b",
        '{"a": 1}',
        "",
    ]
)
junk = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=5) | words,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)
keywords = st.sampled_from(
    ["type", "enum", "properties", "required", "items", "anyOf", "allOf", "$ref", "pattern", "minimum", "default"]
)
values = st.sampled_from(["string", "integer", "array", "object", "#", "#/properties/a", "(", ["a"], 3]) | junk
schemas = st.recursive(
    st.dictionaries(keywords, values, max_size=4),
    lambda inner: st.fixed_dictionaries(
        {"type": st.just("object"), "properties": st.dictionaries(st.sampled_from(["city", "to", "n", "a"]), inner)},
        optional={"required": st.lists(st.sampled_from(["city", "n", "nope"]))},
    ),
    max_leaves=5,
)
tools = st.lists(
    st.builds(
        lambda name, about, schema: {
            "type": "function",
            "function": {"name": name, "description": about, "parameters": schema},
        },
        st.sampled_from(["t_0", "get_weather", "search"]),
        words,
        schemas,
    ),
    min_size=1,
    max_size=3,
)
calls = st.lists(
    st.fixed_dictionaries(
        {
            "id": st.sampled_from(["c1", "c2"]),
            "function": st.fixed_dictionaries({"name": st.just("t_0"), "arguments": words}),
        }
    ),
    max_size=2,
)
messages = st.lists(
    st.fixed_dictionaries(
        {"role": st.sampled_from(["user", "user", "assistant", "tool", "system"]), "content": words | junk},
        optional={"tool_calls": calls | junk, "tool_call_id": st.sampled_from(["c1", "c2", None])},
    ),
    min_size=1,
    max_size=4,
)
bodies = st.fixed_dictionaries(
    {"model": st.just("m"), "messages": messages},
    optional={
        "tools": tools | junk,
        "tool_choice": st.sampled_from(["auto", "none", "required"]) | junk,
        "max_tokens": st.integers(0, 40) | junk,
        "stream": st.booleans(),
        "response_format": st.sampled_from([{"type": "json_object"}]) | junk,
        "parallel_tool_calls": st.booleans(),
    },
)


@settings(max_examples=examples(200), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(body=bodies, number=st.integers(0, len(SWITCHES)))
def test_no_request_makes_it_stumble(body: dict[str, Any], number: int) -> None:
    switches = (SWITCHES[number],) if number < len(SWITCHES) else ()
    answer = respond(Ask(body, number=number), switches, IDENTITY)
    assert not isinstance(answer, Raw) or answer.status in (200, 400, 401, 429, 500)
