"""Text off the rails: loops without end, scripts mixed inside a word, and special tokens left in it."""

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
        "!" * 40,
        "The weather is !!!!!!!!!!!!!!!!!!!!!!!!",
        "?" * 300,
        "@" * 60,
        "<unk>" * 12,
        "It is <unk> <unk> <unk> <unk> <unk>",
        "\ufffd" * 20,
        "<0x0A><0x0A><0x0A><0x0A>",
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
        "Yes!!! It works!!!!!",
        "🎉" * 40,
        "|" + "=" * 60 + "|",
        "Name: ________________________________",
        "%%%%%%%%%%%%%%%%%%%%\n% a heading in TeX\n%%%%%%%%%%%%%%%%%%%%",
        "* * * * * * * * * * * * * * * * * * * * * *",
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


@pytest.mark.parametrize(
    "text",
    [
        "It is sunny.<|im_end|>",
        "It is sunny.<|im_end|>\n<|im_start|>user\nThanks!",
        "It is sunny.<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\nAnything else?",
        "It is sunny.</s>",
        "It is sunny. </s>",
        "<s> It is sunny.",
        "[/INST] It is sunny.",
        "It is sunny.\n[INST]",
        "It is sunny.<｜end▁of▁sentence｜>",
        "It is sunny<end_of_turn>\n",
        "<|assistant|>\nIt is sunny.",
        "It is sunny.<|endoftext|>",
        "It is sunny.<|END_OF_TURN_TOKEN|>",
        "It is sunny.<unk>",
        "<pad><pad>It is sunny.",
        "<<SYS>> It is sunny.",
        "It is sunny.<0x0A>",
        "<|START_RESPONSE|>It is sunny.<|END_RESPONSE|>",
    ],
)
def test_special_tokens(text: str) -> None:
    assert codes(asked(), said(text)) == ["text.special_tokens"]


@pytest.mark.parametrize(
    "text",
    [
        "Qwen ends a turn with <|im_end|>.",
        "Llama uses <|eot_id|> and <|end_of_text|> to stop.",
        "<|im_start|> is the token that opens a turn.",
        "- <|im_start|>: opens a turn\n- <|im_end|>: closes it",
        "The token is `<|endoftext|>`",
        "```\n<|im_start|>user\nHello<|im_end|>\n```",
        "| Token | Meaning |\n|---|---|\n| <unk> | unknown |\n| <pad> | padding |",
        "Unknown words become <unk> in such a vocabulary.",
        "<s>old price</s> new price",
        "Price: <s>20</s>",
        "See [1], [2] and [INSTALL].",
        "a <|> b in Haskell",
        "f <| x |> g in F#",
        "Use <b>bold</b>, <i>italics</i> and <br>",
        "if a <b and c> d",
    ],
)
def test_text_that_names_tokens_or_looks_like_them(text: str) -> None:
    assert codes(asked(), said(text)) == []


def test_a_token_that_the_conversation_showed_is_an_answer() -> None:
    assert codes(asked(user("Repeat: <|im_end|>")), said("<|im_end|>")) == []
