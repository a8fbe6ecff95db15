"""The dialects by name, and the opening of an endpoint; plugins add theirs through entry points."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import TypeAlias

import msgspec

from toolcert.core.errors import ConfigurationError
from toolcert.core.secrets import Eraser, Secret
from toolcert.core.targets import EndpointSpec
from toolcert.core.text.spelling import did_you_mean
from toolcert.endpoints.api_url import is_azure
from toolcert.endpoints.dialects.base import Dialect
from toolcert.endpoints.session import EndpointSession
from toolcert.http.base import HttpClient
from toolcert.http.connection import allow_connections
from toolcert.http.retry import RetryPolicy
from toolcert.settings.web_address import clean_address

DialectFactory: TypeAlias = Callable[[EndpointSpec, Secret | None, Eraser], Dialect]
ENTRY_POINTS = "toolcert.dialects"

_BUILT_IN = {
    "openai": "toolcert.endpoints.dialects.openai:OpenAiDialect",
    "azure": "toolcert.endpoints.dialects.azure:AzureDialect",
    "litellm": "toolcert.endpoints.dialects.litellm:LiteLlmDialect",
    "watsonx": "toolcert.endpoints.dialects.watsonx:watsonx_dialect",
}
_registered: dict[str, DialectFactory] = {}


def register(name: str, factory: DialectFactory) -> None:
    """Register a dialect, or replace one."""
    _registered[name] = factory


def dialect_names() -> list[str]:
    """All dialects that can be used."""
    from importlib.metadata import entry_points

    plugins = {point.name for point in entry_points(group=ENTRY_POINTS)}
    return sorted({*_BUILT_IN, *_registered, *plugins})


def make_dialect(spec: EndpointSpec, key: Secret | None, eraser: Eraser) -> Dialect:
    """The dialect for an endpoint."""
    name = "azure" if spec.dialect == "openai" and is_azure(spec.base_url) else spec.dialect
    return _factory(name)(spec, key, eraser)


def open_endpoint(
    spec: EndpointSpec,
    key: Secret | None = None,
    *,
    client: HttpClient | None = None,
    policy: RetryPolicy | None = None,
) -> EndpointSession:
    """A session with the endpoint; nothing is sent yet."""
    spec = _with_clean_address(spec)
    spec = msgspec.structs.replace(spec, concurrency=allow_connections(spec.concurrency))
    eraser = Eraser([key] if key is not None else [])
    dialect = make_dialect(spec, key, eraser)
    if client is None:
        from toolcert.http.client import Client

        client = Client(eraser=eraser, ca_bundle=spec.ca_bundle, limit=spec.concurrency)
    return EndpointSession(dialect, client, policy=policy)


def _with_clean_address(spec: EndpointSpec) -> EndpointSpec:
    """Clean the address: callers of the library write it as freely as users of the command line."""
    if not spec.base_url:
        return spec
    try:
        return msgspec.structs.replace(spec, base_url=clean_address(spec.base_url))
    except ValueError as error:
        raise ConfigurationError(f"{spec.name}: {error}.") from None


def _factory(name: str) -> DialectFactory:
    if name in _registered:
        return _registered[name]
    if name in _BUILT_IN:
        module, _, attribute = _BUILT_IN[name].partition(":")
        factory: DialectFactory = getattr(import_module(module), attribute)
        return factory
    from importlib.metadata import entry_points

    for point in entry_points(group=ENTRY_POINTS, name=name):
        loaded: DialectFactory = point.load()
        return loaded
    known = dialect_names()
    remedy = did_you_mean(name, known) or f"Known: {', '.join(known)}."
    raise ConfigurationError(f"there is no dialect {name!r}.", remedy=remedy)
