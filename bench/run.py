"""`make bench`: one table of speed and memory, each figure a ratio taken in one run.

python bench/run.py          all cells (about fifteen minutes)
python bench/run.py P1 P7    only these
"""

from __future__ import annotations

import compileall
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import comparing
import history
import measure
import probing
import starting
import toolcert
import verifying
from kit import Kit, Row, vendor

Cell = Callable[[Kit], Iterator[Row]]

CELLS: tuple[tuple[str, Cell], ...] = (
    ("P1 P2", verifying.cpu_per_request),
    ("P3", verifying.throughput),
    ("P4", verifying.paced_stream),
    ("P5", verifying.memory),
    ("P6", comparing.own_runs),
    ("P6", comparing.foreign_files),
    ("P7", starting.help_text),
    ("P8", verifying.first_chunk),
    ("P9", probing.whole_run),
    ("P10", history.views),
)
HEADINGS = ("", "what", "measured", "goal", "then", "")


def main(wanted: Sequence[str]) -> int:
    compile_sources()
    rows: list[Row] = []
    with vendor() as port, tempfile.TemporaryDirectory(prefix="toolcert-bench-") as folder:
        kit = Kit(port, Path(folder))
        for numbers, cell in CELLS:
            if not wanted or set(numbers.split()) & set(wanted):
                rows += measured(numbers, cell, kit)
    show(rows)
    return 0 if all(row.met for row in rows) else 1


def compile_sources() -> None:
    """As an installed package is: compiling anew at each start is not what is measured."""
    compileall.compile_dir(Path(toolcert.__file__).parent, quiet=1)


def measured(numbers: str, cell: Cell, kit: Kit) -> list[Row]:
    """The rows of a cell; a command that fails takes its own row, not the whole table."""
    print(f"measuring {numbers} ...", file=sys.stderr, flush=True)
    try:
        return list(cell(kit))
    except measure.CommandError as error:
        print(error, file=sys.stderr)
        return [Row(numbers, "a command failed, see above", "not measured", "", "", met=False)]


def show(rows: Sequence[Row]) -> None:
    lines = [HEADINGS, *((*row[:5], "met" if row.met else "MISSED") for row in rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(HEADINGS))]
    for line in lines:
        print("  ".join(text.ljust(width) for text, width in zip(line, widths, strict=True)).rstrip())


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
