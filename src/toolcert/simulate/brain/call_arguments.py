"""Arguments for one wanted call: from the words about it, from earlier results, or missing."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from toolcert.core.values import JsonObject, Value
from toolcert.simulate.brain.dialogue import Dialogue, Done, literals, words
from toolcert.simulate.brain.intent import Intent
from toolcert.simulate.brain.offered_tool import Tool, branches, properties_of, required_of, resolved, types_of
from toolcert.simulate.brain.text_value import CODE, Found, enumerated, hinted, keyed, loose, value_at, values_at

_KINDS: dict[str, tuple[type, ...]] = {
    "string": (str, int, float),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "array": (list,),
    "object": (dict,),
}


def recall(name: str, schema: JsonObject, done: tuple[Done, ...], *, loosely: bool = False) -> list[Found]:
    """The latest result's value under the parameter's name; loosely, a similar name or the only value there."""
    for one in reversed(done):
        leaves = [(key, value) for key, value in _leaves("", one.data) if _allowed(value, schema)]
        matching = [value for key, value in leaves if _same(key, name)]
        if loosely and not matching:
            matching = [value for key, value in leaves if _similar(key, name)] or _only(leaves, one, schema)
        if matching:
            return [Found(value=_typed(matching[0], schema), start=0, end=0)]
    return []


def _leaves(key: str, value: Any) -> Iterator[tuple[str, Any]]:
    yield key, value
    if isinstance(value, dict):
        for inner_key, inner in value.items():
            yield from _leaves(inner_key, inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _leaves(key, inner)


def _allowed(value: Any, schema: JsonObject) -> bool:
    kinds = types_of(schema) or ("string",)
    if isinstance(value, bool):
        return "boolean" in kinds
    return any(isinstance(value, _KINDS.get(kind, ())) for kind in kinds)


def _typed(value: Any, schema: JsonObject) -> Any:
    """A number goes into a string parameter as its text; models do that, and the schema asks for it."""
    wants_text = "string" in types_of(schema) and not isinstance(value, (str, dict, list))
    return str(value) if wants_text else value


def _same(key: str, name: str) -> bool:
    return bool(key) and words(key) == words(name)


def _similar(key: str, name: str) -> bool:
    """`id` for `order_id`, `code` for `access_code`, `orderNumber` for `order_no`."""
    theirs, ours = words(key), words(name)
    shared = (set(theirs) & set(ours)) - {"id", "name", "value", "number"}
    return bool(theirs and ours) and (bool(shared) or set(theirs) <= set(ours) or set(ours) <= set(theirs))


def _only(leaves: list[tuple[str, Any]], done: Done, schema: JsonObject) -> list[Any]:
    scalars = [value for key, value in leaves if key and not isinstance(value, (dict, list))]
    if len(scalars) == 1:
        return scalars
    if done.data is None and "string" in (types_of(schema) or ("string",)):
        codes = re.findall(rf"(?<![\w-]){CODE}", done.result or "")
        return codes[:1] or ([done.result.strip()] if done.result and " " not in done.result.strip() else [])
    return []


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
