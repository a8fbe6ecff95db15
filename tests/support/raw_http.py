"""Plain HTTP for tests that look at what a server really sends."""

from __future__ import annotations

import http.client
import json
import ssl
from typing import Any, NamedTuple
from urllib.parse import urlsplit


class Got(NamedTuple):
    """An answer as it came."""

    status: int
    headers: dict[str, str]
    payload: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.payload)

    @property
    def events(self) -> list[Any]:
        """The JSON of every `data:` line but the end marker."""
        lines = self.payload.decode().splitlines()
        data = [line.removeprefix("data: ") for line in lines if line.startswith("data: ")]
        return [json.loads(one) for one in data if one != "[DONE]"]

    @property
    def message(self) -> dict[str, Any]:
        found: dict[str, Any] = self.json["choices"][0]["message"]
        return found


def fetch(
    method: str,
    url: str,
    body: Any = None,
    headers: dict[str, str] | None = None,
    *,
    timeout: float = 10.0,
    tls: ssl.SSLContext | None = None,
) -> Got:
    """One request, one answer; the connection is closed."""
    parts = urlsplit(url)
    assert parts.hostname
    connection: http.client.HTTPConnection
    if parts.scheme == "https":
        connection = http.client.HTTPSConnection(parts.hostname, parts.port, timeout=timeout, context=tls)
    else:
        connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=timeout)
    data = body if isinstance(body, (bytes, str)) or body is None else json.dumps(body)
    target = f"{parts.path}?{parts.query}" if parts.query else parts.path
    try:
        connection.request(method, target, data, {"Content-Type": "application/json", **(headers or {})})
        answer = connection.getresponse()
        return Got(answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read())
    finally:
        connection.close()


def chat(url: str, body: Any, headers: dict[str, str] | None = None, *, timeout: float = 10.0) -> Got:
    """One chat request."""
    return fetch("POST", f"{url}/chat/completions", body, headers, timeout=timeout)
