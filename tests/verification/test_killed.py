"""A run killed without warning, three times: every row once, nothing reported is asked again."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from pathlib import Path

import pytest

from support.patience import PATIENCE, hurry, until
from support.rows import row, write_rows
from support.verifying import run, timeless
from toolcert.simulate import Vendor
from toolcert.verification.run.job import AHEAD
from toolcert.verification.summary.tally import summarise

ROWS = 600
CONCURRENCY = 8


def whole_lines(log: Path) -> int:
    return log.read_bytes().count(b"\n") if log.exists() else 0


def reported_questions(log: Path) -> set[str]:
    """What the rows asked that are whole in the log."""
    lines = [line for line in log.read_bytes().splitlines(keepends=True) if line.endswith(b"\n")]
    return {row(json.loads(line)["row"]["index"] - 1)["messages"][-1]["content"] for line in lines}


def run_until(words: list[str], log: Path, lines: int) -> None:
    """Start the command and kill it once so many records are reported."""
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    until(lambda: whole_lines(log) >= lines or process.poll() is not None)
    assert process.poll() is None, "it ended before it could be killed"
    process.kill()
    process.wait()


@pytest.mark.heavy
def test_killed_three_times_at_random(tmp_path: Path) -> None:
    dataset = write_rows(tmp_path / "d.jsonl", [row(n) for n in range(ROWS)])
    chance = random.Random(7)
    log = tmp_path / "run/records.jsonl"
    with Vendor(models=["faithful"], latency=0.1) as vendor:
        options = ["--base-url", vendor.url, "-m", "faithful", "-c", str(CONCURRENCY), "-q"]
        words = [sys.executable, "-m", "toolcert", "verify", dataset, "-o", str(tmp_path / "run"), *options]
        deaths: list[tuple[int, set[str]]] = []
        for part in (1, 2, 3):
            run_until(words, log, part * ROWS // 5 + chance.randrange(ROWS // 10))
            deaths.append((len(vendor.requests), reported_questions(log)))
        hurry(vendor)
        subprocess.run(words, check=True, stdout=subprocess.DEVNULL, timeout=PATIENCE)
        asked = [entry.body["messages"][-1]["content"] for entry in vendor.requests]
        whole = run(dataset, vendor.url, tmp_path / "undisturbed").summary
    lines = [json.loads(line) for line in log.read_bytes().splitlines()]
    assert sorted(line["row"]["index"] for line in lines) == list(range(1, ROWS + 1))
    assert len({line["case"] for line in lines}) == ROWS
    for sent, reported in deaths:
        assert not reported & set(asked[sent:])
    # Asked twice is only what was under way when the process died, and what was answered and not yet judged.
    assert len(asked) <= ROWS + 3 * (2 * CONCURRENCY + AHEAD)
    assert set(asked) == {row(n)["messages"][-1]["content"] for n in range(ROWS)}
    taken_up = summarise(tmp_path / "run")
    assert timeless(taken_up) == timeless(whole)
