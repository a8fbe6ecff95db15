"""A vendor that fails in every way there is, in a thread of its own."""

from __future__ import annotations

import asyncio
import json
import random
import threading
from collections import Counter
from collections.abc import Callable
from typing import Any, Self

FAULTS = (
    "429",
    "429 with a time",
    "500",
    "reset",
    "reset inside",
    "stall",
    "cut stream",
    "garbage",
)
CALL = {
    "id": "call_1",
    "type": "function",
    "function": {"name": "get_weather", "arguments": '{"city": "Paris"}'},
}
Chooser = Callable[[int], str | None]


def at_random(share: float, seed: int = 1) -> Chooser:
    """A fault for this share of the requests."""
    chance = random.Random(seed)
    return lambda _: chance.choice(FAULTS) if chance.random() < share else None


class HostileVendor:
    """Answers a weather call, or fails as `choose` says for the request's number."""

    def __init__(self, choose: Chooser) -> None:
        self._choose = choose
        self._loop = asyncio.new_event_loop()
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._tasks: set[asyncio.Task[None]] = set()
        self.port = 0
        self.faults: Counter[str] = Counter()
        self.asked: list[dict[str, Any]] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def __enter__(self) -> Self:
        self._thread.start()
        assert self._ready.wait(60)
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(60)

    def _serve(self) -> None:
        asyncio.set_event_loop(self._loop)
        server = self._loop.run_until_complete(asyncio.start_server(self._talk, "127.0.0.1", 0, backlog=1024))
        self.port = server.sockets[0].getsockname()[1]
        self._ready.set()
        self._loop.run_forever()
        server.close()
        for task in asyncio.all_tasks(self._loop):
            task.cancel()
        self._loop.run_until_complete(asyncio.sleep(0))
        self._loop.close()

    async def _talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                length = next(
                    int(line[15:]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length")
                )
                body = json.loads(await reader.readexactly(length))
                self.asked.append(body)
                if not await self._answer(body, writer):
                    break
        except (asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError):
            pass
        finally:
            writer.close()

    async def _answer(self, body: dict[str, Any], writer: asyncio.StreamWriter) -> bool:
        """Whether the connection goes on."""
        fault = self._choose(len(self.asked))
        if fault:
            self.faults[fault] += 1
        stream = body.get("stream") is True
        if fault == "stall":
            await asyncio.sleep(30)
        if fault in ("reset", "stall"):
            writer.transport.abort()
            return False
        if fault in ("429", "429 with a time", "500"):
            extra = "Retry-After: 0.05\r\n" if fault == "429 with a time" else ""
            return await _send(writer, int(fault[:3]), b'{"error": {"message": "no"}}', extra=extra)
        if fault == "garbage":
            return await _send(writer, 200, b"<html>bad gateway</html>", kind="text/html")
        if stream:
            return await _stream(writer, fault)
        if fault in ("reset inside", "cut stream"):
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 900\r\n\r\n{")
            await writer.drain()
            writer.transport.abort()
            return False
        message = {"role": "assistant", "content": None, "tool_calls": [CALL]}
        answer = {
            "id": "1",
            "object": "chat.completion",
            "model": body["model"],
            "choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}],
            "usage": {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15},
        }
        return await _send(writer, 200, json.dumps(answer).encode())


async def _send(
    writer: asyncio.StreamWriter, status: int, body: bytes, *, kind: str = "application/json", extra: str = ""
) -> bool:
    head = f"HTTP/1.1 {status} X\r\nContent-Type: {kind}\r\n{extra}Content-Length: {len(body)}\r\n\r\n"
    writer.write(head.encode() + body)
    await writer.drain()
    return True


async def _stream(writer: asyncio.StreamWriter, fault: str | None) -> bool:
    start = {"role": "assistant", "tool_calls": [CALL | {"index": 0}]}
    usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
    events = [
        {"choices": [{"index": 0, "delta": start, "finish_reason": None}]},
        {"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]},
        {"choices": [], "usage": usage},
    ]
    common = {"id": "1", "object": "chat.completion.chunk", "model": "m"}
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n")
    lines = [f"data: {json.dumps(common | event)}\n\n".encode() for event in events] + [b"data: [DONE]\n\n"]
    for line in lines[:1] if fault else lines:
        writer.write(b"%x\r\n%s\r\n" % (len(line), line))
    await writer.drain()
    if fault == "reset inside":
        writer.transport.abort()
        return False
    writer.write(b"0\r\n\r\n")
    await writer.drain()
    return True
