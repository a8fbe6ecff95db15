"""Arguments for one wanted call: from the words about it, from results, or missing."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from toolcert.core.values import JsonObject, Value
from toolcert.simulate.brain.choosing import Intent
from toolcert.simulate.brain.dialogue import Dialogue
from toolcert.simulate.brain.finding import enumerated, hinted, keyed, loose
from toolcert.simulate.brain.recalling import recall
from toolcert.simulate.brain.text import literals, words
from toolcert.simulate.brain.tools import Tool, branches, properties_of, required_of, resolved, types_of
from toolcert.simulate.brain.values import Found, values_at

_LATER = re.compile(
    r"\b(?:with|using|for|pass|passing|on|to|of)\s+(?:the|that|this|its|whatever|those)\s+(?:[\w'-]+\s+){0,4}"
    r"(?:returned|returns|result|results|resulting|output|you|it|from|gave|gives)\b"
    r"|\b(?:that|those|returned|resulting|previous|this)\s+(?:[\w'-]+\s+){0,1}(?:id|code|token|value|number|key|result|\w+_\w+)\b",
    re.I,
)


_DEEPEST = 5
"""Levels of nested objects that are looked for in the words of a prompt."""


_RANKS = 4
"""Kinds of sources for a value that is not named; the last is what needs no words at all."""


class Filling(Value):
    """The arguments found for one call, and the required ones that were not."""

    tool: Tool
    arguments: JsonObject = {}
    missing: tuple[str, ...] = ()


class _Search(Value):
    """All that one call's arguments may be looked for in."""

    tool: Tool
    own: str
    clause: str
    whole: str
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


def fill(
    intent: Intent, dialogue: Dialogue, *, alone: bool, first: bool = True, informed: bool = True
) -> list[Filling]:
    """The calls one intent stands for, each as far as its arguments are known."""
    tool = intent.tool
    if not tool.properties and not tool.required:
        return [Filling(tool=tool, arguments=_free_form(intent))]
    if written := _written_out(intent):
        return [_completed(intent, dialogue, arguments) for arguments in written]
    if intent.items and not _items_are_fields(intent):
        return [filling for item in intent.items for filling in _fill_text(_item_search(intent, item, dialogue))]
    return _fill_text(_search(intent, dialogue, alone=alone, first=first, informed=informed))


def _free_form(intent: Intent) -> JsonObject:
    found = [one.value for one in literals(intent.region) if isinstance(one.value, dict)]
    return found[0] if found and intent.tool.schema.get("additionalProperties") is not False else {}


def _own_text(intent: Intent) -> str:
    return "\n".join((intent.region, *intent.attached, *intent.items))


def _written_out(intent: Intent) -> list[JsonObject]:
    """JSON objects in the text whose keys are the tool's parameters."""
    known = set(intent.tool.properties)
    objects = [one.value for one in literals(_own_text(intent)) if isinstance(one.value, dict)]
    objects += [] if objects else [one.value for one in literals(intent.clause) if isinstance(one.value, dict)]
    return [value for value in objects if value and set(value) <= known]


def _completed(intent: Intent, dialogue: Dialogue, arguments: JsonObject) -> Filling:
    missing = [name for name in intent.tool.required if name not in arguments]
    if not missing:
        return Filling(tool=intent.tool, arguments=arguments)
    rest = _fill_text(_search(intent, dialogue, alone=False, first=True, informed=True))[0]
    missing = [name for name in rest.missing if name not in arguments]
    return Filling(tool=intent.tool, arguments={**rest.arguments, **arguments}, missing=tuple(missing))


def _items_are_fields(intent: Intent) -> bool:
    """Whether the list below a mention gives one field per line, not one call per line."""
    spaced = {" ".join(words(name)) for name in intent.tool.properties}
    heads = [" ".join(words(re.split(r"[:=]", item)[0])) for item in intent.items if re.search(r"[:=]", item)]
    return len(heads) == len(intent.items) and set(heads) <= spaced and len(set(heads)) == len(heads)


def _search(intent: Intent, dialogue: Dialogue, *, alone: bool, first: bool, informed: bool) -> _Search:
    return _Search(
        tool=intent.tool,
        own=_own_text(intent),
        clause=intent.clause,
        whole=dialogue.task if alone else "",
        dialogue=dialogue,
        later=not first and _LATER.search(intent.region) is not None,
        informed=informed,
        used=[],
    )


def _item_search(intent: Intent, item: str, dialogue: Dialogue) -> _Search:
    return _Search(
        tool=intent.tool,
        own=item,
        clause=intent.region,
        whole="",
        dialogue=dialogue,
        later=False,
        informed=False,
        used=[],
        item=True,
    )


def _fill_text(search: _Search) -> list[Filling]:
    root = search.tool.schema
    found: dict[str, list[Found]] = {}
    for name, schema in search.tool.properties.items():
        if certain := _certain(search, name, schema, root):
            found[name] = certain
            search.used.extend(one.value for one in certain[:1])
    required = search.tool.required
    for rank in range(_RANKS):
        for name in (name for name in required if name not in found):
            if guessed := _guessed(search, name, search.tool.properties.get(name, {}), rank):
                found[name] = guessed
                search.used.append(guessed[0].value)
    missing = tuple(name for name in required if name not in found)
    return [Filling(tool=search.tool, arguments=arguments, missing=missing) for arguments in _spread(search, found)]


def _certain(search: _Search, name: str, schema: Any, root: JsonObject) -> list[Found]:
    """Values that the text clearly gives to this parameter."""
    for text in (search.own, search.clause, search.whole):
        for branch in branches(resolved(schema, root), root):
            if text and (found := _named_here(name, branch, root, text)):
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


def _guessed(search: _Search, name: str, schema: Any, rank: int) -> list[Found]:
    """A value for a required parameter that the text does not name outright, from the sources of one rank."""
    options = branches(resolved(schema, search.tool.schema), search.tool.schema)
    if rank == _RANKS - 1:
        return _fixed(options)
    for option in (option for option in options if not option.get("enum")):
        for found in _ranked(search, name, option, rank):
            if found:
                return found
    return []


def _ranked(search: _Search, name: str, schema: JsonObject, rank: int) -> Iterator[list[Found]]:
    """Where to look, the surest first: signs in the text, results, loose values, and what is barely a hint."""
    done, texts = search.dialogue.done, [text for text in (search.own, search.clause, search.whole) if text]
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


def _spread(search: _Search, found: dict[str, list[Found]]) -> list[JsonObject]:
    """One set of arguments per enumerated value; other values go to the item they stand nearest to."""
    lead = next((name for name in search.tool.required if _enumerates(search, found, name)), None)
    if lead is None:
        return [{name: found[name][0].value for name in search.tool.properties if name in found}]
    return [_around(search, found, lead, place) for place in range(len(found[lead]))]


def _enumerates(search: _Search, found: dict[str, list[Found]], name: str) -> bool:
    values = found.get(name, ())
    schema = resolved(search.tool.properties.get(name, {}), search.tool.schema)
    others = [one[0].value for key, one in found.items() if key != name]
    scalar = "array" not in types_of(schema) and not schema.get("enum")
    return scalar and len(values) > 1 and not any(one.value in others for one in values[1:])


def _around(search: _Search, found: dict[str, list[Found]], lead: str, place: int) -> JsonObject:
    here = found[lead][place]
    until = found[lead][place + 1].start if place + 1 < len(found[lead]) else len(search.own) + 1
    arguments = {}
    for name in search.tool.properties:
        if name == lead:
            arguments[name] = here.value
        elif name in found:
            near = [one for one in found[name] if here.start < one.start < until]
            arguments[name] = (near or found[name])[0].value
    return arguments
