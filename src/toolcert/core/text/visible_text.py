"""Other people's text made visible: control characters and invisible characters are written out."""

from __future__ import annotations

import re

from toolcert.core.text.lazy_pattern import lazy_pattern

_UNSEEN = (
    "\x7f-\x9f"  # delete, and the C1 controls: \x9b begins an escape sequence as ESC [ does
    "\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"  # no width, line ends, directions
    "\ud800-\udfff"  # halves of pairs, which no encoding can carry
    "\U000e0000-\U000e007f"  # tags: a whole text can hide in them
)
CONTROL = lazy_pattern(f"[\x00-\x1f{_UNSEEN}]")
_NOT_SPACE = lazy_pattern(f"[\x00-\x08\x0b\x0c\x0e-\x1f{_UNSEEN}]")
_BEYOND_ASCII = lazy_pattern(f"[{_UNSEEN}]")
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
_NUMBER = lazy_pattern(r"[+-]?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?")
_NAMED = {"\n": "⏎", "\t": "⇥", "\r": "␍", "\x1b": "␛", "\x00": "␀"}


def visible(text: str) -> str:
    """`text` on one line with control, direction and surrogate characters written out."""
    return text if text.isprintable() else CONTROL.sub(_show, text)


def visible_lines(text: str) -> str:
    """The same with line breaks kept, for places that show several lines."""
    return "\n".join(visible(line) for line in text.replace("\r\n", "\n").split("\n"))


def visible_block(text: str) -> str:
    """The same with line breaks and tabs exactly as they are, for files that are read again."""
    return _NOT_SPACE.sub(_show, text)


def visible_json(text: str) -> str:
    """JSON that means the same and is safe to print; its writer has escaped the ASCII controls already."""
    return _BEYOND_ASCII.sub(_as_json, text)


def no_formula(cell: str) -> str:
    """A cell that a spreadsheet shows: an apostrophe makes text of one that begins like a formula."""
    return f"'{cell}" if cell.lstrip().startswith(_FORMULA) else cell


def harmless_cell_of_lines(cell: str) -> str:
    """The same for a cell whose lines and numbers must be read again as they were written."""
    text = visible_block(cell)
    return text if _NUMBER.fullmatch(text) else no_formula(text)


def original_cell(cell: str) -> str:
    """A cell that was read, without the quote that kept it from being a formula."""
    return cell[1:] if cell.startswith("'") and no_formula(cell[1:]) == cell else cell


def code_of(character: str) -> str:
    """A character as its number."""
    return f"\\u{ord(character):04x}"


def _show(match: re.Match[str]) -> str:
    character = match.group()
    return _NAMED.get(character) or code_of(character)


def _as_json(match: re.Match[str]) -> str:
    units = match.group().encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4))
