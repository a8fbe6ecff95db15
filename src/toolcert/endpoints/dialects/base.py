"""The interface of a dialect: no other code depends on which one an endpoint speaks."""

from __future__ import annotations

from typing import Protocol

from toolcert.core.exchanges import Fault
from toolcert.core.requests import Request
from toolcert.core.targets import EndpointSpec, ModelInfo
from toolcert.core.values import Value
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
