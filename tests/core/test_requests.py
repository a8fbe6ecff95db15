"""Functions of a tool list, which may hold anything."""

from typing import Any

import msgspec
import pytest

from toolcert.core.requests import SharedTools, encode_body, function_name, named_functions, tool

GOOD = tool("find", "Finds.")


def test_only_functions_with_a_name_can_be_called() -> None:
    tools = [None, "find", {}, {"function": []}, {"function": {"name": 3}}, GOOD]
    assert list(named_functions(tools)) == [GOOD["function"]]


@pytest.mark.parametrize(
    ("written", "name"), [(GOOD, "find"), ({"function": {"name": None}}, None), ("required", None), (None, None)]
)
def test_the_name_of_a_tool_a_call_or_a_choice(written: Any, name: str | None) -> None:
    assert function_name(written) == name


@pytest.mark.parametrize("tools", [[], [GOOD], [None, {"a": [1.0, "é"]}]])
def test_shared_tools_are_sent_as_any_others(tools: list[Any]) -> None:
    body = {"messages": [{"role": "user", "content": "Hi"}], "tools": tools, "model": "m"}
    assert encode_body(body | {"tools": SharedTools(tools)}) == encode_body(body) == msgspec.json.encode(body)
    assert list(body) == ["messages", "tools", "model"]
