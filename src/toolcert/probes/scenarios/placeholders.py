"""`{{word}}` and `{{number:label}}`: what stands for something that nobody can guess."""

from __future__ import annotations

import re
from collections.abc import Iterator
from difflib import get_close_matches
from typing import Any, Protocol

from toolcert.settings.toml_lines import Place

KINDS = ("word", "number")
_PLACEHOLDER = re.compile(rf"\{{\{{\s*({'|'.join(KINDS)})(?:\s*:\s*([\w -]+?))?\s*\}}\}}")
_SIMILAR = re.compile(r"\{\{\s*(\w+)\s*(?::[^{}]*)?\}\}")


class Source(Protocol):
    """Where words and numbers come from."""

    def nonce(self, label: str = "") -> str: ...
    def number(self, label: str = "") -> int: ...


def fill(text: str, source: Source) -> str:
    """`text` with a word or number in each place."""

    def replace(match: re.Match[str]) -> str:
        label = match[2] or ""
        return source.nonce(label) if match[1] == "word" else str(source.number(label))

    return _PLACEHOLDER.sub(replace, text)


def misspelt(value: Any, place: Place = ()) -> Iterator[tuple[Place, str, str]]:
    """Places inside `value` that hold almost a placeholder, with what stands there and what was probably meant.

    Other texts in double braces are left alone: prompts may speak of templates.
    """
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from misspelt(inner, (*place, key))
    elif isinstance(value, list):
        for position, inner in enumerate(value):
            yield from misspelt(inner, (*place, position))
    elif isinstance(value, str):
        for match in _SIMILAR.finditer(value):
            near = get_close_matches(match[1].lower(), KINDS, n=1)
            if near and _PLACEHOLDER.fullmatch(match[0]) is None:
                yield place, match[0], near[0]
