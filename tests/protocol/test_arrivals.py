"""The times of a stream's events: noted cheaply, bounded, and found again for each event."""

from __future__ import annotations

import json
import random

import pytest

from toolcert.core.exchanges import Arrivals, Exchange
from toolcert.core.requests import Request
from toolcert.protocol.arrivals import EXACT, MOST, ArrivalLog, moved, pace_of

START = 5000.0


def event(**delta: object) -> bytes:
    return b"data: " + json.dumps({"choices": [{"index": 0, "delta": delta}]}).encode() + b"\n\n"


ROLE, WORD = event(role="assistant", content=""), event(content="Hi")
CALL = event(tool_calls=[{"index": 0, "id": "a", "function": {"name": "f", "arguments": ""}}])


def noted(*pieces: tuple[float, bytes]) -> Exchange:
    """A stream whose pieces came at these seconds."""
    log = ArrivalLog()
    for time, data in pieces:
        log.add(len(data), START + time)
    payload = b"".join(data for _, data in pieces)
    return Exchange(request=Request(body={}), status=200, payload=payload, event_stream=True, arrivals=log.since(START))


def test_each_event_has_the_time_of_the_piece_that_completed_it() -> None:
    half = len(WORD) // 2
    pace = pace_of(noted((0.1, ROLE), (0.2, WORD[:half]), (0.5, WORD[half:] + CALL), (0.55, CALL)))
    assert pace is not None
    assert pace.times == pytest.approx((0.1, 0.5, 0.5, 0.55), abs=0.0021)
    assert (pace.token, pace.call, pace.slowest) == (1, 2, 1)
    assert pace.longest == pytest.approx(0.4, abs=0.0021)


def test_events_are_told_apart_in_streams_of_other_line_ends() -> None:
    crlf = WORD.replace(b"\n", b"\r\n")
    pace = pace_of(noted((0.1, b": hello\r\n\r\n"), (0.2, crlf), (0.6, crlf[:-1]), (0.7, crlf[-1:])))
    assert pace is not None
    assert pace.times == pytest.approx((0.2, 0.7), abs=0.0021)


def test_an_event_that_the_stream_leaves_open_has_the_time_of_its_end() -> None:
    pace = pace_of(noted((0.1, WORD), (0.4, WORD.rstrip(b"\n"))))
    assert pace is not None
    assert pace.times == pytest.approx((0.1, 0.4), abs=0.0021)


def test_reads_within_a_millisecond_are_one_piece() -> None:
    exchange = noted(*((0.1 + number * 1e-5, WORD) for number in range(50)))
    assert exchange.arrivals is not None
    assert len(exchange.arrivals.pieces) == 2
    pace = pace_of(exchange)
    assert pace is not None
    assert (len(set(pace.times)), pace.slowest) == (1, None)


def test_rounding_does_not_add_up() -> None:
    pace = pace_of(noted(*((0.0019 * number, WORD) for number in range(EXACT))))
    assert pace is not None
    assert pace.times[-1] == pytest.approx(0.0019 * (EXACT - 1), abs=0.0021)


@pytest.mark.heavy
def test_a_long_stream_is_bounded_and_still_shows_its_pause() -> None:
    """Fifty thousand events, 20 ms apart, with one pause of 9 s: the first are exact, the others to the grain."""
    times = [0.02 * number + (9.0 if number >= 40_000 else 0.0) for number in range(50_000)]
    exchange = noted(*((time, WORD) for time in times))
    assert exchange.arrivals is not None
    assert len(exchange.arrivals.pieces) <= 2 * MOST
    assert sum(exchange.arrivals.pieces[1::2]) == len(exchange.payload)
    pace = pace_of(exchange)
    assert pace is not None
    assert pace.times[:EXACT] == pytest.approx(times[:EXACT], abs=0.0021)
    assert max(abs(shown - time) for shown, time in zip(pace.times, times, strict=True)) <= pace.grain + 0.002
    assert pace.slowest == 40_000


@pytest.mark.parametrize("seed", range(4))
def test_thinned_times_are_never_later_than_the_truth(seed: int) -> None:
    rng = random.Random(seed)
    now, times = 0.0, list[float]()
    for _ in range(4500):
        now += rng.choice((0.0001, 0.002, 0.01, 0.5))
        times.append(now)
    exchange = noted(*((time, WORD) for time in times))
    pace = pace_of(exchange)
    assert pace is not None
    late = [shown - time for shown, time in zip(pace.times, times, strict=True)]
    assert max(late) <= 0.0021
    assert min(late) >= -pace.grain - 0.0021
    assert list(pace.times) == sorted(pace.times)


def test_times_stay_with_their_events_when_a_secret_is_erased() -> None:
    secret = event(content="the key is sk-123456789")
    exchange = noted((0.1, secret), (0.4, WORD), (0.9, secret + CALL))
    assert exchange.arrivals is not None
    erased = exchange.payload.replace(b"sk-123456789", b"[x]")
    after = moved(exchange.arrivals, exchange.payload, erased)
    assert after is not None
    assert sum(after.pieces[1::2]) == len(erased)
    told = Exchange(request=Request(body={}), payload=erased, event_stream=True, arrivals=after)
    before_pace, after_pace = pace_of(exchange), pace_of(told)
    assert before_pace is not None
    assert after_pace is not None
    assert after_pace.times == before_pace.times


def test_times_are_dropped_where_events_were_lost() -> None:
    exchange = noted((0.1, WORD), (0.4, WORD))
    assert exchange.arrivals is not None
    assert moved(exchange.arrivals, exchange.payload, WORD) is None


@pytest.mark.parametrize("pieces", [(), (5,), (5, 3), (0, 0, 0), (2**62, 2**62, 2**62, 1), (1, 10**9)])
def test_times_that_do_not_fit_the_stream_break_nothing(pieces: tuple[int, ...]) -> None:
    """A run may have been changed by hand."""
    exchange = Exchange(request=Request(body={}), payload=WORD * 3, event_stream=True, arrivals=Arrivals(pieces=pieces))
    pace = pace_of(exchange)
    assert pace is not None
    assert len(pace.times) == 3


def test_an_answer_without_times_has_no_pace() -> None:
    assert pace_of(Exchange(request=Request(body={}), payload=WORD, event_stream=True)) is None
    assert ArrivalLog().since(START) is None
