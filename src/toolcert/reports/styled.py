"""Styled lines on a stream: coloured on a terminal, plain elsewhere, without the weight of a drawing library."""

from __future__ import annotations

import os
import shutil
import textwrap
from collections.abc import Sequence
from typing import IO, Protocol

from toolcert.reports.text import as_ascii

_NARROWEST = 40
_CODES = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33"}


class Screen(Protocol):
    """Where lines go; rich's Console is one, and so is Paper."""

    @property
    def width(self) -> int: ...
    @property
    def encoding(self) -> str: ...
    @property
    def file(self) -> IO[str]: ...


class Paper:
    """A stream and its width."""

    def __init__(self, file: IO[str]) -> None:
        self.file = file
        self.encoding = getattr(file, "encoding", None) or "ascii"
        self.width = shutil.get_terminal_size().columns


class Line:
    """Pieces of text, each with a style."""

    __slots__ = ("_pieces",)

    def __init__(self, text: str = "", style: str = "") -> None:
        self._pieces = [(text, style)]

    def append(self, text: str, style: str = "") -> None:
        self._pieces.append((text, style))

    @property
    def plain(self) -> str:
        return "".join(text for text, _ in self._pieces)

    @property
    def coloured(self) -> str:
        return "".join(f"\x1b[{_CODES[style]}m{text}\x1b[0m" if style else text for text, style in self._pieces)


def prose(text: str, screen: Screen, style: str = "") -> list[Line]:
    """A sentence, wrapped at its words where somebody looks at it and in one line elsewhere."""
    room = max(_NARROWEST, screen.width) if screen.file.isatty() else max(1, len(text))
    return [Line(part, style) for part in textwrap.wrap(text, room)]


def print_blocks(blocks: Sequence[Sequence[Line]], screen: Screen) -> None:
    """Blocks of lines with an empty line between them."""
    colour = wants_colour(screen.file)
    texts = ["\n".join(line.coloured if colour else line.plain for line in block) for block in blocks if block]
    whole = "\n\n".join(texts) + "\n"
    screen.file.write(whole if screen.encoding.lower().startswith("utf") else as_ascii(whole))
    screen.file.flush()


def wants_colour(file: IO[str]) -> bool:
    """Whether this stream shows colours and the user wants them."""
    return file.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
