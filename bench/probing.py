"""Cell P9: a probe run takes as long as its slowest chain or its share of the concurrency, whichever is longer."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import measure
from kit import Kit, Row

MODELS, ITERATIONS, TURNS = 40, 5, 2
DELAY, CONCURRENCY = 0.2, 50
SERVE = f"""
from toolcert.simulate import Vendor
with Vendor(models={{f"model-{{number}}": "faithful" for number in range({MODELS})}}, latency={DELAY}) as vendor:
    print(vendor.url, flush=True)
    input()
"""


def whole_run(kit: Kit) -> Iterator[Row]:
    """40 models, 5 iterations of a conversation of two turns, 50 at a time, at an endpoint that takes 200 ms."""
    requests = MODELS * ITERATIONS * TURNS
    chain, share = TURNS * DELAY, requests * DELAY / CONCURRENCY
    seconds = []
    with simulated() as url:
        for number in range(measure.ROUNDS):
            output = kit.folder / f"probe-{number}"
            measure.run(_probe(kit, url, output))
            seconds.append(_lasted(output))
    best = min(seconds)
    what = f"{requests} requests at 50 a time, over the longest of chain {chain:.1f} s and share {share:.1f} s"
    ratio = best / max(chain, share)
    yield Row("P9", what, f"{ratio:.2f}x ({best:.2f} s)", "<= 1.3x", "", ratio <= 1.3)


def _probe(kit: Kit, url: str, output: Path) -> measure.Command:
    asked = ("--base-url", url, "--suite", "hello", "--iterations", str(ITERATIONS), "--concurrency", str(CONCURRENCY))
    return [kit.toolcert, "probe", *asked, "--output", output, "--quiet"]


def _lasted(output: Path) -> float:
    """Seconds from the first request to the last record: starting Python is P7's matter."""
    manifest = json.loads((output / "manifest.json").read_text())
    lasted: float = manifest["finished_at"] - manifest["started_at"]
    return lasted


@contextmanager
def simulated() -> Iterator[str]:
    """The address of a simulated endpoint on the server's core."""
    command = [sys.executable, "-c", SERVE]
    with subprocess.Popen(command, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        measure.pin(process.pid, measure.SERVER_CORE)
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip()
        finally:
            process.communicate("\n")
