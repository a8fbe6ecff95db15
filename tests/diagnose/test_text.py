"""Text off the rails: loops without end, and scripts mixed inside a word."""

from __future__ import annotations

import pytest

from diagnose.answers import as_json, asked, call, called, codes, said
from toolcert.core.requests import user

POEM = "Rain falls on the roof, and rain falls on the road, and I count the drops until I sleep. "


@pytest.mark.parametrize(
    "text",
    [
        "Well. " + "the weather is " * 40,
        "ha" * 200,
        "a" * 300,
        "I cannot do that.\n" * 30,
        "好的" * 150,
        "x y " * 90 + "x",
    ],
)
def test_loops(text: str) -> None:
    assert codes(asked(), said(text)) == ["text.degenerate"]


def test_a_loop_in_reasoning_and_in_arguments() -> None:
    loop = "wait, " * 80
    assert codes(asked(), said("Sunny.", reasoning=loop)) == ["text.degenerate"]
    assert codes(asked(), called(call(arguments=as_json({"city": loop})))) == ["text.degenerate"]


@pytest.mark.parametrize(
    "text",
    [
        POEM * 3,
        "-" * 500,
        "| --- " * 80 + "|",
        "0" * 400,
        "ha" * 20,
        "".join(f"{number}. item\n" for number in range(80)),
        "no " * 30,
    ],
)
def test_honest_repetition(text: str) -> None:
    assert codes(asked(), said(text)) == []


@pytest.mark.parametrize(
    "text", ["The temper温度ature today is mild and the sky is clear.", "It is a sunnйy day in Tokyo."]
)
def test_a_foreign_letter_inside_a_word(text: str) -> None:
    assert codes(asked(), said(text)) == ["text.degenerate"]


@pytest.mark.parametrize(
    "text",
    [
        "Tokyo (東京) is the capital of Japan.",
        "The grain size is 5 μm, and α-helix is a motif.",
        "我用Python写了一个程序，它会调用API。",
        "Ça va très bien, señor Müller.",
    ],
)
def test_scripts_side_by_side(text: str) -> None:
    assert codes(asked(), said(text)) == []


def test_a_script_of_the_conversation_is_no_leak() -> None:
    question = user("How do I write 温度 in a mixed word?")
    assert codes(asked(question), said("Write temper温度ature, if you must mix the two scripts.")) == []
