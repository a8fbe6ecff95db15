"""What all simulated vendors share, whatever their protocol: models, delays, limits, outages and the request log."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from threading import Lock

from aiohttp import web

from toolcert.core.errors import UsageError
from toolcert.core.values import JsonObject, Value
from toolcert.simulate.chat_completion import Identity
from toolcert.simulate.persona import Models
from toolcert.simulate.responder import complete_raw, respond
from toolcert.simulate.traffic import (
    Answer,
    Ask,
    Crowd,
    Disruption,
    Raw,
    Received,
    RequestLog,
    Reset,
    Silence,
    error,
    harmless,
    no_credits,
    rate_limited,
    server_error,
    unknown_model,
    upstream_error,
    wrong_key,
)


class Latency(Value):
    """Seconds before an answer begins."""

    low: float = 0.0
    high: float = 0.0
    """Equal to `low` for a fixed time; otherwise each time is drawn between the two."""
    tail: float = 0.0
    """Spread of a log-normal factor: 0.5 makes a few answers several times as slow."""

    def seconds(self, dice: random.Random) -> float:
        """Draw the delay of one answer."""
        base = self.low if self.high <= self.low else dice.uniform(self.low, self.high)
        return base * dice.lognormvariate(0.0, self.tail) if self.tail else base


def latency(given: float | str | Latency) -> Latency:
    """Read a delay: `0.2`, `"0.1-0.5"` (a range) or `"0.2~0.5"` (0.2 with a log-normal spread of 0.5)."""
    if isinstance(given, Latency):
        return given
    text = str(given)
    try:
        middle, _, tail = text.partition("~")
        low, _, high = middle.partition("-")
        return Latency(low=float(low), high=float(high or low), tail=float(tail or 0))
    except ValueError as problem:
        raise UsageError(
            f"{text!r} is not a latency.", remedy="Write seconds (0.2), a range (0.1-0.5) or a tail (0.2~0.5)."
        ) from problem


KINDS = ("400", "401", "402", "429", "500", "502", "503", "504", "529", "reset", "timeout")
_REFUSALS = {"400": upstream_error, "401": wrong_key, "402": no_credits}


class Outage:
    """Failing requests: `after` requests pass, the next `count` fail, or all of them until the outage is ended.

    With a `share`, each of those requests fails with that probability, whatever it asks for.
    """

    def __init__(
        self,
        kind: str,
        *,
        after: int = 0,
        count: int | None = None,
        retry_after: float | None = None,
        model: str | None = None,
        share: float = 1.0,
        seed: int = 1,
    ) -> None:
        if kind not in KINDS:
            raise UsageError(f"{kind!r} is not a kind of outage.", remedy=f"Choose one of {', '.join(KINDS)}.")
        self.kind = kind
        self._after = after
        self._left = count
        self._retry_after = retry_after
        self._model = model
        self._share = share
        self._dice = random.Random(f"{seed}/{kind}/{model}")

    def failure(self, model: str) -> Disruption | None:
        """The failure that the next request gets, or None."""
        if self._model not in (None, model):
            return None
        if self._after > 0:
            self._after -= 1
            return None
        if self._share < 1 and self._dice.random() >= self._share:
            return None
        if self._left is not None:
            if self._left <= 0:
                return None
            self._left -= 1
        return self._answer()

    def _answer(self) -> Disruption:
        if self.kind == "reset":
            return Reset()
        if self.kind == "timeout":
            return Silence()
        if self.kind == "429":
            return rate_limited(self._retry_after)
        if self.kind in _REFUSALS:
            return _REFUSALS[self.kind]()
        answer = server_error(int(self.kind))
        wait = {} if self._retry_after is None else {"retry-after": f"{self._retry_after:g}"}
        return Raw(content=answer.content, status=answer.status, headers=wait)


class RateLimit:
    """A limit of `requests` in any window of `seconds`."""

    def __init__(self, requests: int, seconds: float = 60.0, clock: Callable[[], float] = time.monotonic) -> None:
        self._most = requests
        self._window = seconds
        self._clock = clock
        self._times: list[float] = []

    def failure(self) -> Disruption | None:
        """A 429 with the seconds to wait, or None if the request may pass."""
        now = self._clock()
        self._times = [at for at in self._times if now - at < self._window]
        if len(self._times) >= self._most:
            return rate_limited(round(self._window - (now - self._times[0]) + 0.001, 3))
        self._times.append(now)
        return None


class Outages:
    """The outages of a vendor; safe to change from any thread."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._active: list[Outage] = []

    def add(self, outage: Outage) -> None:
        """Add an outage."""
        with self._lock:
            self._active.append(outage)

    def clear(self) -> None:
        """End all outages."""
        with self._lock:
            self._active.clear()

    def failure(self, model: str) -> Disruption | None:
        """The failure of the first outage that applies to this request, or None."""
        with self._lock:
            return next((failure for outage in self._active if (failure := outage.failure(model))), None)


class Backend:
    """Answers chat requests in the OpenAI protocol; servers of other protocols translate."""

    def __init__(
        self,
        models: Sequence[str] | Mapping[str, str] | None = None,
        *,
        latency: Latency = Latency(),  # noqa: B008  # a frozen value
        chunk_gap: float = 0.0,
        seed: int = 1,
        rate_limit: RateLimit | None = None,
        capacity: int | None = None,
        queueing: float = 0.0,
    ) -> None:
        self.models = Models(models, seed)
        self.requests = RequestLog()
        self.outages = Outages()
        self.identity = Identity(seed)
        self.peak = 0
        """The highest number of requests handled at the same time."""
        self._in_flight = 0
        self._since_idle = 0
        """The most requests handled at the same time since there was none."""
        self._crowds: dict[Crowd, JsonObject] = {}
        """Of each request that waits for its answer, with its body."""
        self._latency = latency
        self._gap = chunk_gap
        self._dice = random.Random(seed)
        self._rate_limit = rate_limit
        self._capacity = capacity
        self._queueing = queueing

    @asynccontextmanager
    async def working(self) -> AsyncIterator[None]:
        """Count a request as being handled while the context lasts."""
        self._in_flight += 1
        self.peak = max(self.peak, self._in_flight)
        self._since_idle = max(self._since_idle if self._in_flight > 1 else 0, self._in_flight)
        try:
            yield
        finally:
            self._in_flight -= 1

    def note(self, request: web.Request, body: JsonObject | None = None) -> None:
        """Add a request to the log."""
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
        """The answer to a chat or completions request, and the seconds between the events of its stream."""
        model = str(body.get("model", ""))
        if failure := self._limits(model):
            return failure, 0.0
        if not model:
            return error(400, "you must provide a model parameter"), 0.0
        found = self.models.find(model)
        if found is None:
            return unknown_model(model), 0.0
        with self._in_company(body) as crowd:
            ask = Ask(body, number=self.models.number(model), crowd=crowd)
            seconds = self._latency.seconds(self._dice) + found.latency
            seconds += (self._queueing + found.queueing) * (self._in_flight - 1)
            if seconds > 0:
                await asyncio.sleep(seconds)
        switches = self.models.switches(ask, found)
        answer = complete_raw(body, self.identity) if raw else respond(ask, switches, self.identity)
        return answer, found.chunk_gap or self._gap

    @contextmanager
    def _in_company(self, body: JsonObject) -> Iterator[Crowd]:
        """Announce this request to all that wait, and those to this one."""
        crowd = Crowd()
        crowd.neighbour = next(reversed(self._crowds.values()), None)
        self._crowds[crowd] = body
        for one in self._crowds:
            if one is not crowd:
                one.neighbour = body
        try:
            yield crowd
        finally:
            crowd.most = self._since_idle
            del self._crowds[crowd]

    def _limits(self, model: str) -> Disruption | None:
        if self._capacity is not None and self._in_flight > self._capacity:
            return rate_limited(None)
        limited = self._rate_limit.failure() if self._rate_limit else None
        return limited or self.outages.failure(model)
