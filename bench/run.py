"""`make bench`: one table of speed and memory, each figure a ratio taken in one run.

python bench/run.py                         all cells (about an hour, most of it for P14)
python bench/run.py P1 P7                   only these
python bench/run.py P14 --rows 100000       with a tenth of its million rows
"""

from __future__ import annotations

import argparse
import compileall
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import cluster
import comparing
import history
import measure
import probing
import shards
import starting
import toolcert
import verifying
import viewing
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
    ("P13", cluster.ray_engine),
    ("P14", shards.million_rows),
    ("P15", viewing.large_run),
)
HEADINGS = ("", "what", "measured", "goal", "then", "")


def main(wanted: Sequence[str], many_rows: int) -> int:
    compile_sources()
    rows: list[Row] = []
    with vendor() as port, tempfile.TemporaryDirectory(prefix="toolcert-bench-") as folder:
        kit = Kit(port, Path(folder), many_rows)
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
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cells", nargs="*")
    parser.add_argument("--rows", type=int, default=1_000_000, help="of the dataset of P14")
    given = parser.parse_args()
    sys.exit(main(given.cells, given.rows))
