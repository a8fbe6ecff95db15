"""The OpenAI-compatible server of a simulated vendor, over real HTTP."""

from __future__ import annotations

import asyncio
import hmac
import secrets
from typing import Any

import msgspec
from aiohttp import web

from toolcert.core.values import JsonObject
from toolcert.simulate.backend import Backend
from toolcert.simulate.traffic import (
    Answer,
    Disruption,
    Events,
    Raw,
    Reset,
    Silence,
    as_json,
    error,
    no_key,
    unknown_model,
    wrong_key,
)

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
    """Send an answer in one piece."""
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
    """Reset the connection."""
    if request.transport is not None:
        request.transport.abort()


MOST_BODY = 64 << 20


class OpenAiApi:
    """Models and chat completions under `/v1`, or another prefix."""

    def __init__(self, backend: Backend, *, api_key: str | None = None, prefix: str = "/v1") -> None:
        self.backend = backend
        self._api_key = api_key
        self._prefix = prefix

    def app(self) -> web.Application:
        """The web application."""
        app = web.Application(client_max_size=MOST_BODY, middlewares=[friendly_errors])
        self.add_routes(app)
        app.router.add_get("/health", _health)
        return app

    def add_routes(self, app: web.Application) -> None:
        """The routes of the protocol."""
        app.router.add_get(f"{self._prefix}/models", self.list_models)
        app.router.add_get(f"{self._prefix}/models/{{model:.+}}", self.show_model)
        app.router.add_post(f"{self._prefix}/chat/completions", self.chat)
        app.router.add_post(f"{self._prefix}/completions", self.complete)

    async def list_models(self, request: web.Request) -> web.StreamResponse:
        """List all models."""
        self.backend.note(request)
        failure = self.key_error(request) or self.backend.outages.failure("")
        listing = {"object": "list", "data": self.backend.models.listing()}
        return await send(request, failure or as_json(listing), 0.0)

    async def show_model(self, request: web.Request) -> web.StreamResponse:
        """Describe one model."""
        wanted = request.match_info["model"]
        entry = next((one for one in self.backend.models.listing() if one["id"] == wanted), None)
        answer = self.key_error(request) or (as_json(entry) if entry else unknown_model(wanted))
        return await send(request, answer, 0.0)

    async def chat(self, request: web.Request) -> web.StreamResponse:
        """Answer a chat request."""
        return await self._work(request, raw=False)

    async def complete(self, request: web.Request) -> web.StreamResponse:
        """Answer a completions request: always faithfully, in the markup of Kimi models."""
        return await self._work(request, raw=True)

    async def _work(self, request: web.Request, *, raw: bool) -> web.StreamResponse:
        async with self.backend.working():
            answer, gap = await self.answer(request, decoded(await request.read()), raw=raw)
            self.backend.requests.answered(getattr(answer, "status", 200))
            return await send(request, answer, gap)

    async def answer(self, request: web.Request, body: JsonObject | Raw, *, raw: bool = False) -> tuple[Answer, float]:
        """The answer to a request, and the seconds between the events of its stream."""
        if isinstance(body, Raw):
            return body, 0.0
        self.backend.note(request, body)
        refused = self.key_error(request)
        return (refused, 0.0) if refused is not None else await self.backend.answer(body, raw=raw)

    def key_error(self, request: web.Request) -> Disruption | None:
        """The error for a missing or wrong key, or None."""
        if self._api_key is None:
            return None
        given = request.headers.get("Authorization", "").removeprefix("Bearer ").strip()
        if not given:
            return no_key()
        return None if hmac.compare_digest(given.encode(), self._api_key.encode()) else wrong_key()


async def _health(_request: web.Request) -> web.Response:
    return web.json_response({"status": "ok"})


def decoded(raw: bytes) -> JsonObject | Raw:
    """The body of a request, or the error for one that cannot be read."""
    try:
        value = msgspec.json.decode(raw)
    except msgspec.DecodeError:
        return error(400, "We could not parse the JSON body of your request. It is not valid JSON.")
    return value if isinstance(value, dict) else error(400, "The JSON body of your request must be an object.")


@web.middleware
async def friendly_errors(request: web.Request, handler: Any) -> web.StreamResponse:
    """Answer unknown paths and methods with an error in the protocol's form."""
    try:
        response: web.StreamResponse = await handler(request)
    except web.HTTPNotFound:
        return plain(error(404, f"Invalid URL ({request.method} {request.path})"))
    except web.HTTPMethodNotAllowed:
        text = f"Not allowed to {request.method} on {request.path}. Perhaps you meant to use a different HTTP method?"
        return plain(error(405, text))
    return response
