"""Putting answers on the wire: whole, in pieces, never, or broken off."""

from __future__ import annotations

import asyncio
import secrets

from aiohttp import web

from toolcert.simulate.answers import Answer, Events, Raw, Reset, Silence

_STREAM_HEADERS = {"Content-Type": "text/event-stream; charset=utf-8", "Cache-Control": "no-cache"}


async def send(request: web.Request, answer: Answer, gap: float) -> web.StreamResponse:
    """Send an answer of any kind."""
    if isinstance(answer, Raw):
        return plain(answer)
    if isinstance(answer, Events):
        return await _stream(request, answer, gap)
    if isinstance(answer, Silence):
        await asyncio.sleep(answer.seconds)
        return plain(Raw(content=b"", status=504))
    return _broken(request, answer)


def plain(answer: Raw) -> web.Response:
    """An answer that is sent whole."""
    headers = {"Content-Type": answer.content_type, "x-request-id": f"req_{secrets.token_hex(16)}", **answer.headers}
    return web.Response(body=answer.content, status=answer.status, headers=headers)


async def _stream(request: web.Request, events: Events, gap: float) -> web.StreamResponse:
    response = web.StreamResponse(headers={**_STREAM_HEADERS, "x-request-id": f"req_{secrets.token_hex(16)}"})
    await response.prepare(request)
    if gap > 0:
        for piece in events.frames:
            await response.write(piece)
            await asyncio.sleep(gap)
    else:
        await response.write(b"".join(events.frames))
    if events.breaks:
        _hang_up(request)
    else:
        await response.write_eof()
    return response


def _broken(request: web.Request, _reset: Reset) -> web.Response:
    _hang_up(request)
    return web.Response(status=500)


def _hang_up(request: web.Request) -> None:
    """Break the connection without a goodbye."""
    if request.transport is not None:
        request.transport.abort()
