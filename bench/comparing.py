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
    """Results of another verifier, matched by row number and by content."""
    files = [kit.results(ROWS, seed=seed) for seed in (1, 2)]
    commands: dict[str, measure.Command] = {
        "decode": [sys.executable, "-c", DECODE, *files],
        "index": _compare(kit, files, "--match", "index"),
        "content": _compare(kit, files, "--match", "content"),
    }
    cost = measure.in_turns(commands, rounds=2 * measure.ROUNDS)  # ours takes two seconds, in which it may be disturbed
    for how, goal in (("index", 4.0), ("content", 1.0)):
        ratio = cost["decode"].cpu / cost[how].cpu
        what = f"CPU of comparing foreign results by {how}, less than json.loads"
        yield Row("P6", what, f"{ratio:.1f}x", f">= {goal:g}x", "", ratio >= goal)
    yield _memory_growth(kit, cost["index"].peak_mb)


def _memory_growth(kit: Kit, peak_mb: float) -> Row:
    files = [kit.results(2 * ROWS, seed=seed) for seed in (1, 2)]
    larger = measure.run(_compare(kit, files, "--match", "index")).peak_mb
    growth = (larger - peak_mb) * 2**20 / ROWS
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
