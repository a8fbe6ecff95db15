"""Text for display: vendor text made harmless, also for spreadsheets, and figures in one style."""

from __future__ import annotations

import io
import unicodedata
from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING

from toolcert.core.text import number_text, visible_text
from toolcert.core.text.lazy_pattern import lazy_pattern

if TYPE_CHECKING:
    from toolcert.protocol.arrivals import Pace
    from toolcert.runs.marks import MarkLine

visible, visible_lines, visible_json = visible_text.visible, visible_text.visible_lines, visible_text.visible_json
THIN_SPACE, count, plural = number_text.THIN_SPACE, number_text.count, number_text.plural
NO_VALUE = "–"
_ASCII = str.maketrans({"–": "-", "…": ".", THIN_SPACE: " ", "⏎": "|", "⇥": "|", "␍": "|", "␛": "^", "␀": "0"})


def as_ascii(text: str) -> str:
    """Our own symbols as ASCII of the same width, for streams that cannot carry them."""
    return text.translate(_ASCII)


def width_of(text: str) -> int:
    """Columns `text` takes on a terminal."""
    if text.isascii():
        return len(text)
    return sum(_columns(character) for character in text)


def _columns(character: str) -> int:
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def fit(text: str, columns: int) -> str:
    """`text` made visible and cut or padded to exactly `columns` columns."""
    text = shorten(visible(text), columns)
    return text + " " * (columns - width_of(text))


def shorten(text: str, columns: int) -> str:
    """`text` cut to at most `columns` columns and marked with `…`; fast on texts of any length."""
    head = text[: 4 * columns + 16]  # more than fits, whatever marks are combined
    if len(head) == len(text) and width_of(text) <= columns:
        return text
    kept, used = [], 0
    for character in head:
        used += _columns(character)
        if used > columns - 1:
            break
        kept.append(character)
    return "".join(kept) + "…"


_GLUE = "\x00"
_IN_FIGURE = lazy_pattern(
    r"(?<=\d) (?=[^\s(\d])"  # a number and its unit or noun: `12 s`, `97.1 %`, `5 models`
    r"|(?<=\d to) (?=[\d+-])|(?<=\d of) (?=\d)|(?<=\d /) (?=\d)"  # `3 of 8`, `0.91 to 0.99`
    r"|(?<=\bp) (?=[=<>≤])|(?<=[=<>≤]) (?=\d)"  # `p = 0.03`
    r"|(?<=,) (?=[\d.+-]+\])"  # `[0.91, 0.99]`
)


def wrap(text: str, columns: int, indent: int = 0, hanging: int | None = None) -> list[str]:
    """`text` on as many lines as it takes; neither a word nor a figure is broken.

    A word that is wider than a line, such as an address, stands on a line of its own.
    """
    further = indent if hanging is None else hanging
    lines: list[str] = []
    line, used = "", 0
    for word in _IN_FIGURE.sub(_GLUE, text).split(" "):
        if not word:
            continue
        width = width_of(word)
        if line and used + 1 + width > columns:
            lines.append(line)
            line = ""
        if line:
            line, used = f"{line} {word}", used + 1 + width
        else:
            margin = further if lines else indent
            line, used = " " * margin + word, margin + width
    return [one.replace(_GLUE, " ") for one in [*lines, line] if one]


def cut(text: str, characters: int) -> str:
    """`text` cut to at most `characters` characters and marked with `…`; fast on texts of any length."""
    return text if len(text) <= characters else f"{text[: characters - 1]}…"


def listed(items: Sequence[object], total: int, columns: int) -> str:
    """As many items as fit, none of them cut, and a mark where there are more."""
    for shown in range(min(len(items), max(1, columns)), 0, -1):  # each takes a column at least
        text = ", ".join(map(str, items[:shown])) + (", …" if total > shown else "")
        if width_of(text) <= columns or shown == 1:
            return text
    return ""


def percent(rate: float | None, digits: int = 1) -> str:
    """0.971 as `97.1 %`."""
    return NO_VALUE if rate is None else f"{100 * rate:.{digits}f} %"


def seconds(value: float | None) -> str:
    """Seconds with about three significant digits."""
    if value is None:
        return NO_VALUE
    if value < 0.01:
        return f"{value:.3f}"
    return f"{value:.2f}" if value < 10 else f"{value:.1f}" if value < 100 else f"{value:.0f}"


def pace_text(pace: Pace) -> str:
    """When the events of a stream came, in a sentence or two."""
    events, times = plural(len(pace.times), "event"), [f"{seconds(time)} s" for time in pace.times]
    if pace.slowest is None:
        return f"{events}, all at {times[0]}."
    token = f", the first token at {times[pace.token]}" if pace.token is not None else ""
    call = f", the first call at {times[pace.call]}" if pace.call is not None else ""
    pause = f"The longest pause, {seconds(pace.longest)} s, was before event {count(pace.slowest + 1)}."
    grain = f" Late times are exact to {seconds(pace.grain)} s." if pace.grain > 0.001 else ""
    return f"{events} from {times[0]} to {times[-1]}{token}{call}. {pause}{grain}"


def speed_of(value: float | None) -> str:
    """Tokens per second with two or three digits."""
    return NO_VALUE if value is None else f"{value:.1f}" if value < 10 else count(round(value))


def dollars(cost: float | None) -> str:
    """Cents as usual; more digits where there would only be zeros."""
    if cost is None:
        return NO_VALUE
    return f"${cost:.2f}" if cost >= 0.01 or not cost else f"${cost:.2g}"


def duration(value: float) -> str:
    """402 as `6 min 42 s`."""
    if value < 60:
        return f"{seconds(value)} s"
    minutes, rest = divmod(round(value), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s"


def clock(value: float) -> str:
    """147 as `2:27`, for figures that tick."""
    minutes, rest = divmod(round(value), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


MOST_MARKS = 20
"""Marks that a report shows; the JSON has all of them."""


def mark_text(mark: MarkLine) -> str:
    """What a mark says, of which cases, and whether it was respected."""
    case = mark.case if mark.row is None else f"row {mark.row}"
    about = f"{mark.finding} of {case}" if mark.finding else case
    left_out = "left out of the verdict" if mark.respected else "counted all the same; --known would respect it"
    note = f": {mark.note}" if mark.note else ""
    return visible(f"{mark.kind}: {about}, {plural(mark.cases, 'case')} {left_out}{note}")


def whereabouts(run: str) -> str:
    """The folder of the run, from which every report can be made again."""
    return f"Run: {run}" if run else ""


LONGEST_CELL = 32_000
"""Characters; a spreadsheet cuts or refuses a cell beyond 32,767."""


def csv_text(columns: Sequence[str], lines: Iterable[Sequence[object]]) -> str:
    """A head and its lines."""
    import csv

    out = io.StringIO(newline="")
    writer = csv.writer(out)
    writer.writerow(columns)
    for line in lines:
        writer.writerow([harmless_cell(value) for value in line])
    return out.getvalue()


def harmless_cell(value: object) -> object:
    """A spreadsheet runs a cell that begins like a formula; an apostrophe makes it text."""
    if isinstance(value, bool):
        return str(value).lower()
    if not isinstance(value, str):
        return value
    return visible_text.no_formula(visible(value)[:LONGEST_CELL])


def cell_figure(value: float | None) -> Decimal | None:
    """A number with a decimal point and four digits; None becomes an empty cell."""
    return None if value is None else Decimal(f"{round(value, 4) or 0.0:.4f}")  # no minus before a zero
