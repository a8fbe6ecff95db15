"""Arguments for one wanted call: from the words about it, from results, or missing."""

from __future__ import annotations

import re
from typing import Any

from toolcert.core.values import JsonObject, Value
from toolcert.simulate.brain.choosing import Intent
from toolcert.simulate.brain.dialogue import Dialogue
from toolcert.simulate.brain.searching import RANKS, Search, certain, guessed
from toolcert.simulate.brain.text import literals, words
from toolcert.simulate.brain.tools import Tool, branches, resolved, types_of
from toolcert.simulate.brain.values import Found, value_at

_LATER = re.compile(
    r"\b(?:with|using|for|pass|passing|on|to|of)\s+(?:the|that|this|its|whatever|those)\s+(?:[\w'-]+\s+){0,4}"
    r"(?:returned|returns|result|results|resulting|output|you|it|from|gave|gives)\b"
    r"|\b(?:that|those|returned|resulting|previous|this)\s+(?:[\w'-]+\s+){0,1}(?:id|code|token|value|number|key|result|\w+_\w+)\b",
    re.I,
)


_FIELD = re.compile(r"[\"'`*]*(?P<name>[\w -]+?)[\"'`*]*\s*[:=]\s*(?P<value>.+)")


class Filling(Value):
    """The arguments found for one call, and the required ones that were not."""

    tool: Tool
    arguments: JsonObject = {}
    missing: tuple[str, ...] = ()


def fill(
    intent: Intent, dialogue: Dialogue, *, alone: bool, first: bool = True, informed: bool = True
) -> list[Filling]:
    """The calls one intent stands for, each as far as its arguments are known."""
    tool = intent.tool
    if not tool.properties and not tool.required:
        return [Filling(tool=tool, arguments=_free_form(intent))]
    if written := _written_out(intent):
        return [_completed(intent, dialogue, arguments) for arguments in written]
    if fields := _fields(intent):
        return [_completed(intent, dialogue, fields)]
    if intent.items:
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


def _fields(intent: Intent) -> JsonObject:
    """The arguments where the list below a mention gives one field per line, not one call per line."""
    names = {" ".join(words(name)): name for name in intent.tool.properties}
    found: JsonObject = {}
    for item in intent.items:
        line = _FIELD.fullmatch(item)
        name = names.get(" ".join(words(line["name"]))) if line else None
        if line is None or name is None or name in found:
            return {}
        found[name] = _of_type(line["value"], intent.tool.properties[name], intent.tool.schema)
    return found


def _of_type(text: str, schema: Any, root: JsonObject) -> Any:
    """The whole rest of a line, as the type its parameter wants."""
    types = types_of(branches(resolved(schema, root), root)[0]) or ("string",)
    if "string" in types:
        return text.strip("\"'`“”")
    value = value_at(text, 0, types, explicit=True)
    return text if value is None else value.value


def _search(intent: Intent, dialogue: Dialogue, *, alone: bool, first: bool, informed: bool) -> Search:
    own = _own_text(intent)
    return Search(
        tool=intent.tool,
        own=own,
        texts=_different(own, intent.clause, dialogue.task if alone else ""),
        dialogue=dialogue,
        later=(intent.refers or not first) and _LATER.search(intent.region) is not None,
        informed=informed,
        used=[],
    )


def _item_search(intent: Intent, item: str, dialogue: Dialogue) -> Search:
    return Search(
        tool=intent.tool,
        own=item,
        texts=_different(item, intent.region),
        dialogue=dialogue,
        later=False,
        informed=False,
        used=[],
        item=True,
    )


def _different(*texts: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(text for text in texts if text))


def _fill_text(search: Search) -> list[Filling]:
    found: dict[str, list[Found]] = {}
    for name, schema in search.tool.properties.items():
        if sure := certain(search, name, schema):
            found[name] = sure
            search.used.extend(one.value for one in sure[:1])
    required = search.tool.required
    for rank in range(RANKS):
        for name in (name for name in required if name not in found):
            if guess := guessed(search, name, search.tool.properties.get(name, {}), rank):
                found[name] = guess
                search.used.append(guess[0].value)
    missing = tuple(name for name in required if name not in found)
    return [Filling(tool=search.tool, arguments=arguments, missing=missing) for arguments in _spread(search, found)]


def _spread(search: Search, found: dict[str, list[Found]]) -> list[JsonObject]:
    """One set of arguments per enumerated value; other values go to the item they stand nearest to."""
    lead = next((name for name in search.tool.required if _enumerates(search, found, name)), None)
    if lead is None:
        return [{name: found[name][0].value for name in search.tool.properties if name in found}]
    return [_around(search, found, lead, place) for place in range(len(found[lead]))]


def _enumerates(search: Search, found: dict[str, list[Found]], name: str) -> bool:
    values = found.get(name, ())
    schema = resolved(search.tool.properties.get(name, {}), search.tool.schema)
    others = [one[0].value for key, one in found.items() if key != name]
    scalar = "array" not in types_of(schema) and not schema.get("enum")
    return scalar and len(values) > 1 and not any(one.value in others for one in values[1:])


def _around(search: Search, found: dict[str, list[Found]], lead: str, place: int) -> JsonObject:
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
