"""IBM's regions and access tokens: a token is renewed before it expires, once for all who wait."""

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
from toolcert.core.text.spelling import did_you_mean
from toolcert.core.values import Value
from toolcert.endpoints.dialects.error_answer import read_error_text
from toolcert.http.base import HttpRequest, HttpResponse
from toolcert.http.client import Client
from toolcert.http.retry import RetryingClient, RetryPolicy
from toolcert.protocol.unicode import NOT_JSON

_CLOUD_IAM = "https://iam.cloud.ibm.com"
_AWS_IAM = "https://account-iam.platform.saas.ibm.com"


class Region(Value):
    """One region: its API, its token service, and which of the two token forms that speaks."""

    url: str
    iam_url: str = _CLOUD_IAM
    saas: bool = False
    """AWS and government regions: JSON in, `token` out, at another path."""
    token_path: str = "/identity/token"  # noqa: S105 - an address, not a password


def _cloud(name: str) -> Region:
    return Region(url=f"https://{name}.ml.cloud.ibm.com")


def _aws(name: str) -> Region:
    url = f"https://{name}.aws.wxai.ibm.com"
    return Region(url=url, iam_url=_AWS_IAM, saas=True, token_path="/api/2.0/apikeys/token")  # noqa: S106 - an address


REGIONS: dict[str, Region] = {
    **{name: _cloud(name) for name in ("us-south", "eu-de", "eu-gb", "jp-tok", "au-syd", "ca-tor")},
    **{name: _aws(name) for name in ("us-east-1", "ap-south-1")},
    "us-gov": Region(
        url="https://wxai.ibmforusgov.com",
        iam_url="https://dai.ibmforusgov.com",
        saas=True,
        token_path="/api/rest/mcsp/apikeys/token",  # noqa: S106 - an address, not a password
    ),
}
DEFAULT_REGION = "us-south"


def region_named(name: str) -> Region:
    """The region of this name."""
    region = REGIONS.get(name)
    if region is None:
        remedy = did_you_mean(name, REGIONS) or f"Known: {', '.join(REGIONS)}; or give --base-url."
        raise ConfigurationError(f"there is no watsonx.ai region {name!r}.", remedy=remedy)
    return region


def region_of(base_url: str) -> Region:
    """The region an explicit address belongs to; elsewhere tokens come from IBM Cloud, unless configured otherwise."""
    known = (region for region in REGIONS.values() if region.url == base_url.rstrip("/"))
    return next(known, Region(url=base_url))


_GRANT = "urn:ibm:params:oauth:grant-type:apikey"
_MARGIN = 60.0
"""Seconds before expiry at which a token is renewed, so that none expires in flight."""
_LARGEST_SHARE = 0.1
"""Of its lifetime: a token that lives a minute is not renewed with every request."""
_USUAL_LIFETIME = 3600.0


class Token(Value):
    """The header to send, and when it expires (monotonic clock)."""

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
            return await RetryingClient(client, RetryPolicy(retries=self._spec.retries)).send(self._request())
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
