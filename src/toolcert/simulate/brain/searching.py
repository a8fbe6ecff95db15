"""Where the value of one parameter is looked for: words that name it, signs, results, and loose values."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from toolcert.core.values import JsonObject, Value
from toolcert.simulate.brain.dialogue import Dialogue
from toolcert.simulate.brain.finding import enumerated, hinted, keyed, loose
from toolcert.simulate.brain.recalling import recall
from toolcert.simulate.brain.tools import Tool, branches, properties_of, required_of, resolved, types_of
from toolcert.simulate.brain.values import Found, values_at

_DEEPEST = 5
"""Levels of nested objects that are looked for in the words of a prompt."""
RANKS = 4
"""Kinds of sources for a value that is not named; the last is what needs no words at all."""


class Search(Value):
    """All that one call's arguments may be looked for in."""

    tool: Tool
    own: str
    """The words about this call."""
    texts: tuple[str, ...]
    """Those, the clause around them, and where it is the only call the whole task: nearest first."""
    dialogue: Dialogue
    later: bool
    """The text says that a value comes from a result."""
    informed: bool
    """The calls before this one are made, so their results may hold what it needs."""
    used: list[Any]
    item: bool = False
    """The text is one entry of a list."""

    def fresh(self, found: list[Found]) -> list[Found]:
        """Without values already taken and names that are no values."""
        names = [self.tool.name, *self.tool.properties]
        return [one for one in found if one.value not in self.used and one.value not in names]


def certain(search: Search, name: str, schema: Any) -> list[Found]:
    """Values that the text clearly gives to this parameter."""
    options = branches(resolved(schema, search.tool.schema), search.tool.schema)
    for text in search.texts:
        for option in options:
            if found := _named_here(name, option, search.tool.schema, text):
                return found
    return []


def _named_here(name: str, schema: JsonObject, root: JsonObject, text: str, depth: int = 0) -> list[Found]:
    if schema.get("enum"):
        return enumerated(schema, text)
    found = keyed(name, schema, text)
    if not found and depth < _DEEPEST and "object" in types_of(schema) and properties_of(schema, root):
        return _nested(schema, root, text, depth + 1)
    return [one for one in found if _fits(one.value, schema)]


def _nested(schema: JsonObject, root: JsonObject, text: str, depth: int) -> list[Found]:
    """An object put together from properties that the text names one by one."""
    inner = {
        name: found[0].value
        for name, sub in properties_of(schema, root).items()
        for branch in branches(resolved(sub, root), root)[:1]
        if (found := _named_here(name, branch, root, text, depth))
    }
    complete = inner and set(required_of(schema, root)) <= set(inner)
    return [Found(value=inner, start=0, end=0)] if complete else []


def _fits(value: Any, schema: JsonObject) -> bool:
    longest = schema.get("maxLength")
    return not (isinstance(value, str) and isinstance(longest, int) and len(value) > longest)


def guessed(search: Search, name: str, schema: Any, rank: int) -> list[Found]:
    """A value for a required parameter that the text does not name outright, from the sources of one rank."""
    options = branches(resolved(schema, search.tool.schema), search.tool.schema)
    if rank == RANKS - 1:
        return _fixed(options)
    for option in (option for option in options if not option.get("enum")):
        for found in _ranked(search, name, option, rank):
            if found:
                return found
    return []


def _ranked(search: Search, name: str, schema: JsonObject, rank: int) -> Iterator[list[Found]]:
    """Where to look, the surest first: signs in the text, results, loose values, and what is barely a hint."""
    done, texts = search.dialogue.done, search.texts
    if rank == 0:
        if search.item:
            yield values_at(search.own, 0, types_of(schema) or ("string",), explicit=True)
        if not search.later:
            yield from (search.fresh(hinted(name, schema, text)) for text in texts)
        yield recall(name, schema, done)
    elif rank == 1 and not search.later:
        yield from (search.fresh(loose(schema, text, search.used)) for text in texts)
    elif rank == 2:
        yield recall(name, schema, done, loosely=True) if search.informed else []
        yield [] if search.later else keyed(name, schema, search.dialogue.system)


def _fixed(options: list[JsonObject]) -> list[Found]:
    """What needs no words: a constant, a default, a lone enum value, or null where that is allowed."""
    for option in options:
        for keyword in ("const", "default"):
            if keyword in option:
                return [Found(value=option[keyword], start=0, end=0)]
        if len(option.get("enum") or ()) == 1:
            return [Found(value=option["enum"][0], start=0, end=0)]
    nullable = any("null" in types_of(option) for option in options)
    return [Found(value=None, start=0, end=0)] if nullable else []
