"""When the pieces of a stream came: noted as they arrive, and read as a time for each event."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from itertools import accumulate, pairwise
from math import ceil

from toolcert.core.exchanges import Arrivals, Exchange
from toolcert.core.values import Value
from toolcert.protocol.chunk import Delta, decode_chunk
from toolcert.protocol.irregularity import Notices
from toolcert.protocol.sse import ServerEvent, SseReader

EXACT = 500
"""Pieces that keep their own times, however long the stream is."""
MOST = 2_000
"""Pieces that are kept of one stream."""
SHORTEST = 0.001
"""Seconds within which reads are one piece."""


class ArrivalLog:
    """Notes pieces; reads within a millisecond are one piece, and of a long stream those within a longer time."""

    __slots__ = ("_grain", "_last", "_pieces")

    def __init__(self) -> None:
        self._pieces: list[int] = []
        self._last = 0.0
        self._grain = SHORTEST

    def add(self, size: int, now: float) -> None:
        """This many bytes came at clock time `now`."""
        passed, pieces = now - self._last, self._pieces
        if passed < self._grain and pieces:
            pieces[-1] += size
            return
        milliseconds = int(passed * 1000)
        self._last += milliseconds / 1000  # not `now`: what was cut off belongs to the next piece
        pieces += (milliseconds, size)
        if len(pieces) > 2 * MOST:
            self._thin()

    def since(self, started: float) -> Arrivals | None:
        """All of them, counted from clock time `started`; None where nothing came."""
        if not self._pieces:
            return None
        first, *rest = self._pieces
        # Pieces that were joined again and again are late by the sum of all grains: less than twice the last one.
        grain = 1 if self._grain == SHORTEST else round(2000 * self._grain)
        return Arrivals(pieces=(max(0, first - ceil(started * 1000)), *rest), grain=grain)

    def _thin(self) -> None:
        """Join pieces behind the exact ones, within longer and longer times, until there is room again."""
        exact, pieces = 2 * EXACT, self._pieces
        while len(pieces) > MOST:
            self._grain *= 2
            grain, joined, passed = round(self._grain * 1000), pieces[:exact], 0
            for milliseconds, size in zip(pieces[exact::2], pieces[exact + 1 :: 2], strict=True):
                passed += milliseconds
                if passed < grain:
                    joined[-1] += size
                else:
                    joined += (passed, size)
                    passed = 0
            self._last -= passed / 1000
            pieces = joined
        self._pieces = pieces


class Pace(Value):
    """How the events of a stream came, one after the other."""

    times: tuple[float, ...]
    """For each event the seconds from the start of the attempt until it was complete."""
    token: int | None = None
    """Place of the first event with content, reasoning or a piece of a call, from 0."""
    call: int | None = None
    """Place of the first event with a piece of a call."""
    grain: float = SHORTEST
    """Seconds by which times may be too early, those of the first EXACT pieces by SHORTEST."""

    @property
    def longest(self) -> float:
        """Seconds of the longest pause between two events."""
        return max((later - earlier for earlier, later in pairwise(self.times)), default=0.0)

    @property
    def slowest(self) -> int | None:
        """Place of the event that came after the longest pause; None where all came at once."""
        pauses = [later - earlier for earlier, later in pairwise(self.times)]
        return pauses.index(max(pauses)) + 1 if any(pauses) else None


def pace_of(exchange: Exchange) -> Pace | None:
    """The pace of a streamed answer; None where it was not recorded."""
    if exchange.arrivals is None or not exchange.event_stream or not exchange.payload:
        return None
    milliseconds, reached = _running(exchange.arrivals)
    last = len(milliseconds) - 1
    events = list(_events(exchange.payload))
    times = tuple(milliseconds[min(last, bisect_left(reached, end))] / 1000 for _, end in events)
    token = call = None
    for place, (event, _) in enumerate(events):
        says, calls = _says(event.data)
        token = place if token is None and says else token
        if calls:
            call = place
            break
    return Pace(times=times, token=token, call=call, grain=exchange.arrivals.grain / 1000)


def _says(data: bytes) -> tuple[bool, bool]:
    """Whether an event adds anything to the answer, and whether that is a piece of a call."""
    chunk = decode_chunk(data, Notices())
    says = calls = False
    for choice in (chunk.choices or ()) if chunk is not None else ():
        delta = choice.delta or Delta()
        calls = calls or bool(delta.tool_calls or delta.function_call)
        says = says or calls or bool(delta.content or delta.reasoning_content or delta.reasoning or choice.text)
    return says, calls


def moved(arrivals: Arrivals, before: bytes, after: bytes) -> Arrivals | None:
    """The arrivals of a stream whose events were written again; None where they cannot be separated."""
    if len(before) == len(after):
        return arrivals
    ends, new_ends = ([end for _, end in _events(stream)] for stream in (before, after))
    if len(ends) != len(new_ends):
        return None
    _, reached = _running(arrivals)
    places = [new_ends[complete - 1] if (complete := bisect_right(ends, place)) else 0 for place in reached]
    sizes = [place - earlier for place, earlier in zip(places, [0, *places], strict=False)]
    pieces = (number for pair in zip(arrivals.pieces[::2], sizes, strict=False) for number in pair)
    return Arrivals(pieces=tuple(pieces), grain=arrivals.grain)


def _running(arrivals: Arrivals) -> tuple[list[int], list[int]]:
    """Milliseconds and bytes from the start up to each piece."""
    return list(accumulate(arrivals.pieces[::2])) or [0], list(accumulate(arrivals.pieces[1::2]))


def _events(stream: bytes) -> Iterator[tuple[ServerEvent, int]]:
    """Each event, and the number of bytes after which it is complete."""
    reader, read = SseReader(max_line=len(stream) + 1), 0
    for line in stream.splitlines(keepends=True):
        read += len(line)
        for event in reader.feed(line):
            yield event, read
    for event in reader.finish():
        yield event, read
