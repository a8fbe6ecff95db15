"""The writer of all console reports: coloured lines, tables, and a rate as a dot with its interval.

Results are written with this module alone. Rich takes a tenth of a second to import, so only the live progress on a
terminal uses it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import IO, Self

from toolcert.core.findings import Severity
from toolcert.core.statistics.rates import Rate
from toolcert.core.values import Value
from toolcert.reports.display_text import MOST_MARKS, as_ascii, fit, mark_text, visible, width_of, wrap
from toolcert.runs.marks import MarkLine

NARROWEST = 40
"""Columns; a narrower terminal wraps the lines itself."""
_USUAL_WIDTH = 80
_NARROWEST_TEXT = 24
"""Fewest columns for a text beside its head."""
_CODES = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "magenta": "35", "cyan": "36"}


class Line:
    """Pieces of text, each with a style; several styles are separated by a space. All of it is made visible here."""

    __slots__ = ("_pieces",)

    def __init__(self, text: str = "", style: str = "") -> None:
        self._pieces = [(visible(text), style)]

    def append(self, text: str, style: str = "") -> Self:
        self._pieces.append((visible(text), style))
        return self

    def __len__(self) -> int:
        return sum(width_of(text) for text, _ in self._pieces)

    @property
    def plain(self) -> str:
        return "".join(text for text, _ in self._pieces).rstrip()

    @property
    def coloured(self) -> str:
        shown = [(text, style) for text, style in self._trimmed() if text]
        return "".join(_escaped(text, style) if style else text for text, style in shown)

    def _trimmed(self) -> Iterator[tuple[str, str]]:
        """The pieces without the spaces at the end of the line, which only pad columns."""
        left = len(self.plain)
        for text, style in self._pieces:
            yield text[:left], style
            left = max(0, left - len(text))


def _escaped(text: str, style: str) -> str:
    return f"\x1b[{';'.join(_CODES[name] for name in style.split())}m{text}\x1b[0m"


def _columns() -> int:
    """`shutil.get_terminal_size().columns` without the archive formats that its module imports."""
    given = os.environ.get("COLUMNS", "")
    if given.isdecimal() and int(given):
        return int(given)
    try:
        return os.get_terminal_size(sys.__stdout__.fileno()).columns or _USUAL_WIDTH  # type: ignore[union-attr]
    except (AttributeError, ValueError, OSError):  # no standard output, a closed one, or no terminal
        return _USUAL_WIDTH


class Screen:
    """A stream that people read: how wide it is, and whether it shows colours and Unicode."""

    def __init__(self, file: IO[str] | None = None, width: int | None = None) -> None:
        self.file = sys.stdout if file is None else file
        terminal = self.file.isatty()
        self.width = max(NARROWEST, width or _columns())
        # A width that is given is kept, also in a file.
        self._wraps = terminal or width is not None or bool(os.environ.get("COLUMNS"))
        self._colour = terminal and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
        # Text in memory has no encoding and carries every character.
        encoding = getattr(self.file, "encoding", None) or "utf-8"
        self.unicode = encoding.lower().startswith("utf")
        self.glyphs = UNICODE if self.unicode else ASCII

    def prose(self, text: str, style: str = "", *, indent: int = 0, hanging: int | None = None) -> list[Line]:
        """A sentence, wrapped between words on a terminal or if COLUMNS is set.

        Elsewhere it stays on one line, so that it can be searched. `hanging` is the indent of the further lines.
        """
        room = self.width if self._wraps else sys.maxsize
        return [Line(line, style) for line in wrap(visible(text), room, indent, hanging)]

    def entry(self, head: Line | str, text: str, style: str = "") -> list[Line]:
        """A text beside its head, wrapped in its own column; below the head if there is no room beside it."""
        line = Line(head) if isinstance(head, str) else head
        indent = len(line) + 1
        if self._wraps and self.width - indent < _NARROWEST_TEXT:
            return [line, *self.prose(text, style, indent=4)]
        further = self.prose(text, style, indent=indent)
        if not further:
            return [line]
        return [line.append(" ").append(further[0].plain.lstrip(), style), *further[1:]]

    def marks(self, marks: Sequence[MarkLine]) -> list[Line]:
        """What people said about cases of a run."""
        shown = [line for mark in marks[:MOST_MARKS] for line in self.prose(mark_text(mark), hanging=2)]
        more = len(marks) - MOST_MARKS
        return [*shown, Line(f"and {more} more marks", "dim")] if more > 0 else shown

    def print(self, *blocks: Iterable[Line]) -> None:
        """Write blocks of lines with an empty line between them; a block without lines is left out."""
        texts = ["\n".join(line.coloured if self._colour else line.plain for line in block) for block in blocks]
        whole = "\n\n".join(text for text in texts if text) + "\n"
        self.file.write(whole if self.unicode else as_ascii(whole))
        self.file.flush()


def table(
    titles: Sequence[str], rows: Sequence[Sequence[str]], screen: Screen, notes: Sequence[str] = ()
) -> Iterator[Line]:
    """Aligned columns; a column that is empty in all rows is left out.

    The last column is wrapped if the screen is too narrow. A note stands below its row, under the second column.
    """
    shown = [[visible(cell) for cell in row] for row in rows]
    columns = [number for number in range(len(titles)) if any(row[number] for row in shown)]
    if not columns:
        return
    widths = {number: max(width_of(row[number]) for row in [titles, *shown]) for number in columns}
    for number, row in enumerate([titles, *shown]):
        style = "" if number else "dim"
        first = " " + "".join(f" {fit(row[column], widths[column])} " for column in columns[:-1])
        yield from screen.entry(Line(first, style), row[columns[-1]], style)
        if number and notes and notes[number - 1]:
            yield from screen.prose(notes[number - 1], "dim", indent=4 + widths[columns[0]])


class Glyphs(Value):
    """The signs of the reports; each has an ASCII twin for streams that carry no Unicode."""

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


WHISKER_WIDTH = 12


def whisker(rate: Rate, threshold: float, glyphs: Glyphs, width: int = WHISKER_WIDTH) -> str:
    """The axis with threshold, interval and dot; blank if nothing was measured."""
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
    """Filled if the lower bound is above the threshold, open if only the rate is, a diamond below it."""
    if rate.low is not None and rate.low >= threshold:
        return glyphs.proven
    return glyphs.likely if rate.value is not None and rate.value >= threshold else glyphs.below


def _place(value: float, width: int) -> int:
    return min(width - 1, max(0, int(value * (width - 1) + 1e-9)))
