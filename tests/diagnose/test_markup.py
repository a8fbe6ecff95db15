"""Calls left in the text, in the written forms of public chat templates, and answers that only look like calls."""

# ruff: noqa: E501 (texts stand as they came)

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any

import pytest

from diagnose.answers import asked, codes, said
from toolcert.core.requests import system, user
from toolcert.diagnose.markup import FORMS, call_in

Calls = list[tuple[str, dict[str, Any]]]
Write = Callable[[Calls], str]

ONE: Calls = [("get_weather", {"city": "New York City"})]
TWO: Calls = [("get_weather", {"city": "Tokyo"}), ("get_weather", {"city": "Zürich"})]


def dumped(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def named(calls: Calls, name: str = "name", arguments: str = "arguments") -> list[str]:
    return [dumped({name: tool, arguments: given}) for tool, given in calls]


def each(form: Callable[[str, dict[str, Any]], str], between: str = "", before: str = "", after: str = "") -> Write:
    """Every call in this form, one after the other."""
    return lambda calls: before + between.join(form(name, given) for name, given in calls) + after


def listed(before: str = "", after: str = "", name: str = "name", arguments: str = "arguments") -> Write:
    """All calls as one JSON array."""
    return lambda calls: f"{before}[{', '.join(named(calls, name, arguments))}]{after}"


def apiece(before: str, after: str = "", between: str = "\n", arguments: str = "arguments") -> Write:
    """Each call as a JSON object of its own."""
    return lambda calls: between.join(f"{before}{one}{after}" for one in named(calls, arguments=arguments))


def keyed(calls: Calls) -> str:
    return dumped([{name: given} for name, given in calls])


def python(before: str = "", after: str = "", between: str = ", ") -> Write:
    return each(
        lambda name, given: f"{name}({', '.join(f'{k}={v!r}' for k, v in given.items())})", between, before, after
    )


def tagged(open_key: str, close_key: str, open_value: str, close_value: str, between: str = "") -> Callable[..., str]:
    return lambda given: between.join(
        f"{open_key}{key}{close_key}{between}{open_value}{value}{close_value}" for key, value in given.items()
    )


def invoked(prefix: str, before: str = "", after: str = "", parameter: str = "parameter", more: str = "") -> Write:
    def one(name: str, given: dict[str, Any]) -> str:
        inner = "".join(
            f'\n<{prefix}{parameter} name="{key}"{more}>{value}</{prefix}{parameter}>' for key, value in given.items()
        )
        return f'<{prefix}invoke name="{name}">{inner}\n</{prefix}invoke>\n'

    return each(one, before=before, after=after)


glm = tagged("<arg_key>", "</arg_key>", "<arg_value>", "</arg_value>", "\n")
coder = tagged("<parameter=", ">\n", "", "\n</parameter>\n")


def kimi_k3(name: str, given: dict[str, Any]) -> str:
    inner = "".join(
        f'<|open|>argument key="{key}" type="string"<|sep|>{value}<|close|>argument<|sep|>'
        for key, value in given.items()
    )
    return f'<|open|>call tool="{name}" index="1"<|sep|>{inner}<|close|>call<|sep|>'


def minimax_m3(name: str, given: dict[str, Any]) -> str:
    mark = "]<]minimax[>["
    inner = "".join(f"{mark}<{key}>{value}{mark}</{key}>" for key, value in given.items())
    return f'{mark}<invoke name="{name}">{inner}{mark}</invoke>'


def gemma(quote: str) -> Callable[[str, dict[str, Any]], str]:
    return lambda name, given: (
        f"call:{name}{{{','.join(f'{key}:{quote}{value}{quote}' for key, value in given.items())}}}"
    )


def joined(name: str, glue: str = "") -> Callable[[str, dict[str, Any]], str]:
    """A form with the name in its place (`{}`), the glue, and the arguments as JSON."""
    return lambda tool, given: f"{name.format(tool)}{glue}{dumped(given)}"


KIMI = "<|tool_call_begin|>functions.{}:0<|tool_call_argument_begin|>"
FORMS_OF_TEMPLATES: dict[str, Write] = {
    "Hermes 2 Pro, Hermes 3": apiece("<tool_call>\n", "\n</tool_call>"),
    "Qwen 2.5, Qwen 3": apiece("<tool_call>\n", "\n</tool_call>", "\n"),
    "Hermes, closing tag missing": apiece("<tool_call>\n"),
    "ERNIE 4.5": apiece("<tool_call>\n", "\n</tool_call>\n", ""),
    "Jamba": listed("<tool_calls>", "</tool_calls>"),
    "Hunyuan A13B": listed("<tool_calls>", "</tool_calls>"),
    "Apriel 1.5": listed("\n<tool_calls>", "</tool_calls>"),
    "Nemotron Nano v2": listed("<TOOLCALL>", "</TOOLCALL>"),
    "Granite 3": listed("<|tool_call|>"),
    "Granite 3.1 in tags": listed("<tool_call>"),
    "Granite 20b FC": apiece("<function_call> "),
    "Phi 4 mini": listed("<|tool_call|>", "<|/tool_call|>"),
    "Phi 4 mini, functools": listed("functools"),
    "xLAM": listed(),
    "xLAM after thoughts": listed("<think>I need the weather.</think>"),
    "HyperCLOVA X": listed(" -> tool/function_call\n", "<|im_end|>"),
    "LongCat, JSON": apiece("<longcat_tool_call>", "</longcat_tool_call>"),
    "InternLM 2": apiece("<|action_start|><|plugin|>\n", "<|action_end|>", arguments="parameters"),
    "Intern-S1": apiece("<|action_start|> <|plugin|>\n", "<|action_end|>", arguments="parameters"),
    "Inkling": each(
        lambda name, given: (
            f"<|message_model|>{name}<|content_invoke_tool_json|>{dumped({'name': name, 'args': given})}"
        ),
        after="<|end_message|>",
    ),
    "GigaChat 3": apiece("<|message_sep|>\n\nfunction call<|role_sep|>\n"),
    "Llama 3.1 JSON": apiece("", between="; ", arguments="parameters"),
    "Llama 3.1 python tag": apiece("<|python_tag|>", between="; ", arguments="parameters"),
    "Llama 3.1 built-in tool": each(
        lambda name, given: f'{name}.call(city="{given["city"]}")', between="; ", before="<|python_tag|>"
    ),
    "Llama 3 user-defined": each(joined("<function={}>"), after="</function>"),
    "Llama 4 pythonic": python("[", "]"),
    "Llama 4 pythonic in tokens": python("<|python_start|>[", "]<|python_end|>"),
    "OLMo 3": python("<function_calls>", "</function_calls>", "\n"),
    "LFM2": python("<|tool_call_start|>[", "]<|tool_call_end|>"),
    "LFM2, JSON": listed("<|tool_call_start|>", "<|tool_call_end|>"),
    "Gemma 3 tool_code": python("```tool_code\n", "\n```", "\n"),
    "Gemma 3 printed": each(lambda name, given: f"print(default_api.{name}(**{given!r}))".replace("**", "city="), "\n"),
    "Gemma 4": each(lambda name, given: "<|tool_call>" + gemma('<|"|>')(name, given) + "<tool_call|>"),
    "FunctionGemma": each(
        lambda name, given: f"<start_function_call>{gemma('<escape>')(name, given)}<end_function_call>"
    ),
    "Gemma 4, tokens stripped": each(gemma("")),
    "Mistral 7B v0.3": listed("[TOOL_CALLS] "),
    "Mistral Nemo": listed("[TOOL_CALLS]"),
    "Mistral Small 3.2": each(joined("[TOOL_CALLS]{}[CALL_ID]a1b2c3d4e[ARGS]")),
    "Devstral, Magistral": each(joined("[TOOL_CALLS]{}[ARGS]")),
    "Ministral without ARGS": each(joined("[TOOL_CALLS]{}")),
    "Mistral, first token stripped": each(joined("{}[ARGS]")),
    "Mistral, all tokens stripped": each(joined("{}")),
    "DeepSeek V3": each(
        lambda name, given: (
            f"<｜tool▁call▁begin｜>function<｜tool▁sep｜>{name}\n```json\n{dumped(given)}\n```<｜tool▁call▁end｜>"
        ),
        "\n",
        "<｜tool▁calls▁begin｜>",
        "<｜tool▁calls▁end｜><｜end▁of▁sentence｜>",
    ),
    "DeepSeek V3.1": each(
        joined("<｜tool▁call▁begin｜>{}<｜tool▁sep｜>"),
        "<｜tool▁call▁end｜>",
        "<｜tool▁calls▁begin｜>",
        "<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
    ),
    "DeepSeek V4.1": invoked("｜DSML｜ ", "<｜DSML｜ calls>\n", "</｜DSML｜ calls>", more=' string="true"'),
    "DeepSeek V3.2": invoked(
        "｜DSML｜", "<｜DSML｜function_calls>\n", "</｜DSML｜function_calls>", more=' string="true"'
    ),
    "DeepSeek V4": invoked("｜DSML｜", "<｜DSML｜tool_calls>\n", "</｜DSML｜tool_calls>", more=' string="true"'),
    "DeepSeek V3, tokens stripped": each(lambda name, given: f"function{name}\n```json\n{dumped(given)}\n```", "\n"),
    "DeepSeek V3.1, tokens stripped": each(joined("{}")),
    "Kimi K2": each(
        joined(KIMI), "<|tool_call_end|>", "<|tool_calls_section_begin|>", "<|tool_call_end|><|tool_calls_section_end|>"
    ),
    "Kimi K2 without section": each(joined(KIMI), "<|tool_call_end|>"),
    "Kimi K2, tokens stripped": each(joined("functions.{}:0")),
    "Kimi K3": each(kimi_k3, before="<|open|>tools<|sep|>", after="<|close|>tools<|sep|>"),
    "Kimi K3, tokens stripped": each(
        lambda name, given: f'call tool="{name}" index="1"argument key="city" type="string"{given["city"]}argumentcall',
        before="tools",
    ),
    "gpt-oss": each(
        joined("<|channel|>commentary to=functions.{} <|constrain|>json<|message|>"), "<|call|><|start|>assistant"
    ),
    "gpt-oss, recipient in the role": each(
        joined("<|start|>assistant to=functions.{}<|channel|>commentary json<|message|>"), "<|call|>"
    ),
    "gpt-oss, analysis channel": each(joined("<|channel|>analysis to=functions.{} code<|message|>"), "<|call|>"),
    "gpt-oss after thoughts": each(
        joined("<|start|>assistant<|channel|>commentary to=functions.{} <|constrain|>json<|message|>"),
        "<|call|>",
        "<|channel|>analysis<|message|>We need the weather.<|end|>",
    ),
    "gpt-oss without namespace": each(joined("<|channel|>commentary to={}<|constrain|>json<|message|>"), "<|call|>"),
    "gpt-oss, tokens stripped": each(
        joined("assistantcommentary to=functions.{} json"), before="analysisWe need the weather."
    ),
    "gpt-oss, tokens stripped, no thoughts": each(joined("commentary to=functions.{} json")),
    "gpt-oss, tokens stripped, glued": each(joined("assistantcommentary to=functions.{}json")),
    "gpt-oss, recipient alone": each(joined("to=functions.{} "), "\n"),
    "GLM 4.5": each(lambda name, given: f"<tool_call>{name}\n{glm(given)}\n</tool_call>", "\n"),
    "GLM 4.7": each(lambda name, given: f"<tool_call>{name}{glm(given)}</tool_call>".replace("\n", "")),
    "GLM, first tag lost": each(lambda name, given: f"{name}\n{glm(given)}\n</tool_call>", "\n"),
    "GLM 4 9B": each(joined("{}", "\n"), "\n"),
    "ChatGLM 3": each(lambda name, given: f"{name}\n```python\ntool_call(city={given['city']!r})\n```", "\n"),
    "Hunyuan V3": each(
        lambda name, given: f"<tool_call>{name}<tool_sep>\n{glm(given)}\n</tool_call>", "\n", "<tool_calls>\n"
    ),
    "LongCat, elements": each(
        lambda name, given: f"<longcat_tool_call>{name}\n{glm(given)}\n".replace("<arg", "<longcat_arg")
    ),
    "IQuest": each(lambda name, given: f"<iquest_tool_call>{name}\n{glm(given)}</iquest_tool_call>"),
    "K2 Horizon": each(
        lambda name, given: (
            f"<tool_call>{name}\n{glm(given)}</tool_call>".replace("</", "</ifm|")
            .replace("<t", "<ifm|t")
            .replace("<a", "<ifm|a")
        ),
        before="<ifm|tool_calls>",
        after="</ifm|tool_calls>",
    ),
    "poolside, Ling 3, Spark 2.5": each(lambda name, given: f"<tool_call>{name}\n{glm(given)}</tool_call>"),
    "Qwen 3 Coder": each(
        lambda name, given: f"<tool_call>\n<function={name}>\n{coder(given)}</function>\n</tool_call>", "\n"
    ),
    "Qwen 3 Coder, outer tag lost": each(lambda name, given: f"<function={name}>\n{coder(given)}</function>", "\n"),
    "MiMo": each(lambda name, given: f"<tool_call>\n<function={name}>\n{coder(given)}</function>\n</tool_call>"),
    "Seed OSS": each(
        lambda name, given: f"<seed:tool_call>\n<function={name}>\n{coder(given)}</function>\n</seed:tool_call>"
    ),
    "Step 3.5": each(lambda name, given: f"<tool_call>\n<function={name}>\n{coder(given)}</function>\n</tool_call>"),
    "Step 3": each(
        lambda name, given: (
            f'<｜tool_call_begin｜>function<｜tool_sep｜><steptml:invoke name="{name}">'
            f'<steptml:parameter name="city">{given["city"]}</steptml:parameter></steptml:invoke><｜tool_call_end｜>'
        ),
        before="<｜tool_calls_begin｜>",
        after="<｜tool_calls_end｜>",
    ),
    "MiniMax M1": apiece("<tool_calls>\n", "\n</tool_calls>"),
    "MiniMax M2": invoked("", "<minimax:tool_call>\n", "</minimax:tool_call>"),
    "MiniMax M3": each(minimax_m3, before="]<]minimax[>[<tool_call>", after="]<]minimax[>[</tool_call>"),
    "GigaChat 3.5": invoked("｜GCML｜", "<｜GCML｜tool_calls>", "</｜GCML｜tool_calls>"),
    "dots": invoked("", "<dots_function_call>\n", "</dots_function_call>"),
    "Muse Glimmer": invoked("atem:", "<atem:function_calls>", "</atem:function_calls>"),
    "function_calls in XML": invoked("", "<function_calls>\n", "</function_calls>"),
    "bare invoke": invoked(""),
    "MiniCPM 5": each(
        lambda name, given: f'<function name="{name}"><param name="city">{given["city"]}</param></function>', "\n"
    ),
    "MiroThinker": each(
        lambda name, given: (
            f"<use_mcp_tool>\n<server_name>w</server_name>\n<tool_name>{name}</tool_name>\n"
            f"<arguments>\n{dumped(given)}\n</arguments>\n</use_mcp_tool>"
        ),
        "\n",
    ),
    "name and arguments as elements": each(
        lambda name, given: f"<tool_call><name>{name}</name><arguments>{dumped(given)}</arguments></tool_call>"
    ),
    "Solar Open": each(
        joined("<|tool_call:begin|>b462b4f8<|tool_call:name|>{}<|tool_call:args|>"),
        "<|tool_call:end|>",
        "<|tool_calls|>",
    ),
    "Solar Open 2": each(
        lambda name, given: (
            f"<|tool_call:start|>{name}\n<|tool_arg:start|>city<|tool_arg:value|>{given['city']}<|tool_arg:end|>\n"
        ),
        "<|tool_call:end|>",
    ),
    "Solar Open, tokens stripped": each(joined("b462b4f8{}")),
    "Command R": lambda calls: (
        f"Action: ```json\n{json.dumps([{'tool_name': name, 'parameters': given} for name, given in calls], indent=4)}\n```"
    ),
    "Command R7B, Command A": lambda calls: (
        "<|START_THINKING|>I will look it up.<|END_THINKING|><|START_ACTION|>[\n"
        + ",\n".join(dumped({"tool_call_id": "0", "tool_name": name, "parameters": given}) for name, given in calls)
        + "\n]<|END_ACTION|>"
    ),
    "Command, tokens stripped": lambda calls: dumped(
        [
            {"tool_call_id": str(place), "tool_name": name, "parameters": given}
            for place, (name, given) in enumerate(calls)
        ]
    ),
    "Apertus": lambda calls: f"<|tools_prefix|>{keyed(calls)}<|tools_suffix|>",
    "Apertus, tokens stripped": keyed,
    "one object by the tool's name": lambda calls: dumped(dict([calls[0]])),
    "functionary 3.2": each(joined(">>>{}", "\n")),
    "functionary 3.2, first": each(joined("{}", "\n"), ">>>"),
    "functionary 2": each(joined("<|from|>assistant\n<|recipient|>{}\n<|content|>"), "\n"),
    "functionary 3.1": each(joined("<function={}>"), "</function>\n", after="</function>"),
    "Qwen-Agent": each(joined("✿FUNCTION✿: {}\n✿ARGS✿: "), "\n"),
    "ReAct": each(
        joined("Thought: I need the weather of the city.\nAction: {}\nAction Input: "),
        "\nObservation: fine and sunny\n",
    ),
    "ReAct in JSON": apiece("Thought: I should look.\nAction:\n```json\n", "\n```"),
    "LangChain blob": lambda calls: "\n".join(named(calls, "action", "action_input")),
    "tool and args": lambda calls: "\n".join(named(calls, "tool", "args")),
    "tool and parameters": lambda calls: "\n".join(named(calls, "tool", "parameters")),
    "fenced JSON": apiece("Sure, one moment:\n```json\n", "\n```"),
    "fenced python": python("I will look that up for you now.\n\n```python\n", "\n```", "\n"),
    "fenced python, printed": python("```python\nresult = ", "\nprint(result)\n```", "\nresult = "),
    "JSON after words": apiece("Let me look that up. "),
    "python after words": python("Let me look that up for you.\n\n[", "]"),
    "protocol form": lambda calls: dumped(
        {
            "tool_calls": [
                {"id": "1", "type": "function", "function": {"name": n, "arguments": dumped(g)}} for n, g in calls
            ]
        }
    ),
}
"""How public chat templates and tool parsers write calls, with one call or two."""

HOW = user("How does get_weather work? Show me an example call.")
CODING = user("Write a Python script that greets people.")
FENCED = '```json\n{"name": "get_weather", "arguments": {"city": "Tokyo"}}\n```'
HARMLESS: dict[str, Any] = {
    "a name": "I can use get_weather to look that up.",
    "a name in code": "I can use `get_weather` to look that up.",
    "an offer": "Shall I call get_weather for Tokyo, or get_time first?",
    "a signature": "You could call get_weather(city) for that, or ask me.",
    "a signature with types": "The tool is get_weather(city: str) -> str.",
    "a call in a sentence": 'I called get_weather(city="Tokyo") and it says that it is sunny.',
    "a call in code": 'Use `get_weather(city="Tokyo")` for that.',
    "a call in prose at the end": 'The right way to ask is get_weather(city="Tokyo").',
    "a bulleted plan": 'My plan:\n\n- get_weather(city="Tokyo")\n- get_time()',
    "a numbered plan": '1. get_weather(city="Tokyo")\n2. get_time()',
    "a table of tools": "| Tool | Arguments |\n|---|---|\n| get_weather | city |\n| get_time | none |",
    "a table with JSON": '| Tool | Example |\n|---|---|\n| get_weather | {"city": "Tokyo"} |',
    "a list of tools": "- get_weather: the weather in a city\n- get_time: the time now",
    "a definition list": "get_weather\n  Takes a city and returns the weather.",
    "a refusal": "I cannot call get_weather without a city. Which city do you mean?",
    "the schema": '{"name": "get_weather", "parameters": {"type": "object", "properties": {"city": {"type": "string"}}}}',
    "the schema with description": '{"name": "get_weather", "description": "The weather.", "parameters": {"city": "string"}}',
    "the tools": '{"tools": [{"name": "get_weather", "description": "The weather in a city."}]}',
    "the tools of the protocol": '[{"type": "function", "function": {"name": "get_weather", "parameters": {}, "strict": true}}]',
    "a fenced schema": 'It is defined so:\n```json\n{"name": "get_weather", "parameters": {"type": "object", "properties": {}}}\n```',
    "parameters described": '{"name": "get_weather", "parameters": {"city": {"type": "string", "description": "A city."}}}',
    "placeholders": '{"name": "get_weather", "arguments": {"city": "<city>"}}',
    "placeholders in capitals": '{"name": "get_weather", "arguments": {"city": "CITY_NAME"}}',
    "placeholders of types": '{"name": "get_weather", "arguments": {"city": "string"}}',
    "a placeholder in Python": 'get_weather(city="...")',
    "no arguments": '{"name": "get_weather"}',
    "data with a name": '{"name": "Tokyo", "arguments": {"city": "Tokyo"}}',
    "data": '{"city": "Tokyo", "weather": "sunny", "source": "get_weather"}',
    "a result": '{"name": "get_weather", "result": {"city": "Tokyo", "sky": "clear"}}',
    "a result by name": '{"get_weather": {"sky": "clear", "degrees": 21}}',
    "a log line": '{"name": "get_weather", "arguments": {"city": "Tokyo"}, "duration_ms": 12, "status": "ok"}',
    "a plan in JSON": '{"steps": [{"tool": "get_weather", "args": {"city": "Tokyo"}}], "note": "not run yet"}',
    "another tool": '<tool_call>{"name": "book_flight", "arguments": {"to": "Oslo"}}</tool_call>',
    "another function": "[book_flight(to='Oslo')]",
    "a tag in prose": "The model writes <tool_call> and </tool_call> around its calls of get_weather.",
    "a call in tags in code": 'Wrap it like this: `<tool_call>{"name": "get_weather"}</tool_call>`.',
    "a marker in prose": "[TOOL_CALLS] is the marker that Mistral models put before get_weather.",
    "tokens in prose": "Kimi ends get_weather calls with `<|tool_call_end|>`.",
    "an example in the answer": f"A call of the tool looks like this:\n\n{FENCED}",
    "an example and its explanation": f"For example:\n\n{FENCED}\n\nThe server then runs the tool and returns the result.",
    "an example with Python": 'You can call it so:\n\n```python\nget_weather(city="Tokyo")\n```\n\nIt returns a string.',
    "an example at the end": 'Here is an example:\n\n```python\nget_weather(city="Tokyo")\n```',
    "an example of Hermes": 'Hermes models write for example:\n\n```xml\n<tool_call>{"name": "get_weather", "arguments": {}}</tool_call>\n```\n\nThe tags are part of the text.',
    "an example of ReAct": "The ReAct format looks like this:\n\n```\nThought: …\nAction: get_weather\nAction Input: {}\n```\n\nThen comes the observation.",
    "a bash example": "```bash\ncurl -d '{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Tokyo\"}}' localhost\n```",
    "a JavaScript example": 'const reply = await client.call("get_weather", {"city": "Tokyo"});',
    "a definition": "def get_weather(city):\n    return fetch(city)\n",
    "a fenced definition": "```python\ndef get_weather(city):\n    return fetch(city)\n\nprint(get_weather('Tokyo'))\n```",
    "a fenced import": "```python\nfrom weather import get_weather\n\nget_weather('Tokyo')\n```",
    "a fenced loop": "```python\nfor city in cities:\n    get_weather(city)\n```",
    "a doctest": ">>> get_weather('Tokyo')\n'sunny'",
    "HTML": "<table><tr><td>get_weather</td></tr></table>",
    "XML": "<tools><tool>get_weather</tool><tool>get_time</tool></tools>",
    "XML of a service": '<service name="weather"><operation name="get_weather"/></service>',
    "YAML": "tools:\n  - name: get_weather\n    arguments:\n      city: Tokyo",
    "an apology": "I tried get_weather, but it failed: {\"error\": \"no such city\"}",
    "a quotation": 'The log says "get_weather {"city": "Tokyo"}" twice.',
    "German": "Ich habe get_weather benutzt: In Tokio sind es 21 Grad.",
    "Chinese": "我使用了 get_weather 工具，东京今天晴。",
    "an action item": "Action: get_weather was deprecated, so move to get_time.",
    "JSON mode": ('{"name": "get_weather", "arguments": {"city": "Tokyo"}}', {"response_format": {"type": "json_object"}}),
    "JSON by schema": (
        '[{"tool": "get_weather", "args": {"city": "Tokyo"}}]',
        {"response_format": {"type": "json_schema", "json_schema": {"name": "plan", "schema": {}}}},
    ),
    "asked for an example": (FENCED, {"messages": [HOW]}),
    "asked for an example, in words": (f"Send this:\n{FENCED}\nand wait.", {"messages": [HOW]}),
    "asked for an example in Python": ('```python\nget_weather(city="Tokyo")\n```', {"messages": [HOW]}),
    "asked for the markup": (
        '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Tokyo"}}\n</tool_call>',
        {"messages": [user("What goes between <tool_call> and </tool_call>?")]},
    ),
    "asked for code": ("```python\nresult = get_time()\nprint(result)\n```", {"messages": [CODING]}),
    "taught ReAct": (
        'Action: get_weather\nAction Input: {"city": "Tokyo"}',
        {"messages": [system("Answer with Action: and Action Input: lines."), user("Weather?")]},
    ),
    "taught JSON": (
        '{"tool": "get_weather", "args": {"city": "Tokyo"}}',
        {"messages": [system('Reply with {"tool": NAME, "args": {...}} only.'), user("Weather?")]},
    ),
}  # fmt: skip
"""Answers that talk about tools, show examples that were asked for, or hold other data."""

OTHER_FORMS = [
    'Sure! Let me look.\n{"name": "get_weather", "arguments": {"city": "Tokyo"}}\nI will get back to you with the result as soon as I have it.',
    '```json\n{"tool_calls": [{"name": "get_weather", "args": {"city": "Tokyo"}}]}\n```',
    '```\nget_weather(city="Tokyo")\n```',
    'I need to call the weather API to answer this question.\n\n```json\n{\n  "name": "get_weather",\n  "parameters": {\n    "city": "Tokyo"\n  }\n}\n```',
    '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Tokyo"}}\n</tool_call>\nThe weather in Tokyo is sunny and warm today.',
    '<tool_call>{"name": "get_weather", "arguments": {"city": "Tok',
    "<tool_call>{'name': 'get_weather', 'arguments': {'city': 'Tokyo'}}</tool_call>",
    '{"name": "get_weather", "arguments": {"city": "Tok',
    '{"name": "get_weather", "arguments": "{\\"city\\": \\"Tokyo\\"}"}',
    '{"name": "get_time", "arguments": {}}',
    "[get_time()]",
    "<tool_call>get_time</tool_call>",
    "<tool_call>\nget_time\n</tool_call>",
    '{"type":"function","name":"get_weather","parameters":{"city":"Tokyo"}}',
    'get_weather(city="Tokyo")',
    'get_weather("Tokyo")',
    "get_weather({'city': 'Tokyo'})",
    "<get_weather>\n<city>Tokyo</city>\n</get_weather>",
    '<|tool_call_begin|>functions.get_weather:0<|tool_call_argument_begin|>{"city": "Tok',
    '我来查询天气。\n<tool_call>\n{"name": "get_weather", "arguments": {"city": "东京"}}\n</tool_call>',
    '{"tool_uses": [{"recipient_name": "functions.get_weather", "parameters": {"city": "Tokyo"}}]}',
    '{"function_call": {"name": "get_weather", "arguments": "{\\"city\\": \\"Tokyo\\"}"}}',
    '{"action": "get_weather", "action_input": "Tokyo"}',
    '<|start|>assistant<|channel|>commentary to=get_weather <|constrain|>json<|message|>{"city":"Tokyo"}',
    'analysisNeed weather.assistantcommentary to=functions.get_weatherjson{"city":"Tokyo"}assistantfinalIt is sunny in Tokyo today.',
    'Action: get_weather({"city": "Tokyo"})',
    "Action: get_weather[Tokyo]",
    '<tools>\n{"name": "get_weather", "arguments": {"city": "Tokyo"}}\n</tools>',
    '<function_call>\n{"name": "get_weather", "arguments": {"city": "Tokyo"}}\n</function_call>',
    '<json>{"name": "get_weather", "arguments": {"city": "Tokyo"}}</json>',
    '```tool_call\n{"name": "get_weather", "arguments": {"city": "Tokyo"}}\n```',
    '```xml\n<tool_call>\n{"name": "get_weather", "arguments": {"city": "Tokyo"}}\n</tool_call>\n```',
    '[Tool call: get_weather({"city": "Tokyo"})]',
    'Tool call: get_weather\nArguments: {"city": "Tokyo"}',
    'to=functions.get_weather\n\n{"city":"Tokyo"}',
    '{"get_weather": {"city": "Tokyo"}}',
    '[{"get_weather": {"city": "Tokyo"}}, {"get_time": {}}]',
    '<tool_code>\nprint(get_weather(city="Tokyo"))\n</tool_code>',
    '<execute_tool>get_weather(city="Tokyo")</execute_tool>',
    '<action>get_weather(city="Tokyo")</action>',
    '<tool>get_weather</tool><args>{"city":"Tokyo"}</args>',
]
"""Spellings of no template: what models make up when they are shown none, and calls cut off in the middle."""
OTHER_HARMLESS = [
    'I\'ve already run get_weather for Tokyo.\n\n```json\n{"city": "Tokyo", "temp": 21}\n```',
    'The weather tool returned:\n\n```json\n{"get_weather": {"temp": 21}}\n```\n\nSo it is mild.',
    'To automate it:\n\n```python\nimport requests\nrequests.post(url, json={"name": "get_weather", "arguments": {"city": "Tokyo"}})\n```',
    'Your agent would send this message: {"name": "get_weather", "arguments": {"city": "Paris"}}. The server answers with a result.',
    'In OpenAI\'s protocol, `tool_calls` holds `[{"function": {"name": "get_weather", "arguments": "{}"}}]`.',
    '| Model | Markup |\n|---|---|\n| Hermes | <tool_call>{"name": "get_weather", "arguments": {}}</tool_call> |\n| Kimi | tokens |\n\nBoth are stripped by the parser before users see them.',
    'Step 1: get_weather(city="Tokyo")\nStep 2: tell the user about it',
    'First I looked at get_weather (city: Tokyo), then at get_time.',
    '{"answer": "Tokyo is sunny", "tools_used": ["get_weather"]}',
    '{"function": "get_weather", "description": "Gets the weather", "parameters": ["city"]}',
    '[{"name": "get_weather", "description": "weather"}, {"name": "get_time", "description": "time"}]',
    '<p>Use <code>get_weather</code> to get the weather.</p>',
    '```yaml\n- name: get_weather\n  args: {city: Tokyo}\n```',
    '```json\n{\n  "tools": [\n    {"type": "function", "function": {"name": "get_weather", "parameters": {"type": "object"}}}\n  ]\n}\n```',
    '```typescript\nconst w = await get_weather({ city: "Tokyo" });\n```',
    '```python\nclass Tools:\n    def get_weather(self, city): ...\n```',
    '```python\nassert get_weather(city="Tokyo") == "sunny"\n```',
    '```python\nweather = get_weather(city=user_city)\nprint(weather)\n```',
    'get_weather is the right tool. It takes {"city": "Tokyo"} as its argument.',
    'The trace was:\n\nget_weather {"city": "Tokyo"} -> sunny\nget_time {} -> 12:00\n\nBoth succeeded and nothing else is left to do.',
    'The function get_weather({"city": "Tokyo"}) returned sunny.',
    'Function: get_weather\nArguments: city (string)\nReturns: the weather',
    '**get_weather**(city) – weather\n**get_time**() – time',
    'Call `get_time()` first, then `get_weather(city="Tokyo")`.',
    'I don\'t have real-time access, but get_weather does; ask "get_weather Tokyo".',
    '<details><summary>get_weather</summary>Takes a city.</details>',
    '<tool name="get_weather" /> is how the manifest lists it in the XML configuration file.',
    '```xml\n<tools>\n  <function name="get_weather">\n    <param name="city" type="string"/>\n  </function>\n</tools>\n```\n\nThis manifest declares the tool for your agent.',
    'Usage:\n\n    get_weather(city="Tokyo")\n\nIt prints the weather for the given city.',
    'Action: call get_weather\nOwner: Jo\nDue: Friday',
    'Here\'s what the assistant turn contains: {"role": "assistant", "tool_calls": [{"function": {"name": "get_weather", "arguments": "{}"}}]}',
    'A valid message is\n\n```json\n{"role": "assistant", "tool_calls": [{"id": "call_1", "type": "function", "function": {"name": "get_weather", "arguments": "{\\"city\\": \\"Tokyo\\"}"}}]}\n```\n\nSend it back with the result.',
    'get_time',
    'get_weather',
    'get_weather()',
    'The parser turns `<function=get_weather>{"city": "x"}</function>` into a call.',
    'Tokens such as <|python_tag|> introduce get_weather calls in Llama.',
]  # fmt: skip


@pytest.mark.sampled(every=8)
@pytest.mark.parametrize("calls", [ONE, TWO], ids=["one call", "two calls"])
@pytest.mark.parametrize("form", FORMS_OF_TEMPLATES.values(), ids=list(FORMS_OF_TEMPLATES))
def test_a_call_in_the_form_of_a_template_is_named(form: Write, calls: Calls) -> None:
    assert "call.in_text" in codes(asked(), said(form(calls)))


@pytest.mark.sampled(every=8)
@pytest.mark.parametrize("calls", [ONE, TWO], ids=["one call", "two calls"])
@pytest.mark.parametrize("form", FORMS_OF_TEMPLATES.values(), ids=list(FORMS_OF_TEMPLATES))
def test_a_call_after_an_announcement_is_named(form: Write, calls: Calls) -> None:
    text = f"I'll check the weather for you.\n\n{form(calls)}"
    assert "call.in_text" in codes(asked(), said(text))


@pytest.mark.sampled(every=8)
@pytest.mark.parametrize("form", FORMS_OF_TEMPLATES.values(), ids=list(FORMS_OF_TEMPLATES))
def test_a_call_that_ends_the_reasoning_is_named(form: Write) -> None:
    reply = said("", reasoning=f"The user wants the weather in this city, so I look it up.\n{form(TWO[:1])}")
    assert codes(asked(), reply) == ["call.in_reasoning"]


@pytest.mark.parametrize("answer", HARMLESS.values(), ids=list(HARMLESS))
def test_an_answer_that_only_looks_like_a_call_is_not_named(answer: Any) -> None:
    text, fields = answer if isinstance(answer, tuple) else (answer, {})
    assert call_in(text, asked(**fields)) is None
    assert codes(asked(**fields), said(text)) == []


@pytest.mark.parametrize("text", OTHER_FORMS)
def test_a_call_in_a_made_up_form_is_named(text: str) -> None:
    assert call_in(text, asked()) is not None


@pytest.mark.parametrize("text", OTHER_HARMLESS)
def test_more_that_only_looks_like_a_call(text: str) -> None:
    assert call_in(text, asked()) is None


@pytest.mark.parametrize("form", FORMS, ids=[form.name for form in FORMS])
def test_every_form_sees_its_own_example(form: Any) -> None:
    found = call_in(form.example, asked())
    assert found is not None
    assert found.form == form.name


def test_the_tables_are_large() -> None:
    assert len(FORMS_OF_TEMPLATES) >= 60
    assert len(HARMLESS) >= 60


@pytest.mark.sampled
@pytest.mark.parametrize(
    "text",
    [
        "\n" * 60_000 + 'get_weather(city="Tokyo")\n' * 2_000,
        "<" * 60_000 + "get_weather",
        "<tool_call>" * 8_000 + "get_weather",
        "<|a|>" * 20_000 + "get_weather",
        '[{"name": "get_weather", ' * 4_000,
        "<get_weather><city>" * 4_000,
    ],
    ids=["empty lines", "brackets", "tags", "tokens", "open JSON", "elements"],
)
def test_a_long_text_is_searched_in_time_that_grows_with_its_length(text: str) -> None:
    """A search whose time grows with the square of the length takes minutes here."""
    started = time.process_time()
    call_in(text, asked())
    assert time.process_time() - started < 10
