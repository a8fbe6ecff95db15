"""Calls left in text: the markup of model families is seen, prose about tools is not."""

from __future__ import annotations

import pytest

from diagnose.answers import asked, called, codes, found, said
from toolcert.core.requests import system, user

LEFT_IN_TEXT = {
    "Hermes, Qwen": '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Tokyo"}}\n</tool_call>',
    "GLM": "<tool_call>get_weather\n<arg_key>city</arg_key>\n<arg_value>Tokyo</arg_value>\n</tool_call>",
    "MiniMax": '<minimax:tool_call>\n<invoke name="get_weather"></invoke></minimax:tool_call>',
    "Qwen Coder": "<tool_call>\n<function=get_weather>\n<parameter=city>\nTokyo\n</parameter></function></tool_call>",
    "Llama 3": '<function=get_weather>{"city": "Tokyo"}</function>',
    "Llama python tag": '<|python_tag|>{"name": "get_weather", "parameters": {"city": "Tokyo"}}',
    "Llama JSON": '{"name": "get_weather", "parameters": {"city": "Tokyo"}}',
    "Llama pythonic": '[get_weather(city="Tokyo")]',
    "Gemma": '```tool_code\nprint(default_api.get_weather(city="Tokyo"))\n```',
    "Kimi": "<|tool_calls_section_begin|><|tool_call_begin|>functions.get_weather:0<|tool_call_argument_begin|>{}",
    "DeepSeek": "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>get_weather",
    "DeepSeek DSML": '<｜DSML｜function_calls>\n<｜DSML｜invoke name="get_weather">',
    "Mistral": '[TOOL_CALLS] [{"name": "get_weather", "arguments": {"city": "Tokyo"}}]',
    "Mistral, newer": '[TOOL_CALLS]get_weather[ARGS]{"city": "Tokyo"}',
    "Granite": '<|tool_call|>[{"name": "get_weather", "arguments": {"city": "Tokyo"}}]',
    "LFM2": '<|tool_call_start|>[get_weather(city="Tokyo")]<|tool_call_end|>',
    "gpt-oss": '<|channel|>commentary to=functions.get_weather <|constrain|>json<|message|>{"city":"Tokyo"}',
    "InternLM": '<|action_start|><|plugin|>{"name": "get_weather"}',
    "Firefunction": 'functools[{"name": "get_weather", "arguments": {"city": "Tokyo"}}]',
    "XML": '<function_calls>\n<invoke name="get_weather">',
    "fenced JSON": 'Sure:\n```json\n{"name": "get_weather", "arguments": {"city": "Tokyo"}}\n```',
    "JSON after words": 'I will call {"name": "get_weather", "arguments": {"city": "Tokyo"}}',
    "a list": '[{"name": "get_weather", "arguments": {"city": "Tokyo"}}]',
    "protocol form": '{"type": "function", "function": {"name": "get_weather", "arguments": "{}"}}',
    "a whole message": '{"tool_calls": [{"function": {"name": "get_weather", "arguments": "{}"}}]}',
    "ReAct": '{"action": "get_weather", "action_input": {"city": "Tokyo"}}',
    "namespaced": '{"name": "functions.get_weather", "arguments": {"city": "Tokyo"}}',
}
PROSE = {
    "naming a tool": "I can use get_weather to look that up.",
    "a tag in prose": "The model writes <tool_call> and </tool_call> around its calls.",
    "a tag in code": 'Wrap it like this: `<tool_call>{"name": "get_weather"}</tool_call>`.',
    "a signature": "You could call get_weather(city) for that, or ask me.",
    "JSON that is data": '{"name": "Tokyo", "arguments": {"city": "Tokyo"}}',
    "JSON naming a tool without arguments": '{"name": "get_weather"}',
    "JSON of tool descriptions": '{"tools": [{"name": "get_weather", "description": "The weather."}]}',
    "HTML": "<table><tr><td>function</td></tr></table>",
    "a bracket": "[TOOL_CALLS] is the marker that Mistral models use.",
    "code": "def get_weather(city):\n    return fetch(city)\n",
}


@pytest.mark.parametrize("text", LEFT_IN_TEXT.values(), ids=list(LEFT_IN_TEXT))
def test_a_call_left_in_the_text(text: str) -> None:
    assert codes(asked(), said(text)) == ["call.in_text"]


@pytest.mark.parametrize("form", ["Hermes, Qwen", "Kimi", "Llama JSON", "gpt-oss"])
def test_a_call_left_in_the_reasoning_is_not_reported_as_empty_answer_too(form: str) -> None:
    reasoning = f"I need the weather.\n{LEFT_IN_TEXT[form]}"
    assert codes(asked(), said("", reasoning=reasoning)) == ["call.in_reasoning"]


@pytest.mark.parametrize("text", LEFT_IN_TEXT.values(), ids=list(LEFT_IN_TEXT))
def test_the_same_call_structured_and_as_markup(text: str) -> None:
    assert codes(asked(), called(content=text)) == ["call.twice"]


@pytest.mark.parametrize("text", PROSE.values(), ids=list(PROSE))
def test_prose_about_tools_is_no_call(text: str) -> None:
    assert codes(asked(), said(text)) == []


def test_another_call_in_the_text_beside_a_structured_one() -> None:
    """A parser that took the first of two calls left the second behind."""
    text = '<tool_call>{"name": "get_time", "arguments": {}}</tool_call>'
    assert codes(asked(), called(content=text)) == ["call.in_text"]


def test_markup_that_the_conversation_taught_is_what_was_asked_for() -> None:
    prompt = system('To call a tool, write <tool_call>{"name": ...}</tool_call>.')
    assert codes(asked(prompt, user("Weather?")), said(LEFT_IN_TEXT["Hermes, Qwen"])) == []


def test_an_earlier_leak_in_the_history_is_no_excuse() -> None:
    earlier = {"role": "assistant", "content": LEFT_IN_TEXT["Hermes, Qwen"]}
    assert codes(asked(earlier, user("And now?")), said(LEFT_IN_TEXT["Hermes, Qwen"])) == ["call.in_text"]


def test_without_tools_no_call_can_be_left_in_the_text() -> None:
    assert codes(asked(tools=[]), said(LEFT_IN_TEXT["Hermes, Qwen"])) == []
    assert codes(asked(tools=[]), said(LEFT_IN_TEXT["Kimi"])) == ["text.special_tokens"]


def test_reasoning_may_think_aloud_in_markup_when_the_call_then_comes() -> None:
    assert codes(asked(), called(reasoning=LEFT_IN_TEXT["Hermes, Qwen"])) == []


def test_reasoning_may_recall_or_plan_a_call_before_the_answer() -> None:
    for form in ("ReAct", "Hermes, Qwen"):
        thoughts = f"I called it as {LEFT_IN_TEXT[form]} before. Now I will tell the user that it is sunny."
        assert codes(asked(), said("It is sunny.", reasoning=thoughts)) == []


def test_evidence_is_the_call() -> None:
    (finding,) = found(asked(), said("Let me see. " + LEFT_IN_TEXT["Llama JSON"]))
    assert finding.evidence == LEFT_IN_TEXT["Llama JSON"]
