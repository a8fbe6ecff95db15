"""The interface of a dialect, and the adaptation of requests whose parameters a server refuses.

No other code depends on which dialect an endpoint speaks.
"""

from __future__ import annotations

import re
from typing import Protocol

from toolcert.core.exchanges import Fault
from toolcert.core.requests import Request
from toolcert.core.targets import EndpointSpec, ModelInfo
from toolcert.core.text.lazy_pattern import lazy_pattern
from toolcert.core.values import JsonObject, Value
from toolcert.endpoints.dialects.error_answer import ErrorText
from toolcert.http.base import HttpClient, HttpRequest, HttpResponse


class Adapted(Value):
    """A request changed because the server refused one of its parameters, and the note that says so."""

    request: Request
    note: str
    parameter: str
    """What was refused; later requests for the model go without it from the start."""
    renamed: bool
    """Whether the parameter is sent under another name."""


class Dialect(Protocol):
    """How requests, credentials and errors look at one kind of server."""

    spec: EndpointSpec

    async def authorise(self, client: HttpClient, *, renew: bool = False) -> dict[str, str]:
        """Headers that carry the credentials; `renew` after a 401."""

    def compose(self, request: Request) -> HttpRequest:
        """The HTTP request for `request`, without credentials."""

    async def models(self, client: HttpClient) -> list[ModelInfo]:
        """The models the endpoint lists; raises ListingError, UnauthorisedError or UnreachableError."""

    def read_error(self, response: HttpResponse) -> Fault:
        """What an error answer (status >= 400) means, in one line."""

    def adapt(self, request: Request, response: HttpResponse) -> Adapted | None:
        """The request without the parameter that a 400 names as unsupported; None where it names none."""


_ANOTHER_NAME = {"max_tokens": "max_completion_tokens", "max_completion_tokens": "max_tokens"}
ADAPTABLE = (
    "max_completion_tokens",
    "max_tokens",
    "temperature",
    "top_p",
    "top_k",
    "presence_penalty",
    "frequency_penalty",
    "seed",
    "stream_options",
)
"""Parameters that only shape sampling or accounting: leaving one out does not change what is measured."""
_REFUSAL = lazy_pattern(
    r"unsupported|not supported|n't support|not support|unrecognized|unknown (?:parameter|field|argument)"
    r"|extra (?:inputs|fields)|not permitted|not allowed|deprecated|only the default",
    re.IGNORECASE,
)


def refused_parameter(request: Request, error: ErrorText) -> str | None:
    """The adaptable parameter of this request that the error says is not supported."""
    if not (_REFUSAL.search(error.message) or error.code.startswith("unsupported")):
        return None
    if error.parameter in ADAPTABLE and error.parameter in request.body:
        return error.parameter
    for name in ADAPTABLE:
        if name in request.body and re.search(rf"(?<![\w.]){name}(?!\w)", error.message):
            return name
    return None


def without_parameter(request: Request, parameter: str) -> Adapted:
    """The request without the parameter, or with its newer name, and the note that says so."""
    body: JsonObject = {name: value for name, value in request.body.items() if name != parameter}
    other = _ANOTHER_NAME.get(parameter, parameter)
    renamed = other != parameter and other not in body
    if renamed:
        body[other] = request.body[parameter]
    done = f"sent {other} instead of {parameter}" if renamed else f"left out {parameter}"
    note = f"{done}, which the server refuses"
    return Adapted(request=Request(body=body, kind=request.kind), note=note, parameter=parameter, renamed=renamed)
