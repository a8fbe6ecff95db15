"""Where a request goes: the parts of its URL that a connection needs."""

from __future__ import annotations

from functools import lru_cache
from urllib.parse import quote, urlsplit

from toolcert.core.errors import ConfigurationError
from toolcert.core.values import Value

_DEFAULT_PORTS = {"http": 80, "https": 443}
_SAFE = "%/:=&?~#+!$,;'@()*[]"
"""Characters that stay as written: an address is given in its encoded form or nearly so."""


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
    """The host as names are looked up; a name that no resolver would take is refused here."""
    try:
        return host.encode("idna").decode()
    except UnicodeError:
        raise ConfigurationError(f"{host!r} is no host name.", remedy="Check the base URL.") from None
