"""An endpoint as users of the library write it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from toolcert.core.errors import UsageError
from toolcert.core.secrets import Secret
from toolcert.core.targets import EndpointSpec, Timeouts
from toolcert.endpoints.addresses import endpoint_name


class Endpoint:
    """Where to ask, in which dialect, and with which key.

    `Endpoint("http://localhost:8000")` is an OpenAI-compatible server;
    `Endpoint(dialect="watsonx", options={"region": "eu-de", "project_id": "..."}, api_key=...)` is watsonx.ai.
    """

    def __init__(
        self,
        base_url: str = "",
        *,
        api_key: str | Secret | None = None,
        name: str = "",
        timeout: float | None = None,
        model: Sequence[str] = (),
        exclude: Sequence[str] = (),
        **settings: Any,
    ) -> None:
        """`model` and `exclude` choose among this endpoint's models, in place of a run's own choice."""
        if timeout is not None:
            settings["timeouts"] = Timeouts(total=timeout, read=timeout, between_chunks=timeout)
        unknown = set(settings) - set(EndpointSpec.__struct_fields__)
        if unknown:
            raise UsageError(f"an endpoint has no setting {', '.join(sorted(unknown))}.")
        name = name or endpoint_name(base_url) or settings.get("dialect", "openai")
        self.spec = EndpointSpec(name=name, base_url=base_url, **settings)
        self.model, self.exclude = tuple(model), tuple(exclude)
        self.key = Secret(api_key, source="the argument api_key") if isinstance(api_key, str) else api_key

    @classmethod
    def of(
        cls, spec: EndpointSpec, key: Secret | None, model: Sequence[str] = (), exclude: Sequence[str] = ()
    ) -> Endpoint:
        """An endpoint from its parts, as the command line resolves them."""
        endpoint = cls.__new__(cls)
        endpoint.spec, endpoint.key = spec, key
        endpoint.model, endpoint.exclude = tuple(model), tuple(exclude)
        return endpoint

    def with_settings(self, **settings: Any) -> Endpoint:
        """A copy with some settings changed."""
        return Endpoint.of(msgspec.structs.replace(self.spec, **settings), self.key, self.model, self.exclude)

    def __repr__(self) -> str:
        return f"Endpoint({self.spec.name!r}, {self.spec.dialect}, {self.spec.base_url!r})"


def as_endpoint(given: Endpoint | str) -> Endpoint:
    """A URL is an OpenAI-compatible endpoint without a key."""
    return given if isinstance(given, Endpoint) else Endpoint(given)
