"""Sums in a text: found, written with symbols, and worked out."""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable

_NUMBER = r"-?\d+(?:\.\d+)?"
_SIGN = r"\*\*|[-+*/^%×÷]|\b(?:times|plus|minus|multiplied by|divided by)\b"
ARITHMETIC = re.compile(
    rf"(?<![\w.-])(?:\(*{_NUMBER}\)*(?:\s*(?:{_SIGN})\s*\(*{_NUMBER}\)*)+|\d+(?:\.\d+)?\s?%\s+of\s+\d+(?:\.\d+)?)(?![\w-])"
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
