"""Whether an attempt is repeated, and after how long; decided from values, so that tests need no clock."""

from __future__ import annotations

import asyncio
import math
import random
import time
from collections.abc import Callable, Mapping
from datetime import UTC

from toolcert.core.exchanges import Fault, FaultKind
from toolcert.core.values import Value
from toolcert.http.base import HttpClient, HttpRequest, HttpResponse

RETRIED_STATUSES = frozenset({408, 409, 425, 429})
"""Besides every 5xx: the server may accept the same request later."""
TIMEOUT_RETRIES = 1
"""A timeout has already used its whole time limit; a second repetition rarely succeeds."""
_LARGEST_EXPONENT = 32
"""Beyond it every wait is at the cap anyway; without a bound the power would overflow."""
_HEADERS_IN_SECONDS = ("retry-after", "llm_provider-retry-after")
"""LiteLLM passes its upstream's header on under a prefix."""
_HEADERS_IN_MILLISECONDS = ("retry-after-ms", "llm_provider-retry-after-ms")


class RetryPolicy(Value):
    """How often a request is repeated, and how long to wait between attempts."""

    retries: int = 2
    base: float = 0.5
    """Upper bound of the first wait; it doubles with every attempt."""
    cap: float = 60.0
    """The longest wait of our own choice."""
    patience: float = 120.0
    """The longest wait that a server may ask for; a request is given up at once where it asks for more."""
    budget: float = 180.0
    """Seconds of waiting allowed for one request in all."""
    timeout_retries: int = TIMEOUT_RETRIES
    """How many of the retries a timeout may use."""
    repeats_broken: bool = False
    """Whether an answer that breaks off is a fault and is repeated, and one that is unreadable is repeated; otherwise
    what came is judged."""

    @classmethod
    def without_waits(cls, retries: int = 2) -> RetryPolicy:
        """The same decisions and no waiting at all: for tests."""
        return cls(retries=retries, base=0.0, cap=0.0, patience=0.0)

    def decide(
        self,
        attempt: int,
        *,
        status: int | None = None,
        fault: Fault | None = None,
        headers: Mapping[str, str] | None = None,
        waited: float = 0.0,
        now: float = 0.0,
        draw: Callable[[], float] = random.random,
    ) -> float | None:
        """Seconds to wait before trying again after attempt number `attempt` (1-based); None to stop.

        `waited` is what this request has waited already, `now` the Unix time, `draw` the source of jitter.
        """
        broken = self.repeats_broken and fault is not None and fault.kind is FaultKind.RESET
        if attempt > self.retries or not (broken or is_retried(attempt, status, fault, self.timeout_retries)):
            return None
        asked = parse_retry_after(headers or {}, now)
        if asked is None:
            wait = draw() * self._ceiling(attempt)
        elif self.is_too_long(asked):
            return None  # asking earlier than the server allows only adds refusals
        else:
            wait = min(asked, self.patience)
        return wait if waited + wait <= self.budget else None

    def is_too_long(self, asked: float) -> bool:
        """Whether a server asks for a longer wait than a request is worth; without waits nothing is too long."""
        return 0 < self.patience < asked

    def _ceiling(self, attempt: int) -> float:
        return min(self.cap, self.base * 2.0 ** min(attempt - 1, _LARGEST_EXPONENT))


def is_retried(attempt: int, status: int | None, fault: Fault | None, timeout_retries: int = TIMEOUT_RETRIES) -> bool:
    """Whether an attempt failed for a reason that may be transient."""
    kind = fault.kind if fault is not None else None
    if kind is FaultKind.TIMEOUT:
        return attempt <= timeout_retries
    if kind in (FaultKind.CONNECT, FaultKind.RESET):
        return status is None
    if kind in (FaultKind.TLS, FaultKind.OVERSIZED, FaultKind.CONFIGURATION):
        return False
    return status is not None and (status in RETRIED_STATUSES or status >= 500)


def is_overload(status: int | None, headers: Mapping[str, str]) -> bool:
    """Whether the server says that it gets too many requests: the only reason to slow down."""
    return status == 429 or (status == 503 and any(name in headers for name in _HEADERS_IN_SECONDS))


def parse_retry_after(headers: Mapping[str, str], now: float) -> float | None:
    """The seconds a server asks us to wait, in any of the spellings in use; `now` is Unix time."""
    for name in _HEADERS_IN_MILLISECONDS:
        if name in headers and (milliseconds := _number(headers[name])) is not None:
            return milliseconds / 1000
    for name in _HEADERS_IN_SECONDS:
        if name in headers and (seconds := _seconds(headers[name], now)) is not None:
            return seconds
    return None


def _seconds(value: str, now: float) -> float | None:
    number = _number(value)
    return number if number is not None else _until(value, now)


def _number(value: str) -> float | None:
    try:
        number = float(value)
    except ValueError:
        return None
    return number if math.isfinite(number) and number >= 0 else None


def _until(value: str, now: float) -> float | None:
    from email.utils import parsedate_to_datetime  # rarely needed, and slow to import

    try:
        date = parsedate_to_datetime(value)
        moment = (date if date.tzinfo is not None else date.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):  # no date, or one beyond the calendar
        return None
    return max(0.0, moment - now)


_MOST_RETRIES = 1
_LONGEST_WAIT = 10.0
"""Seconds: a person is waiting for the first line of output."""


class RetryingClient:
    """An HttpClient that repeats transient failures."""

    def __init__(self, client: HttpClient, policy: RetryPolicy) -> None:
        self._client = client
        self._policy = RetryPolicy(
            retries=min(policy.retries, _MOST_RETRIES),
            base=policy.base,
            cap=min(policy.cap, _LONGEST_WAIT),
            patience=min(policy.patience, _LONGEST_WAIT),
            budget=policy.budget,
        )

    async def send(self, request: HttpRequest, *, on_first_token: Callable[[], None] | None = None) -> HttpResponse:
        attempt = 1
        while True:
            response = await self._client.send(request, on_first_token=on_first_token)
            wait = self._policy.decide(
                attempt, status=response.status, fault=response.fault, headers=response.headers, now=time.time()
            )
            if wait is None or (response.fault is None and response.status is not None and response.status < 300):
                return response
            attempt += 1
            await asyncio.sleep(wait)

    async def close(self) -> None:
        await self._client.close()
