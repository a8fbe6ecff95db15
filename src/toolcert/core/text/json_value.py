"""Equality of JSON values, and the bytes that equal values share.

1 and 1.0 are one JSON number, true and 1 are two values, and the order of keys says nothing.
"""

from __future__ import annotations

from typing import Any

import msgspec

canonical = msgspec.json.Encoder(order="sorted").encode
"""A value as JSON with sorted keys and no spaces; 1 and 1.0 still differ, see `identity`."""


_DIGITS_ALIKE = bytes.maketrans(b"123456789", b"000000000")


def identity(value: Any) -> bytes:
    """Bytes that a JSON value shares with all equal ones: 1 and 1.0 are equal, 1 and true are not."""
    data = canonical(value)
    # A whole number that is written as a float; others have only one spelling. Within a text it says nothing, and costs
    # only time.
    if data.find(b".0") >= 0 or data.translate(_DIGITS_ALIKE).find(b"0e") >= 0:
        return canonical(plain_numbers(value))
    return data


def same_value(first: Any, second: Any) -> bool:
    """Whether two JSON values are equal: 1 and 1.0 are, 1 and true are not."""
    return identity(first) == identity(second)


def plain_numbers(value: Any) -> Any:
    """`value` with whole floats written as integers, so that equal numbers give equal bytes."""
    if isinstance(value, dict):
        return {key: plain_numbers(item) for key, item in value.items()}
    if isinstance(value, list):
        return [plain_numbers(item) for item in value]
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value
