"""A strict and bounded parser for JSON text that a server wrote.

Refused, although `json.loads` accepts it: NaN and Infinity, lone surrogates (no
UTF-8 can carry them), and nesting beyond MAX_DEPTH. Repeated keys are JSON; the last one counts.
Numbers too large for a double stay exact, as Decimal, up to MAX_DIGITS digits.
"""

from __future__ import annotations

import contextlib
import json
import re
import sys
from decimal import Decimal
from itertools import accumulate
from typing import Any, NoReturn

import msgspec

from toolcert.core.text.lazy_pattern import lazy_pattern

MAX_DEPTH = 200
"""Deeper nesting is refused: below the limit of the schema library (255), far above any real call or request.
So, what parsers and our own recursion take does not depend on the Python, nor on where they are called from."""

MAX_DIGITS = 4300
"""Longer numbers are refused, as by Python's own parser: converting them costs quadratic time."""
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
"""What some servers put before JSON, where it does not belong."""
_SCANNER = json.JSONDecoder(parse_int=Decimal)
_TEXT = lazy_pattern(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"?', re.DOTALL)
_NO_BRACKET = lazy_pattern(r"[^\[\]{}]++")
_STEPS = {"[": 1, "{": 1, "]": -1, "}": -1}


class NotJson(ValueError):  # noqa: N818 - a fact about the text, not an error of ours
    """The text is not JSON; the message says why."""


def parse_json(text: str) -> Any:
    """The value of a JSON text; NotJson for anything else."""
    if nested_deeper_than(MAX_DEPTH, text):
        raise NotJson(f"nested deeper than {MAX_DEPTH} levels")
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeEncodeError):
        return _parse_carefully(text)


def nested_deeper_than(levels: int, text: str | bytes) -> bool:
    """Whether JSON text has more levels; asked first, because parsers give up at a depth that differs by Python."""
    if len(text) <= levels:
        return False
    if isinstance(text, bytes):
        # To take a character out shows how often it is there, several times as fast as `count`.
        others = len(text.replace(b"[", b"")) + len(text.replace(b"{", b""))
        return 2 * len(text) - others > levels and _depth(text.decode("utf-8", "replace")) > levels
    return text.count("[") + text.count("{") > levels and _depth(text) > levels


def leading_json(text: str, position: int = 0) -> tuple[Any, int]:
    """The JSON value that begins at `position`, whatever follows, and where it ends; NotJson where none does.

    Whole numbers come as Decimal: a model that loops writes longer ones than `int` takes.
    """
    try:
        return _SCANNER.raw_decode(text, position)
    except (json.JSONDecodeError, RecursionError) as error:
        raise NotJson(str(error)) from None


def keys_in(value: Any) -> int:
    """How many keys the objects of a value have, at all levels."""
    keys, waiting = 0, [value]
    for one in waiting:  # it grows meanwhile
        if isinstance(one, dict):
            keys += len(one)
            waiting.extend(one.values())
        elif isinstance(one, list):
            waiting.extend(one)
    return keys


def repeated_keys(text: str) -> list[tuple[str, bool]]:
    """The keys that an object of a JSON text has more than once, each with whether its values are equal."""
    found: list[tuple[str, bool]] = []

    def collect(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        known: dict[str, Any] = {}
        for key, value in pairs:
            if key in known:
                found.append((key, known[key] == value))
            known[key] = value
        return known

    with contextlib.suppress(ValueError, RecursionError):
        json.loads(text, object_pairs_hook=collect, parse_int=str)  # long numbers are compared as they are written
    return sorted(found, key=lambda one: one[1])


def _parse_carefully(text: str) -> Any:
    """Parse again where the fast parser refused: big numbers are kept, the rest gets a clear reason."""
    try:
        value = json.loads(text, parse_constant=_refuse_constant, parse_float=_exact_float, parse_int=_exact_int)
    except json.JSONDecodeError as error:
        raise NotJson(f"{error.msg} at character {error.pos}") from None
    try:
        json.dumps(value, ensure_ascii=False, default=str).encode()
    except UnicodeEncodeError:
        raise NotJson("a lone surrogate, which is not Unicode text") from None
    return value


def _depth(text: str) -> int:
    brackets = _NO_BRACKET.sub("", _TEXT.sub("", text))
    return max(accumulate(map(_STEPS.__getitem__, brackets)), default=0)


def _refuse_constant(name: str) -> NoReturn:
    raise NotJson(f"{name} is not a JSON value")


def _exact_float(digits: str) -> float | Decimal:
    number = float(digits)
    if abs(number) <= sys.float_info.max:
        return number
    exact = Decimal(digits)
    if exact.adjusted() > MAX_DIGITS:
        raise NotJson(f"a number of more than {MAX_DIGITS} digits")
    return exact


def _exact_int(digits: str) -> int:
    if len(digits) > MAX_DIGITS:
        raise NotJson(f"a number of more than {MAX_DIGITS} digits")
    return int(digits)
