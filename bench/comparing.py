"""Cell P6: what comparing two runs costs, against reading the same files with json.loads."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import measure
from kit import Kit, Row

ROWS = 100_000
DECODE = "import json, sys\nfor path in sys.argv[1:]:\n    for line in open(path, 'rb'):\n        json.loads(line)\n"
LINES = "import sys\nfor path in sys.argv[1:]:\n    for line in open(path, 'rb'):\n        pass\n"
VERDICTS = """
import sys
from pathlib import Path
from toolcert.runs.reader import RunReader
for _ in RunReader(Path(sys.argv[1])).heads():
    pass
"""


def own_runs(kit: Kit) -> Iterator[Row]:
    """Two runs of ours, whose verdicts stand first on each line."""
    runs = [_finished_run(kit, name) for name in ("run-a", "run-b")]
    logs = [run / "records.jsonl" for run in runs]
    commands: dict[str, measure.Command] = {
        "decode": [sys.executable, "-c", DECODE, *logs],
        "ours": _compare(kit, runs),
    }
    cost = measure.in_turns(commands)
    ratio = cost["decode"].cpu / cost["ours"].cpu
    what = "CPU of comparing two runs of 100,000 rows, less than json.loads"
    yield Row("P6", what, f"{ratio:.1f}x", ">= 8x", "", ratio >= 8)
    yield Row("P6", "peak memory of that", f"{cost['ours'].peak_mb:.0f} MB", "<= 64 MB", "", cost["ours"].peak_mb <= 64)
    yield from _verdict_reading(runs[0])


def _verdict_reading(run: Path) -> Iterator[Row]:
    log = run / "records.jsonl"
    commands: dict[str, measure.Command] = {
        "lines": [sys.executable, "-c", LINES, log],
        "verdicts": [sys.executable, "-c", VERDICTS, run],
    }
    cost = measure.in_turns(commands)
    ratio = cost["verdicts"].cpu / cost["lines"].cpu
    yield Row("P6", "reading verdicts only, over reading the lines", f"{ratio:.1f}x", "<= 3x", "", ratio <= 3)


def foreign_files(kit: Kit) -> Iterator[Row]:
    """Results of another verifier, matched by row number and by content.

    A shared machine is fast or slow for some seconds at a time. So each file is decoded by a command of its own, about
    as long as ours, and there are enough rounds for all of them to meet the machine at its best.
    """
    files = [kit.results(ROWS, seed=seed) for seed in (1, 2)]
    decode: dict[str, measure.Command] = {str(file): [sys.executable, "-c", DECODE, file] for file in files}
    for how, goal, rounds in (("index", 4.0, 3 * measure.ROUNDS), ("content", 1.0, measure.ROUNDS)):
        cost = measure.in_turns({**decode, "ours": _compare(kit, files, "--match", how)}, rounds=rounds)
        ratio = sum(cost[name].cpu for name in decode) / cost["ours"].cpu
        what = f"CPU of comparing foreign results by {how}, less than json.loads"
        yield Row("P6", what, f"{ratio:.1f}x", f">= {goal:g}x", "", ratio >= goal)
        if how == "index":
            yield _memory_growth(kit)


def _memory_growth(kit: Kit) -> Row:
    files = {rows: [kit.results(rows, seed=seed) for seed in (1, 2)] for rows in (ROWS, 2 * ROWS)}
    peaks = {rows: measure.run(_compare(kit, two, "--match", "index")).peak_mb for rows, two in files.items()}
    growth = (peaks[2 * ROWS] - peaks[ROWS]) * 2**20 / ROWS
    return Row("P6", "memory for each further row", f"{growth:.0f} bytes", "<= 64 bytes", "", growth <= 64)


def _compare(kit: Kit, inputs: Sequence[Path], *options: str) -> measure.Command:
    baseline, vendor = inputs
    return [kit.toolcert, "compare", "--baseline", baseline, "--vendor", vendor, "--fail-on", "none", *options]


def _finished_run(kit: Kit, name: str) -> Path:
    """A run over the large dataset; the memory cell leaves one behind."""
    run = kit.folder / name
    if not (run / "records.jsonl").exists():
        measure.run(kit.verify(kit.requests(ROWS), kit.url(), output=str(run)))
    return run
