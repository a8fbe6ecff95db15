"""What is behind every face of a simulated vendor: models, pace, limits, and the log."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager

from aiohttp import web

from toolcert.core.values import JsonObject
from toolcert.simulate.answers import Answer, Disruption, error, rate_limited, unknown_model
from toolcert.simulate.asking import Ask
from toolcert.simulate.completing import Identity
from toolcert.simulate.completions import complete_raw
from toolcert.simulate.log import Received, RequestLog, harmless
from toolcert.simulate.models import Models
from toolcert.simulate.outages import Outages, RateLimit
from toolcert.simulate.pace import Latency
from toolcert.simulate.responding import respond


class Backend:
    """Answers chat requests in the protocol's own form; a face translates where it speaks another."""

    def __init__(
        self,
        models: Sequence[str] | Mapping[str, str] | None = None,
        *,
        latency: Latency = Latency(),  # noqa: B008  # a frozen value
        chunk_gap: float = 0.0,
        seed: int = 1,
        rate_limit: RateLimit | None = None,
        capacity: int | None = None,
    ) -> None:
        self.models = Models(models, seed)
        self.requests = RequestLog()
        self.outages = Outages()
        self.identity = Identity(seed)
        self.peak = 0
        """Most requests worked on at the same time."""
        self._in_flight = 0
        self._latency = latency
        self._gap = chunk_gap
        self._dice = random.Random(seed)
        self._rate_limit = rate_limit
        self._capacity = capacity

    @asynccontextmanager
    async def working(self) -> AsyncIterator[None]:
        """Counts a request as being worked on."""
        self._in_flight += 1
        self.peak = max(self.peak, self._in_flight)
        try:
            yield
        finally:
            self._in_flight -= 1

    def note(self, request: web.Request, body: JsonObject | None = None) -> None:
        """Enter a request into the log."""
        body = body or {}
        self.requests.add(
            Received(
                method=request.method,
                path=request.path,
                model=str(body.get("model", body.get("model_id", ""))),
                headers=harmless(dict(request.headers)),
                body=body,
                authorised="Authorization" in request.headers,
                at=time.monotonic(),
            )
        )

    async def answer(self, body: JsonObject, *, raw: bool = False) -> tuple[Answer, float]:
        """The answer to a chat (or raw completions) request, and the seconds between the pieces of its stream."""
        model = str(body.get("model", ""))
        if struck := self._limits(model):
            return struck, 0.0
        if not model:
            return error(400, "you must provide a model parameter"), 0.0
        found = self.models.find(model)
        if found is None:
            return unknown_model(model), 0.0
        ask = Ask(body, number=self.models.number(model))
        seconds = self._latency.seconds(self._dice) + found.latency
        if seconds > 0:
            await asyncio.sleep(seconds)
        switches = self.models.switches(ask, found)
        answer = complete_raw(body, self.identity) if raw else respond(ask, switches, self.identity)
        return answer, found.chunk_gap or self._gap

    def _limits(self, model: str) -> Disruption | None:
        if self._capacity is not None and self._in_flight > self._capacity:
            return rate_limited(None)
        limited = self._rate_limit.strike() if self._rate_limit else None
        return limited or self.outages.strike(model)
