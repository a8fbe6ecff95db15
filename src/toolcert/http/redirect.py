"""Redirects: followed within one origin only, because credentials never go to another."""

from __future__ import annotations

from urllib.parse import urljoin

import msgspec

from toolcert.core.errors import ConfigurationError
from toolcert.core.exchanges import Fault, FaultKind
from toolcert.http.base import HttpRequest, HttpResponse
from toolcert.http.url import parse_address

MOST_REDIRECTS = 3
"""A correct base URL needs none, a missing slash one."""
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_KEEP_THE_METHOD = frozenset({307, 308})


def next_hop(request: HttpRequest, response: HttpResponse, hops: int) -> HttpRequest | HttpResponse:
    """The request that a redirect asks for, or the response itself: final, or with the reason not to follow it.

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
