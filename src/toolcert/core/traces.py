"""One secret in all the ways it may be written: plain, escaped for JSON, an address or a web page, and in pieces.

Looking for it must cost next to nothing, because every answer is looked through. So there are two steps: a search
for what no way of writing changes, and a pattern for all of them, which is made when the first step finds something.
"""

from __future__ import annotations

import re
from functools import cached_property

_PLAIN_RUN = re.compile("[A-Za-z0-9]+")
_RAREST_FIRST = "QZXJKVWYGUHBPFLMDNRCOITSAEqzjxkvwyg9876543210bpuhfmdlcrnoatsie"
"""How seldom letters are in English inside JSON, roughly."""
_PARTS = re.compile(r"\\+|[^\\]")
"""A row of backslashes, or any other character."""
_ANY_BACKSLASHES = r"\\*+"
"""JSON inside JSON doubles them with every level. Never given back once taken: a row of them is gone through once."""
_ALL_BEFORE = r"(?:(?<!\\)\\++)?+"
"""Before a secret the row is taken whole: half an escape left behind would make the JSON around it invalid."""
_PAIRS_BEHIND = r"(?:\\\\)*+"
"""Behind a secret that ends in backslashes, for the same reason: an odd one belongs to what follows."""


class Traces:
    """What one secret looks like in an answer."""

    def __init__(self, value: str) -> None:
        self.value = value
        runs = _PLAIN_RUN.findall(value)
        longest = max(runs, key=len, default="")
        self._anchors = tuple(dict.fromkeys([longest.encode(), *_as_numbers(longest)]))
        """A part of the secret that is written in one way only wherever letters and digits are all written alike."""
        self._letters = tuple(letter.encode() for letter in sorted({*"".join(runs)}, key=_usualness))
        pairs = {run[at : at + 2] for run in runs for at in range(len(run) - 1)}
        self._seams = tuple(_seam(pair) for pair in sorted(pairs, key=_usualness))

    @cached_property
    def pattern(self) -> re.Pattern[bytes]:
        """The secret with each of its characters in any form."""
        parts = _PARTS.findall(self.value)
        forms = [_any_form(part, first=at == 0, last=at == len(parts) - 1) for at, part in enumerate(parts)]
        return re.compile("".join(forms).encode())

    def may_be_in(self, data: bytes) -> bool:
        """Whether it is worth trying the pattern."""
        for anchor in self._anchors:  # noqa: SIM110 - runs for every answer, and any() costs several times the search
            if anchor in data:
                return True
        return False

    def may_be_in_pieces(self, stream: bytes) -> bool:
        """Whether a stream has all letters of the secret, and neighbours side by side or where texts end and begin."""
        for letter in self._letters:
            if letter not in stream:
                return False
        return all(pair in stream or (start in stream and end in stream) for pair, start, end in self._seams)


def _as_numbers(text: str) -> tuple[bytes, bytes]:
    """`text` with each character as its number, as JSON allows."""
    lower = "".join(f"\\u{ord(character):04x}" for character in text)
    upper = "".join(f"\\u{ord(character):04X}" for character in text)
    return lower.encode(), upper.encode()


def _usualness(text: str) -> list[int]:
    """Sorts what most answers lack to the front: the search for all of it ends with the first that is missing."""
    return sorted(map(_RAREST_FIRST.index, text))


def _seam(pair: str) -> tuple[bytes, bytes, bytes]:
    """Two letters together, and as they stand where a text ends between them."""
    return pair.encode(), f'"{pair[1]}'.encode(), f'{pair[0]}"'.encode()


def _any_form(part: str, *, first: bool, last: bool) -> str:
    """A pattern for one part of a secret."""
    if part.startswith("\\"):
        return (r"(?<!\\)" if first else "") + _row(len(part), _PAIRS_BEHIND if last else _ANY_BACKSLASHES)
    return f"{_ALL_BEFORE if first else _ANY_BACKSLASHES}(?:{'|'.join([re.escape(part), *_coded(part)])})"


def _row(length: int, rest: str) -> str:
    """A pattern for backslashes: at least as many, or some of them written as codes."""
    code = "|".join(_coded("\\"))
    return rf"(?:(?=\\{{{length}}}){rest}|(?:\\*+(?:{code})){{1,{length}}}+{rest})"


def _coded(character: str) -> list[str]:
    """Patterns for one character: its number (without the backslash), its code in a page, and that in an address."""
    number = character.encode("utf-16-be", "surrogatepass").hex()
    units = _ANY_BACKSLASHES.join(f"u{number[at : at + 4]}" for at in range(0, len(number), 4))
    encoded = "".join(f"%(?:25)*{byte:02x}" for byte in character.encode("utf-8", "surrogatepass"))
    forms = [f"(?i:{units})", f"&#(?i:0*{ord(character)}|x0*{ord(character):x});", f"(?i:{encoded})"]
    from html import escape  # seldom needed, and slow to load

    return forms if escape(character) == character else [*forms, re.escape(escape(character))]
