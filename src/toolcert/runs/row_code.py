"""A row's verdict in 26 bytes, in hexadecimal at the start of its line: millions are compared without parsing one.

The code repeats what the row's facts say, and is always made from them. Hashes in it are cut short: enough to
compare two rows, not to find one.
"""

from __future__ import annotations

import struct
from binascii import hexlify
from collections.abc import Iterable, Sequence
from hashlib import sha256
from typing import NamedTuple
from zlib import crc32

from toolcert.core.records import RowFacts

CODE_KEY = b'{"code":"'
LAYOUT = struct.Struct(">IQIHHHI")
"""index, content, payload, names, tokens, sampling, flags."""
CODE_START = len(CODE_KEY)
CODE_END = CODE_START + 2 * LAYOUT.size
NO_TOKENS = 0xFFFF
"""Stands for a missing token count; counts are kept modulo this."""
HAS_BUCKETS = 1 << 10
"""A call has a fault in its form; the facts of the row have the reasons."""

OTHER_FINISH = "(other)"
KNOWN_FINISHES = (None, "stop", "tool_calls", "length", "content_filter", "function_call")
_FINISHES = (*KNOWN_FINISHES, OTHER_FINISH)
_FINISH_NUMBER = {finish: number for number, finish in enumerate(KNOWN_FINISHES)}
_THREE = (None, False, True)
_THREE_NUMBER = {value: number for number, value in enumerate(_THREE)}
_BYTE = 0xFF
_64, _32, _16 = 0xFFFF_FFFF_FFFF_FFFF, 0xFFFF_FFFF, 0xFFFF


class CodedFacts(NamedTuple):
    """The flags of a code as values; a tuple, because a comparison reads millions."""

    called: bool | None
    """None where nothing was measured."""
    finish: str | None
    valid: bool | None
    correct: bool | None
    text_beside: bool
    calls: int
    turns: int


def row_code(row: RowFacts) -> bytes:
    """The code of a row, as it is written."""
    code = LAYOUT.pack(
        row.index & _32,
        content_number(row.content),
        payload_number(row.calls),
        names_number(row.names),
        NO_TOKENS if row.prompt_tokens is None else row.prompt_tokens % NO_TOKENS,
        sampling_number(row.sampling),
        _flags(row),
    )
    return hexlify(code)


def content_number(content: str) -> int:
    """64 bits of a content hash."""
    try:
        return int(content[:16], 16) & _64
    except ValueError:
        return int.from_bytes(sha256(content.encode()).digest()[:8], "big")


def sampling_number(sampling: str) -> int:
    """16 bits of a sampling hash; none is zero."""
    try:
        return int(sampling[:4], 16) & _16
    except ValueError:
        return 0


def payload_number(digests: Sequence[str]) -> int:
    """32 bits of all digests of calls, in any order."""
    try:
        return sum([int(digest[:8], 16) for digest in digests]) & _32
    except ValueError:  # a run that was changed may hold any text there
        return names_number(digests)


def names_number(names: Iterable[str]) -> int:
    """16 bits of all names, in any order."""
    return sum([crc32(name.encode("utf-8", "surrogatepass")) for name in names]) & _16


def _flags(row: RowFacts) -> int:
    return (
        _THREE_NUMBER[row.called]
        | _FINISH_NUMBER.get(row.finish, len(KNOWN_FINISHES)) << 2
        | _THREE_NUMBER[row.valid] << 5
        | _THREE_NUMBER[row.correct] << 7
        | row.text_beside_call << 9
        | (HAS_BUCKETS if row.buckets else 0)
        | min(len(row.calls), _BYTE) << 11
        | min(max(row.turns, 0), _BYTE) << 19
    )


def facts_of(flags: int) -> CodedFacts:
    """What the flags of a code say."""
    return CodedFacts(
        called=_THREE[flags & 3],
        finish=_FINISHES[flags >> 2 & 7],
        valid=_THREE[flags >> 5 & 3],
        correct=_THREE[flags >> 7 & 3],
        text_beside=bool(flags >> 9 & 1),
        calls=flags >> 11 & _BYTE,
        turns=flags >> 19 & _BYTE,
    )
