"""Style of the console: coloured lines, the signs a stream can carry, a rate as a dot with its interval."""

from __future__ import annotations

import os
import shutil
import textwrap
from collections.abc import Sequence
from typing import IO, Protocol

from toolcert.core.findings import Severity
from toolcert.core.statistics import Rate
from toolcert.core.values import Value
from toolcert.probes.summary.scorecard import CellState
from toolcert.reports.display_text import as_ascii

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


class Glyphs(Value):
    """What stands for what."""

    good: str
    half: str
    bad: str
    cannot: str
    unknown: str
    skipped: str
    track: str
    threshold: str
    left: str
    bar: str
    right: str
    proven: str
    likely: str
    below: str


UNICODE = Glyphs(
    good="✓",
    half="◐",
    bad="✗",
    cannot="–",
    unknown="?",
    skipped="·",
    track="·",
    threshold="┊",
    left="├",
    bar="─",
    right="┤",
    proven="●",
    likely="○",
    below="◆",
)
ASCII = Glyphs(
    good="+",
    half="~",
    bad="x",
    cannot="-",
    unknown="?",
    skipped=".",
    track=".",
    threshold=":",
    left="[",
    bar="-",
    right="]",
    proven="@",
    likely="o",
    below="#",
)

STYLES = {
    "good": "green",
    "half": "yellow",
    "bad": "red",
    "cannot": "dim",
    "unknown": "dim",
    "skipped": "dim",
}
SEVERITY_STYLES = {Severity.ERROR: "red", Severity.WARNING: "yellow", Severity.NOTE: "dim"}
CELL_ROLES = {
    CellState.PASSED: "good",
    CellState.FLAKY: "half",
    CellState.FAILED: "bad",
    CellState.UNSUPPORTED: "cannot",
    CellState.NOT_MEASURED: "unknown",
    CellState.SKIPPED: "skipped",
}


def glyphs_for(stream: IO[str]) -> Glyphs:
    """The set this stream can carry."""
    encoding = (getattr(stream, "encoding", None) or "ascii").lower().replace("-", "")
    return UNICODE if encoding.startswith("utf") else ASCII


WHISKER_WIDTH = 12


def whisker(rate: Rate, threshold: float, glyphs: Glyphs, width: int = WHISKER_WIDTH) -> str:
    """The axis with threshold, interval and dot; blank where nothing was measured."""
    if rate.value is None or rate.low is None or rate.high is None:
        return " " * width
    cells = [glyphs.track] * width
    cells[_place(threshold, width)] = glyphs.threshold
    low, high = _place(rate.low, width), _place(rate.high, width)
    cells[low : high + 1] = [glyphs.bar] * (high - low + 1)
    cells[low], cells[high] = glyphs.left, glyphs.right
    cells[_place(rate.value, width)] = dot(rate, threshold, glyphs)
    return "".join(cells)


def axis(threshold: float, width: int = WHISKER_WIDTH) -> str:
    """The head of the column: where 0, the threshold and 1 are."""
    head = [" "] * width
    head[0], head[-1] = "0", "1"
    label = f"{threshold:g}".removeprefix("0")
    end = min(_place(threshold, width) + 1, width - 1)
    start = max(1, end - len(label))
    head[start:end] = label[: end - start]
    return "".join(head)


def dot(rate: Rate, threshold: float, glyphs: Glyphs) -> str:
    """Filled when the lower bound clears the threshold, open when only the rate does, a diamond below."""
    if rate.low is not None and rate.low >= threshold:
        return glyphs.proven
    return glyphs.likely if rate.value is not None and rate.value >= threshold else glyphs.below


def _place(value: float, width: int) -> int:
    return min(width - 1, max(0, int(value * (width - 1) + 1e-9)))
