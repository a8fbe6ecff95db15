"""Values written in text: how one is read at a place, and how a list of them goes on."""

from __future__ import annotations

import json
import re
from typing import Any

from toolcert.core.values import Value

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
