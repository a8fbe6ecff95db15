"""How the text of arguments is broken, where it is not JSON."""

from __future__ import annotations

import re
from enum import StrEnum

from toolcert.core.jsontext import NotJson, leading_json

_BETWEEN = re.compile(r"[\s,;]*")
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|"|[\[\]{}]', re.DOTALL)
_CLOSERS = {"{": "}", "[": "]"}
_OPEN_ESCAPE = re.compile(r"(?<!\\)(?:\\\\)*(\\(?:u[0-9a-fA-F]{0,3})?)$")
_OPEN_SCALAR = re.compile(r"(?<![\w.+-])(?:-?\d[\d.eE+-]*|-|t(?:r(?:ue?)?)?|f(?:a(?:l(?:se?)?)?)?|n(?:u(?:ll?)?)?)$")
_ENDINGS = ("", "null", ":null", '"":null')
"""What may have been about to come after a prefix: nothing, a value, a colon, the next member."""


class Damage(StrEnum):
    """What happened to arguments that do not parse."""

    TRUNCATED = "truncated"
    """The text ends before the JSON does, and all there is of it is sound."""
    DOUBLED = "doubled"
    """The same JSON several times, one after the other."""
    GLUED = "glued"
    """Several different JSON objects, one after the other."""
    BROKEN = "broken"
    """Anything else."""


def damage_of(text: object) -> Damage:
    """What is wrong with `text`, which is known not to be JSON."""
    if not isinstance(text, str):
        return Damage.BROKEN
    values, rest = _leading_values(text)
    if len(values) > 1 and not rest:
        return Damage.DOUBLED if all(value == values[0] for value in values) else Damage.GLUED
    if values and rest.startswith("{"):
        return Damage.GLUED
    return Damage.TRUNCATED if not values and is_unterminated(text) else Damage.BROKEN


def is_unterminated(text: str) -> bool:
    """Whether `text` is the beginning of a JSON object or array whose end is missing."""
    text = text.strip()
    stack, in_string = _open_parts(text)
    if not text.startswith(("{", "[")) or not stack:
        return False
    closing = "".join(reversed(stack))
    if in_string:
        text = _OPEN_ESCAPE.sub("", text) + '"'
    candidates = [text + ending + closing for ending in _ENDINGS]
    stump = text.rstrip(",") if text.endswith(",") else _OPEN_SCALAR.sub("null", text)
    candidates.append(stump + closing)
    return any(_is_json(candidate) for candidate in candidates)


def _leading_values(text: str) -> tuple[list[dict[str, object]], str]:
    """The objects that `text` begins with, and what is left behind them."""
    values: list[dict[str, object]] = []
    position = _skip(text, 0)
    while text.startswith("{", position):
        try:
            value, position = leading_json(text, position)
        except NotJson:
            break
        values.append(value)
        position = _skip(text, position)
    return values, text[position:]


def _skip(text: str, position: int) -> int:
    match = _BETWEEN.match(text, position)
    return match.end() if match else position


def _open_parts(text: str) -> tuple[list[str], bool]:
    """The brackets still to be closed, and whether the text ends inside a string."""
    stack: list[str] = []
    for token in _TOKEN.finditer(text):
        mark = token[0]
        if mark == '"':
            return stack, True
        if mark in _CLOSERS:
            stack.append(_CLOSERS[mark])
        elif mark in ("}", "]") and (not stack or stack.pop() != mark):
            return [], False
    return stack, False


def _is_json(text: str) -> bool:
    try:
        _, end = leading_json(text)
    except NotJson:
        return False
    return end == len(text)
