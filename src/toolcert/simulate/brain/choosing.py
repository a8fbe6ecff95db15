"""What the user wants called, in which order, and which words belong to which call."""

from __future__ import annotations

import re

import msgspec

from toolcert.core.values import Value
from toolcert.simulate.brain.matching import best_tool
from toolcert.simulate.brain.mentions import Mention, Sense, mentions, negates
from toolcert.simulate.brain.text import Clause, clauses, inside, protected
from toolcert.simulate.brain.tools import Tool

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
