"""The HTTP client of the program: directly where it can, through a proxy where it must."""

from __future__ import annotations

from collections.abc import Callable

from toolcert.core.secrets import Eraser
from toolcert.wire.address import parse_address
from toolcert.wire.direct import DirectClient
from toolcert.wire.http import HttpClient, HttpRequest, HttpResponse
from toolcert.wire.intake import Caps
from toolcert.wire.proxies import Proxies


class Client:
    """Sends each request on its way. What goes wrong on the server's side is in the response, never raised."""

    def __init__(
        self,
        *,
        eraser: Eraser | None = None,
        ca_bundle: str | None = None,
        limit: int = 512,
        trust_env: bool = True,
        caps: Caps | None = None,
    ) -> None:
        """`limit` bounds the connections kept; `trust_env` takes proxies from the environment."""
        self._eraser = eraser or Eraser()
        self._ca_bundle = ca_bundle
        self._limit = limit
        self._trust_env = trust_env
        self._caps = caps or Caps()
        self._proxies = Proxies(trust_env=trust_env)
        self._direct = DirectClient(eraser=self._eraser, ca_bundle=ca_bundle, limit=limit, caps=self._caps)
        self._proxied: HttpClient | None = None

    async def send(self, request: HttpRequest, *, on_first_token: Callable[[], None] | None = None) -> HttpResponse:
        """Send one attempt."""
        if self._proxies and self._proxies.for_origin(parse_address(request.url).origin):
            return await self._through_proxy().send(request, on_first_token=on_first_token)
        return await self._direct.send(request, on_first_token=on_first_token)

    async def close(self) -> None:
        """Close all connections."""
        await self._direct.close()
        if self._proxied is not None:
            await self._proxied.close()

    def _through_proxy(self) -> HttpClient:
        if self._proxied is None:
            from toolcert.wire.proxied import AiohttpClient  # a tenth of a second, for those with a proxy only

            self._proxied = AiohttpClient(
                eraser=self._eraser,
                ca_bundle=self._ca_bundle,
                limit=self._limit,
                trust_env=self._trust_env,
                caps=self._caps,
            )
        return self._proxied
