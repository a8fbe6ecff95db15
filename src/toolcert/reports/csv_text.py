"""CSV that is safe to open in a spreadsheet."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from decimal import Decimal

from toolcert.reports.text import visible

LONGEST = 32_000
"""Characters; a spreadsheet cuts or refuses a cell beyond 32,767."""
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def csv_text(columns: Sequence[str], lines: Iterable[Sequence[object]]) -> str:
    """A head and its lines."""
    out = io.StringIO(newline="")
    writer = csv.writer(out)
    writer.writerow(columns)
    for line in lines:
        writer.writerow([harmless(value) for value in line])
    return out.getvalue()


def harmless(value: object) -> object:
    """A spreadsheet runs a cell that begins like a formula; an apostrophe makes it text."""
    if isinstance(value, bool):
        return str(value).lower()
    if not isinstance(value, str):
        return value
    text = visible(value)[:LONGEST]
    return f"'{text}" if text.lstrip().startswith(_FORMULA) else text


def figure(value: float | None) -> Decimal | None:
    """A number with a point and four digits, whatever the reader's language; none is an empty cell."""
    return None if value is None else Decimal(f"{round(value, 4) or 0.0:.4f}")  # no minus before a zero
