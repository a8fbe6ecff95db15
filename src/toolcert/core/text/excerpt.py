"""Evidence for people: short, and without control characters."""

from __future__ import annotations

import re
from typing import Any

import msgspec

from toolcert.core.text.visible_text import CONTROL, code_of

MOST = 160
"""Characters of evidence kept: enough to prove a fault, short enough for one line of a report."""
_GAP = " … "
_NAMES = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}


def excerpt(text: str, most: int = MOST) -> str:
    """`text` with invisible characters written out and its middle left out where it is long."""
    kept = _elided(text, most)
    return kept if kept.isprintable() else CONTROL.sub(_visible, kept)


def with_stop(text: str) -> str:
    """A sentence with its full stop, which the words of a server often bring along."""
    return text if text.endswith((".", "…", "!", "?")) else f"{text}."


def shown(value: Any, most: int = MOST) -> str:
    """A value as the server wrote it, cut like an excerpt; bytes are shown as the text they probably are."""
    if isinstance(value, bytes):
        return excerpt(value[: 4 * most].decode(errors="replace"), most)
    if isinstance(value, str) and len(value) > 4 * most:
        value = _elided(value, 2 * most)
    try:
        text = msgspec.json.encode(value).decode()
    except RecursionError:
        return "a value nested without end"
    except (UnicodeEncodeError, TypeError, ValueError):
        text = repr(value)
    return excerpt(text, most)


def around(text: str, start: int, end: int, margin: int = 40) -> str:
    """The part of `text` from `start` to `end` with a little of what surrounds it."""
    before, after = max(0, start - margin), min(len(text), end + margin)
    return ("…" if before else "") + text[before:after] + ("…" if after < len(text) else "")


def _elided(text: str, most: int) -> str:
    if len(text) <= most:
        return text
    tail = (most - len(_GAP)) // 3
    return text[: most - len(_GAP) - tail] + _GAP + text[-tail:]


def _visible(match: re.Match[str]) -> str:
    character = match[0]
    return _NAMES.get(character) or code_of(character)
