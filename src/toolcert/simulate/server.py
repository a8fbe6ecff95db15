"""The OpenAI-compatible face of a simulated vendor, over real HTTP."""

from __future__ import annotations

import asyncio
import hmac
import random
import time
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from aiohttp import web

from toolcert.core.values import JsonObject
from toolcert.simulate import sending
from toolcert.simulate.answers import Answer, Disruption, Raw, error, no_key, rate_limited, unknown_model, wrong_key
from toolcert.simulate.asking import Ask
from toolcert.simulate.completing import Identity
from toolcert.simulate.log import Received, RequestLog, harmless
from toolcert.simulate.models import Models
from toolcert.simulate.outages import Outages, RateLimit
from toolcert.simulate.pace import Latency
from toolcert.simulate.responding import respond

_MOST_BODY = 64 << 20


class Server:
    """Answers for a vendor's models; all state lives here."""

    def __init__(
        self,
        models: Sequence[str] | Mapping[str, str] | None = None,
        *,
        latency: Latency = Latency(),  # noqa: B008  # a frozen value
        chunk_gap: float = 0.0,
        seed: int = 1,
        api_key: str | None = None,
        rate_limit: RateLimit | None = None,
        capacity: int | None = None,
    ) -> None:
        self.models = Models(models, seed)
        self.requests = RequestLog()
        self.outages = Outages()
        self.identity = Identity(seed)
        self.in_flight = 0
        self.peak = 0
        """Most requests worked on at the same time."""
        self._latency = latency
        self._gap = chunk_gap
        self._dice = random.Random(seed)
        self._api_key = api_key
        self._rate_limit = rate_limit
        self._capacity = capacity

    def app(self) -> web.Application:
        """The application with its routes."""
        app = web.Application(client_max_size=_MOST_BODY, middlewares=[_friendly_errors])
        app.router.add_get("/v1/models", self.list_models)
        app.router.add_get("/v1/models/{model:.+}", self.show_model)
        app.router.add_post("/v1/chat/completions", self.chat)
        app.router.add_get("/health", self.health)
        return app

    async def health(self, _request: web.Request) -> web.Response:
        return web.json_response({"status": "ok"})

    async def list_models(self, request: web.Request) -> web.StreamResponse:
        self._note(request, {})
        struck = self._at_the_door(request) or self.outages.strike("")
        if struck is not None:
            return await sending.send(request, struck, 0.0)
        return sending.plain(_json({"object": "list", "data": self.models.listing()}))

    async def show_model(self, request: web.Request) -> web.StreamResponse:
        wanted = request.match_info["model"]
        entry = next((one for one in self.models.listing() if one["id"] == wanted), None)
        answer = self._at_the_door(request) or (_json(entry) if entry else unknown_model(wanted))
        return await sending.send(request, answer, 0.0)

    async def chat(self, request: web.Request) -> web.StreamResponse:
        """One chat request, from the door to the last byte."""
        self.in_flight += 1
        self.peak = max(self.peak, self.in_flight)
        try:
            body = _decoded(await request.read())
            gap = self._gap
            if isinstance(body, Raw):
                answer: Answer = body
            else:
                self._note(request, body)
                answer, gap = await self._answer(request, body)
            self.requests.answered(getattr(answer, "status", 200))
            return await sending.send(request, answer, gap)
        finally:
            self.in_flight -= 1

    async def _answer(self, request: web.Request, body: JsonObject) -> tuple[Answer, float]:
        model = str(body.get("model", ""))
        if struck := self._at_the_door(request) or self._limits(model):
            return struck, 0.0
        if not model:
            return error(400, "you must provide a model parameter"), 0.0
        found = self.models.find(model)
        if found is None:
            return unknown_model(model), 0.0
        ask = Ask(body, number=self.models.number(model))
        await _pause(self._latency.seconds(self._dice) + found.latency)
        return respond(ask, self.models.switches(ask, found), self.identity), found.chunk_gap or self._gap

    def _at_the_door(self, request: web.Request) -> Disruption | None:
        if self._api_key is None:
            return None
        given = request.headers.get("Authorization", "").removeprefix("Bearer ").strip()
        if not given:
            return no_key()
        return None if hmac.compare_digest(given.encode(), self._api_key.encode()) else wrong_key()

    def _limits(self, model: str) -> Disruption | None:
        if self._capacity is not None and self.in_flight > self._capacity:
            return rate_limited(None)
        limited = self._rate_limit.strike() if self._rate_limit else None
        return limited or self.outages.strike(model)

    def _note(self, request: web.Request, body: JsonObject) -> None:
        self.requests.add(
            Received(
                method=request.method,
                path=request.path,
                model=str(body.get("model", "")),
                headers=harmless(dict(request.headers)),
                body=body,
                authorised="Authorization" in request.headers,
                at=time.monotonic(),
            )
        )


async def _pause(seconds: float) -> None:
    if seconds > 0:
        await asyncio.sleep(seconds)


def _json(value: Any, status: int = 200) -> Raw:
    return Raw(content=msgspec.json.encode(value), status=status)


def _decoded(raw: bytes) -> JsonObject | Raw:
    try:
        value = msgspec.json.decode(raw)
    except msgspec.DecodeError:
        return error(400, "We could not parse the JSON body of your request. It is not valid JSON.")
    return value if isinstance(value, dict) else error(400, "The JSON body of your request must be an object.")


@web.middleware
async def _friendly_errors(request: web.Request, handler: Any) -> web.StreamResponse:
    """Wrong addresses and methods are answered in the protocol's shape."""
    try:
        response: web.StreamResponse = await handler(request)
    except web.HTTPNotFound:
        return sending.plain(error(404, f"Invalid URL ({request.method} {request.path})"))
    except web.HTTPMethodNotAllowed:
        text = f"Not allowed to {request.method} on {request.path}. Perhaps you meant to use a different HTTP method?"
        return sending.plain(error(405, text))
    return response
