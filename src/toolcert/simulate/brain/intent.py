"""What the user wants called, in which order, and which words of the text belong to which call."""

from __future__ import annotations

import re
from enum import Enum
from functools import lru_cache
from itertools import pairwise

import msgspec

from toolcert.core.values import Value
from toolcert.simulate.brain.dialogue import Clause, clauses, inside, latin, protected, stem, words
from toolcert.simulate.brain.offered_tool import Tool
from toolcert.simulate.brain.text_value import ARITHMETIC

_IDENTIFIER = re.compile(r"[A-Za-z0-9_][\w-]*")
_REFERRING_BEFORE = re.compile(
    r"\b(?:returned by|results? of|output of|from|by|after|once|when|that|which|what|whatever)\s+(?:the\s+)?[\"'`]?$",
    re.I,
)
_REFERRING_AFTER = re.compile(
    r"^[\"'`]?(?:'s\b|\s+(?:returns?|returned|gives?|gave|answers?|answered|responds?|told|tells|reports?|says|said)\b"
    r"|\s+(?:tool\s+)?(?:result|output|has)\b)",
    re.I,
)
_NEGATED = re.compile(r"\b(?:not|don't|never|without|instead of|rather than|avoid)\s+(?:[\w']+\s+){0,2}[\"'`]?$", re.I)
_EXCEPTED = re.compile(r"\b(?:other than|except|but|besides)\b", re.I)
_CALLING_BEFORE = re.compile(r"(?:\b(?:call|calls|calling|use|using|invoke|run|with|via)\s+(?:the\s+)?|[\"'`])$", re.I)
_TOOL_AFTER = re.compile(r"^[\"'`]?\s*(?:tool|function|\()|^[\"'`]", re.I)
_LISTED_BEFORE = re.compile(r"(?:\b(?:and|also|then|or|both)|,)\s+$", re.I)
_GIVEN_AFTER = re.compile(r"^\s+(?:for|with|on|using|to|and)\b", re.I)
_IN_A_ROW = re.compile(r"[\"'`]?\s*(?:,|,?\s+and|,?\s+or|\s+plus)\s+(?:the\s+)?[\"'`]?")
_JOINT = re.compile(r",?\s+(?:and|or|plus)\s+|,\s+|:\s+")


class Sense(Enum):
    """How a tool is mentioned."""

    CALL = "call"
    REFERENCE = "reference"
    NEGATED = "negated"


class Mention(Value):
    """One place where a tool is named, and the stretch of the clause that is about it."""

    tool: Tool
    start: int
    end: int
    sense: Sense = Sense.CALL
    region: str = ""


def mentions(clause: str, tools: dict[str, Tool]) -> list[Mention]:
    """Every tool named in a clause, each with its own region of the text."""
    found: list[Mention] = []
    for match in _IDENTIFIER.finditer(clause):
        tool = tools.get(match[0].rstrip("-"))
        listed = bool(found) and _IN_A_ROW.fullmatch(clause[found[-1].end : match.start()]) is not None
        if tool and (listed or _is_name(tool.name, clause, match.span())):
            found.append(Mention(tool=tool, start=match.start(), end=match.end(), sense=_sense(clause, match.span())))
    kept = [mention for mention in found if mention.sense is not Sense.NEGATED]
    return _with_regions(clause, kept)


def negates(clause: str, tools: dict[str, Tool]) -> set[str]:
    """The names of tools the clause forbids."""
    spans = ((match[0], match.span()) for match in _IDENTIFIER.finditer(clause))
    return {name for name, span in spans if name in tools and _sense(clause, span) is Sense.NEGATED}


def _is_name(name: str, clause: str, span: tuple[int, int]) -> bool:
    """A plain word ("search") is a name only where the text treats it as one."""
    if not name.isalpha() or any(char.isupper() for char in name[1:]):
        return True
    before, after = clause[: span[0]], clause[span[1] :]
    called = _CALLING_BEFORE.search(before) or _TOOL_AFTER.match(after)
    return not before.strip() or bool(called or (_LISTED_BEFORE.search(before) and _GIVEN_AFTER.match(after)))


def _sense(clause: str, span: tuple[int, int]) -> Sense:
    before, after = clause[max(0, span[0] - 60) : span[0]], clause[span[1] : span[1] + 30]
    if (negated := _NEGATED.search(before)) and not _EXCEPTED.search(before[negated.start() :]):
        return Sense.NEGATED
    if _REFERRING_BEFORE.search(before) or _REFERRING_AFTER.match(after):
        return Sense.REFERENCE
    return Sense.CALL


def _with_regions(clause: str, found: list[Mention]) -> list[Mention]:
    kept = protected(clause)
    edges = [0]
    for left, right in pairwise(found):
        joints = [m for m in _JOINT.finditer(clause, left.end, right.start) if not inside(m.start(), kept)]
        edges.append(joints[-1].end() if joints else right.start)
    edges.append(len(clause))
    return [
        Mention(tool=m.tool, start=m.start, end=m.end, sense=m.sense, region=clause[edges[i] : edges[i + 1]])
        for i, m in enumerate(found)
    ]


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


_NO_TOOLS = re.compile(
    r"\b(?:do not|don't|without|never)\s+(?:use|using|call|calling)\s+(?:any\s+|a\s+)?(?:tools?|functions?)\b", re.I
)
_PART = re.compile(r",?\s+(?:and|plus)\s+(?:also\s+)?|,\s+(?:also\s+)?")


class Intent(Value):
    """A tool the user wants called, and the text its arguments are looked for in, nearest first."""

    tool: Tool
    region: str
    """The words about this call."""
    clause: str = ""
    """The whole clause they stand in."""
    attached: tuple[str, ...] = ()
    """Clauses without a tool of their own that follow or lead to it."""
    items: tuple[str, ...] = ()
    """List entries below it."""
    reference: bool = False
    """The tool is only referred to; it must be called, but not for this mention's sake."""
    refers: bool = False
    """The clause speaks of what another tool returns."""

    def joined_by(self, clause: Clause) -> Intent:
        """This intent with one more clause that belongs to it."""
        attached = self.attached if clause.bullet else (*self.attached, clause.text)
        items = (*self.items, clause.text) if clause.bullet else self.items
        return msgspec.structs.replace(self, attached=attached, items=items)


def intents(task: str, tools: list[Tool]) -> list[Intent]:
    """What the task wants called; by name where it names tools, otherwise by matching words."""
    if _NO_TOOLS.search(task):
        return []
    by_name = {tool.name: tool for tool in tools}
    parts = clauses(task)
    named = [mentions(part.text, by_name) for part in parts]
    if any(named):
        return _attach(parts, [_from_mentions(part, group) for part, group in zip(parts, named, strict=True)])
    forbidden = {name for part in parts for name in negates(part.text, by_name)}
    allowed = [tool for tool in tools if tool.name not in forbidden]
    return _attach(parts, [_by_words(part, allowed) for part in parts])


def _from_mentions(clause: Clause, group: list[Mention]) -> list[Intent]:
    referred = {mention.tool.name for mention in group if mention.sense is Sense.REFERENCE}
    return [
        Intent(
            tool=mention.tool,
            region=mention.region,
            clause=clause.text,
            reference=mention.sense is Sense.REFERENCE,
            refers=bool(referred - {mention.tool.name}),
        )
        for mention in group
    ]


def _attach(parts: list[Clause], groups: list[list[Intent]]) -> list[Intent]:
    """Give every clause without a tool to the intent before it, or to the first one."""
    found: list[Intent] = []
    waiting: list[Clause] = []
    for clause, group in zip(parts, groups, strict=True):
        if group:
            found += group
        elif found:
            found[-1] = found[-1].joined_by(clause)
        else:
            waiting.append(clause)
    for clause in waiting if found else ():
        found[0] = found[0].joined_by(Clause(text=clause.text))
    return found


def _by_words(clause: Clause, tools: list[Tool]) -> list[Intent]:
    """The tools a clause asks for without naming them; parts joined by "and" may want different ones."""
    found: list[Intent] = []
    for part in _parts(clause.text):
        tool = best_tool(part, tools)
        if tool is not None and not (found and found[-1].tool == tool):
            found.append(Intent(tool=tool, region=part, clause=clause.text))
        elif found:
            found[-1] = _widened(found[-1], part, clause.text)
    whole = best_tool(clause.text, tools)
    if len(found) < 2 and whole is not None:
        return [Intent(tool=whole, region=clause.text, clause=clause.text)]
    return found


def _widened(intent: Intent, part: str, clause: str) -> Intent:
    """The intent with the next part of its clause, and whatever joined the two."""
    start = clause.find(intent.region)
    end = clause.find(part, start + len(intent.region)) + len(part)
    return Intent(tool=intent.tool, region=clause[start:end], clause=clause)


def _parts(clause: str) -> list[str]:
    kept = protected(clause)
    pieces, start = [], 0
    for match in _PART.finditer(clause):
        if not inside(match.start(), kept):
            pieces.append(clause[start : match.start()])
            start = match.end()
    return [piece for piece in (*pieces, clause[start:]) if piece.strip()]
