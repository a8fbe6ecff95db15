"""Tools named in the prompt: as calls to make, as references, or as what not to use."""

from __future__ import annotations

import re
from enum import Enum
from itertools import pairwise

from toolcert.core.values import Value
from toolcert.simulate.brain.text import inside, protected
from toolcert.simulate.brain.tools import Tool

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
