"""The event loop is uvloop where it exists."""

from __future__ import annotations

import asyncio
import sys

import pytest

from support.http_servers import always, post, serving, sized
from toolcert.http.client import Client
from toolcert.http.connection import run


def test_the_result_comes_back_and_errors_come_through() -> None:
    async def give(value: int) -> int:
        return value

    async def fail() -> None:
        raise ZeroDivisionError

    assert run(give(7)) == 7
    with pytest.raises(ZeroDivisionError):
        run(fail())


@pytest.mark.skipif(sys.platform == "win32", reason="uvloop does not exist on Windows")
def test_it_runs_on_uvloop() -> None:
    async def name() -> str:
        return type(asyncio.get_running_loop()).__module__

    assert run(name()).startswith("uvloop")


def test_the_client_works_on_it() -> None:
    async def ask() -> bytes:
        client = Client()
        async with serving(always(sized(b"{}"))) as server:
            response = await client.send(post(server.url()))
            await client.close()
        return response.payload

    assert run(ask()) == b"{}"
