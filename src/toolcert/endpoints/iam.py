"""IBM's access tokens: got with the API key, renewed before they expire, once for all who wait."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Any
from urllib.parse import urlencode

import msgspec

from toolcert.core.errors import ConfigurationError, NothingMeasuredError, UnauthorisedError, UnreachableError
from toolcert.core.secrets import Eraser, Secret
from toolcert.core.targets import EndpointSpec
from toolcert.core.values import Value
from toolcert.endpoints.error_texts import read_error_text
from toolcert.endpoints.patience import PatientClient
from toolcert.endpoints.regions import Region
from toolcert.wire.client import Client
from toolcert.wire.http import HttpRequest, HttpResponse
from toolcert.wire.retry import RetryPolicy
from toolcert.wire.texts import NOT_JSON

_GRANT = "urn:ibm:params:oauth:grant-type:apikey"
_MARGIN = 60.0
"""Seconds before expiry at which a token is renewed, so that none runs out on its way."""
_LARGEST_SHARE = 0.1
"""Of its lifetime: a token that lives a minute is not renewed with every request."""
_USUAL_LIFETIME = 3600.0


class Token(Value):
    """The header to send and until when (monotonic clock)."""

    header: dict[str, str]
    renew_at: float


class TokenSource:
    """Gives the current token to any number of concurrent callers."""

    def __init__(
        self,
        spec: EndpointSpec,
        region: Region,
        key: Secret,
        eraser: Eraser,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._spec = spec
        self._region = region
        self._key = key
        self._eraser = eraser
        self._clock = clock
        self._token: Token | None = None
        self._lock = asyncio.Lock()
        self.url = token_url(spec, region)

    async def header(self, *, renew: bool = False) -> dict[str, str]:
        """The header with a token that is still good; `renew` when the server says it is not."""
        stale = self._token
        if stale is not None and not renew and self._clock() < stale.renew_at:
            return stale.header
        async with self._lock:
            if self._token is None or self._token is stale:
                self._token = await self._fetch()
            return self._token.header

    async def _fetch(self) -> Token:
        asked_at = self._clock()
        response = await self._send()
        if response.status != 200:
            raise self._error(response)
        answer = _object(response.payload)
        value = answer.get("token" if self._region.saas else "access_token")
        if not isinstance(value, str) or not value:
            raise NothingMeasuredError(f"{self._spec.name}: {self.url} answers without a token.")
        self._eraser.add(Secret(value, source=self.url))
        return Token(header={"Authorization": f"Bearer {value}"}, renew_at=asked_at + _useful_life(answer))

    async def _send(self) -> HttpResponse:
        """Ask with a client of our own: the session's erases known tokens, and IAM may issue the same one again."""
        client = Client(ca_bundle=self._spec.ca_bundle, limit=1)
        try:
            return await PatientClient(client, RetryPolicy(retries=self._spec.retries)).send(self._request())
        finally:
            await client.close()

    def _request(self) -> HttpRequest:
        if self._region.saas:
            kind, content = "application/json", msgspec.json.encode({"apikey": self._key.reveal()})
        else:
            form = urlencode({"grant_type": _GRANT, "apikey": self._key.reveal()})
            kind, content = "application/x-www-form-urlencoded", form.encode()
        headers = {"Content-Type": kind, "Accept": "application/json"}
        return HttpRequest(method="POST", url=self.url, headers=headers, content=content, timeouts=self._spec.timeouts)

    def _error(self, response: HttpResponse) -> NothingMeasuredError | ConfigurationError:
        name = self._spec.name
        if response.fault is not None:
            return UnreachableError(f"{name}: no token from {self.url}: {response.fault.message}")
        told = self._eraser.text(read_error_text(response.payload).message)
        if response.status in (400, 401, 403):
            return UnauthorisedError(f"{name}: {self.url} refuses the key from {self._key.source}: {told}")
        if response.status == 404:
            return ConfigurationError(f"{name}: there are no tokens at {self.url}.", remedy="Check --iam-url.")
        return NothingMeasuredError(f"{name}: {self.url} answers {response.status}: {told}")


def token_url(spec: EndpointSpec, region: Region) -> str:
    """The user's address of the token service, with or without its path."""
    given = spec.options.get("iam_url")
    if given is None:
        return region.iam_url + region.token_path
    given = str(given).rstrip("/")
    return given if given.endswith("/token") else given + region.token_path


def _useful_life(answer: dict[str, Any]) -> float:
    seconds = answer.get("expires_in")
    life = float(seconds) if isinstance(seconds, int | float) and not isinstance(seconds, bool) else _USUAL_LIFETIME
    return life - min(_MARGIN, life * _LARGEST_SHARE)


def _object(payload: bytes) -> dict[str, Any]:
    try:
        answer = msgspec.json.decode(payload)
    except NOT_JSON:
        return {}
    return answer if isinstance(answer, dict) else {}
