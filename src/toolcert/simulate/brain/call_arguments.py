"""Arguments for one wanted call: from the words about it, from earlier results, or missing.

To teach the model another way of giving a value, add a row to `_BY_FORM` or `_AFTER`, or a function to `_SOURCES`.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any

import msgspec

from toolcert.core.values import JsonObject, Value
from toolcert.simulate.brain.dialogue import QUOTED, Dialogue, Found, objects, words
from toolcert.simulate.brain.intent import ARITHMETIC, Intent
from toolcert.simulate.brain.offered_tool import Tool, branches, properties_of, required_of, types_of

_UPPER = "A-Z\u00c0-\u00de\u0100\u0106\u010c\u0141\u015a\u0160\u0179\u017b\u017d\u0391-\u03a9\u0410-\u042f"
_PROPER = rf"[{_UPPER}][\w'’/-]*(?:\.[\w-]+)*(?: +[{_UPPER}][\w'’-]*)*"
_CODE = r"(?=[A-Za-z_-]*\d)(?=[\d_-]*[A-Za-z])[A-Za-z0-9_-]+(?:\.[\w-]+)*"
_NUMBER = r"-?\d+(?:,\d{3})*(?:\.\d+)?"
_NUMBER_END = r"(?![A-Za-z0-9_-])(?!\.\d)"
_SPACE = re.compile(r"\s*")
_VALUES = {
    "null": re.compile(r"null\b"),
    "boolean": re.compile(r"(?:true|false|yes|no|on|off)\b", re.I),
    "integer": re.compile(rf"[\"'`$€£]?({_NUMBER}){_NUMBER_END}"),
    "number": re.compile(rf"[\"'`$€£]?({_NUMBER}){_NUMBER_END}"),
    "string": re.compile(rf"{QUOTED}|({_CODE}|{_PROPER})"),
}
"""How a value of each type is written; lists and objects are read by `_value_at` itself."""
_PLAIN = re.compile(r"[^,;\n()]+?(?=\s*(?:[,;\n()]|\s(?:and|with|in|as|using|then|to|for)\s|[.?!](?:\s|$)|$))")
"""Bare words, which count as a value only after a colon or an equals sign."""
_AND_SO_ON = re.compile(
    r"(?:\s+(?:in|as|with|using)\s+[a-z]+(?=[\s,]))?\s*(?:,\s*(?:and\s+)?|\s+and\s+|\s+or\s+|\n(?!.*[:=]))"
)
_ITEM = re.compile(r"[\w '’-]+(?=[,.;\n]|\s+and\s|\s*$)")
"""A bare entry of a list; one with a colon or an equals sign is the next field."""
_decoder = json.JSONDecoder()


def _value_at(text: str, start: int, types: Iterable[str], *, explicit: bool = False) -> Found | None:
    """The value that begins at `start`, of one of the types."""
    start = _SPACE.match(text, start).end()  # type: ignore[union-attr]  # matches the empty string too
    for kind in types:
        if kind in ("object", "array") and (found := _written_at(text, start, kind)):
            return found
        if kind == "array":
            items = _values_at(text, start, ("number", "string"), explicit=explicit, bare=explicit)
            return Found([item.value for item in items], start, items[-1].end) if items else None
        match = _VALUES[kind].match(text, start) if kind in _VALUES else None
        if kind == "string" and explicit and not (match and match.lastindex and match.lastindex < 5):
            match = max(match, _PLAIN.match(text, start), key=lambda one: one.end() if one else -1)
        if match and (found := _as_type(kind, match)):
            return found
    return None


def _written_at(text: str, start: int, kind: str) -> Found | None:
    try:
        value, end = _decoder.raw_decode(text, start)
    except ValueError:
        return None
    return Found(value, start, end) if isinstance(value, _KINDS[kind]) else None


def _as_type(kind: str, match: re.Match[str]) -> Found | None:
    written = match[match.lastindex or 0].strip()
    value: Any = written
    if kind in ("integer", "number"):
        digits = written.replace(",", "")
        value = float(digits) if "." in digits else int(digits)
        if kind == "integer" and isinstance(value, float):
            return None
    elif kind in ("boolean", "null"):
        value = written.lower() in ("true", "yes", "on") if kind == "boolean" else None
    return Found(value, match.start(), match.end())


def _values_at(
    text: str, start: int, types: tuple[str, ...], *, explicit: bool = False, bare: bool = False
) -> list[Found]:
    """The value at `start` and those that follow it in an enumeration; with `bare`, plain words may follow too."""
    found: list[Found] = []
    current = _value_at(text, start, types, explicit=explicit)
    while current is not None:
        found.append(current)
        more = _AND_SO_ON.match(text, current.end)
        plain = bare and more is not None and _ITEM.match(text, more.end()) is not None
        current = _value_at(text, more.end(), types, explicit=plain) if more else None
    return found


_KINDS: dict[str, tuple[type, ...]] = {
    "string": (str, int, float),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "array": (list,),
    "object": (dict,),
}
_EXPLICIT = (":", "=", "is", "set to")


@lru_cache(maxsize=1024)
def _key_patterns(name: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """How a parameter's name is written before its value ("city: Oslo"), and after it ("5 results")."""
    parts = words(name) or (name,)
    forms = {re.escape(name), r"[\s_-]+".join(map(re.escape, parts))}
    forms |= {"named", "called"} if parts == ("name",) else set()
    either = "|".join(sorted(forms, key=len, reverse=True))
    before = rf"(?<![\w-])(?:{either})(?![\w-])[\"'`]?\s*(?P<link>[:=]|\b(?:is|of|set to|to|as|exactly)\b)?"
    after = rf"(?<![\w.-])(?:{_NUMBER}|\"[^\"\n]*\")(?=\s+(?:as\s+(?:the\s+)?)?(?:{either}|{re.escape(parts[-1])})\b)"
    return re.compile(before, re.I), re.compile(after, re.I)


def _keyed(name: str, schema: JsonObject, text: str) -> list[Found]:
    """Values that follow the parameter's name, in every place it is written; else one that stands before it."""
    before, after = _key_patterns(name)
    types = types_of(schema)
    found: dict[int, Found] = {}
    for match in before.finditer(text):
        explicit = (match["link"] or "").lower() in _EXPLICIT
        found |= {one.start: one for one in _values_at(text, match.end(), types, explicit=explicit)}
    written = (_value_at(text, match.start(), types) for match in after.finditer(text))
    return [*found.values()] or [one for one in written if one]


def _enumerated(schema: JsonObject, text: str) -> list[Found]:
    """The values of an enum that occur in the text, by place."""
    found = [
        Found(value, match.start(), match.end())
        for value in schema["enum"]
        if isinstance(value, (str, int)) and not isinstance(value, bool)
        for match in re.finditer(rf"(?<![\w-]){re.escape(str(value))}(?![\w-])", text, re.I)
    ]
    return sorted(found, key=lambda one: one.start)


_BY_FORM = (
    ("email mail to recipient cc bcc sender address", r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+"),
    ("url uri link website", r"https?://[^\s\"'<>)]+[^\s\"'<>).,]"),
    ("date day", r"\b\d{4}-\d{2}-\d{2}(?:T[\d:.]+Z?)?\b|\b(?:today|tomorrow)\b"),
    ("time", r"\b\d{1,2}:\d{2}(?::\d{2})?(?:\s?[ap]m)?\b"),
    ("expression formula calculation equation math", ARITHMETIC),
)
"""Words of a parameter's name or its format, and the form of its value."""
_TOPIC = "query topic question keyword keywords term subject search"
_PLACE = "city location place town country region area station airport where"
_AFTER = (
    ("origin from start source departure", r"\b(?:from|between)\s+"),
    ("destination to end target arrival", rf"\bto\s+|\bbetween\s+{_PROPER}\s+and\s+"),
    (_PLACE, r"\b(?:in|for|at|near|of|to|from)\s+(?:the\s+city\s+of\s+)?"),
    (
        "name person user username recipient customer employee guest contact player",
        r"\b(?:greet|welcome|named|called|hello\s+to|for|to|about|user|customer|employee|person|of)\s+",
    ),
    (_TOPIC, r"\b(?:search\w*(?:\s+the\s+\w+)?\s+for|look(?:ing)?\s+up|look\s+for|find|about|for|on)\s+"),
)
"""Words of a parameter's name, and what leads up to its value; a topic may be in plain words."""
_LIST_START = re.compile(r"\b(?:each of|all of|the following|these)\b[^:\n]{0,40}:\s*", re.I)
_LOOSE = (
    ("array", r"\["),
    ("integer number", rf"(?<![A-Za-z0-9_.-]){_NUMBER}{_NUMBER_END}"),
    ("string", rf"{QUOTED}|(?<![\w-])({_CODE}|[A-Z]{{3,}})(?!\w)"),
    ("string", rf"(?<=\n)({_PROPER})(?=\s*(?:[,.!]|$|\n|\sin\b))|(?<=\w\s)(?<![.!?:]\s)({_PROPER})"),
    ("string", rf"(?<=[:,]\s)({_PROPER})"),
)
"""Types, and values of them that stand in the text without any sign of what they are for."""
_FROM_RESULT = re.compile(r"\b(?:that|those|this|its|returned|returns|resulting|results?|output|previous)\b", re.I)
_DEEPEST = 5
"""Levels of nested objects that are looked for in the words of a prompt."""


class Search(Value):
    """All that one call's arguments may be looked for in."""

    tool: Tool
    texts: tuple[str, ...]
    """The words about this call, the clause around them, and the whole task if it is the only call."""
    dialogue: Dialogue
    later: bool = False
    """The text says that a value comes from a result."""
    informed: bool = False
    """The calls before this one are made, so their results may hold what it needs."""
    used: list[Any] = msgspec.field(default_factory=list)

    def fresh(self, found: Iterable[Found]) -> list[Found]:
        """Without values already taken and names that are not values."""
        names = [self.tool.name, *self.tool.properties]
        return [one for one in found if one.value not in self.used and one.value not in names]


def _certain(search: Search, name: str, schema: Any) -> list[Found]:
    """Values that the text clearly gives to this parameter."""
    options = branches(schema, search.tool.schema)
    tried = (_named_in(text, name, option, search.tool.schema) for text in search.texts for option in options)
    return next(filter(None, tried), [])


def _named_in(text: str, name: str, schema: JsonObject, root: JsonObject, depth: int = 0) -> list[Found]:
    if isinstance(schema.get("enum"), list):
        return _enumerated(schema, text)
    found = _keyed(name, schema, text)
    if not found and depth < _DEEPEST and "object" in types_of(schema):
        # An object may be put together from properties that the text names one by one.
        properties = {key: branches(sub, root)[0] for key, sub in properties_of(schema, root).items()}
        inner = {key: _named_in(text, key, sub, root, depth + 1) for key, sub in properties.items()}
        value = {key: values[0].value for key, values in inner.items() if values}
        return [Found(value)] if value and set(required_of(schema, root)) <= set(value) else []
    longest = schema.get("maxLength")
    return [one for one in found if not (isinstance(longest, int) and len(str(one.value)) > longest)]


def _signalled(search: Search, name: str, schema: JsonObject) -> list[Found]:
    """Values recognised by their form, or by the words that lead up to them."""
    texts = () if search.later else search.texts
    return next(filter(None, (search.fresh(_by_signs(name, schema, text)) for text in texts)), [])


def _by_signs(name: str, schema: JsonObject, text: str) -> list[Found]:
    types, about = types_of(schema), {*words(name), str(schema.get("format"))}
    if (listed := _LIST_START.search(text)) and (found := _values_at(text, listed.end(), types, explicit=True)):
        return found
    for known, pattern in _BY_FORM if "string" in types else ():
        if about.intersection(known.split()) and (forms := [*re.finditer(pattern, text, re.I)]):
            return [Found(match[0], match.start(), match.end()) for match in forms]
    for known, lead in _AFTER if "string" in types else ():
        for match in re.finditer(lead, text, re.I) if about.intersection(known.split()) else ():
            if found := _values_at(text, match.end(), ("string",), explicit=known is _TOPIC):
                return _one_place(text, found) if known is _PLACE else found
    return []


def _one_place(text: str, found: list[Found]) -> list[Found]:
    """`Zürich, Switzerland` is one place; `Paris, Rome and Oslo` are three."""
    start, end = found[0].start, found[-1].end
    one = len(found) == 2 and text[found[0].end : found[1].start].strip() == ","
    return [Found(text[start:end], start, end)] if one else found


def _unsigned(search: Search, _name: str, schema: JsonObject) -> list[Found]:
    """The next value of the right type that nothing else took."""
    types = types_of(schema)
    for text in () if search.later else search.texts:
        for known, pattern in _LOOSE:
            kinds = tuple(kind for kind in types if kind in known.split())
            for match in re.finditer(pattern, text) if kinds else ():
                if found := search.fresh(_values_at(text, match.start(), kinds)):
                    return found
    return []


def _same_in_results(search: Search, name: str, schema: JsonObject) -> list[Found]:
    """The latest result's value under the parameter's name."""
    leaves = [leaf for one in reversed(search.dialogue.done) for leaf in _leaves("", one.data)]
    same = [value for key, value in leaves if words(key) == words(name) and _allowed(value, schema)]
    return [Found(_typed(value, schema)) for value in same[:1]]


def _only_in_result(search: Search, _name: str, schema: JsonObject) -> list[Found]:
    """The only value of the last result, or the first code in its text."""
    last = search.dialogue.done[-1] if search.informed and search.dialogue.done else None
    if last is None or last.data is None:
        codes = re.findall(rf"(?<![\w-])({_CODE})", (last and last.result) or "")
        return [Found(code) for code in codes[:1]] if "string" in types_of(schema) else []
    scalars = [value for key, value in _leaves("", last.data) if key and not isinstance(value, (dict, list))]
    return [Found(_typed(value, schema)) for value in scalars if len(scalars) == 1 and _allowed(value, schema)]


def _leaves(key: str, value: Any) -> Iterator[tuple[str, Any]]:
    yield key, value
    inner = [(key, one) for one in value] if isinstance(value, list) else []
    for inner_key, one in value.items() if isinstance(value, dict) else inner:
        yield from _leaves(inner_key, one)


def _allowed(value: Any, schema: JsonObject) -> bool:
    if isinstance(value, bool):
        return "boolean" in types_of(schema)
    return any(isinstance(value, _KINDS.get(kind, ())) for kind in types_of(schema))


def _typed(value: Any, schema: JsonObject) -> Any:
    """A number goes into a string parameter as its text; models do that, and the schema asks for it."""
    return str(value) if "string" in types_of(schema) and not isinstance(value, (str, dict, list)) else value


def _fixed(_search: Search, _name: str, schema: JsonObject) -> list[Found]:
    """What needs no words: a constant, a default, a lone enum value, or null if that is allowed."""
    enum = schema.get("enum")
    known = [schema[keyword] for keyword in ("const", "default") if keyword in schema]
    known += enum if isinstance(enum, list) and len(enum) == 1 else []
    known += [None] if "null" in types_of(schema) else []
    return [Found(value) for value in known[:1]]


_SOURCES = (_signalled, _same_in_results, _unsigned, _only_in_result, _fixed)
"""Where the value of a required parameter is looked for when the text does not name it, the surest first."""


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
    own = "\n".join((intent.region, *intent.attached))
    if not tool.properties and not tool.required:
        free = objects(intent.region) if tool.schema.get("additionalProperties") is not False else []
        return [Filling(tool=tool, arguments=free[0] if free else {})]
    search = Search(
        tool=tool,
        texts=tuple(dict.fromkeys((own, intent.clause, dialogue.task if alone else own))),
        dialogue=dialogue,
        later=(intent.refers or not first) and _FROM_RESULT.search(intent.region) is not None,
        informed=informed,
    )
    if written := [one for one in objects(own) or objects(intent.clause) if one and set(one) <= set(tool.properties)]:
        return [filling for arguments in written for filling in _fill_text(search, arguments)]
    return _fill_text(search)


def _fill_text(search: Search, written: JsonObject | None = None) -> list[Filling]:
    """The arguments that are written out, and those that the text or a source gives."""
    tool = search.tool
    found = {name: [Found(value)] for name, value in (written or {}).items()}

    def take(name: str, values: list[Found]) -> None:
        if values:
            found[name] = values
            search.used.append(values[0].value)

    for name, schema in tool.properties.items():
        if name not in found and (not written or name in tool.required):
            take(name, _certain(search, name, schema))
    for source in _SOURCES:
        for name in (name for name in tool.required if name not in found):
            options = branches(tool.properties.get(name, {}), tool.schema)
            open_ones = (option for option in options if source is _fixed or not option.get("enum"))
            take(name, next(filter(None, (source(search, name, option) for option in open_ones)), []))
    missing = tuple(name for name in tool.required if name not in found)
    return [Filling(tool=tool, arguments=arguments, missing=missing) for arguments in _spread(search, found)]


def _spread(search: Search, found: dict[str, list[Found]]) -> list[JsonObject]:
    """One set of arguments per enumerated value; other values go to the item they stand nearest to."""
    lead = next((name for name in search.tool.required if _enumerates(search.tool, found, name)), None)
    starts = [one.start for one in found[lead]] if lead else [-1]
    spread = []
    for start, until in zip(starts, [*starts[1:], sys.maxsize], strict=True):
        near = {name: [one for one in values if start <= one.start < until] for name, values in found.items()}
        spread.append({name: (near[name] or found[name])[0].value for name in search.tool.properties if name in found})
    return spread


def _enumerates(tool: Tool, found: dict[str, list[Found]], name: str) -> bool:
    values = found.get(name, ())
    schema = branches(tool.properties.get(name, {}), tool.schema)[0]
    others = [one[0].value for key, one in found.items() if key != name]
    scalar = "array" not in types_of(schema) and not schema.get("enum")
    return scalar and len(values) > 1 and not any(one.value in others for one in values[1:])
