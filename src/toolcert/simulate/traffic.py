"""A request to the simulated vendor, the kinds of answers it can send, and the log of requests."""

from __future__ import annotations

import zlib
from collections import Counter, deque
from collections.abc import Iterator
from functools import cached_property
from random import Random
from typing import Any, TypeAlias

import msgspec

from toolcert.core.values import JsonObject, Value


class Crowd:
    """The company of a request at the vendor: how many there were, and what one of them asked."""

    def __init__(self) -> None:
        self.most = 1
        """Requests in flight at once since the vendor was last idle: a batch that grew does not shrink at once."""
        self.neighbour: JsonObject | None = None


class Ask:
    """The body of a chat request, with what faults and personas need to know of it."""

    def __init__(self, body: JsonObject, *, number: int = 0, option: str = "", crowd: Crowd | None = None) -> None:
        self.body = body
        self.crowd = crowd or Crowd()
        self.number = number
        """Number of earlier requests to this model."""
        self.option = option
        """The text after the fault's code in the model id."""

    def with_option(self, option: str) -> Ask:
        """The same request with the option of a fault."""
        return Ask(self.body, number=self.number, option=option, crowd=self.crowd)

    @property
    def model(self) -> str:
        return str(self.body.get("model", ""))

    @property
    def stream(self) -> bool:
        return self.body.get("stream") is True

    @property
    def wants_usage(self) -> bool:
        """Whether the client asked for usage at the end of the stream."""
        options = self.body.get("stream_options")
        return isinstance(options, dict) and options.get("include_usage") is True

    @property
    def messages(self) -> list[JsonObject]:
        messages = self.body.get("messages")
        return messages if isinstance(messages, list) else []

    @property
    def tools(self) -> list[Any]:
        tools = self.body.get("tools")
        return tools if isinstance(tools, list) else []

    @property
    def after_result(self) -> bool:
        """Whether the last message is a tool result."""
        return bool(self.messages) and self.messages[-1].get("role") == "tool"

    @property
    def token_limit(self) -> int | None:
        limit = self.body.get("max_completion_tokens", self.body.get("max_tokens"))
        return limit if isinstance(limit, int) and not isinstance(limit, bool) else None

    @cached_property
    def prompt(self) -> bytes:
        """What the model reads, as text; the same whether the request is streamed or not."""
        return msgspec.json.encode((self.messages, self.tools))

    @property
    def dice(self) -> Random:
        """A pseudo-random choice that is always the same for the same conversation."""
        return Random(zlib.crc32(self.prompt))


class Raw(Value):
    """An answer in one piece."""

    content: bytes
    status: int = 200
    content_type: str = "application/json"
    headers: dict[str, str] = {}


class Silence(Value):
    """No answer until the client gives up or the seconds have passed."""

    seconds: float = 600.0


class Reset(Value):
    """A reset of the connection, after `after` events of a stream."""

    after: int = 0


class Events(Value):
    """A stream of events."""

    frames: list[bytes]
    breaks: bool = False
    """The connection is reset after the last event."""


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
    """An error in the protocol's form."""
    body = {"error": {"message": message, "type": kind, "param": param, "code": code}}
    return Raw(status=status, content=msgspec.json.encode(body), headers=headers or {})


def unknown_model(model: str) -> Raw:
    """The answer to a model id that is not served."""
    message = f"The model `{model}` does not exist or you do not have access to it."
    return error(404, message, code="model_not_found")


def rate_limited(retry_after: float | None = None) -> Raw:
    """The 429 for a client that asks too often."""
    headers = {"retry-after": f"{retry_after:g}"} if retry_after is not None else {}
    message = "Rate limit reached for requests. Please try again later."
    return error(429, message, kind="requests", code="rate_limit_exceeded", headers=headers)


def server_error(status: int = 500) -> Raw:
    """An error of the server."""
    message = "The server had an error while processing your request. Sorry about that!"
    if status == 503:
        message = "The engine is currently overloaded, please try again later."
    return error(status, message, kind="server_error")


def wrong_key() -> Raw:
    """The error for a wrong key; it does not repeat the key."""
    message = "Incorrect API key provided. You can find your API key in your account settings."
    return error(401, message, code="invalid_api_key")


def no_credits() -> Raw:
    """The error for an account without credit."""
    return error(402, "Insufficient credits. Add more to your account and try again.", code=402)


def upstream_error() -> Raw:
    """The 400 with which a router passes on that its upstream failed: it says nothing about the request."""
    return error(400, "Provider returned error", code=400)


def no_key() -> Raw:
    """The error for a request without a key."""
    message = "You didn't provide an API key. Provide it in an Authorization header using Bearer auth."
    return error(401, message)


_KEPT = 20_000
"""Requests that are kept; later ones are only counted."""
_SECRET = ("authorization", "api-key", "x-api-key", "cookie", "proxy-authorization")


class Received(Value):
    """One request in the log."""

    method: str
    path: str
    model: str = ""
    headers: dict[str, str] = {}
    """Header names in lower case, without headers that carry credentials."""
    body: JsonObject = {}
    authorised: bool = False
    """Whether it carried a credential."""
    at: float = 0.0
    """Seconds on a monotonic clock."""


class RequestLog:
    """The requests so far; safe to read from any thread."""

    def __init__(self) -> None:
        self._kept: deque[Received] = deque(maxlen=_KEPT)
        self._by_model: Counter[str] = Counter()
        self._by_status: Counter[int] = Counter()

    def add(self, received: Received) -> None:
        self._kept.append(received)
        if received.model:
            self._by_model[received.model] += 1

    def answered(self, status: int) -> None:
        self._by_status[status] += 1

    def clear(self) -> None:
        """Forget everything, counts included."""
        for kept in (self._kept, self._by_model, self._by_status):
            kept.clear()

    def count(self, model: str | None = None) -> int:
        """Chat requests received, for one model or for all."""
        return self._by_model[model] if model is not None else self._by_model.total()

    def by_status(self) -> dict[int, int]:
        """Number of answers by status."""
        return dict(self._by_status)

    def bodies(self, model: str | None = None) -> list[JsonObject]:
        """The bodies of the chat requests."""
        return [one.body for one in self if one.model and model in (None, one.model)]

    def __iter__(self) -> Iterator[Received]:
        return iter(tuple(self._kept))

    def __len__(self) -> int:
        return len(self._kept)

    def __getitem__(self, place: int) -> Received:
        return self._kept[place]


def harmless(headers: dict[str, str]) -> dict[str, str]:
    """The headers in lower case, without those that carry credentials."""
    return {name.lower(): value for name, value in headers.items() if name.lower() not in _SECRET}
