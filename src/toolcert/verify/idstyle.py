"""The style of call ids: it tells servers apart that say they are the same."""

from __future__ import annotations

import re
from typing import Any

_KIMI = re.compile(r"functions\..+:\d+\Z")
_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\Z", re.IGNORECASE)
_WORDS = frozenset({"call", "chatcmpl", "tool", "toolu", "fc", "function", "functions", "func"})
"""Parts that are the server's own words; everything else is random and only its length counts."""


def id_style(identity: Any) -> str:
    """`call_00_QehtQRG9` as `call_*8`: the server's words, the separators, and how long the rest is."""
    if not isinstance(identity, str) or not identity:
        return "none"
    if _KIMI.match(identity):
        return "functions.NAME:N"
    if _UUID.match(identity):
        return "UUID"
    words: list[str] = []
    rest = identity
    while (found := re.match(r"([A-Za-z]+)([-_])", rest)) and found[1].lower() in _WORDS:
        words.append(found[0])
        rest = rest[found.end() :]
    return f"{''.join(words)}{_kind(rest)}"


def _kind(rest: str) -> str:
    if _UUID.match(rest):
        return "UUID"
    if rest.isdigit():
        return "N"
    return f"*{len(rest)}"
