"""What an error answer means: the words servers use, and the kind of fault behind them."""

from __future__ import annotations

import re

from toolcert.core.exchanges import FaultKind
from toolcert.endpoints.error_texts import ErrorText

_TOOLS = r"(?:tools?|tool[ _-]?(?:use|calls?|calling|choice)|functions?|function[ _-]?(?:calls?|calling))"
_UNSUPPORTED = re.compile(
    rf"(?:does not|doesn't|do not|don't|cannot|not) support\b.{{0,40}}\b{_TOOLS}\b"
    rf"|\b{_TOOLS}\b.{{0,60}}\b(?:not (?:yet |currently )?(?:supported|enabled|available|implemented))"
    rf"|\b{_TOOLS}\b.{{0,60}}\b(?:unsupported|disabled)"
    r"|no endpoints found that support"
    r"|requires --enable-auto-tool-choice|requires? --jinja|\bnot a chat model|does not support chat",
    re.IGNORECASE,
)
"""Sentences of Ollama, vLLM, llama.cpp, OpenRouter, OpenAI and watsonx.ai that say: this I cannot do."""
_UNSUPPORTED_CODES = frozenset({"model_no_support_for_function"})
_UNKNOWN_MODEL = re.compile(
    r"\bmodel\b.{0,120}\b(?:not found|(?:does not|doesn't|do not) exist|is not available)"
    r"|\b(?:unknown|invalid|no such|unrecognized|unable to access)\b.{0,10}\bmodel\b"
    r"|requested model.{0,120}not supported|no healthy deployments|\bdeployment\b.{0,60}not exist",
    re.IGNORECASE,
)
_UNKNOWN_MODEL_CODES = frozenset({"model_not_found", "model_not_supported", "deploymentnotfound", "invalid_model"})
_QUOTA_CODES = frozenset({"insufficient_quota", "consumption_limit_reached", "rate_limit_exceeded"})


def kind_of_error(status: int, error: ErrorText) -> FaultKind:
    """The kind of an error answer of any OpenAI-compatible server; what it says outweighs its status."""
    if status == 429 or error.code in _QUOTA_CODES:
        return FaultKind.RATE_LIMITED
    if status in (401, 402, 403):
        return FaultKind.AUTH
    if says_unsupported(error):
        return FaultKind.UNSUPPORTED
    if status == 408:
        return FaultKind.TIMEOUT
    if status >= 500:
        return FaultKind.SERVER_ERROR
    return _kind_of_refusal(status, error)


def says_unsupported(error: ErrorText) -> bool:
    """Whether the server says that it cannot do what was asked."""
    return error.code in _UNSUPPORTED_CODES or _UNSUPPORTED.search(error.message) is not None


def _kind_of_refusal(status: int, error: ErrorText) -> FaultKind:
    if status < 400:
        return FaultKind.CONFIGURATION  # a redirect we do not follow with credentials: the address is another
    if error.code in _UNKNOWN_MODEL_CODES or (status in (400, 404) and _UNKNOWN_MODEL.search(error.message)):
        return FaultKind.UNKNOWN_MODEL
    if status in (404, 405):
        return FaultKind.CONFIGURATION  # nothing is served under this address
    return FaultKind.REJECTED
