"""The limit follows the server's own signals, first come first served."""

from __future__ import annotations

import asyncio
import time
from itertools import pairwise

import pytest

from toolcert.http.limiter import ROUNDS_TO_RECOVER, AdaptiveLimiter


class Clock:
    """A clock that tests move."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


async def hold(limiter: AdaptiveLimiter, release: asyncio.Event, log: list[int], number: int) -> None:
    async with limiter.slot():
        log.append(number)
        await release.wait()


async def settle() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


async def test_it_starts_at_the_ceiling_and_never_goes_above() -> None:
    limiter, release, log = AdaptiveLimiter(3), asyncio.Event(), list[int]()
    tasks = [asyncio.create_task(hold(limiter, release, log, number)) for number in range(5)]
    await settle()
    assert (log, limiter.in_flight) == ([0, 1, 2], 3)
    release.set()
    await asyncio.gather(*tasks)
    assert (log, limiter.in_flight) == ([0, 1, 2, 3, 4], 0)


async def test_a_free_slot_says_that_nobody_queued() -> None:
    async with AdaptiveLimiter(1).slot() as queued:
        assert queued == 0.0


async def test_time_in_the_queue_is_told() -> None:
    clock = Clock()
    limiter = AdaptiveLimiter(1, clock=clock)
    told: list[float] = []

    async def second() -> None:
        async with limiter.slot() as queued:
            told.append(queued)

    async with limiter.slot():
        task = asyncio.create_task(second())
        await settle()
        clock.now += 2.5
    await task
    assert told == [2.5]


def test_overload_halves_and_never_goes_below_one() -> None:
    limiter = AdaptiveLimiter(8, clock=Clock())
    seen = []
    for _ in range(5):
        limiter.overloaded()
        seen.append(limiter.limit)
    assert seen == [4, 2, 1, 1, 1]


def test_requests_sent_before_the_cut_do_not_cut_again() -> None:
    clock = Clock()
    limiter = AdaptiveLimiter(64, clock=clock)
    for _ in range(20):
        limiter.overloaded(started=99.0)
    assert limiter.limit == 32
    clock.now = 101.0
    limiter.overloaded(started=100.5)
    assert limiter.limit == 16


async def test_without_times_an_episode_lasts_until_its_requests_are_back() -> None:
    limiter = AdaptiveLimiter(4)
    slots = [limiter.slot() for _ in range(3)]
    for slot in slots:
        await slot.__aenter__()
    for slot in slots:
        limiter.overloaded()
        assert limiter.limit == 2
        await slot.__aexit__(None, None, None)
    limiter.overloaded()
    assert limiter.limit == 1


def test_successes_grow_it_back_to_the_ceiling_and_no_further() -> None:
    limiter = AdaptiveLimiter(16, clock=Clock())
    limiter.overloaded()
    rounds = 0
    while limiter.limit < 16:
        rounds += 1
        for _ in range(limiter.limit):
            limiter.succeeded()
    assert ROUNDS_TO_RECOVER - 1 <= rounds <= ROUNDS_TO_RECOVER + 2
    for _ in range(1000):
        limiter.succeeded()
    assert limiter.limit == 16


async def test_growth_lets_the_next_one_in() -> None:
    limiter, release, log = AdaptiveLimiter(2), asyncio.Event(), list[int]()
    limiter.overloaded()
    tasks = [asyncio.create_task(hold(limiter, release, log, number)) for number in range(2)]
    await settle()
    assert log == [0]
    while limiter.limit < 2:
        limiter.succeeded()
    await settle()
    assert log == [0, 1]
    release.set()
    await asyncio.gather(*tasks)


async def test_while_retry_after_lasts_nobody_starts() -> None:
    limiter = AdaptiveLimiter(4)
    began = time.monotonic()
    limiter.overloaded(0.1)
    left = 0.1 - (time.monotonic() - began)
    async with limiter.slot() as queued:
        assert time.monotonic() - began >= 0.1
    assert queued >= left - 0.02
    async with limiter.slot() as queued:
        assert queued == 0.0


async def test_a_retry_after_beyond_all_patience_holds_nobody() -> None:
    """Requests for other models have limits of their own."""
    limiter = AdaptiveLimiter(4, longest_pause=0.02)
    limiter.overloaded(3600)
    async with asyncio.timeout(60), limiter.slot() as queued:
        assert queued == 0.0


async def test_a_rate_is_kept_smoothly() -> None:
    for _ in range(10):  # a busy machine may let two come together
        limiter = AdaptiveLimiter(10, rpm=3000)
        starts: list[float] = []

        async def one(limiter: AdaptiveLimiter = limiter, starts: list[float] = starts) -> None:
            async with limiter.slot():
                starts.append(time.monotonic())

        began = time.monotonic()
        await asyncio.gather(*(one() for _ in range(6)))
        assert starts[-1] - began >= 5 * 0.02 - 0.002
        if all(later - earlier >= 0.01 for earlier, later in pairwise(starts)):
            return
    pytest.fail(str(starts))


async def test_whoever_is_cancelled_in_the_queue_leaves_no_hole() -> None:
    limiter, release, log = AdaptiveLimiter(1), asyncio.Event(), list[int]()
    tasks = [asyncio.create_task(hold(limiter, release, log, number)) for number in range(3)]
    await settle()
    tasks[1].cancel()
    release.set()
    await asyncio.gather(*tasks, return_exceptions=True)
    assert (log, limiter.in_flight) == ([0, 2], 0)


async def test_a_place_given_to_somebody_just_cancelled_goes_on() -> None:
    limiter = AdaptiveLimiter(1)
    log: list[int] = []
    gone = asyncio.Event()
    gone.set()
    first = limiter.slot()
    await first.__aenter__()
    tasks = [asyncio.create_task(hold(limiter, gone, log, number)) for number in range(2)]
    await settle()
    await first.__aexit__(None, None, None)  # the place is now the first task's, which has not run yet
    tasks[0].cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    assert (log, limiter.in_flight) == ([1], 0)


async def test_a_cut_between_giving_a_place_and_taking_it_does_not_end_the_counting() -> None:
    limiter = AdaptiveLimiter(2)
    one, two = limiter.slot(), limiter.slot()
    await one.__aenter__()
    await two.__aenter__()
    waiting = asyncio.create_task(limiter.slot().__aenter__())
    await settle()
    await one.__aexit__(None, None, None)
    limiter.overloaded()
    await waiting
    await two.__aexit__(None, None, None)
    limiter._release(0)
    limiter.overloaded()
    assert (limiter.in_flight, limiter.limit) == (0, 1)


async def test_a_free_slot_is_cheap() -> None:
    """Entering and leaving must not show beside a request: a few times what a lock of asyncio costs here and now."""
    limiter, lock = AdaptiveLimiter(8), asyncio.Lock()
    best = bare = float("inf")
    for _ in range(20):
        began = time.perf_counter()
        for _ in range(500):
            async with limiter.slot():
                pass
        between = time.perf_counter()
        for _ in range(500):
            async with lock:
                pass
        best = min(best, between - began)
        bare = min(bare, time.perf_counter() - between)
    assert best < 15 * bare


@pytest.mark.parametrize("ceiling", [0, -3, 1])
async def test_there_is_always_room_for_one(ceiling: int) -> None:
    async with asyncio.timeout(60), AdaptiveLimiter(ceiling).slot():
        pass
