"""The shape of a call: name, id, type, index."""

from __future__ import annotations

import time
from typing import Any

import pytest

from diagnose.answers import asked, call, called, codes, found, said
from toolcert.core.exchanges import CallsField
from toolcert.core.findings import Severity


@pytest.mark.parametrize("name", ["send_email", "get_forecast", "", None, 7, "get"])
def test_unknown_tool(name: Any) -> None:
    assert codes(asked(), called(call(name))) == ["call.unknown_tool"]


def test_any_call_is_unknown_where_no_tool_was_offered() -> None:
    assert codes(asked(tools=[]), called()) == ["call.unknown_tool"]


@pytest.mark.parametrize(
    "name",
    [
        "functions.get_weather",
        "default_api.get_weather",
        "mcp__weather__get_weather",
        "get_weather:0",
        "get_weather<|channel|>commentary",
        "get_weatherget_weather",
        "Get_Weather",
        "get-weather",
        "getWeather",
        "get_weat",
        " get_weather",
    ],
)
def test_mangled_name(name: str) -> None:
    (finding,) = found(asked(), called(call(name)))
    assert finding.code == "call.mangled_name"
    assert '"get_weather"' in finding.evidence


@pytest.mark.parametrize("call_id", [None, "", "  ", 12])
def test_missing_id(call_id: Any) -> None:
    assert codes(asked(), called(call(id=call_id))) == ["call.id_missing"]


def test_same_id_in_one_answer() -> None:
    (finding,) = found(asked(), called(call(id="x"), call("get_time", "{}", id="x")))
    assert (finding.code, finding.severity, finding.call) == ("call.id_duplicate", Severity.ERROR, 1)


def test_id_of_an_earlier_turn_is_a_warning() -> None:
    earlier = {"role": "assistant", "content": None, "tool_calls": [{"id": "call_0", "type": "function"}]}
    (finding,) = found(asked(earlier), called(call(id="call_0")))
    assert (finding.code, finding.severity) == ("call.id_duplicate", Severity.WARNING)


@pytest.mark.parametrize("call_id", ["call_1f9a", "get_weather:0", "functions.get_time:0", "functions.get_weather"])
def test_kimi_needs_its_own_form_of_id(call_id: str) -> None:
    assert codes(asked(model="moonshotai/Kimi-K2"), called(call(id=call_id), model="Kimi-K2")) == ["call.id_format"]


@pytest.mark.parametrize("kind", [None, "", "tool", "Function"])
def test_missing_type(kind: Any) -> None:
    assert codes(asked(), called(call(type=kind))) == ["call.type_missing"]


def test_empty_list() -> None:
    assert codes(asked(), said("Sunny.", calls_field=CallsField.EMPTY)) == ["call.empty_list"]


@pytest.mark.parametrize("index", [-1, "0", 0.5, True])
def test_bogus_index_in_a_plain_answer(index: Any) -> None:
    assert codes(asked(), called(call(index=index))) == ["call.index_bogus"]


@pytest.mark.parametrize("name", ["tool_{}", "get_weather"])
@pytest.mark.parametrize("arguments", ['{{"city": "{}"}}', '{{"city": "Tokyo", "n": 1}}'])
@pytest.mark.heavy
def test_thousands_of_calls_in_one_answer_are_examined_in_seconds(name: str, arguments: str) -> None:
    calls = [call(name.format(place), arguments.format(place), id=f"call_{place // 2}") for place in range(5000)]
    started = time.process_time()
    assert found(asked(), called(*calls))
    assert time.process_time() - started < 5


def test_equal_arguments_written_differently_are_one_call_twice() -> None:
    twice = (call("f", '{"a": 1, "b": 2}', id="x"), call("f", '{"b": 2.0, "a": 1}', id="y"))
    assert "call.duplicate" in {one.code for one in found(asked(), called(*twice))}
    apart = (call("f", '{"a": 1}', id="x"), call("f", '{"a": true}', id="y"))
    assert "call.duplicate" not in {one.code for one in found(asked(), called(*apart))}


@pytest.mark.parametrize("arguments", ["\ud800{", {"a": "\ud800"}, '{"a": 1}'])
def test_calls_that_no_text_can_hold_are_compared_as_they_are(arguments: Any) -> None:
    twice = (call("f\ud800", arguments, id="x"), call("f\ud800", arguments, id="x"))
    assert "call.duplicate" in {one.code for one in found(asked(), called(*twice))}
