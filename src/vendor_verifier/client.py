"""The client under its older name: which server to ask and how; single requests can be sent with it."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import msgspec

from toolcert.api.endpoint import Endpoint
from toolcert.core.requests import Request
from toolcert.core.values import JsonObject
from toolcert.endpoints.registry import open_endpoint
from toolcert.endpoints.session import EndpointSession
from toolcert.http.retry import RetryPolicy
from toolcert.protocol.reply import read_reply
from toolcert.reports.json import whole
from toolcert.verification.adapters import ModelAdapter
from toolcert.verification.verify_options import Shaping, prepare
from vendor_verifier import config

__all__ = ["ApiClient"]


class ApiClient:
    """One model at one address; connections are opened at first use."""

    def __init__(  # noqa: PLR0917 - the parameters of the older tool, in its order
        self,
        adapter: ModelAdapter,
        model: str,
        base_url: str,
        api_key: str | None = None,
        concurrency: int = config.DEFAULT_CONCURRENCY,
        timeout: float = config.DEFAULT_TIMEOUT,
        max_retries: int = config.DEFAULT_RETRIES,
        extra_body: JsonObject | None = None,
        temperature: float | None = None,
        max_tokens: int | None = None,
    ) -> None:
        self.adapter = adapter
        self.model = model
        self.base_url = base_url
        self.api_key = api_key
        self.concurrency = concurrency
        self.timeout = timeout
        self.max_retries = max_retries
        self.extra_body = extra_body or {}
        self.temperature = temperature
        self.max_tokens = max_tokens
        self._session: EndpointSession | None = None

    def prepare_request(self, request: JsonObject) -> JsonObject:
        """The request as it is sent; the one given is not changed."""
        shaping = Shaping(
            model=self.model, temperature=self.temperature, max_tokens=self.max_tokens, extra_body=self.extra_body
        )
        return prepare(deepcopy(request), shaping, self.adapter)

    async def send_request(self, request: JsonObject) -> tuple[str, Any]:
        """Send one request with its retries: `success` and the answer, or `failed` and the error."""
        exchange = await self._opened().ask(Request(body={**request, **self.extra_body}))
        if exchange.fault is not None:
            return "failed", {"error": exchange.fault.message}
        reply = read_reply(exchange)
        if not reply.readable:
            return "failed", {"error": reply.irregularities[-1].evidence}
        if exchange.event_stream:
            return "success", whole(reply.as_completion())
        return "success", msgspec.json.decode(exchange.payload)

    async def close(self) -> None:
        """Close the connections."""
        if self._session is not None:
            await self._session.close()
            self._session = None

    def _opened(self) -> EndpointSession:
        if self._session is None:
            endpoint = Endpoint(
                self.base_url,
                api_key=self.api_key,
                key_env=config.API_KEY_VARIABLE,
                timeout=self.timeout,
                retries=self.max_retries,
                concurrency=self.concurrency,
            )
            self._session = open_endpoint(endpoint.spec, endpoint.key, policy=patience(self.max_retries))
        return self._session


def patience(retries: int) -> RetryPolicy:
    """Repeat every failure this many times, timeouts, answers that break off and unreadable ones included."""
    return RetryPolicy(retries=retries, timeout_retries=retries, repeats_broken=True)
