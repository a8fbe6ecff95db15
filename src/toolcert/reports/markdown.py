"""Markdown that shows text literally and stays within GitHub's limits."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from toolcert.reports.display_text import plural, shorten, visible

LONGEST = 60_000
"""Bytes; GitHub cuts a comment at 65,536 characters and a job summary at 1 MiB."""
LONGEST_TEXT = 120
SIGNS = {"good": "✅", "half": "🟡", "bad": "❌", "cannot": "➖", "unknown": "❔"}
_ACTIVE = re.compile(r"([\\`*\[\]|<>&~$]|(?<![^\W_])_|_(?![^\W_])|:(?=//))")
"""Underscores between letters need no escape; a colon matters only in an address."""
_MENTION = re.compile(r"([@#]|:(?=[a-zA-Z+-][\w+-]*:))")
"""Mentions, issue numbers and emoji (`:tada:`)."""
_ADDRESS = re.compile(r"\b(www)\.", re.IGNORECASE)


def escape(text: str) -> str:
    """Text that Markdown shows as it is: a model's name must not become a link, a mention or a tag."""
    # GitHub looks for these after removing backslashes; a zero-width character in between prevents it.
    inert = _MENTION.sub(r"\1&#8203;", _ACTIVE.sub(r"\\\1", visible(text)))
    return _ADDRESS.sub(r"\1\\.", inert)


def prose(text: str) -> str:
    """Our own sentences; text between backticks becomes code."""
    pieces = text.split("`")
    return "".join(code(piece) if number % 2 else escape(piece) for number, piece in enumerate(pieces))


def short(text: str, columns: int = LONGEST_TEXT) -> str:
    """Escaped text of bounded length."""
    return escape(shorten(visible(text), columns))


def code(text: str) -> str:
    """What a machine wrote, in one code span."""
    return f"`{visible(text).replace('`', 'ˋ').replace('|', '¦')}`"


def table(heads: Sequence[str], rows: Iterable[Sequence[object]]) -> list[str]:
    """A table; a head that begins with `>` is a column of numbers."""
    titles = [head.removeprefix(">") for head in heads]
    rule = ["--:" if head.startswith(">") else "---" for head in heads]
    return [_line(titles), f"|{'|'.join(rule)}|", *(_line(row) for row in rows)]


def _line(cells: Sequence[object]) -> str:
    return f"| {' | '.join(map(str, cells))} |"


def document(*blocks: Sequence[str], noun: str = "line") -> str:
    """The blocks with an empty line between; the longest is cut, and says so, if all would be too long."""
    kept = [list(block) for block in blocks if block]
    room = LONGEST - sum(_size(line) for block in kept for line in block)
    if room < 0:
        _cut(max(kept, key=len), -room, noun)
    return "\n\n".join("\n".join(block) for block in kept) + "\n"


def _cut(block: list[str], excess: int, noun: str) -> None:
    """Take lines off the end of a table, and say how many."""
    dropped = 0
    while len(block) > 3 and excess > -200:  # room for the line that counts them
        excess -= _size(block.pop())
        dropped += 1
    block.append(f"| … and {plural(dropped, noun)} more |")


def _size(line: str) -> int:
    return len(line.encode("utf-8", "replace")) + 1
