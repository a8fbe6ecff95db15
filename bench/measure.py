"""Run commands in turns and keep the best of each: CPU seconds, wall seconds and peak memory of whole processes.

Absolute figures mean little on a shared machine; a ratio of two commands that ran in turns (A B, B A, A B) holds.
"""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

ROUNDS = 3
CLIENT_CORE, SERVER_CORE = 0, 1
LONGEST = 3600.0
"""Seconds after which a command is taken to hang."""
PEAK_UNIT = 1024 if sys.platform == "darwin" else 1
"""ru_maxrss counts bytes on macOS, KiB elsewhere."""


class Sample(NamedTuple):
    """What one run of a command cost."""

    cpu: float
    wall: float
    peak_mb: float


class CommandError(Exception):
    """A measured command did not end well; its last words are the message."""


Command = Sequence[str | Path]


def in_turns(commands: Mapping[str, Command], *, rounds: int = ROUNDS) -> dict[str, Sample]:
    """The best CPU and wall time and the largest peak of each command, run in alternating order.

    `{out}` in a command is a fresh path in every run.
    """
    samples: dict[str, list[Sample]] = {name: [] for name in commands}
    for number in range(rounds):
        names = list(commands) if number % 2 == 0 else list(commands)[::-1]
        for name in names:
            samples[name].append(run(commands[name]))
    return {name: _best(runs) for name, runs in samples.items()}


def run(command: Command) -> Sample:
    """One run on the client's core; raises CommandError."""
    scratch = Path(tempfile.mkdtemp(prefix="toolcert-bench-"))
    argv = [str(word).replace("{out}", str(scratch / "out")) for word in command]
    errors = scratch / "stderr"
    try:
        with errors.open("wb") as stderr:
            started = time.perf_counter()
            process = subprocess.Popen(argv, stdout=subprocess.DEVNULL, stderr=stderr, env=environment())
            pin(process.pid, CLIENT_CORE)
            status, usage = _wait(process)
            wall = time.perf_counter() - started
        if status != 0:
            raise CommandError(f"{' '.join(argv[:4])} ...: exit {status}: {errors.read_text(errors='replace')[-300:]}")
        return Sample(usage.ru_utime + usage.ru_stime, wall, usage.ru_maxrss / PEAK_UNIT / 1024)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def environment() -> dict[str, str]:
    """No setting or proxy of the user changes what is measured."""
    foreign = ("TOOLCERT_", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")
    kept = {name: value for name, value in os.environ.items() if not name.upper().startswith(foreign)}
    return kept | {"TOOLCERT_API_KEY": "benchmark-key", "NO_COLOR": "1"}


def pin(process: int, core: int) -> None:
    """Keep a process on one core where the system can, so that client and server do not disturb each other."""
    if hasattr(os, "sched_setaffinity") and (os.cpu_count() or 1) > core:
        os.sched_setaffinity(process, {core})


def _wait(process: subprocess.Popen[bytes]) -> tuple[int, resource.struct_rusage]:
    timer = threading.Timer(LONGEST, process.kill)
    timer.start()
    try:
        _, status, usage = os.wait4(process.pid, 0)
    finally:
        timer.cancel()
    process.returncode = os.waitstatus_to_exitcode(status)
    return process.returncode, usage


def _best(runs: Sequence[Sample]) -> Sample:
    return Sample(min(run.cpu for run in runs), min(run.wall for run in runs), max(run.peak_mb for run in runs))
