"""Which listed models cannot chat, and what a listing claims about tools; both seen without a request."""

from __future__ import annotations

import re
from typing import Any

from toolcert.core.values import JsonObject

_KINDS = {
    "embedding": "an embedding model",
    "embeddings": "an embedding model",
    "rerank": "a reranker",
    "image": "an image model",
    "image_generation": "an image model",
    "video": "a video model",
    "audio": "a speech model",
    "audio_speech": "a speech model",
    "audio_transcription": "a speech model",
    "transcribe": "a speech model",
    "moderation": "a moderation model",
    "completion": "a model for plain completions",
    "time_series": "a time-series model",
}
"""What `type` (Together), `mode` (LiteLLM) and `task` say."""
_NAMES = tuple(
    (re.compile(pattern, re.IGNORECASE), why)
    for pattern, why in (
        (r"embed|(^|[/:_-])(bge|e5|gte|minilm|voyage)-", "an embedding model"),
        (r"rerank", "a reranker"),
        (r"whisper|transcribe|(^|[/:_-])tts([-_:]|$)|text-to-speech|speech-", "a speech model"),
        (r"dall-e|gpt-image|imagen|stable-diffusion|(^|[/:_-])(sdxl|flux)([-_.]|$)", "an image model"),
        (r"(^|/)sora|(^|[/:_-])veo-", "a video model"),
        (r"moderation|llama-?guard|shieldgemma", "a moderation model"),
        (r"realtime", "a realtime model"),
        (r"(^|/)(babbage|davinci)-|gpt-3\.5-turbo-instruct", "a model for plain completions"),
    )
)
"""Only names that leave no doubt; a wrong guess would hide a model."""


def why_no_chat(model: str, entry: JsonObject) -> str:
    """Why the model cannot be asked to chat; empty when it can, or when nothing says otherwise."""
    capabilities = _table(entry, "capabilities")
    for name in ("completion_chat", "chat_completion"):
        if capabilities.get(name) is False:
            return "listed without the chat capability"
        if capabilities.get(name) is True:
            return ""
    if "*" in model:
        return "a pattern for models, not a model"
    return _by_kind(entry) or _by_output(entry) or _by_name(model)


def declared_tools(entry: JsonObject) -> bool | None:
    """What the listing says about tool calling; None where it says nothing."""
    parameters = entry.get("supported_parameters")  # OpenRouter
    if isinstance(parameters, list):
        return "tools" in parameters
    for table, name in (("capabilities", "function_calling"), ("model_info", "supports_function_calling")):
        claim = _table(entry, table).get(name)
        if isinstance(claim, bool):
            return claim
    claim = entry.get("supports_tools")
    return claim if isinstance(claim, bool) else None


def _by_kind(entry: JsonObject) -> str:
    for name in ("type", "mode", "task"):
        kind = entry.get(name) or _table(entry, "model_info").get(name)
        if isinstance(kind, str) and kind.lower() in _KINDS:
            return _KINDS[kind.lower()]
    return ""


def _by_output(entry: JsonObject) -> str:
    outputs = _table(entry, "architecture").get("output_modalities")
    return "writes no text" if isinstance(outputs, list) and outputs and "text" not in outputs else ""


def _by_name(model: str) -> str:
    return next((why for pattern, why in _NAMES if pattern.search(model)), "")


def _table(entry: JsonObject, name: str) -> dict[str, Any]:
    value = entry.get(name)
    return value if isinstance(value, dict) else {}
