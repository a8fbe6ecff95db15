"""Proxies named in the environment, as other tools understand it: HTTP_PROXY, HTTPS_PROXY, ALL_PROXY, NO_PROXY."""

from __future__ import annotations

from urllib.parse import urlsplit
from urllib.request import getproxies_environment, proxy_bypass_environment  # type: ignore[attr-defined]  # no stub

from toolcert.core.errors import ConfigurationError
from toolcert.wire.address import Origin


class Proxies:
    """The proxy for each origin, read once from the environment."""

    def __init__(self, *, trust_env: bool = True) -> None:
        self._named = getproxies_environment() if trust_env else {}
        self._known: dict[Origin, str | None] = {}

    def __bool__(self) -> bool:
        return bool(self._named)

    def for_origin(self, origin: Origin) -> str | None:
        """The URL of the proxy in front of `origin`; None where it is reached directly."""
        if origin not in self._known:
            self._known[origin] = self._find(origin)
        return self._known[origin]

    def _find(self, origin: Origin) -> str | None:
        proxy = self._named.get(origin.scheme) or self._named.get("all")
        if not proxy or proxy_bypass_environment(f"{origin.host}:{origin.port}", self._named):
            return None
        if "://" not in proxy:
            proxy = f"http://{proxy}"
        if urlsplit(proxy).scheme not in ("http", "https"):
            raise ConfigurationError(
                f"The proxy for {origin} is neither http nor https.",
                remedy="Set an http proxy in the environment, or name the host in NO_PROXY.",
            )
        return proxy
