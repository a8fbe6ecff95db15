"""The style of call ids: it tells servers apart that say they are the same."""

from __future__ import annotations

import re
from typing import Any

_KIMI = re.compile(r"functions\..+:\d+\Z")
_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\Z", re.IGNORECASE)
_WORDS = re.compile(r"(?:(?:call|chatcmpl|tool|toolu|fc|function|functions|func)[-_])*", re.IGNORECASE)
"""Parts that are the server's own words; everything after them is random and only its length counts."""


def id_style(identity: Any) -> str:
    """`call_00_QehtQRG9` as `call_*11`: the server's words, and how long the rest is."""
    if not isinstance(identity, str) or not identity:
        return "none"
    if _KIMI.match(identity):
        return "functions.NAME:N"
    words = _WORDS.match(identity)
    assert words is not None  # the pattern takes the empty text too
    return f"{words[0]}{_kind(identity[words.end() :])}"


def _kind(rest: str) -> str:
    if len(rest) == 36 and _UUID.match(rest):
        return "UUID"
    return "N" if rest.isdigit() else f"*{len(rest)}"
