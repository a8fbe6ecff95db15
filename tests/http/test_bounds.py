"""What is under way together is bounded: bytes and descriptors."""

from __future__ import annotations

import asyncio
import resource
import subprocess
import sys
from collections.abc import Iterator

import pytest

from support.http_servers import always, post, serving, sized
from toolcert.core.exchanges import FaultKind
from toolcert.http.client import DirectClient
from toolcert.http.connection import allow_connections
from toolcert.http.response import Body, Caps, Intake


def test_an_answer_ends_where_all_take_too_much_and_it_more_than_its_share() -> None:
    caps, intake = Caps(payload=1000, together=1000), Intake(1000)
    small, large = Body(caps, intake=intake), Body(caps, intake=intake)
    small.add(b"x" * 300, 0.0)
    large.add(b"x" * 699, 0.0)
    assert (small.oversized, large.oversized) == (None, None)
    small.add(b"x" * 100, 0.0)
    assert small.oversized is None, "the small answer is not to blame"
    large.add(b"x", 0.0)
    assert large.oversized == "the answers under way are longer than 1000 bytes together"
    large.release()
    small.release()
    assert (intake.size, intake.answers) == (0, 0)


async def test_many_large_answers_at_once_are_cut_and_later_ones_are_whole() -> None:
    client = DirectClient(caps=Caps(payload=100_000, together=150_000))
    async with serving(always(sized(b"x" * 90_000, "Content-Type: text/plain"))) as server:
        together = await asyncio.gather(*(client.send(post(server.url())) for _ in range(8)))
        alone = await client.send(post(server.url()))
    await client.close()
    assert {response.fault.kind for response in together if response.fault} <= {FaultKind.OVERSIZED}
    assert (alone.fault, len(alone.payload)) == (None, 90_000)


@pytest.fixture
def limits() -> Iterator[tuple[int, int]]:
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    yield before
    resource.setrlimit(resource.RLIMIT_NOFILE, before)


def test_the_soft_limit_of_descriptors_is_raised(limits: tuple[int, int]) -> None:
    resource.setrlimit(resource.RLIMIT_NOFILE, (256, limits[1]))
    assert allow_connections(400) == 400
    assert resource.getrlimit(resource.RLIMIT_NOFILE)[0] >= 400


@pytest.mark.heavy
def test_below_a_hard_limit_the_concurrency_is_lowered_and_said() -> None:
    command = [sys.executable, "-m", "toolcert", "probe", "http://127.0.0.1:9/v1", "--concurrency", "400"]
    words = ["sh", "-c", 'ulimit -n 256; exec "$@"', "sh", *command, "--retries", "0"]
    result = subprocess.run(words, capture_output=True, text=True, check=False, timeout=60)
    assert "too few open files for 400 connections: concurrency is 192" in result.stderr
    assert result.returncode == 3
