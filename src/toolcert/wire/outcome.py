"""What every client does with an answer: erase secrets from it, and follow its redirects."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import msgspec

from toolcert.core.exchanges import Fault
from toolcert.core.secrets import Eraser
from toolcert.wire.http import HttpRequest, HttpResponse
from toolcert.wire.redirects import MOST_REDIRECTS, REDIRECTS, next_hop, too_many


def erased_fault(eraser: Eraser, fault: Fault) -> Fault:
    """`fault` with no secret in its message."""
    return msgspec.structs.replace(fault, message=eraser.text(fault.message))


def erased_headers(eraser: Eraser, headers: dict[str, str]) -> dict[str, str]:
    """`headers` with no secret in their values; the usual case costs one look at all of them."""
    values = "\n".join(headers.values())
    if eraser.text(values) is values:
        return headers
    return {name: eraser.text(value) for name, value in headers.items()}


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
