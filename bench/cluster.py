"""Cell P13: what workers on Ray add to the speed of one process, and what they cost."""

from __future__ import annotations

import json
import os
import signal
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

import measure
from kit import Kit, Row

ROWS = 20_000
CONCURRENCY = 64
WORKERS = 2
ROUNDS = 9
REPORTED_TOGETHER = 64
"""Records that a worker may have and not have sent."""
RECORD_BYTES = 8000
"""About the size of a record of these rows."""
LOOK_SECONDS = 0.2
"""To look at all processes takes three milliseconds of a core that the workers need."""
_TICK = os.sysconf("SC_CLK_TCK")


class Span(NamedTuple):
    """A run from its first record to its last: what came before is the start-up."""

    start_up: float
    seconds: float
    cpu: float
    rows: float
    """Recorded meanwhile."""


def speed(span: Span) -> float:
    """Rows a second."""
    return span.rows / span.seconds


def cpu_each(span: Span) -> float:
    """Microseconds a row."""
    return span.cpu / span.rows * 1e6


def ray_engine(kit: Kit) -> Iterator[Row]:
    """P13: two workers on this machine against the local engine, in turns and on all cores.

    Two processes that know nothing of each other, with half of the rows each, show what two cores can give at most.
    """
    dataset, half = kit.requests(ROWS), kit.requests(ROWS // WORKERS)
    local = kit.verify(dataset, kit.url(), concurrency=CONCURRENCY)
    apart = kit.verify(half, kit.url(), concurrency=CONCURRENCY // WORKERS)
    on_ray = [*local, "--engine", "ray", "--ray-workers", str(WORKERS)]
    ways: dict[str, Sequence[measure.Command]] = {"local": [local], "ray": [on_ray], "apart": [apart] * WORKERS}
    with _free_vendor():
        rounds = [{way: _span(commands) for way, commands in ways.items()} for _ in range(ROUNDS)]
        before = kit.asked()
        _span([on_ray], kill=True)
        again = kit.asked() - before - ROWS

    def against_local(way: str, figure: Callable[[Span], float]) -> float:
        # The machine itself is a quarter faster or slower from minute to minute, less so from run to run.
        return statistics.median(figure(turn[way]) / figure(turn["local"]) for turn in rounds)

    def middle(way: str, figure: Callable[[Span], float]) -> float:
        return statistics.median(figure(turn[way]) for turn in rounds)

    faster, limit = (against_local(way, speed) for way in ("ray", "apart"))
    rates = f"{middle('local', speed):.0f} to {middle('ray', speed):.0f} rows/s"
    starts = f"start-up {middle('ray', lambda span: span.start_up):.1f} s apart"
    told = f"{faster:.2f}x ({rates}; two processes apart {limit:.2f}x; {starts})"
    yield Row("P13", "speed of two Ray workers", told, ">= 1.5x", "", faster >= 1.5)
    more, limit = (against_local(way, cpu_each) - 1 for way in ("ray", "apart"))
    costs = f"{middle('local', cpu_each):.0f} to {middle('ray', cpu_each):.0f} µs"
    told = f"{more:+.0%} ({costs}; two processes apart {limit:+.0%})"
    yield Row("P13", "CPU a row on Ray, its own processes included", told, "<= +15 %", "", more <= 0.15)
    told = f"{again}; all {ROWS} rows recorded once"
    lost = 2 * CONCURRENCY // WORKERS + REPORTED_TOGETHER  # in flight, answered and not yet judged, judged
    yield Row("P13", "requests made twice after kill -9 of a worker", told, f"<= {lost}", "", again <= lost)


@contextmanager
def _free_vendor() -> Iterator[None]:
    """Let the vendor run on all cores, as the workers do, and not interrupt them for each request that arrives."""
    family = _Family(os.getpid())
    family.look()
    vendors = [process for process, name in family.names.items() if name == "vendor"]
    for process in vendors:
        os.sched_setaffinity(process, range(os.cpu_count() or 1))
        os.sched_setscheduler(process, os.SCHED_BATCH, os.sched_param(0))
    try:
        yield
    finally:
        for process in vendors:
            os.sched_setscheduler(process, os.SCHED_OTHER, os.sched_param(0))
            measure.pin(process, measure.SERVER_CORE)


class _Moment(NamedTuple):
    time: float
    cpu: float
    written: int
    """Bytes of the logs."""


def _span(commands: Sequence[measure.Command], *, kill: bool = False) -> Span:
    """Run commands side by side and follow their families; with `kill`, one worker dies in the middle."""
    with tempfile.TemporaryDirectory(prefix="toolcert-bench-") as scratch, ExitStack() as resources:
        outputs = [Path(scratch, f"out{number}") for number in range(len(commands))]
        logs = [output / "records.jsonl" for output in outputs]
        errors = resources.enter_context(Path(scratch, "stderr").open("w+b"))
        started = time.perf_counter()
        processes = [
            subprocess.Popen(
                [str(word).replace("{out}", str(output)) for word in command],
                stdout=subprocess.DEVNULL,
                stderr=errors,
                env=measure.environment(),
            )
            for command, output in zip(commands, outputs, strict=True)
        ]
        family = _Family(*(process.pid for process in processes))
        moments: list[_Moment] = []
        while any(process.poll() is None for process in processes):
            if time.perf_counter() - started > measure.LONGEST:
                family.kill()
            written = sum(log.stat().st_size for log in logs if log.exists())
            if written > (moments[-1].written if moments else 0):
                family.look()
                moments.append(_Moment(time.perf_counter(), family.cpu, written))
            if kill and written > ROWS / 3 * RECORD_BYTES and (worker := family.worker()):
                os.kill(worker, signal.SIGKILL)
                kill = False
            time.sleep(LOOK_SECONDS)
        if failed := [process.returncode for process in processes if process.returncode]:
            errors.seek(-300, os.SEEK_END) if errors.tell() > 300 else errors.seek(0)
            raise measure.CommandError(f"exit {failed[0]}: {errors.read().decode(errors='replace')}")
        indices = [_rows(log) for log in logs]
        if kill or any(sorted(rows) != list(range(1, len(rows) + 1)) for rows in indices):
            raise measure.CommandError("no worker was killed" if kill else "a row is missing, or recorded twice")
        first, last = moments[0], moments[-1]
        rows = sum(map(len, indices)) * (last.written - first.written) / sum(log.stat().st_size for log in logs)
        return Span(first.time - started, last.time - first.time, last.cpu - first.cpu, rows)


def _rows(log: Path) -> list[int]:
    """The numbers of the rows in a log."""
    with log.open("rb") as file:
        return [json.loads(line)["row"]["index"] for line in file]


class _Family:
    """The CPU seconds of processes and all their descendants, those included that have ended since."""

    def __init__(self, *heads: int) -> None:
        self._seconds: dict[int, float] = dict.fromkeys(heads, 0.0)
        self.names: dict[int, str] = {}

    @property
    def cpu(self) -> float:
        return sum(self._seconds.values())

    def look(self) -> None:
        for path in Path("/proc").glob("[0-9]*/stat"):
            try:
                name, _, rest = path.read_text().partition(" (")[2].rpartition(") ")
            except OSError:  # it has just ended
                continue
            fields = rest.split()
            if int(path.parent.name) in self._seconds or int(fields[1]) in self._seconds:
                self._seconds[int(path.parent.name)] = (int(fields[11]) + int(fields[12])) / _TICK
                self.names[int(path.parent.name)] = name

    def kill(self) -> None:
        for process in self._seconds:
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)

    def worker(self) -> int | None:
        return next((process for process, name in self.names.items() if name.startswith("ray::RayActor")), None)
