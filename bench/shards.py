"""Cell P14: a million rows, asked in eight shards, merged, compared and shown."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import measure
from kit import Kit, Row

SHARDS = 8
COPY = """
import sys
with open(sys.argv[1], "wb") as copy:
    for path in sys.argv[2:]:
        with open(path, "rb") as file:
            for line in file:
                copy.write(line)
"""
JOIN = """
import sys
from pathlib import Path
from toolcert.runs.union import Union
Union([Path(name) for name in sys.argv[2:]]).write(Path(sys.argv[1]))
"""


def million_rows(kit: Kit) -> Iterator[Row]:
    """Memory must not grow with the rows beyond a few bytes each, and merging must cost little more than copying."""
    dataset, folder = kit.requests(kit.many_rows), kit.folder / "shards"
    command = kit.verify(dataset, kit.url())
    whole = _to(command, folder / "whole")
    shards = [folder / f"shard-{number}" for number in range(1, SHARDS + 1)]
    peaks = [measure.run(whole).peak_mb]
    for number, shard in enumerate(shards, 1):
        peaks.append(measure.run([*_to(command, shard), "--shard", f"{number}/{SHARDS}"]).peak_mb)
    dataset.unlink()  # it is large
    rows = f"{kit.many_rows:,} rows"
    yield _memory(f"peak memory of verify, {rows}, whole and in {SHARDS} shards", max(peaks), 100)
    yield from _merged(kit, shards, rows)
    merged = folder / "all"
    measure.run([kit.toolcert, "merge", *shards, "--output", merged])
    for shard in shards:
        shutil.rmtree(shard)
    compared: measure.Command = [
        kit.toolcert,
        "compare",
        "--baseline",
        folder / "whole",
        "--vendor",
        merged,
        "--fail-on",
        "none",
    ]
    yield _memory(f"peak memory of comparing two runs of {rows}", measure.run(compared).peak_mb, 125)
    yield _page(kit, merged, rows)
    shutil.rmtree(folder)


def _merged(kit: Kit, shards: list[Path], rows: str) -> Iterator[Row]:
    logs = [shard / "records.jsonl" for shard in shards]
    commands: dict[str, measure.Command] = {
        "copy": [sys.executable, "-c", COPY, "{out}", *logs],
        "join": [sys.executable, "-c", JOIN, "{out}", *shards],
        "merge": [kit.toolcert, "merge", *shards, "--output", "{out}"],
    }
    cost = measure.in_turns(commands, rounds=2)
    share, with_summary = (100 * cost["copy"].cpu / cost[name].cpu for name in ("join", "merge"))
    size = sum(log.stat().st_size for log in logs) / 2**30
    figures = f"{share:.0f} % ({cost['join'].cpu:.0f} s for {size:.1f} GiB)"
    yield Row("P14", f"speed of merging {rows} against a copy of the lines", figures, ">= 50 %", "", share >= 50)
    told = f"{with_summary:.0f} % ({cost['merge'].cpu:.0f} s)"
    yield Row("P14", "the same with the summary of all rows, as the command does it", told, "", "", met=True)
    yield _memory("peak memory of that", cost["merge"].peak_mb, 100)


def _page(kit: Kit, run: Path, rows: str) -> Row:
    page = kit.folder / "page.html"
    measure.run([kit.toolcert, "report", run, "--html", page])
    size = page.stat().st_size / 2**20
    return Row("P14", f"page of a run of {rows}", f"{size:.1f} MB", "<= 3 MB", "", size <= 3)


def _memory(what: str, peak: float, most: int) -> Row:
    return Row("P14", what, f"{peak:.0f} MB", f"<= {most} MB", "", peak <= most)


def _to(command: measure.Command, output: Path) -> list[str | Path]:
    return [output if word == "{out}" else word for word in command]
