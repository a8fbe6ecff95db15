"""Plain tables and JSON on standard output, for commands that list."""

from __future__ import annotations

import json
import shutil
import sys
import textwrap
from collections.abc import Sequence
from typing import Any

import click


def write_table(titles: Sequence[str], rows: Sequence[Sequence[str]], notes: Sequence[str] = ()) -> None:
    """Aligned columns; one that is empty throughout is left out, and vendor text is made harmless.

    A note stands below its row, under the second column.
    """
    from toolcert.reports.display_text import fit, visible, width_of

    shown = [[visible(cell) for cell in row] for row in rows]
    columns = [number for number in range(len(titles)) if any(row[number] for row in shown)]
    widths = {number: max(width_of(row[number]) for row in [titles, *shown]) for number in columns}

    def line(row: Sequence[str]) -> str:
        return "  " + "  ".join(fit(row[number], widths[number]) for number in columns).rstrip()

    if shown:
        click.secho(line(titles), dim=True)
    for number, row in enumerate(shown):
        click.echo(line(row))
        if notes and notes[number]:
            _write_note(visible(notes[number]), indent=4 + widths[columns[0]])


def _write_note(text: str, indent: int) -> None:
    """A note, wrapped where somebody looks at it and in one line elsewhere."""
    room = shutil.get_terminal_size().columns if sys.stdout.isatty() else sys.maxsize
    margin = " " * indent
    wrapped = textwrap.fill(text, max(room, indent + 20), initial_indent=margin, subsequent_indent=margin)
    click.secho(wrapped, dim=True)


def write_json(destination: str, document: Any) -> None:
    """A document to a file, or to standard output for `-`."""
    from toolcert.reports.destinations import deliver

    deliver(json.dumps(document, indent=2, ensure_ascii=False), destination)
