"""Cell P13: what workers on Ray add to the speed of one process, and what they cost."""

from __future__ import annotations

import json
import os
import random
import signal
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

import measure
from kit import Kit, Row

ROWS = 40_000
CONCURRENCY = 64
WORKERS = 2
ROUNDS = 5
TURN_SECONDS = 0.5
"""How long a way of asking goes on before it is the next one's turn."""
SEED = 1
"""Of the order of turns."""
REPORTED_TOGETHER = 64
"""Records that a worker may have and not have sent."""
RECORD_BYTES = 5800
"""About the size of a record of these rows."""
LOOK_SECONDS = 0.02
_TICK = os.sysconf("SC_CLK_TCK")


class Span(NamedTuple):
    """What a way of asking did in its turns; its start-up, until the first record, is told apart."""

    start_up: float
    seconds: float
    cpu: float
    rows: float


def speed(span: Span) -> float:
    """Rows a second."""
    return span.rows / span.seconds


def cpu_each(span: Span) -> float:
    """Microseconds a row."""
    return span.cpu / span.rows * 1e6


def ray_engine(kit: Kit) -> Iterator[Row]:
    """P13: two workers on this machine against the local engine, on all cores.

    Two processes that know nothing of each other, with half of the rows each, show what two cores can give at most.
    """
    dataset, half = kit.requests(ROWS), kit.requests(ROWS // WORKERS)
    local = kit.verify(dataset, kit.url(), concurrency=CONCURRENCY)
    apart = kit.verify(half, kit.url(), concurrency=CONCURRENCY // WORKERS)
    on_ray = [*local, "--engine", "ray", "--ray-workers", str(WORKERS)]
    ways: dict[str, Sequence[measure.Command]] = {"local": [local], "ray": [on_ray], "apart": [apart] * WORKERS}
    with _free_vendor():
        chance = random.Random(SEED)
        rounds = [_in_turns(ways, chance) for _ in range(ROUNDS)]
        before = kit.asked()
        _with_a_death(on_ray)
        again = kit.asked() - before - ROWS

    def against_local(way: str, figure: Callable[[Span], float]) -> float:
        return statistics.median(figure(one[way]) / figure(one["local"]) for one in rounds)

    def middle(way: str, figure: Callable[[Span], float]) -> float:
        return statistics.median(figure(one[way]) for one in rounds)

    faster, limit = (against_local(way, speed) for way in ("ray", "apart"))
    rates = f"{middle('local', speed):.0f} to {middle('ray', speed):.0f} rows/s"
    starts = f"start-up {middle('ray', lambda span: span.start_up):.1f} s apart"
    told = f"{faster:.2f}x ({rates}; two processes apart {limit:.2f}x; {starts})"
    yield Row("P13", "speed of two Ray workers", told, ">= 1.5x", "", faster >= 1.5)
    more, limit = (against_local(way, cpu_each) - 1 for way in ("ray", "apart"))
    costs = f"{middle('local', cpu_each):.0f} to {middle('ray', cpu_each):.0f} µs"
    told = f"{more:+.0%} ({costs}; two processes apart {limit:+.0%})"
    yield Row(
        "P13", "CPU a row on Ray, its own processes included, start and end apart", told, "<= +15 %", "", more <= 0.15
    )
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


def _in_turns(ways: Mapping[str, Sequence[measure.Command]], chance: random.Random) -> dict[str, Span]:
    """Let all ways of asking go on in turns until one has ended.

    The machine is a quarter faster or slower from one second to the next: so, each way meets the same of it.
    """
    with ExitStack() as resources:
        runs = {}
        for way, commands in ways.items():  # one after the other: their start-ups are measured as well
            runs[way] = resources.enter_context(_Run.of(commands))
            runs[way].wait_for(1)
            runs[way].pause()
        turns = list(runs.values())
        chance.shuffle(turns)  # each follows each other: one that left a core idle makes it slower for the next
        while all(run.take_turn() for run in turns):
            chance.shuffle(turns)
        for run in turns:
            run.resume()
            run.finish()
        return {way: run.span() for way, run in runs.items()}


def _with_a_death(command: measure.Command) -> None:
    """Run a command on Ray, and kill one of its workers in the middle."""
    with _Run.of([command]) as run:
        run.wait_for(ROWS // 3 * RECORD_BYTES)
        run.kill_worker()
        run.finish()


class _Turn(NamedTuple):
    """What a way of asking used in one turn, and the size of its records before and after."""

    seconds: float
    cpu: float
    size_before: int
    size_after: int


class _Run:
    """Commands that run side by side, and what they have used and written."""

    def __init__(self, commands: Sequence[measure.Command], folder: Path) -> None:
        self._logs = [folder / f"out{number}" / "records.jsonl" for number in range(len(commands))]
        self._errors = (folder / "stderr").open("w+b")
        self._began = time.perf_counter()
        self._processes = [
            subprocess.Popen(
                [str(word).replace("{out}", str(log.parent)) for word in command],
                stdout=subprocess.DEVNULL,
                stderr=self._errors,
                env=measure.environment(),
            )
            for command, log in zip(commands, self._logs, strict=True)
        ]
        self._family = _Family(*(process.pid for process in self._processes))
        self._start_up = 0.0
        self._turns: list[_Turn] = []
        self._rows = 0

    @classmethod
    @contextmanager
    def of(cls, commands: Sequence[measure.Command]) -> Iterator[_Run]:
        """Start the commands; what is left of them is ended."""
        with tempfile.TemporaryDirectory(prefix="toolcert-bench-") as folder:
            run = cls(commands, Path(folder))
            try:
                yield run
            finally:
                run.end()

    def wait_for(self, size: int) -> None:
        """Wait until so many bytes are recorded."""
        while self._size() < size:
            if not self._running():
                self.finish()
                raise measure.CommandError("it ended before it had recorded enough")
            time.sleep(LOOK_SECONDS)
        self._start_up = time.perf_counter() - self._began

    def pause(self) -> None:
        self._family.look()
        self._family.signal(signal.SIGSTOP)

    def resume(self) -> None:
        self._family.signal(signal.SIGCONT)

    def take_turn(self) -> bool:
        """Go on for a while; whether all commands still run after it."""
        before, size, began = self._family.cpu, self._size(), time.perf_counter()
        self.resume()
        time.sleep(TURN_SECONDS)
        seconds = time.perf_counter() - began
        self.pause()
        self._turns.append(_Turn(seconds, self._family.cpu - before, size, self._size()))
        return self._running()

    def kill_worker(self) -> None:
        """Kill one of Ray's workers."""
        self._family.look()
        os.kill(self._family.worker(), signal.SIGKILL)

    def finish(self) -> None:
        """Wait for the end; each row must be recorded once."""
        for process in self._processes:
            process.wait(measure.LONGEST)
        if failed := [process.returncode for process in self._processes if process.returncode]:
            self._errors.seek(0)
            raise measure.CommandError(f"exit {failed[0]}: {self._errors.read()[-300:].decode(errors='replace')}")
        indices = [_indices(log) for log in self._logs]
        if any(sorted(rows) != list(range(1, ROWS // len(indices) + 1)) for rows in indices):
            raise measure.CommandError("a row is missing, or recorded twice")
        self._rows = sum(map(len, indices))

    def span(self) -> Span:
        """What it did in its turns, without the ends of the run.

        In the first turn, modules are loaded and schemas compiled: that is start-up, too. The turn in which the last
        row is recorded, and those after it, do not count either.
        """
        whole = self._size()
        turns = [turn for turn in self._turns[1:] if turn.size_after < whole]
        written = sum(turn.size_after - turn.size_before for turn in turns)
        seconds, cpu = sum(turn.seconds for turn in turns), sum(turn.cpu for turn in turns)
        return Span(self._start_up, seconds, cpu, self._rows * written / whole)

    def end(self) -> None:
        """Kill what still runs."""
        if any(process.poll() is None for process in self._processes):
            self._family.look()
            self._family.signal(signal.SIGKILL)
        for process in self._processes:
            process.wait()
        self._errors.close()

    def _size(self) -> int:
        return sum(log.stat().st_size for log in self._logs if log.exists())

    def _running(self) -> bool:
        return all(process.poll() is None for process in self._processes)


def _indices(log: Path) -> list[int]:
    """The numbers of the rows in a log."""
    with log.open("rb") as file:
        return [json.loads(line)["row"]["index"] for line in file]


class _Family:
    """The CPU seconds of processes and all their descendants, those included that have ended since."""

    def __init__(self, *heads: int) -> None:
        self._seconds: dict[int, float] = dict.fromkeys(heads, 0.0)
        self.names: dict[int, str] = {}
        self._alive: list[int] = []

    @property
    def cpu(self) -> float:
        return sum(self._seconds.values())

    def look(self) -> None:
        self._alive = []
        for path in Path("/proc").glob("[0-9]*/stat"):
            try:
                name, _, rest = path.read_text().partition(" (")[2].rpartition(") ")
            except OSError:  # it has just ended
                continue
            fields = rest.split()
            if int(path.parent.name) in self._seconds or int(fields[1]) in self._seconds:
                self._seconds[int(path.parent.name)] = (int(fields[11]) + int(fields[12])) / _TICK
                self.names[int(path.parent.name)] = name
                self._alive.append(int(path.parent.name))

    def signal(self, number: signal.Signals) -> None:
        """Send a signal to all that still run."""
        for process in self._alive:
            with suppress(ProcessLookupError):
                os.kill(process, number)

    def worker(self) -> int:
        """One of Ray's workers."""
        return next(process for process in self._alive if self.names[process].startswith("ray::RayActor"))
