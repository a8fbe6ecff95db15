"""Which tool fits some words, where none is named."""

from __future__ import annotations

import re
from functools import lru_cache

from toolcert.simulate.brain.arithmetic import ARITHMETIC
from toolcert.simulate.brain.text import latin, stem, words
from toolcert.simulate.brain.tools import Tool

_EMPTY = frozenset(
    re.findall(
        r"\w+",
        """
    a an the of for in on at to from by with and or is are be it this that these those my your our me you i we
    do does get set fetch run make tool function call calls calling use using used please can could would will
    what which who whose how when where give given gives tell let return returns returned returning value values
    result results info information data item items one two three any all each some current user also need want
    know about into
    """,
    )
)
"""Words that say nothing about which tool is meant."""
_ALIKE = {
    "weath": {"tempe", "forec", "rain", "sunny", "degre"},
    "calcu": {"compu", "multi", "plus", "times", "divid", "minus"},
    "mathe": {"compu", "multi", "plus", "times", "divid", "minus"},
    "greet": {"hello", "hi"},
    "email": {"mail"},
    "searc": {"googl"},
}
_FITS = 3
"""Points that make a tool fit: its name, or three words of its description."""


@lru_cache(maxsize=4096)
def stems(text: str) -> frozenset[str]:
    """The words that carry meaning, stemmed."""
    return frozenset(stem(word) for word in words(text) if word not in _EMPTY and len(word) > 1)


def best_tool(text: str, tools: list[Tool]) -> Tool | None:
    """The tool that fits the text best, or None."""
    if not latin(text):
        return _best_by_pairs(text, tools)
    heard = stems(text)
    arithmetic = ARITHMETIC.search(text) is not None
    scored = [(score(heard, tool, arithmetic=arithmetic), -place, tool) for place, tool in enumerate(tools)]
    points, _, tool = max(scored, key=lambda entry: entry[:2], default=(0, 0, None))
    return tool if points >= _FITS else None


def score(heard: frozenset[str], tool: Tool, *, arithmetic: bool) -> int:
    """How many points the words give a tool."""
    name, purpose = stems(tool.name), stems(tool.description)
    points = 3 * len(heard & (name | _verb(tool))) + min(len(heard & (purpose - name)), 3)
    points += 2 * sum(bool(heard & alike) for word, alike in _ALIKE.items() if word in name | purpose)
    if arithmetic and (name | purpose) & {"calcu", "mathe", "arith", "expre"}:
        points += 4
    return points + (_parameter_points(heard, tool) if points else 0)


def _verb(tool: Tool) -> set[str]:
    """What the tool does, by the first word of its description."""
    return {stem(word) for word in words(tool.description)[:1] if word not in _EMPTY}


def _parameter_points(heard: frozenset[str], tool: Tool) -> int:
    points = 0
    for name, schema in tool.properties.items():
        values = schema.get("enum") if isinstance(schema, dict) else None
        spoken = {stem(word) for value in values or () for word in words(str(value))}
        points += bool(heard & stems(name)) + bool(heard & spoken)
    return points


def _best_by_pairs(text: str, tools: list[Tool]) -> Tool | None:
    """Scripts without spaces are compared by pairs of characters."""
    heard = _pairs(text)
    scored = [(len(heard & _pairs(_all_words(tool))), -place, tool) for place, tool in enumerate(tools)]
    points, _, tool = max(scored, key=lambda entry: entry[:2], default=(0, 0, None))
    return tool if points >= 1 else None


@lru_cache(maxsize=512)
def _pairs(text: str) -> frozenset[str]:
    return frozenset(text[i : i + 2] for i in range(len(text) - 1) if text[i : i + 2].isalnum())


def _all_words(tool: Tool) -> str:
    described = (str(schema.get("description", "")) for schema in tool.properties.values() if isinstance(schema, dict))
    return " ".join((tool.description, *described))
