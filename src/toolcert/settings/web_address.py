"""Web addresses: completes, checks and classifies what people write."""

from __future__ import annotations

import re
from ipaddress import ip_address
from urllib.parse import SplitResult, parse_qsl, urlsplit

from toolcert.core.secrets import parameter_names_secret

_HALF_A_SCHEME = re.compile("https?:(?!//)", re.IGNORECASE)
_DOUBLE_SLASH = re.compile("(?<!:)/{2,}")
"""A typing error, except after a colon: there a second address may follow, for a relay."""


def clean_address(text: str) -> str:
    """The address with scheme and without trailing slash; ValueError where it cannot be one.

    Addresses are kept in run logs and reports, so one that carries a credential is refused.
    """
    text = text.strip()
    if _HALF_A_SCHEME.match(text):
        raise ValueError("not a web address: two slashes follow http:")
    address = text if "://" in text else f"{_usual_scheme(text)}://{text}"
    parts = _split(address)
    if parts.username is not None or parts.password is not None:
        raise ValueError("an address must not carry a user name or password; use a header with a ${VARIABLE}")
    for name, _ in parse_qsl(parts.query):
        if parameter_names_secret(name):
            raise ValueError(f"an address must not carry a credential ({name}=...); use a key variable or a header")
    return parts._replace(path=_DOUBLE_SLASH.sub("/", parts.path).rstrip("/"), fragment="").geturl()


def looks_like_address(text: str) -> bool:
    """Whether a word is an address and not the name of a configured endpoint."""
    return "://" in text or "/" in text or ":" in text or text == "localhost"


def is_loopback(address: str) -> bool:
    """Whether requests to this address stay on this machine."""
    host = urlsplit(address).hostname or ""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def _usual_scheme(text: str) -> str:
    """`http` for this machine and private networks, where servers rarely have a certificate; else `https`."""
    host = urlsplit(f"//{text}").hostname or ""
    if text.partition("/")[0].endswith(":80") or host.endswith((".localhost", ".local")):
        return "http"
    try:
        return "http" if ip_address(host).is_private else "https"
    except ValueError:
        return "https" if "." in host else "http"


def _split(address: str) -> SplitResult:
    try:
        parts = urlsplit(address)
        host, _ = parts.hostname, parts.port
    except ValueError as error:
        raise ValueError(f"not a web address: {error}") from None
    if parts.scheme not in ("http", "https"):
        raise ValueError(f"expected an http:// or https:// address, not {parts.scheme}://")
    if not host or any(character.isspace() for character in address):
        raise ValueError("not a web address (expected something like https://host/v1)")
    return parts
