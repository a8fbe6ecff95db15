"""What every cell of the benchmark uses: the vendor on its own core, datasets made once, commands to measure."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import data
import measure

HERE = Path(__file__).resolve().parent
BUILD = HERE / ".build"
MODEL = "bench-model"


class Row(NamedTuple):
    """One line of the table: what was measured, against which goal, and the further goal."""

    number: str
    what: str
    measured: str
    goal: str
    further: str
    met: bool


class Kit:
    """The vendor's address, a folder for data, and the commands that are compared."""

    def __init__(self, port: int, folder: Path, many_rows: int = 1_000_000) -> None:
        self._port = port
        self.many_rows = many_rows
        self.folder = folder
        self.toolcert = str(Path(sys.executable).with_name("toolcert"))

    def url(self, **behaviour: float) -> str:
        """The vendor's address when it behaves so: `url(delay=20, chunks=100)`."""
        settings = ",".join(f"{name}={value}" for name, value in behaviour.items())
        return f"http://127.0.0.1:{self._port}/{settings or 'delay=0'}/v1"

    def asked(self) -> int:
        """How many chat completions the vendor was asked for."""
        with urllib.request.urlopen(f"{self.url()}/models") as answer:
            return int(json.load(answer)["asked"])

    def requests(self, rows: int, *, stream: bool = False) -> Path:
        path = self.folder / f"requests-{rows}-{'stream' if stream else 'plain'}.jsonl"
        return path if path.exists() else data.write_requests(path, rows, stream=stream)

    def results(self, rows: int, *, seed: int) -> Path:
        path = self.folder / f"results-{rows}-{seed}.jsonl"
        return path if path.exists() else data.write_results(path, rows, seed=seed)

    def verify(self, dataset: Path, url: str, *, concurrency: int = 64, output: str = "{out}") -> measure.Command:
        asked = ("--base-url", url, "--model", MODEL, "--concurrency", str(concurrency))
        return [self.toolcert, "verify", dataset, *asked, "--output", output, "--quiet"]

    def usual_way(self, dataset: Path, url: str, *, concurrency: int = 64) -> measure.Command:
        return [sys.executable, HERE / "usual_way.py", dataset, "{out}", url, str(concurrency)]


@contextmanager
def vendor() -> Iterator[int]:
    """The port of a freshly compiled vendor, which has the server's core to itself."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        sys.exit("the benchmark's vendor is written in C: a C compiler (cc or gcc) is needed")
    BUILD.mkdir(exist_ok=True)
    subprocess.run([compiler, "-O2", "-o", BUILD / "vendor", HERE / "vendor.c", "-lm"], check=True)
    with subprocess.Popen([BUILD / "vendor"], stdout=subprocess.PIPE, text=True) as process:
        measure.pin(process.pid, measure.SERVER_CORE)
        assert process.stdout is not None
        try:
            yield int(process.stdout.readline())
        finally:
            process.terminate()
