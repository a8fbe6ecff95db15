"""The dialect of most servers: OpenAI's chat completions at any address."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import msgspec

from toolcert.core.errors import ConfigurationError, ListingError
from toolcert.core.exchanges import Fault, FaultKind
from toolcert.core.requests import Request, RequestKind, encode_body
from toolcert.core.secrets import Eraser, Secret
from toolcert.core.targets import EndpointSpec, ModelInfo
from toolcert.core.text.json_text import BYTE_ORDER_MARK
from toolcert.core.values import JsonObject
from toolcert.endpoints.api_url import api_roots, request_url, under
from toolcert.endpoints.dialects.base import Adapted, refused_parameter, without_parameter
from toolcert.endpoints.dialects.error_answer import ErrorText, cause_of_error, kind_of_error, read_error_text
from toolcert.endpoints.dialects.model_list import (
    declared_tools,
    fault_of,
    fetch,
    listing_error,
    no_list,
    read_json,
    why_no_chat,
)
from toolcert.http.base import HttpClient, HttpRequest, HttpResponse
from toolcert.protocol.unicode import NOT_JSON
from toolcert.settings.credentials import KEY_VARIABLE, expand, refuse_strange_characters, variables_in


def filled_headers(spec: EndpointSpec, eraser: Eraser, environment: Mapping[str, str] = os.environ) -> dict[str, str]:
    """The headers to send; values taken from the environment are erased from everything that is kept."""
    return {name: _filled(name, value, eraser, environment) for name, value in spec.headers.items()}


def _filled(name: str, value: str, eraser: Eraser, environment: Mapping[str, str]) -> str:
    variables = variables_in(value)
    if not variables:
        return value
    try:
        filled = expand(value, environment)
    except KeyError as missing:
        raise ConfigurationError(f"header {name} takes its value from {missing.args[0]}, which is not set.") from None
    for variable in variables:
        refuse_strange_characters(environment[variable], variable)
    for secret in (filled, *(environment[variable] for variable in variables)):
        eraser.add(Secret(secret, source=f"header {name}"))
        eraser.add(Secret(secret.rpartition(" ")[2], source=f"header {name}"))  # "Bearer TOKEN" is echoed as TOKEN
    return filled


_LONGEST_FACT = 100


class OpenAiDialect:
    """Bearer key, `/v1/models`, `/v1/chat/completions`; the base of most other dialects."""

    def __init__(self, spec: EndpointSpec, key: Secret | None, eraser: Eraser) -> None:
        self.spec = spec
        self.key = key
        if not spec.base_url:
            raise ConfigurationError(f"{spec.name}: its address is not known.", remedy="Give it with --base-url.")
        self._roots = api_roots(spec.base_url)
        self._root = self._roots[0]
        self._request_urls = self.request_urls(self._root)
        self.own_headers = {**self._organisation(), **filled_headers(spec, eraser)}
        """Headers of every request, listings included."""
        self._headers = {"Content-Type": "application/json", **self.own_headers}
        self._credentials = {} if key is None else self.key_header(key.reveal())

    def request_urls(self, root: str) -> dict[RequestKind, str]:
        """Where each kind of request goes."""
        return {kind: request_url(root, kind) for kind in RequestKind}

    def key_header(self, key: str) -> dict[str, str]:
        """The header that carries the key."""
        return {"Authorization": f"Bearer {key}"}

    async def authorise(self, client: HttpClient, *, renew: bool = False) -> dict[str, str]:  # noqa: ARG002 - keys do not expire
        return self._credentials

    def compose(self, request: Request) -> HttpRequest:
        body = self.body(request)
        return HttpRequest(
            method="POST",
            url=self._request_urls[request.kind],
            headers=self._headers,
            content=encode_body(body),
            body=None if body is request.body else body,
            timeouts=self.spec.timeouts,
        )

    def body(self, request: Request) -> JsonObject:
        """The body to send; fields of the user's extra body take precedence."""
        return {**request.body, **self.spec.extra_body} if self.spec.extra_body else request.body

    async def models(self, client: HttpClient) -> list[ModelInfo]:
        found = [self.model_info(entry) for entry in await self._list(client)]
        if not found:
            raise ListingError(
                f"{self.spec.name}: the server lists no model.", remedy="Load one, or name it: --model ID."
            )
        return found

    def model_info(self, entry: JsonObject) -> ModelInfo:
        """One entry of the listing."""
        model = str(entry["id"])
        why_not = why_no_chat(model, entry)
        owner = entry.get("owned_by") or entry.get("organization")
        return ModelInfo(
            id=model,
            owned_by=owner if isinstance(owner, str) else None,
            can_chat=not why_not,
            why_not=why_not,
            declares_tools=declared_tools(entry),
            raw=facts(entry),
        )

    def read_error(self, response: HttpResponse) -> Fault:
        error = read_error_text(response.payload)
        return self.fault(response, error, kind_of_error(response.status or 0, error))

    def fault(self, response: HttpResponse, error: ErrorText, kind: FaultKind) -> Fault:
        """The fault in one line; for a refused key it names where the key came from."""
        message = error.message or f"status {response.status} without a message"
        if kind is FaultKind.AUTH:
            message = f"{self._about_key(response.status)}: {message}"
        elif kind is FaultKind.PAYMENT:
            message = f"the account has no credit; the server says {response.status}: {message}"
        elif response.status is not None and response.status < 400:
            message = f"redirects to {response.headers.get('location', 'another address')}; use that address"
        return Fault(kind=kind, message=message, status=response.status, cause=cause_of_error(error))

    def adapt(self, request: Request, response: HttpResponse) -> Adapted | None:
        refused = refused_parameter(request, read_error_text(response.payload))
        return without_parameter(request, refused) if refused is not None else None

    async def _list(self, client: HttpClient) -> list[JsonObject]:
        """The listing, looked for with and without `/v1`; whichever answers is used from then on."""
        for root in self._roots:
            url = under(root, "models")
            response = await fetch(self, client, url, self.own_headers)
            if root != self._roots[-1] and (response.status in (404, 405) or _no_json(response)):
                continue
            fault = fault_of(self, response)
            if fault is not None:
                raise listing_error(self.spec, url, fault)
            entries = _entries(read_json(self.spec, url, response))
            if entries is None:
                raise no_list(self.spec, url, response)
            self._root, self._request_urls = root, self.request_urls(root)
            return entries
        raise AssertionError("the last root returns or raises")

    def _organisation(self) -> dict[str, str]:
        organisation = self.spec.options.get("organization")
        project = self.spec.options.get("project_id")
        headers = {"OpenAI-Organization": organisation, "OpenAI-Project": project}
        return {name: str(value) for name, value in headers.items() if value}

    def _about_key(self, status: int | None) -> str:
        if self.key is None:
            variable = self.spec.key_env or KEY_VARIABLE
            return f"the server wants a key and none was given (set {variable}); it says {status}"
        return f"the server refuses the key from {self.key.source}; it says {status}"


def facts(entry: JsonObject) -> JsonObject:
    """The short fields of a listing's entry: runs keep them, and some vendors add long descriptions."""
    return {name: value for name, value in entry.items() if name != "id" and _is_short(value)}


def _is_short(value: Any) -> bool:
    return isinstance(value, bool | int | float) or (isinstance(value, str) and len(value) <= _LONGEST_FACT)


def _no_json(response: HttpResponse) -> bool:
    if response.status != 200:
        return False
    try:
        msgspec.json.decode(response.payload.removeprefix(BYTE_ORDER_MARK))
    except NOT_JSON:
        return True
    return False


def _entries(listing: Any) -> list[JsonObject] | None:
    """The models in the shapes that are in use: `data`, `models`, or the bare list."""
    if isinstance(listing, dict):
        listing = listing["data"] if "data" in listing else listing.get("models", False)
        listing = [] if listing is None else listing  # Ollama without models
    if not isinstance(listing, list):
        return None
    once: dict[str, JsonObject] = {}
    for entry in map(_named, listing):
        if entry is not None:
            once.setdefault(entry["id"], entry)
    return list(once.values())


def _named(entry: Any) -> JsonObject | None:
    """An entry with an id; servers also write bare names, or `name` instead of `id`."""
    if isinstance(entry, str):
        return {"id": entry}
    if not isinstance(entry, dict):
        return None
    name = entry.get("id") or entry.get("name")
    return {**entry, "id": name} if isinstance(name, str) and name else None
