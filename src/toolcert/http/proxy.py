"""Proxies named in the environment, as other tools understand it: HTTP_PROXY, HTTPS_PROXY, ALL_PROXY, NO_PROXY."""

from __future__ import annotations

import os
from urllib.parse import urlsplit

from toolcert.core.errors import ConfigurationError
from toolcert.http.url import Origin

THE_PROXY = "the proxy "
"""Begins every mention of a proxy in a fault, so that the remedy can speak of it."""

PROXY_REMEDY = "Check the proxy, or name the host of the server in NO_PROXY, which goes round it."


class Proxies:
    """The proxy for each origin, read once from the environment."""

    def __init__(self, *, trust_env: bool = True) -> None:
        self._named = _named_in_environment() if trust_env else {}
        self._known: dict[Origin, str | None] = {}

    def __bool__(self) -> bool:
        return bool(self._named)

    def for_origin(self, origin: Origin) -> str | None:
        """The URL of the proxy in front of `origin`; None where it is reached directly."""
        if origin not in self._known:
            self._known[origin] = self._find(origin)
        return self._known[origin]

    def described(self, origin: Origin) -> str:
        """The proxy in front of `origin` for people: where it is, without its password, and who named it."""
        place = urlsplit(without_credentials(self.for_origin(origin) or "")).netloc
        return f"{THE_PROXY}{place} that {self._variable(origin)} names"

    def _variable(self, origin: Origin) -> str:
        """The variable that counts, in the spelling that is set; the one in small letters outweighs the other."""
        kind = origin.scheme if self._named.get(origin.scheme) else "all"
        return next((name for name in (f"{kind}_proxy", f"{kind}_proxy".upper()) if os.environ.get(name)), "proxies")

    def _find(self, origin: Origin) -> str | None:
        proxy = self._named.get(origin.scheme) or self._named.get("all")
        if not proxy or _is_exempt(f"{origin.host}:{origin.port}", self._named):
            return None
        if "://" not in proxy:
            proxy = f"http://{proxy}"
        if urlsplit(proxy).scheme not in ("http", "https"):
            raise ConfigurationError(
                f"The proxy for {origin} that {self._variable(origin)} names is neither http nor https.",
                remedy="Set an http proxy there, or name the host in NO_PROXY.",
            )
        return proxy


def without_credentials(proxy: str) -> str:
    """The address of a proxy without user name and password."""
    parts = urlsplit(proxy)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()


def _named_in_environment() -> dict[str, str]:
    """Most environments name none, and then the library that reads them need not be loaded."""
    if not any(name.lower().endswith("_proxy") for name in os.environ):
        return {}
    from urllib.request import getproxies_environment

    named: dict[str, str] = getproxies_environment()
    return named


def _is_exempt(host: str, named: dict[str, str]) -> bool:
    from urllib.request import proxy_bypass_environment  # type: ignore[attr-defined]  # no stub

    return bool(proxy_bypass_environment(host, named))
