"""Small requests of our own (listings, tokens) tried again like all others, but not for long."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

from toolcert.wire.http import HttpClient, HttpRequest, HttpResponse
from toolcert.wire.retry import RetryPolicy

_MOST_RETRIES = 1
_LONGEST_WAIT = 10.0
"""Seconds: somebody looks at the terminal and waits for the first line."""


class PatientClient:
    """An HttpClient that repeats what failed for a passing reason."""

    def __init__(self, client: HttpClient, policy: RetryPolicy) -> None:
        self._client = client
        self._policy = RetryPolicy(
            retries=min(policy.retries, _MOST_RETRIES),
            base=policy.base,
            cap=min(policy.cap, _LONGEST_WAIT),
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
