"""Values written in a text: how one is read, and where the value of a parameter stands."""

from __future__ import annotations

import ast
import json
import operator
import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any

from toolcert.core.values import JsonObject, Value
from toolcert.simulate.brain.dialogue import words
from toolcert.simulate.brain.offered_tool import types_of

UPPER = "A-Z\u00c0-\u00de\u0100\u0106\u010c\u0141\u015a\u0160\u0179\u017b\u017d\u0391-\u03a9\u0410-\u042f"
PROPER = rf"[{UPPER}][\w'’/-]*(?:\.[\w-]+)*(?:\s+[{UPPER}][\w'’-]*)*"
CODE = r"(?=[A-Za-z_-]*\d)(?=[\d_-]*[A-Za-z])[A-Za-z0-9_-]+(?:\.[\w-]+)*"
NUMBER = r"-?\d+(?:,\d{3})+(?:\.\d+)?|-?\d+(?:\.\d+)?"

_QUOTE = re.compile(r'"([^"\n]*)"|“([^”\n]*)”|`([^`\n]*)`|\'([^\'\n]+)\'(?!\w)')
_NUMBER = re.compile(rf"[$€£]?({NUMBER})(?![A-Za-z0-9_-])(?!\.\d)")
_TRUTH = re.compile(r"(true|false|yes|no|on|off|null|none)\b", re.I)
_CODE = re.compile(CODE)
_PROPER = re.compile(PROPER)
_SPACE = re.compile(r"\s*")
_PLAIN = re.compile(r"[^,;\n()]+?(?=\s*(?:[,;\n()]|\s(?:and|with|in|as|using|then|to|for)\s|[.?!](?:\s|$)|$))")
_AND_SO_ON = re.compile(r"(?:\s+(?:in|as|with|using)\s+[a-z]+(?=[\s,]))?\s*(?:,\s*(?:and\s+)?|\s+and\s+|\s+or\s+)")
_ITEM = re.compile(r"[\w '’-]+(?=[,.;\n]|\s+and\s|\s*$)")
"""A bare entry of a list; one with a colon or an equals sign is the next field."""
_SPELT = {
    word: n
    for n, word in enumerate(
        ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]
    )
}
_SPELT_NUMBER = re.compile(rf"({'|'.join(_SPELT)})\b", re.I)
_decoder = json.JSONDecoder()


class Found(Value):
    """A value and where in the text it stands."""

    value: Any
    start: int
    end: int


def value_at(text: str, start: int, types: tuple[str, ...], *, explicit: bool = False) -> Found | None:
    """The value that begins at `start`, of one of the types; bare lower-case words count only after `:` or `=`."""
    start = _SPACE.match(text, start).end()  # type: ignore[union-attr]  # matches the empty string too
    for kind in types or ("string", "number", "boolean", "object", "array"):
        found = _READERS[kind](text, start, explicit) if kind in _READERS else None
        if found is not None:
            return found
    return None


def values_at(
    text: str, start: int, types: tuple[str, ...], *, explicit: bool = False, plainly: bool = False
) -> list[Found]:
    """The value at `start` and those that follow it in an enumeration; `plainly`, bare words may follow too."""
    found: list[Found] = []
    current = value_at(text, start, types, explicit=explicit)
    while current is not None:
        found.append(current)
        more = _AND_SO_ON.match(text, current.end)
        bare = plainly and more is not None and _ITEM.match(text, more.end()) is not None
        current = value_at(text, more.end(), types, explicit=bare) if more else None
    return found


def _read_string(text: str, start: int, explicit: bool) -> Found | None:
    if quote := _QUOTE.match(text, start):
        return Found(value=quote[quote.lastindex or 0], start=start, end=quote.end())
    for pattern in (_CODE, _PROPER):
        if match := pattern.match(text, start):
            if explicit and (plain := _PLAIN.match(text, start)) and plain.end() > match.end():
                match = plain
            return Found(value=match[0].strip(), start=start, end=match.end())
    match = _PLAIN.match(text, start) if explicit else None
    return Found(value=match[0].strip(), start=start, end=match.end()) if match else None


def _read_number(text: str, start: int, _explicit: bool) -> Found | None:
    offset = 1 if text[start : start + 1] in ("'", '"', "`") else 0
    if match := _NUMBER.match(text, start + offset):
        digits = match[1].replace(",", "")
        return Found(value=float(digits) if "." in digits else int(digits), start=start, end=match.end() + offset)
    if match := _SPELT_NUMBER.match(text, start):
        return Found(value=_SPELT[match[1].lower()], start=start, end=match.end())
    return None


def _read_integer(text: str, start: int, explicit: bool) -> Found | None:
    found = _read_number(text, start, explicit)
    return found if found and isinstance(found.value, int) else None


def _read_truth(text: str, start: int, _explicit: bool) -> Found | None:
    match = _TRUTH.match(text, start)
    if match is None or match[1].lower() in ("null", "none"):
        return None
    return Found(value=match[1].lower() in ("true", "yes", "on"), start=start, end=match.end())


def _read_null(text: str, start: int, explicit: bool) -> Found | None:
    match = _TRUTH.match(text, start)
    empty = match is not None and match[1].lower() in ("null", "none") and (explicit or match[1] == "null")
    return Found(value=None, start=start, end=match.end()) if match and empty else None


def _read_literal(text: str, start: int, kind: type) -> Found | None:
    try:
        value, end = _decoder.raw_decode(text, start)
    except ValueError:
        return None
    return Found(value=value, start=start, end=end) if isinstance(value, kind) else None


def _read_array(text: str, start: int, explicit: bool) -> Found | None:
    if text[start : start + 1] == "[":
        return _read_literal(text, start, list)
    items = values_at(text, start, ("number", "string"), explicit=explicit, plainly=explicit)
    return Found(value=[item.value for item in items], start=start, end=items[-1].end) if items else None


_READERS = {
    "null": _read_null,
    "integer": _read_integer,
    "number": _read_number,
    "boolean": _read_truth,
    "object": lambda text, start, _explicit: _read_literal(text, start, dict),
    "array": _read_array,
    "string": _read_string,
}


_OPERAND = r"-?\d+(?:\.\d+)?"
_SIGN = r"\*\*|[-+*/^%×÷]|\b(?:times|plus|minus|multiplied by|divided by)\b"
ARITHMETIC = re.compile(
    rf"(?<![\w.-])(?:\(*{_OPERAND}\)*(?:\s*(?:{_SIGN})\s*\(*{_OPERAND}\)*)+|\d+(?:\.\d+)?\s?%\s+of\s+\d+(?:\.\d+)?)(?![\w-])"
)
_WORDS = {"times": "*", "multiplied by": "*", "plus": "+", "minus": "-", "divided by": "/", "×": "*", "÷": "/"}
_SPOKEN = re.compile("|".join(map(re.escape, _WORDS)))
_PERCENT = re.compile(r"^(\S+?)\s?%\s+of\s+(\S+)$")
_OPERATIONS: dict[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Mod: operator.mod,
}


def with_symbols(expression: str) -> str:
    """`25 times 4` as `25 * 4`; what is written with symbols stays as it is."""
    expression = _PERCENT.sub(r"\2 * \1 / 100", expression.strip())
    return _SPOKEN.sub(lambda match: _WORDS[match[0]], expression)


def worked_out(expression: str) -> str | None:
    """The value of a sum, as people write it; None for one that has none here."""
    try:
        value = _value(ast.parse(with_symbols(expression), mode="eval").body)
    except (SyntaxError, ZeroDivisionError, KeyError, TypeError, OverflowError):
        return None
    return str(int(value)) if value == int(value) else f"{value:.6g}"


def _value(node: ast.expr) -> float:
    if isinstance(node, ast.BinOp):
        return _OPERATIONS[type(node.op)](_value(node.left), _value(node.right))
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -_value(node.operand)
    if isinstance(node, ast.Constant) and isinstance(node.value, (int, float)):
        return node.value
    raise TypeError("not a plain sum")


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
