"""Models that cannot chat are told from the listing alone; in doubt a model counts as able."""

from __future__ import annotations

from typing import Any

import pytest

from toolcert.endpoints.dialects.model_list import declared_tools, why_no_chat


@pytest.mark.parametrize(
    ("model", "entry"),
    [
        ("text-embedding-3-small", {}),
        ("BAAI/bge-m3", {}),
        ("whisper-1", {}),
        ("tts-1-hd", {}),
        ("gpt-4o-mini-tts", {}),
        ("dall-e-3", {}),
        ("black-forest-labs/FLUX.1-schnell", {}),
        ("jina-reranker-v2", {}),
        ("omni-moderation-latest", {}),
        ("gpt-4o-realtime-preview", {}),
        ("davinci-002", {}),
        ("x", {"type": "embedding"}),
        ("x", {"model_info": {"mode": "image_generation"}}),
        ("x", {"capabilities": {"completion_chat": False}}),
        ("x", {"architecture": {"output_modalities": ["image"]}}),
        ("openai/*", {}),
    ],
)
def test_cannot_chat(model: str, entry: dict[str, Any]) -> None:
    assert why_no_chat(model, entry)


@pytest.mark.parametrize(
    ("model", "entry"),
    [
        ("gpt-4o", {}),
        ("meta-llama/Llama-3.3-70B-Instruct-Turbo", {"type": "chat"}),
        ("fluxion-7b", {}),
        ("settts", {}),
        ("qwen2.5-coder", {"model_info": {"mode": "chat"}}),
        ("mistral-embed-chat", {"capabilities": {"completion_chat": True}}),
        ("x", {"architecture": {"output_modalities": ["text", "image"]}}),
        ("x", {"capabilities": "many", "type": 3}),
    ],
)
def test_can_chat(model: str, entry: dict[str, Any]) -> None:
    assert why_no_chat(model, entry) == ""


@pytest.mark.parametrize(
    ("entry", "claim"),
    [
        ({"supported_parameters": ["tools", "temperature"]}, True),
        ({"supported_parameters": ["temperature"]}, False),
        ({"capabilities": {"function_calling": False}}, False),
        ({"model_info": {"supports_function_calling": True}}, True),
        ({"model_info": {"supports_function_calling": None}}, None),
        ({}, None),
    ],
)
def test_what_the_listing_declares_about_tools(entry: dict[str, Any], claim: bool | None) -> None:
    assert declared_tools(entry) is claim
