"""Azure's form of the OpenAI API: deployments in the path, a version in the query, a header of its own."""

from __future__ import annotations

import re
from urllib.parse import parse_qs, urlsplit

from toolcert.core.errors import ConfigurationError, ListingError
from toolcert.core.requests import Request
from toolcert.core.secrets import Eraser, Secret
from toolcert.core.targets import EndpointSpec, ModelInfo
from toolcert.endpoints.api_url import request_url
from toolcert.endpoints.dialects.model_list import fetch_json
from toolcert.endpoints.dialects.openai import OpenAiDialect
from toolcert.http.base import HttpClient, HttpRequest

_DEPLOYMENT = re.compile(r"/openai/deployments/([^/]+)")
DEFAULT_VERSION = "2024-10-21"
_LISTING_VERSION = "2022-12-01"
"""The last API version in which a key can list deployments; later ones need the management API."""


class AzureDialect(OpenAiDialect):
    """The model's name is the name of its deployment."""

    def __init__(self, spec: EndpointSpec, key: Secret | None, eraser: Eraser) -> None:
        super().__init__(spec, key, eraser)
        parts = urlsplit(spec.base_url)
        self._resource = f"{parts.scheme}://{parts.netloc}"
        in_path = _DEPLOYMENT.search(parts.path)
        self._deployment: str | None = spec.options.get("deployment") or (in_path[1] if in_path else None)
        in_query = parse_qs(parts.query).get("api-version", [DEFAULT_VERSION])
        self._version: str = spec.options.get("api_version") or in_query[0]

    def key_header(self, key: str) -> dict[str, str]:
        return {"api-key": key}

    def compose(self, request: Request) -> HttpRequest:
        deployment = self._deployment or request.model
        if not deployment:
            raise ConfigurationError(f"{self.spec.name}: Azure needs a deployment.", remedy="Name it: --deployment ID.")
        plain = super().compose(request)
        root = f"{self._resource}/openai/deployments/{deployment}?api-version={self._version}"
        return HttpRequest(
            method=plain.method,
            url=request_url(root, request.kind),
            headers=plain.headers,
            content=plain.content,
            body=plain.body,
            timeouts=plain.timeouts,
        )

    async def models(self, client: HttpClient) -> list[ModelInfo]:
        """The deployments, or the one that the user named."""
        if self._deployment:
            return [ModelInfo(id=self._deployment)]
        url = f"{self._resource}/openai/deployments?api-version={_LISTING_VERSION}"
        listing = await fetch_json(self, client, url, self.own_headers)
        entries = listing.get("data") if isinstance(listing, dict) else None
        listed = entries if isinstance(entries, list) else []
        found = [self.model_info(entry) for entry in listed if isinstance(entry, dict) and entry.get("id")]
        if not found:
            raise ListingError(f"{self.spec.name}: Azure lists no deployment.", remedy="Name one: --deployment ID.")
        return found
