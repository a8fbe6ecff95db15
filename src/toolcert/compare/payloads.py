"""Calls in a form in which equal ones are equal: names and canonical arguments, hashed."""

from __future__ import annotations

from hashlib import sha256
from typing import Any
from zlib import crc32

import msgspec

from toolcert.compare.columns import MASK_16
from toolcert.compare.resultrows import Call, Function
from toolcert.runs.codes import names_number, payload_number
from toolcert.verify.hashing import given_arguments, plain_numbers


def _plain_number(digits: str) -> float | int:
    """1.0 and 1 are the same number."""
    number = float(digits)
    return int(number) if number.is_integer() else number


_decode = msgspec.json.Decoder(float_hook=_plain_number).decode
_encode = msgspec.json.Encoder(order="sorted").encode


def canonical_call(function: Function) -> bytes:
    """One call as bytes: equal calls, equal bytes.

    No arguments are the same as an empty object, and arguments that do not parse count as they stand.
    """
    arguments: Any = function.arguments
    try:
        arguments = _decode(arguments)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        arguments = function.arguments
    except TypeError:  # no text at all
        arguments = plain_numbers(function.arguments)
    return _encode((function.name, arguments if arguments.__class__ is dict else given_arguments(arguments)))


def quick_hashes(calls: list[Call]) -> tuple[int, int]:
    """Hashes of all calls and of their names, in any order."""
    if len(calls) == 1:
        function = calls[0].function
        return crc32(canonical_call(function)), crc32(str(function.name).encode()) & MASK_16
    names = sorted([str(call.function.name) for call in calls])
    payloads = sorted([canonical_call(call.function) for call in calls])
    return crc32(b"\0".join(payloads)), crc32("\0".join(names).encode()) & MASK_16


def digest_hashes(calls: list[Call]) -> tuple[int, int]:
    """The numbers that the codes of our runs have."""
    digests = [sha256(canonical_call(call.function)).hexdigest() for call in calls]
    return payload_number(digests), names_number([str(call.function.name) for call in calls])
