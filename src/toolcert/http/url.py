"""Where a request goes: the parts of its URL that a connection needs, the proxy in the environment, redirects."""

from __future__ import annotations

import os
from functools import lru_cache
from urllib.parse import quote, urljoin, urlsplit

import msgspec

from toolcert.core.errors import ConfigurationError
from toolcert.core.exchanges import Fault, FaultKind
from toolcert.core.values import Value
from toolcert.http.base import HttpRequest, HttpResponse

_LONGEST_LABEL = 63
_DEFAULT_PORTS = {"http": 80, "https": 443}
_SAFE = "%/:=&?~#+!$,;'@()*[]"
"""Characters that are not percent-encoded: users give addresses already encoded, or nearly so."""


class Origin(Value):
    """One server: requests may share connections, and credentials, within it."""

    scheme: str
    host: str
    port: int

    def __str__(self) -> str:
        return f"{self.scheme}://{self.authority}"

    @property
    def authority(self) -> str:
        """Host and port as the Host header writes them."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == _DEFAULT_PORTS[self.scheme] else f"{host}:{self.port}"


class Address(Value):
    """An origin and what to ask of it."""

    origin: Origin
    target: str
    """Path and query, as the request line writes them."""
    opening: str = ""
    """What follows the method of every request to this address."""


@lru_cache(maxsize=256)
def parse_address(url: str) -> Address:
    """The parts of an absolute http or https URL; ConfigurationError for anything else."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError as error:
        raise ConfigurationError(
            f"The address {url!r} cannot be used: {error}.", remedy="Check the base URL."
        ) from None
    if parts.scheme not in _DEFAULT_PORTS or not host:
        raise ConfigurationError(
            f"The address {url!r} cannot be used.", remedy="Give a base URL that begins with http:// or https://."
        )
    if parts.username is not None or parts.password is not None:
        raise ConfigurationError(
            f"The address of {host} has a user name or password in it.",
            remedy="Leave them out of the base URL; give the key by environment variable, or an Authorization header.",
        )
    origin = Origin(scheme=parts.scheme, host=_ascii_host(host), port=port or _DEFAULT_PORTS[parts.scheme])
    target = quote(parts.path or "/", safe=_SAFE)
    if parts.query:
        target += "?" + quote(parts.query, safe=_SAFE)
    return Address(origin=origin, target=target, opening=f" {target} HTTP/1.1\r\nHost: {origin.authority}\r\n")


def _ascii_host(host: str) -> str:
    """The host in ASCII, as resolvers want it; a name that cannot be encoded is refused."""
    if host.isascii() and all(0 < len(label) <= _LONGEST_LABEL for label in host.split(".")):
        return host  # without the tables of Unicode names
    try:
        return host.encode("idna").decode()
    except UnicodeError:
        raise ConfigurationError(f"{host!r} is not a host name.", remedy="Check the base URL.") from None


PROXY_REMEDY = "Check the proxy, or add the server's host to NO_PROXY to connect directly."


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
        return f"the proxy {place} that {self._variable(origin)} names"

    def _variable(self, origin: Origin) -> str:
        """The environment variable that applies, as it is spelled; lower case takes precedence."""
        kind = origin.scheme if self._named.get(origin.scheme) else "all"
        return next((name for name in (f"{kind}_proxy", f"{kind}_proxy".upper()) if os.environ.get(name)), "proxies")

    def _find(self, origin: Origin) -> str | None:
        proxy = self._named.get(origin.scheme) or self._named.get("all")
        if not proxy or _is_exempt(f"{origin.host}:{origin.port}", self._named):
            return None
        if "://" not in proxy:
            proxy = f"http://{proxy}"
        if not _is_complete(proxy):  # not shown: it may hold a password
            raise ConfigurationError(
                f"What {self._variable(origin)} holds is no address of a proxy.",
                remedy="Set it to http://HOST:PORT, or name the server's host in NO_PROXY.",
            )
        if urlsplit(proxy).scheme not in ("http", "https"):
            raise ConfigurationError(
                f"The proxy for {origin} that {self._variable(origin)} names is neither http nor https.",
                remedy="Set an http proxy there, or name the host in NO_PROXY.",
            )
        return proxy


def _is_complete(proxy: str) -> bool:
    try:
        parts = urlsplit(proxy)
        return bool(parts.hostname) and parts.port != 0 and " " not in proxy
    except ValueError:  # brackets that do not close, a port that is no number or too large
        return False


def without_credentials(proxy: str) -> str:
    """The address of a proxy without user name and password."""
    parts = urlsplit(proxy)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()


def _named_in_environment() -> dict[str, str]:
    """The proxies that the environment names; most name none, and then urllib.request is not imported."""
    if not any(name.lower().endswith("_proxy") for name in os.environ):
        return {}
    from urllib.request import getproxies_environment

    named: dict[str, str] = getproxies_environment()
    return named


def _is_exempt(host: str, named: dict[str, str]) -> bool:
    from urllib.request import proxy_bypass_environment  # type: ignore[attr-defined]  # no stub

    return bool(proxy_bypass_environment(host, named))


MOST_REDIRECTS = 3
"""A correct base URL needs none, a missing slash one."""
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_KEEP_THE_METHOD = frozenset({307, 308})


def next_hop(request: HttpRequest, response: HttpResponse, hops: int) -> HttpRequest | HttpResponse:
    """The request that a redirect asks for, or the response itself: final, or with the reason not to follow it.

    A redirect is followed within one origin only, because credentials never go to another.
    `hops` is the number of redirects followed so far.
    """
    if response.status not in _REDIRECTS or response.fault is not None:
        return response
    following = _redirected(request, response) if hops < MOST_REDIRECTS else f"more than {MOST_REDIRECTS} redirects"
    if isinstance(following, HttpRequest):
        return following
    text = f"the server answers with {following}"
    fault = Fault(kind=FaultKind.CONFIGURATION, message=text, status=response.status)
    return msgspec.structs.replace(response, fault=fault)


def _redirected(request: HttpRequest, response: HttpResponse) -> HttpRequest | str:
    """The request at its new address, or why it is not sent there."""
    location = response.headers.get("location")
    if not location:
        return "a redirect that does not say where to"
    try:
        url = urljoin(request.url, location)
        target = parse_address(url).origin
    except (ValueError, ConfigurationError):
        return "a redirect to an address that cannot be used"
    if target != parse_address(request.url).origin:
        return f"a redirect to {target}; credentials are not sent there (set it as base URL)"
    if response.status not in _KEEP_THE_METHOD and request.method != "GET":
        return f"a redirect to {url} that would turn {request.method} into GET"
    return msgspec.structs.replace(request, url=url)
