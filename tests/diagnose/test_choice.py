"""Obeying `tool_choice` and `parallel_tool_calls`."""

from __future__ import annotations

from diagnose.answers import asked, call, called, codes, said

NAMED = {"type": "function", "function": {"name": "get_time"}}


def test_required_and_no_call() -> None:
    assert codes(asked(tool_choice="required"), said("It is sunny.")) == ["choice.required_ignored"]


def test_required_and_the_call_left_in_the_text_is_only_the_lost_call() -> None:
    """The model obeyed; the server lost the call. One cause, one finding."""
    text = '<tool_call>{"name": "get_weather", "arguments": {"city": "Tokyo"}}</tool_call>'
    assert codes(asked(tool_choice="required"), said(text)) == ["call.in_text"]


def test_none_and_a_call() -> None:
    assert codes(asked(tool_choice="none"), called()) == ["choice.none_ignored"]


def test_named_and_another_tool() -> None:
    assert codes(asked(tool_choice=NAMED), called()) == ["choice.named_ignored"]


def test_named_and_no_call() -> None:
    assert codes(asked(tool_choice=NAMED), said("It is noon.")) == ["choice.named_ignored"]


def test_named_and_a_mangled_form_of_it_is_only_mangled() -> None:
    assert codes(asked(tool_choice=NAMED), called(call("functions.get_time", "{}"))) == ["call.mangled_name"]


def test_a_choice_of_another_form_is_not_judged() -> None:
    allowed = {"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": []}}
    assert codes(asked(tool_choice=allowed), said("It is sunny.")) == []


def test_several_calls_where_one_was_allowed() -> None:
    reply = called(call(id="a"), call("get_time", "{}", id="b"))
    assert codes(asked(parallel_tool_calls=False), reply) == ["parallel.flag_ignored"]


def test_glued_calls() -> None:
    assert codes(asked(), called(call(arguments='{"city": "Tokyo"}{"city": "Paris"}'))) == ["parallel.merged"]
