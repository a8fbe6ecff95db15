"""Who answered: names of one model are told from names of another."""

from __future__ import annotations

from typing import Any

import pytest

from diagnose.answers import asked, codes, said
from toolcert.core.exchanges import Exchange
from toolcert.diagnose import examine
from toolcert.diagnose.checks.identity import same_model

SAME = [
    ("gpt-4o", "gpt-4o-2024-08-06"),
    ("gpt-3.5-turbo", "gpt-3.5-turbo-0125"),
    ("chatgpt-4o-latest", "chatgpt-4o-2024-11-20"),
    ("claude-sonnet-4", "claude-sonnet-4-20250514"),
    ("claude-3-5-haiku-latest", "claude-3-5-haiku-20241022"),
    ("gemini-2.0-flash", "models/gemini-2.0-flash-001"),
    ("moonshotai/Kimi-K2", "kimi-k2"),
    ("openai/gpt-4o", "gpt-4o"),
    ("qwen/qwen3-32b:free", "qwen/qwen3-32b"),
    ("llama-3", "/models/Llama-3.gguf"),
    ("mistral-small", "mistral-small-latest"),
    ("deepseek-chat", "deepseek-chat-v3.1"),
    ("gemini-2.5-pro", "gemini-2.5-pro-preview-05-06"),
]
DIFFERENT = [
    ("deepseek-reasoner", "deepseek-chat"),
    ("gpt-4o", "gpt-4o-mini"),
    ("gpt-4o", "gpt-4o-mini-2024-07-18"),
    ("qwen3-32b", "qwen3-32b-instruct-fp8"),
    ("llama-3.1-70b", "llama-3.1-8b"),
    ("gpt-4o-2024-08-06", "gpt-4o-2024-05-13"),
    ("my-alias", "gpt-4o"),
    ("claude-3", "claude-3-5"),
    ("llama-3", "llama-3-70"),
    ("gpt-4", "gpt-4.1"),
]


@pytest.mark.parametrize(("asked_for", "answered"), SAME)
def test_names_of_one_model(asked_for: str, answered: str) -> None:
    assert same_model(asked_for, answered)
    assert codes(asked(model=asked_for), said("Hi.", model=answered)) == []


@pytest.mark.parametrize(("asked_for", "answered"), DIFFERENT)
def test_another_model(asked_for: str, answered: str) -> None:
    assert codes(asked(model=asked_for), said("Hi.", model=answered)) == ["identity.model_differs"]


@pytest.mark.parametrize("answered", [None, "", 7])
def test_an_answer_that_names_no_model_says_nothing_about_it(answered: Any) -> None:
    assert codes(asked(), said("Hi.", model=answered)) == []


def test_another_provider_than_the_only_one_allowed() -> None:
    request = asked(provider={"only": ["deepinfra/fp8"]})
    assert codes(request, said("Hi.", provider="DeepInfra")) == []
    assert codes(request, said("Hi.", provider="Together")) == ["identity.model_differs"]


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://mine.openai.azure.com/openai/deployments/prod-chat/chat/completions?api-version=2024-10-21", []),
        ("https://mine.openai.azure.com/openai/v1/chat/completions", []),
        ("https://us-south.ml.cloud.ibm.com/ml/v1/deployments/prod-chat/text/chat?version=2023-05-29", []),
        ("https://api.example.com/v1/chat/completions", ["identity.model_differs"]),
    ],
)
def test_a_deployment_may_have_any_name(url: str, expected: list[str]) -> None:
    exchange = Exchange(request=asked(model="prod-chat"), status=200, url=url)
    found = examine(exchange, said("Hi.", model="gpt-4o-2024-08-06"))
    assert [finding.code for finding in found] == expected


ALIASES = [
    ("anthropic/claude-haiku-4.5", "anthropic/claude-4.5-haiku-20251001"),
    ("grok-4-fast", "grok-4-fast-reasoning"),
    ("grok-3-mini", "grok-3-mini-high"),
    ("moonshotai/Kimi-K2-Instruct-0905:groq", "moonshotai/kimi-k2-instruct-0905"),
    ("llama-3.3-70b", "Llama-3.3-70B-Instruct"),
]


@pytest.mark.parametrize(("asked_for", "answered"), ALIASES)
def test_a_routed_or_configured_name_of_the_same_model_is_only_a_note(asked_for: str, answered: str) -> None:
    assert codes(asked(model=asked_for), said("Hi.", model=answered)) == ["identity.alias"]
