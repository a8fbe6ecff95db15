"""No decision is read out of our own sentences, so that each of them can be reworded."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

SRC = Path(__file__).parents[2] / "src"
PROSE = frozenset({"reason", "message", "rule", "stopped", "unasked_because", "notes", "headline"})
"""Fields that hold sentences for people."""
LOOKS = frozenset(
    {"startswith", "endswith", "removeprefix", "removesuffix", "partition", "rpartition", "split", "find"}
)
PATTERNS = frozenset({"search", "match", "fullmatch"})
FOREIGN = {
    "toolcert/cli/support/click_options.py": "click's message",
    "toolcert/core/errors.py": "the full stop before a remedy",
    "toolcert/endpoints/dialects/base.py": "the server's message",
    "toolcert/endpoints/dialects/error_answer.py": "the server's message",
    "toolcert/endpoints/dialects/litellm.py": "the server's message",
    "toolcert/probes/follow_up.py": "the server's message",
    "toolcert/probes/oracle.py": "a status that the server's message names already is not put before it again",
    "toolcert/probes/summary/sentences.py": "equal reasons are counted together, whatever they say",
    "toolcert/runs/prose_of_0_1.py": "version 0.1 wrote nothing else",
}
"""Files that look into such a field, and what they look at."""


@pytest.mark.heavy
def test_no_code_looks_into_our_own_sentences() -> None:
    found = {path.relative_to(SRC).as_posix(): list(_looks(path)) for path in SRC.rglob("*.py")}
    assert {name: lines for name, lines in found.items() if lines and name not in FOREIGN} == {}


def _looks(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            call = node.func
            looks = call.attr in LOOKS and _is_prose(call.value)
            looks |= call.attr in PATTERNS and any(map(_is_prose, node.args))
        elif isinstance(node, ast.Compare):
            looks = any(map(_is_prose, [node.left, *node.comparators]))
        else:
            continue
        if looks:
            yield f"{node.lineno}: {ast.unparse(node)}"


def _is_prose(node: ast.expr) -> bool:
    return isinstance(node, ast.Attribute) and node.attr in PROSE
