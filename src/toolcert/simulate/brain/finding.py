"""Where in a text the value of a parameter stands: after its name, by its form, or loose."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from toolcert.core.values import JsonObject
from toolcert.simulate.brain.arithmetic import ARITHMETIC, with_symbols
from toolcert.simulate.brain.text import words
from toolcert.simulate.brain.tools import types_of
from toolcert.simulate.brain.values import CODE, NUMBER, PROPER, Found, value_at, values_at

_LINK = (
    r"[\"'`]?\s*(?:\([^)]*\)\s*)?"
    r"(?P<link>[:=]|\bis\b|\bof\b|\bset to\b|\bto\b|\bequal to\b|\bas\b|\bshould be\b|\bmust be\b|\bexactly\b)?"
)
_EXPLICIT = {":", "=", "is", "set to", "should be", "must be"}
_LIST_START = re.compile(r"\b(?:each of|all of|every one of|the following|these)\b[^:\n]{0,40}:\s*", re.I)
_FORMS = {
    "email": re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+"),
    "url": re.compile(r"https?://[^\s\"'<>)]+[^\s\"'<>).,]"),
    "date": re.compile(r"\b\d{4}-\d{2}-\d{2}(?:T[\d:.]+Z?)?\b|\b(?:today|tomorrow)\b"),
    "time": re.compile(r"\b\d{1,2}:\d{2}(?::\d{2})?(?:\s?[ap]m)?\b", re.I),
    "expression": ARITHMETIC,
}
_FORM_WORDS = {
    "email": {"email", "mail"},
    "url": {"url", "uri", "link", "website"},
    "date": {"date", "day"},
    "time": {"time"},
    "expression": {"expression", "formula", "calculation", "equation", "math"},
}
_PLACES = {"city", "location", "place", "town", "country", "region", "area", "station", "airport", "where"}
_ORIGINS = {"origin", "from", "start", "source", "departure"}
_TARGETS = {"destination", "to", "end", "target", "arrival"}
_PEOPLE = {"name", "person", "user", "username", "recipient", "customer", "employee", "guest", "contact", "player"}
_ADDRESSES = {"to", "recipient", "cc", "bcc", "sender", "address"}
_TOPICS = {"query", "topic", "question", "keyword", "keywords", "term", "subject", "search"}
_TOPIC = re.compile(
    r"\b(?:search(?:es|ing)?(?:\s+the\s+\w+)?\s+for|look(?:ing)?\s+up|look\s+for|find(?:ing)?|about|for|on)\s+(?P<topic>[^.?!,;\n]+?)"
    r"(?=\s*(?:[.?!,;\n]|$|\s+(?:and|with|using|then|by)\s))",
    re.I,
)
_AFTER = {
    "place": re.compile(r"\b(?:in|for|at|near|of|to|from)\s+(?:the\s+city\s+of\s+)?(?=[^\W\d_])", re.I),
    "origin": re.compile(r"\b(?:from|between)\s+", re.I),
    "target": re.compile(rf"\bto\s+|\bbetween\s+{PROPER}\s+and\s+", re.I),
    "person": re.compile(
        r"\b(?:greet|greeting|welcome|named|called|hello\s+to|hi\s+to|for|to|about|user|customer|employee|person|of)\s+",
        re.I,
    ),
}
_LOOSE_STRING = re.compile(
    rf'"([^"\n]*)"|“([^”\n]*)”|`([^`\n]*)`|(?<!\w)\'([^\'\n]+)\'(?!\w)|(?<![\w-])({CODE}|[A-Z]{{3,}})(?!\w)'
)
_LOOSE_PROPER = re.compile(
    rf"(?<=\n)({PROPER})(?=\s*(?:[,.!]|$|\n|\sin\b))|(?<=\w\s)(?<![.!?:]\s)({PROPER})|(?<=[:,]\s)({PROPER})"
)
_LOOSE_NUMBER = re.compile(rf"(?<![A-Za-z0-9_.-])({NUMBER})(?![A-Za-z0-9_-])(?!\.\d)")


@lru_cache(maxsize=1024)
def _key_patterns(name: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """How a parameter's name is written before its value, and after it ("5 results")."""
    spaced = " ".join(words(name))
    forms = {re.escape(name), re.escape(spaced).replace(r"\ ", r"[\s_-]+")}
    if spaced == "name":
        forms |= {"named", "called"}
    either = "|".join(sorted(forms, key=len, reverse=True))
    last = re.escape(words(name)[-1]) if words(name) else either
    return (
        re.compile(rf"(?<![\w-])(?:{either})(?![\w-]){_LINK}", re.I),
        re.compile(
            rf"(?<![\w.-])(?P<number>{NUMBER}|\"[^\"\n]*\"|one|two|three|four|five|six|seven|eight|nine|ten)\s+(?:as\s+(?:the\s+)?)?(?:{either}|{last})\b",
            re.I,
        ),
    )


def keyed(name: str, schema: JsonObject, text: str) -> list[Found]:
    """Values that follow the parameter's name, in every place it is written."""
    before, after = _key_patterns(name)
    types = types_of(schema) or ("string",)
    found: list[Found] = []
    for match in before.finditer(text):
        link = (match["link"] or "").lower()
        here = values_at(text, match.end(), types, explicit=link in _EXPLICIT)
        found += [value for value in here if not any(value.start == known.start for known in found)]
    return found or [value for match in after.finditer(text) if (value := _before_its_name(text, match, types))]


def _before_its_name(text: str, match: re.Match[str], types: tuple[str, ...]) -> Found | None:
    wanted = ("string",) if match["number"].startswith('"') else ("integer", "number")
    return value_at(text, match.start("number"), tuple(kind for kind in wanted if kind in types))


def enumerated(schema: JsonObject, text: str) -> list[Found]:
    """The values of an enum that occur in the text, by place."""
    found = []
    for value in schema.get("enum") or ():
        if isinstance(value, (str, int)) and not isinstance(value, bool):
            pattern = rf"(?<![\w-]){re.escape(str(value))}(?![\w-])"
            found += [Found(value=value, start=m.start(), end=m.end()) for m in re.finditer(pattern, text, re.I)]
    return sorted(found, key=lambda one: one.start)


def hinted(name: str, schema: JsonObject, text: str) -> list[Found]:
    """Values recognised by their form, or by the words that lead up to them."""
    types = types_of(schema) or ("string",)
    listed = _LIST_START.search(text)
    if listed and (found := values_at(text, listed.end(), types, explicit=True)):
        return found
    if "string" not in types:
        return []
    form = _form(name, schema)
    if form:
        return [Found(value=with_symbols(m[0]), start=m.start(), end=m.end()) for m in _FORMS[form].finditer(text)]
    return next((found for found in _led_up_to(name, text) if found), [])


def _form(name: str, schema: JsonObject) -> str | None:
    parts = set(words(name)) | {str(schema.get("format", ""))}
    return next((form for form, known in _FORM_WORDS.items() if parts & known or form in parts), None)


def _led_up_to(name: str, text: str) -> Iterator[list[Found]]:
    parts = set(words(name))
    if parts & _ADDRESSES:
        yield [Found(value=m[0], start=m.start(), end=m.end()) for m in _FORMS["email"].finditer(text)]
    hints = (("origin", _ORIGINS), ("target", _TARGETS), ("place", _PLACES), ("person", _PEOPLE))
    for hint, known in hints:
        if parts & known:
            found = (values_at(text, match.end(), ("string",)) for match in _AFTER[hint].finditer(text))
            yield from (_one_place(text, values) if hint == "place" else values for values in found)
    if parts & _TOPICS and (match := _TOPIC.search(text)):
        topic = match["topic"].strip()
        quoted = value_at(text, match.start("topic"), ("string",)) if topic[:1] in "\"'`“" else None
        yield [quoted or Found(value=topic, start=match.start("topic"), end=match.end("topic"))]


def _one_place(text: str, found: list[Found]) -> list[Found]:
    """`Zürich, Switzerland` is one place; `Paris, Rome and Oslo` are three."""
    if len(found) == 2 and text[found[0].end : found[1].start].strip() == ",":
        start, end = found[0].start, found[1].end
        return [Found(value=text[start:end], start=start, end=end)]
    return found


def loose(schema: JsonObject, text: str, used: list[Any]) -> list[Found]:
    """Values that stand in the text without any sign of what they are for, each not used elsewhere."""
    types = types_of(schema) or ("string",)
    if "array" in types:
        return _loose_list(schema, text, used)
    found = list(_loose_ones(types, text))
    fresh = [one for one in found if one.value not in used]
    return values_at(text, fresh[0].start, types, explicit=False) or fresh[:1] if fresh else []


def _loose_ones(types: tuple[str, ...], text: str) -> Iterator[Found]:
    if "integer" in types or "number" in types:
        for match in _LOOSE_NUMBER.finditer(text):
            if (found := value_at(text, match.start(), types)) is not None:
                yield found
    if "string" in types:
        for pattern in (_LOOSE_STRING, _LOOSE_PROPER):
            for match in pattern.finditer(text):
                yield Found(value=match[match.lastindex or 0], start=match.start(), end=match.end())


def _loose_list(schema: JsonObject, text: str, used: list[Any]) -> list[Found]:
    items = schema.get("items")
    types = types_of(items) if isinstance(items, dict) else ()
    found = [one for one in _loose_ones(types or ("string",), text) if one.value not in used]
    return [Found(value=[one.value for one in found], start=found[0].start, end=found[-1].end)] if found else []
