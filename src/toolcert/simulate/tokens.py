"""Tokens, roughly: small pieces of text, counted and streamed alike."""

from __future__ import annotations

import re

from toolcert.core.values import JsonObject
from toolcert.simulate.asking import Ask

_PIECE = re.compile(r"\s?[^\W\d_]{1,6}|\d{1,3}|\s|.", re.S)
_CALL_OVERHEAD = 4
"""Tokens around a call that the client never sees."""
_BYTES_PER_TOKEN = 4


def pieces(text: str) -> list[str]:
    """The text cut into tokens of a few characters."""
    return _PIECE.findall(text)


def call_tokens(name: str, arguments: str) -> int:
    """What a call costs."""
    return _CALL_OVERHEAD + len(pieces(name)) + len(pieces(arguments))


def prompt_tokens(ask: Ask) -> int:
    """What reading the conversation costs."""
    return 7 + 3 * len(ask.messages) + len(ask.prompt) // _BYTES_PER_TOKEN


def usage(prompt: int, completion: int, reasoning: int = 0) -> JsonObject:
    """The account of one answer, with its sum right."""
    return {
        "prompt_tokens": prompt,
        "completion_tokens": completion,
        "total_tokens": prompt + completion,
        "prompt_tokens_details": {"cached_tokens": 0, "audio_tokens": 0},
        "completion_tokens_details": {"reasoning_tokens": reasoning, "audio_tokens": 0},
    }
