"""The OpenAI-compatible face of a simulated vendor, over real HTTP."""

from __future__ import annotations

import hmac
from typing import Any

import msgspec
from aiohttp import web

from toolcert.core.values import JsonObject
from toolcert.simulate import sending
from toolcert.simulate.answers import Answer, Disruption, Raw, as_json, error, no_key, unknown_model, wrong_key
from toolcert.simulate.backend import Backend

MOST_BODY = 64 << 20


class OpenAiFace:
    """Models and chat completions under `/v1`, or another prefix."""

    def __init__(self, backend: Backend, *, api_key: str | None = None, prefix: str = "/v1") -> None:
        self.backend = backend
        self._api_key = api_key
        self._prefix = prefix

    def app(self) -> web.Application:
        """The application with its routes."""
        app = web.Application(client_max_size=MOST_BODY, middlewares=[friendly_errors])
        self.add_routes(app)
        app.router.add_get("/health", _health)
        return app

    def add_routes(self, app: web.Application) -> None:
        """The addresses of the protocol."""
        app.router.add_get(f"{self._prefix}/models", self.list_models)
        app.router.add_get(f"{self._prefix}/models/{{model:.+}}", self.show_model)
        app.router.add_post(f"{self._prefix}/chat/completions", self.chat)
        app.router.add_post(f"{self._prefix}/completions", self.complete)

    async def list_models(self, request: web.Request) -> web.StreamResponse:
        """All models."""
        self.backend.note(request)
        struck = self.at_the_door(request) or self.backend.outages.strike("")
        listing = {"object": "list", "data": self.backend.models.listing()}
        return await sending.send(request, struck or as_json(listing), 0.0)

    async def show_model(self, request: web.Request) -> web.StreamResponse:
        """One model."""
        wanted = request.match_info["model"]
        entry = next((one for one in self.backend.models.listing() if one["id"] == wanted), None)
        answer = self.at_the_door(request) or (as_json(entry) if entry else unknown_model(wanted))
        return await sending.send(request, answer, 0.0)

    async def chat(self, request: web.Request) -> web.StreamResponse:
        """One chat request, from the door to the last byte."""
        return await self._work(request, raw=False)

    async def complete(self, request: web.Request) -> web.StreamResponse:
        """One request for raw completions: always faithful, in the markup of Kimi models."""
        return await self._work(request, raw=True)

    async def _work(self, request: web.Request, *, raw: bool) -> web.StreamResponse:
        async with self.backend.working():
            answer, gap = await self.answer(request, decoded(await request.read()), raw=raw)
            self.backend.requests.answered(getattr(answer, "status", 200))
            return await sending.send(request, answer, gap)

    async def answer(self, request: web.Request, body: JsonObject | Raw, *, raw: bool = False) -> tuple[Answer, float]:
        """The answer to a request, and the seconds between the pieces of its stream."""
        if isinstance(body, Raw):
            return body, 0.0
        self.backend.note(request, body)
        refused = self.at_the_door(request)
        return (refused, 0.0) if refused is not None else await self.backend.answer(body, raw=raw)

    def at_the_door(self, request: web.Request) -> Disruption | None:
        """The refusal of a caller without the right key."""
        if self._api_key is None:
            return None
        given = request.headers.get("Authorization", "").removeprefix("Bearer ").strip()
        if not given:
            return no_key()
        return None if hmac.compare_digest(given.encode(), self._api_key.encode()) else wrong_key()


async def _health(_request: web.Request) -> web.Response:
    return web.json_response({"status": "ok"})


def decoded(raw: bytes) -> JsonObject | Raw:
    """The body of a request, or the error it deserves."""
    try:
        value = msgspec.json.decode(raw)
    except msgspec.DecodeError:
        return error(400, "We could not parse the JSON body of your request. It is not valid JSON.")
    return value if isinstance(value, dict) else error(400, "The JSON body of your request must be an object.")


@web.middleware
async def friendly_errors(request: web.Request, handler: Any) -> web.StreamResponse:
    """Wrong addresses and methods are answered in the protocol's shape."""
    try:
        response: web.StreamResponse = await handler(request)
    except web.HTTPNotFound:
        return sending.plain(error(404, f"Invalid URL ({request.method} {request.path})"))
    except web.HTTPMethodNotAllowed:
        text = f"Not allowed to {request.method} on {request.path}. Perhaps you meant to use a different HTTP method?"
        return sending.plain(error(405, text))
    return response
