"""What the faithful brain understands: the phrasings its docstring promises."""

from __future__ import annotations

from typing import Any

import pytest

from toolcert.core.requests import tool, tool_result, user
from toolcert.simulate.brain import Thought, think


def obj(required: list[str] | None = None, **properties: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties) if required is None else required,
    }


STRING = {"type": "string"}
INTEGER = {"type": "integer"}

HELLO = tool(
    "hello_world",
    "Greet a person in a language.",
    obj(
        ["name"],
        name=STRING,
        language={"type": "string", "enum": ["english", "spanish", "french", "german", "japanese"]},
    ),
)
WEATHER = tool(
    "get_weather",
    "Get the current weather for a city.",
    obj(["city"], city=STRING, unit={"type": "string", "enum": ["celsius", "fahrenheit"]}),
)
CALCULATE = tool("calculate", "Evaluate a mathematical expression.", obj(expression=STRING))
SEARCH = tool("search_web", "Search the web.", obj(["query"], query=STRING, num_results=INTEGER))
GET_USER = tool("get_user", "Find a user by name.", obj(name=STRING))
GET_ORDERS = tool("get_orders", "List the orders of a user.", obj(user_id=STRING))
GET_TOTAL = tool("get_total", "The total of an order.", obj(order_id=STRING))


def ask(prompt: str, *tools: dict[str, Any], **more: Any) -> Thought:
    return think({"messages": [user(prompt)], "tools": list(tools), **more})


def calls(thought: Thought) -> list[tuple[str, dict[str, Any]]]:
    return [(call.name, call.arguments) for call in thought.calls]


@pytest.mark.parametrize(
    ("prompt", "expected"),
    [
        ("Greet Zorvex in spanish using the hello_world tool.", {"name": "Zorvex", "language": "spanish"}),
        ('Use hello_world to greet "Zorvex" in German.', {"name": "Zorvex", "language": "german"}),
        ("Please greet Zorvex in french.", {"name": "Zorvex", "language": "french"}),
        ("Call hello_world with name: Zorvex, language: japanese", {"name": "Zorvex", "language": "japanese"}),
        ('Call `hello_world` with name = "Ada Lovelace".', {"name": "Ada Lovelace"}),
        ('Call hello_world with {"name": "Zoë", "language": "english"}.', {"name": "Zoë", "language": "english"}),
        (
            "Say hello to Quill-7f3a in spanish with the hello_world tool, then tell me the greeting it returned.",
            {"name": "Quill-7f3a", "language": "spanish"},
        ),
        (
            "Use the hello_world tool to greet a person named Zorvex in french. Repeat the greeting exactly.",
            {"name": "Zorvex", "language": "french"},
        ),
    ],
)
def test_hello_world_phrasings(prompt: str, expected: dict[str, Any]) -> None:
    assert calls(ask(prompt, WEATHER, HELLO, CALCULATE)) == [("hello_world", expected)]


@pytest.mark.parametrize(
    ("prompt", "expected"),
    [
        ("What is the weather in Tokyo?", ("get_weather", {"city": "Tokyo"})),
        ("What's the weather like in New York, in celsius?", ("get_weather", {"city": "New York", "unit": "celsius"})),
        ("Calculate 17 * 23.", ("calculate", {"expression": "17 * 23"})),
        ("What is (12 + 7) * 3?", ("calculate", {"expression": "(12 + 7) * 3"})),
        (
            'Search the web for "tool calling" and give me 3 results.',
            ("search_web", {"query": "tool calling", "num_results": 3}),
        ),
        ("Search the web for rust async runtimes.", ("search_web", {"query": "rust async runtimes"})),
    ],
)
def test_right_tool_among_several(prompt: str, expected: tuple[str, dict[str, Any]]) -> None:
    assert calls(ask(prompt, WEATHER, CALCULATE, SEARCH)) == [expected]


@pytest.mark.parametrize(
    "prompt",
    [
        "What is the weather in Tokyo and what is 25 * 4?",
        "Get the weather in Tokyo. Also calculate 25 * 4.",
        "Use get_weather for Tokyo and calculate for 25 * 4, both at once.",
        "Call get_weather with city Tokyo and call calculate with expression 25 * 4 in the same response.",
    ],
)
def test_two_tools_in_one_answer(prompt: str) -> None:
    found = calls(ask(prompt, WEATHER, CALCULATE, SEARCH))
    assert found == [("get_weather", {"city": "Tokyo"}), ("calculate", {"expression": "25 * 4"})]


@pytest.mark.parametrize(
    "prompt",
    [
        "What is the weather in Paris, Rome and Oslo?",
        "Call get_weather for each of: Paris, Rome, Oslo",
        "Use get_weather for these cities:\n- Paris\n- Rome\n- Oslo",
        'Call get_weather three times: city "Paris", city "Rome" and city "Oslo".',
        "Call get_weather for Paris, call get_weather for Rome and call get_weather for Oslo.",
    ],
)
def test_the_same_tool_several_times(prompt: str) -> None:
    found = calls(ask(prompt, WEATHER, HELLO))
    assert found == [("get_weather", {"city": city}) for city in ("Paris", "Rome", "Oslo")]


def test_parallel_tool_calls_false_gives_one() -> None:
    thought = ask("What is the weather in Paris, Rome and Oslo?", WEATHER, parallel_tool_calls=False)
    assert calls(thought) == [("get_weather", {"city": "Paris"})]


def test_each_item_keeps_its_own_unit() -> None:
    found = calls(ask("Use get_weather for Paris in celsius and Rome in fahrenheit.", WEATHER))
    assert found == [
        ("get_weather", {"city": "Paris", "unit": "celsius"}),
        ("get_weather", {"city": "Rome", "unit": "fahrenheit"}),
    ]


def test_three_steps_each_needing_the_last_result() -> None:
    prompt = (
        "First call get_user for Zorvex to find the user_id. Then call get_orders with that user_id. "
        "Then call get_total with the order_id and tell me the total."
    )
    messages: list[dict[str, Any]] = [user(prompt)]
    seen = []
    results = ['{"user_id": "u-918"}', '{"order_id": "o-55x", "count": 1}', '{"total": "417.30"}']
    for number, result in enumerate(results):
        thought = think({"messages": messages, "tools": [GET_TOTAL, GET_USER, GET_ORDERS]})
        assert len(thought.calls) == 1
        call = thought.calls[0]
        seen.append((call.name, call.arguments))
        messages += [assistant(call, f"call_{number}"), tool_result(f"call_{number}", result)]
    assert seen == [
        ("get_user", {"name": "Zorvex"}),
        ("get_orders", {"user_id": "u-918"}),
        ("get_total", {"order_id": "o-55x"}),
    ]
    assert "417.30" in (think({"messages": messages, "tools": [GET_TOTAL, GET_USER, GET_ORDERS]}).content or "")


def assistant(call: Any, call_id: str) -> dict[str, Any]:
    import json

    function = {"name": call.name, "arguments": json.dumps(call.arguments)}
    return {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": call_id, "type": "function", "function": function}],
    }


@pytest.mark.parametrize(
    "prompt",
    ["What is the capital of France?", "Write a haiku about autumn leaves.", "Thank you, that is all for today."],
)
def test_no_tool_fits(prompt: str) -> None:
    thought = ask(prompt, WEATHER, CALCULATE, SEARCH)
    assert thought.calls == ()
    assert thought.content


@pytest.mark.parametrize(
    "prompt", ["What's the weather?", "Use get_weather please.", "Send a greeting with hello_world."]
)
def test_missing_required_argument_is_asked_for(prompt: str) -> None:
    thought = ask(prompt, WEATHER, HELLO)
    assert thought.calls == ()
    assert "?" in (thought.content or "")


def test_tool_choice_none() -> None:
    assert ask("What is the weather in Tokyo?", WEATHER, tool_choice="none").calls == ()


def test_tool_choice_required_calls_though_nothing_fits() -> None:
    assert len(ask("Good morning!", WEATHER, HELLO, tool_choice="required").calls) == 1


def test_tool_choice_named_is_obeyed() -> None:
    choice = {"type": "function", "function": {"name": "hello_world"}}
    found = calls(ask("What is the weather in Tokyo?", WEATHER, HELLO, tool_choice=choice))
    assert [name for name, _ in found] == ["hello_world"]
    assert found[0][1]["name"]
