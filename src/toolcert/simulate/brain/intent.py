"""Which tools the user wants called, in which order, and which words of the text belong to which call."""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

import msgspec

from toolcert.core.values import Value
from toolcert.simulate.brain.dialogue import clauses, cuts, latin, split, words
from toolcert.simulate.brain.offered_tool import Tool

_OPERAND = r"\(*-?\d+(?:\.\d+)?\)*"
ARITHMETIC = rf"(?<![\w.-]){_OPERAND}(?:\s*(?:\*\*|[-+*/^%×÷]|\b(?:times|plus|minus)\b)\s*{_OPERAND})+(?![\w-])"
_ARITHMETIC = re.compile(ARITHMETIC)
_IDENTIFIER = re.compile(r"[A-Za-z0-9_][\w-]*")
_JOINT = re.compile(r",?\s+(?:and|or|plus)\s+|,\s+|:\s+")
_PART = re.compile(r",?\s+(?:and|plus)\s+(?:also\s+)?|,\s+(?:also\s+)?")
_NO_TOOLS = re.compile(
    r"\b(?:not|n't|without|never)\s+(?:us|call)(?:e|ing)?\s+(?:any\s+|a\s+)?(?:tools?|functions?)\b", re.I
)


def _around(before: str = "", after: str = "") -> tuple[re.Pattern[str], re.Pattern[str]]:
    return re.compile(rf"(?:{before})[\"'`]?$" if before else "", re.I), re.compile(rf"[\"'`]?(?:{after})", re.I)


_TREATED_AS_NAME = (
    _around(r"^\s*|\b(?:calls?|calling|use|using|invoke|run|with|via)\s+(?:the\s+)?|[\"'`]"),
    _around(after=r"\s*(?:tool|function)\b|\("),
    _around(r"(?:\b(?:and|also|then|or|both)|,)\s+", r"\s+(?:for|with|on|using|to|and)\b"),
)
"""What stands before and after a plain word ("search") that is meant as a tool's name."""
_FORBIDDEN = (
    _around(r"\b(?:not|don't|never|without|instead of|rather than|avoid)\s+(?:(?!other|but|except)[\w']+\s+){0,2}"),
)
_REFERRED_TO = (
    _around(r"\b(?:returned by|results? of|output of|from|by|after|once|when|that|which|what|whatever)\s+(?:the\s+)?"),
    _around(
        after=r"'s\b|\s+(?:tool\s+)?(?:return|gives?\b|gave|answer|respon|tells?\b|told|report|says?\b|result|output|has\b)"
    ),
)
"""What stands around a tool that is spoken of: it must have been called, but this mention is not the call."""


class Intent(Value):
    """A tool the user wants called, and the text its arguments are looked for in."""

    tool: Tool
    region: str
    """The words about this call."""
    clause: str = ""
    """The whole clause they stand in."""
    attached: tuple[str, ...] = ()
    """Clauses without a tool of their own that follow or lead to it."""
    reference: bool = False
    """The tool is only referred to; it must be called, but not for this mention's sake."""
    refers: bool = False
    """The clause is about what another tool returns."""


def intents(task: str, tools: list[Tool]) -> list[Intent]:
    """What the task wants called; by name if it names tools, otherwise by matching words."""
    if _NO_TOOLS.search(task):
        return []
    parts, by_name = clauses(task), {tool.name: tool for tool in tools}
    mentions = [_mentions(part, by_name) for part in parts]
    groups = [_named(part, group) for part, group in zip(parts, mentions, strict=True)]
    if not any(groups):
        forbidden = {one.tool.name for group in mentions for one in group}
        allowed, names = [tool for tool in tools if tool.name not in forbidden], _names(task, tools)
        groups = [_by_words(part, allowed, names) for part in parts]
    return _attach(parts, groups)


def _attach(parts: list[str], groups: list[list[Intent]]) -> list[Intent]:
    """Give every clause without a tool to the intent before it, or to the first one."""
    found = [intent for group in groups for intent in group]
    place = 0
    for clause, group in zip(parts, groups, strict=True):
        place += len(group)
        if found and not group:
            owner = found[max(place - 1, 0)]
            found[max(place - 1, 0)] = msgspec.structs.replace(owner, attached=(*owner.attached, clause))
    return found


class _Mention(NamedTuple):
    """One place where a tool is named."""

    tool: Tool
    start: int
    end: int
    forbidden: bool
    reference: bool


def _mentions(clause: str, tools: dict[str, Tool]) -> list[_Mention]:
    found: list[_Mention] = []
    for match in _IDENTIFIER.finditer(clause):
        tool = tools.get(match[0].rstrip("-"))
        around = clause[max(0, match.start() - 60) : match.start()], clause[match.end() : match.end() + 30]
        if tool and (not match[0].islower() or not match[0].isalpha() or _is(_TREATED_AS_NAME, around)):
            forbidden, reference = _is(_FORBIDDEN, around), _is(_REFERRED_TO, around)
            found.append(_Mention(tool, match.start(), match.end(), forbidden, reference))
    return found


def _is(signs: tuple[tuple[re.Pattern[str], re.Pattern[str]], ...], around: tuple[str, str]) -> bool:
    return any(before.search(around[0]) and after.match(around[1]) for before, after in signs)


def _named(clause: str, mentions: list[_Mention]) -> list[Intent]:
    """One intent per mention; the text between two mentions is divided at the last "and" or comma."""
    found = [mention for mention in mentions if not mention.forbidden]
    joints = cuts(clause, _JOINT)
    edges = [0]
    for left, right in pairwise(found):
        between = [joint.end() for joint in joints if left.end <= joint.start() and joint.end() <= right.start]
        edges.append(between[-1] if between else right.start)
    edges.append(len(clause))
    referred = {mention.tool.name for mention in found if mention.reference}
    return [
        Intent(
            tool=mention.tool,
            region=clause[start:end],
            clause=clause,
            reference=mention.reference,
            refers=bool(referred - {mention.tool.name}),
        )
        for mention, (start, end) in zip(found, pairwise(edges), strict=False)
    ]


_NAMED = re.compile(r"""\b(?:at|for|from|in|to) ["'(]?([A-Z]\w+(?:["']?(?:,| and|, and)? ["']?[A-Z]\w+)*)""")
"""What a task says of a place or a person, and of those named with it."""


def _names(task: str, tools: list[Tool]) -> frozenset[str]:
    """Names that say nothing about which tool is meant, though the city of Timesav begins like "times"."""
    own = {word.removesuffix("s") for tool in tools for word in words(f"{tool.name} {tool.description}")}
    found = (name for names in _NAMED.findall(task) for name in re.findall(r"[A-Z]\w+", names))
    return frozenset(name for name in found if name.lower().removesuffix("s") not in own)


def _by_words(clause: str, tools: list[Tool], names: frozenset[str]) -> list[Intent]:
    """The tools a clause asks for without naming them; parts joined by "and" may want different ones."""

    def meant(text: str) -> Tool | None:
        return best_tool(re.sub(r"\w+", lambda said: "" if said[0] in names else said[0], text), tools)

    found: list[Intent] = []
    for part in split(clause, _PART):
        tool = meant(part)
        if tool is not None and not (found and found[-1].tool == tool):
            found.append(Intent(tool=tool, region=part, clause=clause))
        elif found:
            start = clause.find(found[-1].region)
            end = clause.find(part, start + len(found[-1].region)) + len(part)
            found[-1] = Intent(tool=found[-1].tool, region=clause[start:end], clause=clause)
    if len(found) < 2 and (whole := meant(clause)):
        return [Intent(tool=whole, region=clause, clause=clause)]
    return found


_EMPTY = frozenset(
    re.findall(
        r"\w+",
        """
    a an the of for in on at to from by with and or is are be it this that these those my your our me you i we
    do does get set fetch run make tool function call calls calling use using used please can could would will
    what which who whose how when where give given gives tell let return returns returned returning value values
    result results info information data item items one two three any all each some current user also need want
    know about into split
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
"""Stems that mean the same."""
_FITS = 3
"""Points that make a tool fit: its name, or three words of its description."""


def best_tool(text: str, tools: list[Tool]) -> Tool | None:
    """The tool that fits the text best, or None."""
    by_words = latin(text)
    points = [_points(text, tool) if by_words else len(_pairs(text) & _pairs(_all_words(tool))) for tool in tools]
    most = max(points, default=0)
    return tools[points.index(most)] if most >= (_FITS if by_words else 1) else None


def _points(text: str, tool: Tool) -> int:
    """How well the words of the text fit a tool: its name and verb count most, then description and parameters."""
    heard, name, purpose = _stems(text), _stems(tool.name), _stems(tool.description)
    verb = _stems(tool.description.partition(" ")[0])
    points = 3 * len(heard & (name | verb)) + min(len(heard & (purpose - name)), 3)
    points += 2 * sum(bool(heard & alike) for word, alike in _ALIKE.items() if word in name | purpose)
    if (name | purpose) & {"calcu", "mathe", "arith", "expre"} and _ARITHMETIC.search(text):
        points += 4
    return points + (sum(bool(heard & known) for known in _parameters(tool)) if points else 0)


def _parameters(tool: Tool) -> list[frozenset[str]]:
    """The words of each parameter's name, and of each parameter's values."""
    values = [schema.get("enum") for schema in tool.properties.values() if isinstance(schema, dict)]
    listed = (" ".join(map(str, one)) for one in values if isinstance(one, list))
    return [_stems(text) for text in (*tool.properties, *listed)]


@lru_cache(maxsize=4096)
def _stems(text: str) -> frozenset[str]:
    """The words that carry meaning, crudely stemmed, so that "greeting" meets "greet"."""
    told = (word for word in words(text) if word not in _EMPTY and len(word) > 1)
    return frozenset(word[:5] if len(word) > 5 else word.removesuffix("s") for word in told)


@lru_cache(maxsize=512)
def _pairs(text: str) -> frozenset[str]:
    """Pairs of characters: what is compared in scripts without spaces."""
    return frozenset(text[i : i + 2] for i in range(len(text) - 1) if text[i : i + 2].isalnum())


def _all_words(tool: Tool) -> str:
    described = (str(schema.get("description", "")) for schema in tool.properties.values() if isinstance(schema, dict))
    return " ".join((tool.description, *described))
