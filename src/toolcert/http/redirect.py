"""Redirects: followed within one origin only, because credentials never go to another."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from urllib.parse import urljoin

import msgspec

from toolcert.core.errors import ConfigurationError
from toolcert.core.exchanges import Fault, FaultKind
from toolcert.http.base import HttpRequest, HttpResponse
from toolcert.http.url import parse_address

MOST_REDIRECTS = 3
"""A correct base URL needs none, a missing slash one."""
REDIRECTS = frozenset({301, 302, 303, 307, 308})
_KEEP_THE_METHOD = frozenset({307, 308})


def next_hop(request: HttpRequest, response: HttpResponse) -> HttpRequest | Fault:
    """The request that a redirect asks for, or why it is not sent."""
    location = response.headers.get("location")
    if not location:
        return _refused(response, "a redirect that does not say where to")
    try:
        url = urljoin(request.url, location)
        elsewhere = parse_address(url).origin
    except (ValueError, ConfigurationError):
        return _refused(response, "a redirect to an address that cannot be used")
    if elsewhere != parse_address(request.url).origin:
        return _refused(response, f"a redirect to {elsewhere}; credentials are not sent there (set it as base URL)")
    if response.status not in _KEEP_THE_METHOD and request.method != "GET":
        return _refused(response, f"a redirect to {url} that would turn {request.method} into GET")
    return msgspec.structs.replace(request, url=url)


def too_many(response: HttpResponse) -> HttpResponse:
    """The answer to the last of too many redirects."""
    return msgspec.structs.replace(response, fault=_refused(response, f"more than {MOST_REDIRECTS} redirects"))


def _refused(response: HttpResponse, why: str) -> Fault:
    return Fault(kind=FaultKind.CONFIGURATION, message=f"the server answers with {why}", status=response.status)


async def follow(
    attempt: Callable[[HttpRequest], Awaitable[HttpResponse]], request: HttpRequest, response: HttpResponse
) -> HttpResponse:
    """The answer from where `response`, the answer to `request`, redirects to; a refused redirect is a fault."""
    for _ in range(MOST_REDIRECTS):
        if response.status not in REDIRECTS or response.fault is not None:
            return response
        hop = next_hop(request, response)
        if isinstance(hop, Fault):
            return msgspec.structs.replace(response, fault=hop)
        request = hop
        response = await attempt(request)
    return too_many(response) if response.status in REDIRECTS else response
