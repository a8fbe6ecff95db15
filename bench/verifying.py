"""Cells P1 to P5 and P8: what replaying a dataset costs."""

from __future__ import annotations

import json
import socket
import statistics
import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from urllib.parse import urlsplit

import measure
from kit import Kit, Row

ROWS = 2_000
MANY_ROWS = 100_000


def cpu_per_request(kit: Kit) -> Iterator[Row]:
    """P1 and P2: against the usual way, plain and streamed."""
    cells = (("P1", "not streaming", False, 15, 30), ("P2", "streaming 100 chunks", True, 10, 18))
    for number, how, stream, goal, further in cells:
        dataset, url = kit.requests(ROWS, stream=stream), kit.url(chunks=100)
        # Ours takes a second, in which a shared machine may be slow: three times are too few to see it undisturbed.
        rounds = measure.ROUNDS if stream else 2 * measure.ROUNDS
        commands = {"usual": kit.usual_way(dataset, url), "ours": kit.verify(dataset, url)}
        cost = measure.in_turns(commands, rounds=rounds)
        ratio = cost["usual"].cpu / cost["ours"].cpu
        each = f"{cost['ours'].cpu / ROWS * 1e6:.0f} µs against {cost['usual'].cpu / ROWS * 1e6:.0f} µs"
        what = f"CPU per request, {how}, less than the usual way"
        yield Row(number, what, f"{ratio:.1f}x ({each})", f">= {goal}x", f"{further}x", ratio >= goal)


def throughput(kit: Kit) -> Iterator[Row]:
    """P3: share of what the vendor's delay and the concurrency allow at best, start-up included.

    Each run would ideally take ten to twenty seconds. Waking up costs either side a part of a millisecond per
    request, whoever asks: what bare sockets reach is measured beside it.
    """
    cells = ((5, 50, 2_000, 95, 97), (64, 80, 8_000, 85, 94), (512, 480, 10_240, 80, 94))
    for concurrency, delay, rows, goal, further in cells:
        dataset, url = kit.requests(rows), kit.url(delay=delay)
        ideal = rows * delay / 1000 / concurrency
        # With few at a time nobody makes up for a moment in which a shared machine stands still.
        rounds = 2 * measure.ROUNDS if concurrency < 10 else measure.ROUNDS
        command = kit.verify(dataset, url, concurrency=concurrency)
        best = measure.in_turns({"ours": command}, rounds=rounds)["ours"]
        share, bare = 100 * ideal / best.wall, 100 * delay / 1000 / _bare_turn(url, dataset)
        what = f"share of ideal throughput at concurrency {concurrency}, {delay} ms"
        figures = f"{share:.1f} % (a bare socket alone: {bare:.1f} %)"
        yield Row("P3", what, figures, f">= {goal} %", f"{further} %", share >= goal)


def _bare_turn(url: str, dataset: Path) -> float:
    """Seconds from one request to the next when a socket does nothing but send and receive."""
    with dataset.open("rb") as file:
        return statistics.median(_on_the_wire(url, line, b"}") for line in islice(file, 40))


def paced_stream(kit: Kit) -> Iterator[Row]:
    """P4: 60 chunks, 20 ms apart, 512 at a time."""
    chunks, gap, concurrency, rows = 60, 20, 512, 4_096
    url = kit.url(chunks=chunks, gap=gap)
    # A streamed call is its chunks between a role, a name, a finish, a usage and an end event: 4 more gaps than chunks.
    ideal = rows / concurrency * (chunks + 4) * gap / 1000
    command = kit.verify(kit.requests(rows, stream=True), url, concurrency=concurrency)
    share = 100 * ideal / measure.in_turns({"ours": command})["ours"].wall
    yield Row("P4", "share of ideal, 512 paced streams", f"{share:.0f} %", ">= 85 %", "95 %", share >= 85)


def memory(kit: Kit) -> Iterator[Row]:
    """P5: peak memory with many rows over few, and while a finished run is taken up again."""
    few = measure.run(kit.verify(kit.requests(ROWS), kit.url())).peak_mb
    command = kit.verify(kit.requests(MANY_ROWS), kit.url(), output=str(kit.folder / "run-a"))
    many, resumed = measure.run(command).peak_mb, measure.run(command).peak_mb
    ratio, peak = max(many, resumed) / few, max(many, resumed)
    figures = f"{ratio:.2f} ({few:.0f} to {many:.0f} MB)"
    yield Row("P5", "peak memory, 100,000 rows over 2,000", figures, "<= 1.2", "1.05", ratio <= 1.2)
    yield Row("P5", "peak memory, resume included", f"{peak:.0f} MB", "<= 100 MB", "60 MB", peak <= 100)


def first_chunk(kit: Kit) -> Iterator[Row]:
    """P8: the time to the first piece of a call, as we record it, against a bare socket."""
    url, rows = kit.url(delay=100, chunks=20, gap=10), 200
    output = kit.folder / "run-first-chunk"
    dataset = kit.requests(rows, stream=True)
    with dataset.open("rb") as file:
        wire = statistics.median(_on_the_wire(url, line, b'"tool_calls"', b'"content":"T') for line in islice(file, 20))
    measure.run(kit.verify(dataset, url, concurrency=8, output=str(output)))
    ours = statistics.median(_recorded(output))
    late = (ours - wire) * 1000
    figures = f"{late:+.1f} ms ({ours * 1000:.1f} against {wire * 1000:.1f} ms)"
    yield Row("P8", "first streamed chunk, as timed by us", figures, "within 10 ms", "", abs(late) <= 10)


def _on_the_wire(url: str, body: bytes, *awaited: bytes) -> float:
    """Seconds from the last byte sent until any of these was received."""
    address = urlsplit(url)
    head = f"POST {address.path}/chat/completions HTTP/1.1\r\nHost: bench\r\nContent-Length: {len(body)}\r\n\r\n"
    assert address.hostname is not None
    assert address.port is not None
    with socket.create_connection((address.hostname, address.port)) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connection.sendall(head.encode() + body)
        started, received = time.perf_counter(), b""
        while not any(text in received for text in awaited):
            received += connection.recv(65536)
    return time.perf_counter() - started


def _recorded(run: Path) -> Iterator[float]:
    with (run / "records.jsonl").open("rb") as file:
        for line in file:
            yield json.loads(line)["row"]["first_token"]
