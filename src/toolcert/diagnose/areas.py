"""The areas of the catalogue, in the order in which people read them."""

from __future__ import annotations

from collections.abc import Iterator

from toolcert.core.findings import FindingKind
from toolcert.diagnose.registry import catalogue

AREAS = {
    "finish": "Finish reason",
    "choice": "Steering by tool_choice",
    "parallel": "Parallel calls",
    "trigger": "When tools are called",
    "call": "Shape of a call",
    "args": "Arguments",
    "schema": "Tool schemas",
    "stream": "Streaming",
    "reasoning": "Reasoning",
    "history": "Earlier turns",
    "result": "Using results",
    "json": "JSON mode",
    "usage": "Token counts",
    "identity": "Who answered",
    "model": "Model ids",
    "nondeterministic": "Repeatability",
    "text": "Text",
    "envelope": "The answer as a whole",
    "dataset": "The dataset itself",
    "transport": "No answer to judge (never held against a model)",
}


def area_of(code: str) -> str:
    """The first part of a code."""
    return code.partition(".")[0]


def by_area() -> Iterator[tuple[str, list[FindingKind]]]:
    """Every area with its kinds; one that has no title yet comes last, under its own name."""
    grouped: dict[str, list[FindingKind]] = {area: [] for area in AREAS}
    for kind in catalogue():
        grouped.setdefault(area_of(kind.code), []).append(kind)
    return ((area, kinds) for area, kinds in grouped.items() if kinds)
