"""Reasoning that is all there is, and reasoning that leaked into the text."""

from __future__ import annotations

import pytest

from diagnose.answers import asked, codes, said
from toolcert.core.requests import user


@pytest.mark.parametrize("content", [None, "", "\n\n"])
def test_reasoning_alone(content: str | None) -> None:
    assert codes(asked(), said(content, reasoning="The user wants the weather.")) == ["reasoning.only"]


def test_reasoning_cut_by_the_token_limit_is_honest() -> None:
    assert codes(asked(), said("", reasoning="The user", finish_reason="length")) == []


@pytest.mark.parametrize(
    "text",
    [
        "<think>\nThe user wants the weather.\n</think>\n\nIt is sunny.",
        "The user wants the weather.\n</think>\n\nIt is sunny.",
        "<think>The user wants",
        "[THINK]Hm.[/THINK]Sunny.",
        "◁think▷Hm.◁/think▷Sunny.",
        "<|channel|>analysis<|message|>Hm.",
        "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>final<|message|>Sunny.",
        "<|channel|>final<|message|>It is sunny.",
        "analysisThe user wants the weather.assistantfinalIt is sunny.",
        "analysisThe user wants the weather.",
        "The user wants the weather.assistantfinal\n\nIt is sunny.",
        "finalIt is sunny.",
        "The user wants the weather.\n</thinking>\nIt is sunny.",
        "<thinking>Hm.</thinking>It is sunny.",
        "<reasoning>Hm.</reasoning>It is sunny.",
        "<|channel>thought\nHm.<channel|>It is sunny.",
        "<|inner_prefix|>Hm.<|inner_suffix|>It is sunny.",
        "<|open|>think<|sep|>Hm.<|close|>think<|sep|>It is sunny.",
    ],
)
def test_leaked_reasoning(text: str) -> None:
    assert codes(asked(), said(text)) == ["reasoning.leaked"]


@pytest.mark.parametrize(
    "text",
    [
        "I think it is sunny.",
        "The tag `</think>` ends it.",
        "Use <b>bold</b>.",
        "See [1] and [2].",
        "analysis of the weather: sunny",
        "The final answer is sunny.",
        "Final: sunny",
        "My assistant finally came.",
        "```xml\n<answer><thinking>Hm.</thinking></answer>\n```",
        "The analysis channel holds the thoughts.",
    ],
)
def test_words_about_thinking_are_fine(text: str) -> None:
    assert codes(asked(), said(text)) == []


def test_tags_that_the_user_spoke_of_are_an_answer() -> None:
    question = user("What does </think> mean?")
    assert codes(asked(question), said("It means that </think> closes the thoughts.")) == []
