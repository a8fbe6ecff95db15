"""Walking through an older tool's text: its blocks of code, and its commands one by one."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping

_BLOCK = re.compile(r"^```(?P<language>\w*)\n(?P<text>.*?)^```", re.DOTALL | re.MULTILINE)


def blocks(text: str, language: str) -> list[str]:
    """The blocks of one language."""
    return [match["text"] for match in _BLOCK.finditer(text) if match["language"] == language]


def replaced(text: str, values: Mapping[str, str]) -> str:
    """The text with the writer's addresses, keys and names replaced by those of a test."""
    for written, value in values.items():
        text = text.replace(written, value)
    return text


def commands(block: str, program: str) -> list[tuple[dict[str, str], list[str]]]:
    """The calls of `program` in a block of shell, each with the variables exported before it."""
    exported: dict[str, str] = {}
    found = []
    for line in block.replace("\\\n", " ").splitlines():
        words = shlex.split(line, comments=True)
        if words[:1] == ["export"]:
            name, _, value = words[1].partition("=")
            exported[name] = value
        elif " ".join(words).startswith(program):
            found.append((dict(exported), words[len(program.split()) :]))
    return found
