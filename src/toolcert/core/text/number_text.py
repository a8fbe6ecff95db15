"""Numbers and plurals in sentences."""

from __future__ import annotations

THIN_SPACE = "\u202f"
"""The one at which no line breaks."""


def count(number: int) -> str:
    """4127 as `4 127`, with a thin space."""
    return f"{number:,}".replace(",", THIN_SPACE)


def about_rows(number: int) -> str:
    """7984 as `about 8 000 rows`: an estimate has two digits."""
    return f"about {plural(round(number, 2 - len(str(number))), 'row')}"


def plural(number: int, noun: str, many: str | None = None) -> str:
    """`1 model`, `3 models`."""
    return f"{count(number)} {noun if number == 1 else many or noun + 's'}"
