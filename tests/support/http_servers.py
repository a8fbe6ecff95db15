"""Servers that do exactly what a test tells them, byte by byte, on loopback."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import TypeAlias

from toolcert.core.targets import Timeouts
from toolcert.http.base import HttpRequest

Script: TypeAlias = Callable[["Dialogue"], Awaitable[None]]
OK = b"HTTP/1.1 200 OK\r\n"


class Dialogue:
    """One connection, from the server's side."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, server: Server) -> None:
        self._reader = reader
        self.writer = writer
        self._server = server

    async def request(self) -> bytes:
        """The next request, body included; empty when the client has gone."""
        try:
            head = await self._reader.readuntil(b"\r\n\r\n")
        except (asyncio.IncompleteReadError, ConnectionError):
            return b""
        length = next((line[15:] for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")), b"0")
        received = head + await self._reader.readexactly(int(length))
        self._server.requests.append(received)
        return received

    async def write(self, data: bytes) -> None:
        self.writer.write(data)
        with suppress(ConnectionError):
            await self.writer.drain()

    def reset(self) -> None:
        """End the connection with a reset instead of a goodbye."""
        self.writer.transport.abort()


class Server:
    """What a test server saw."""

    def __init__(self) -> None:
        self.port = 0
        self.connections = 0
        self.requests: list[bytes] = []

    def url(self, path: str = "/v1/chat/completions", scheme: str = "http", host: str = "127.0.0.1") -> str:
        return f"{scheme}://{host}:{self.port}{path}"


@asynccontextmanager
async def serving(script: Script, tls: ssl.SSLContext | None = None) -> AsyncIterator[Server]:
    """A server on a free port that follows `script` on every connection."""
    state = Server()
    tasks: set[asyncio.Task[None]] = set()

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        state.connections += 1
        task = asyncio.current_task()
        assert task is not None
        tasks.add(task)
        try:
            await script(Dialogue(reader, writer, state))
        except (asyncio.CancelledError, ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(talk, "127.0.0.1", 0, ssl=tls)
    state.port = server.sockets[0].getsockname()[1]
    try:
        yield state
    finally:
        server.close()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def arrivals() -> None:
    """Let the loop turn often enough for what was sent to arrive, however late its timers are."""
    for _ in range(10):
        await asyncio.sleep(0.01)


def always(answer: bytes) -> Script:
    """Answer every request with the same bytes, and keep the connection."""

    async def script(dialogue: Dialogue) -> None:
        while await dialogue.request():
            await dialogue.write(answer)

    return script


def once(*writes: bytes, reset: bool = False, pause: float = 0.0) -> Script:
    """Answer one request piece by piece, then close or reset."""

    async def script(dialogue: Dialogue) -> None:
        await dialogue.request()
        for data in writes:
            await dialogue.write(data)
            await asyncio.sleep(pause)
        if reset:
            dialogue.reset()

    return script


def stalling(*writes: bytes) -> Script:
    """Answer one request piece by piece, and then nothing more."""

    async def script(dialogue: Dialogue) -> None:
        await dialogue.request()
        for data in writes:
            await dialogue.write(data)
        await asyncio.sleep(60)

    return script


def sized(body: bytes, *headers: str, status: str = "200 OK") -> bytes:
    """A whole answer with its length."""
    lines = [f"HTTP/1.1 {status}", *headers, f"Content-Length: {len(body)}", "", ""]
    return "\r\n".join(lines).encode() + body


def post(url: str, content: bytes = b"{}", timeouts: Timeouts | None = None, **headers: str) -> HttpRequest:
    named = {"Content-Type": "application/json"} | {name.replace("_", "-"): value for name, value in headers.items()}
    return HttpRequest(method="POST", url=url, headers=named, content=content, timeouts=timeouts or Timeouts())
