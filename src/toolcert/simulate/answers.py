"""What a vendor can answer: an ordinary reply, an error, raw bytes, silence, or a broken connection."""

from __future__ import annotations

from typing import Any, TypeAlias

import msgspec

from toolcert.core.values import Value


class Raw(Value):
    """A whole answer, byte for byte."""

    content: bytes
    status: int = 200
    content_type: str = "application/json"
    headers: dict[str, str] = {}


class Silence(Value):
    """No answer at all until the client gives up, or the seconds are over."""

    seconds: float = 600.0


class Reset(Value):
    """The connection breaks, after so many pieces of an event stream."""

    after: int = 0


class Events(Value):
    """An event stream, piece by piece."""

    frames: list[bytes]
    breaks: bool = False
    """The connection breaks after the last piece instead of ending."""


Disruption: TypeAlias = Raw | Silence | Reset
Answer: TypeAlias = Raw | Events | Silence | Reset


def as_json(value: Any, status: int = 200) -> Raw:
    """A JSON answer."""
    return Raw(content=msgspec.json.encode(value), status=status)


def error(
    status: int,
    message: str,
    *,
    kind: str = "invalid_request_error",
    param: str | None = None,
    code: Any = None,
    headers: dict[str, str] | None = None,
) -> Raw:
    """An error in the protocol's shape."""
    body = {"error": {"message": message, "type": kind, "param": param, "code": code}}
    return Raw(status=status, content=msgspec.json.encode(body), headers=headers or {})


def unknown_model(model: str) -> Raw:
    """The answer to a model id that is not served."""
    message = f"The model `{model}` does not exist or you do not have access to it."
    return error(404, message, code="model_not_found")


def rate_limited(retry_after: float | None = None) -> Raw:
    """The answer to a client that asks too often."""
    headers = {"retry-after": f"{retry_after:g}"} if retry_after is not None else {}
    message = "Rate limit reached for requests. Please try again later."
    return error(429, message, kind="requests", code="rate_limit_exceeded", headers=headers)


def server_error(status: int = 500) -> Raw:
    """The answer of a vendor in trouble."""
    message = "The server had an error while processing your request. Sorry about that!"
    if status == 503:
        message = "The engine is currently overloaded, please try again later."
    return error(status, message, kind="server_error")


def wrong_key() -> Raw:
    """The answer to a key nobody issued; the key itself is not repeated."""
    message = "Incorrect API key provided. You can find your API key in your account settings."
    return error(401, message, code="invalid_api_key")


def no_key() -> Raw:
    """The answer to a request without credentials."""
    message = "You didn't provide an API key. Provide it in an Authorization header using Bearer auth."
    return error(401, message)
