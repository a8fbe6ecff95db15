"""The LiteLLM proxy: OpenAI's dialect, a second listing with more in it, and errors of its own."""

from __future__ import annotations

import re
from typing import Any

import msgspec

from toolcert.core.exchanges import Fault, FaultKind
from toolcert.core.targets import ModelInfo
from toolcert.core.values import JsonObject
from toolcert.endpoints.api_url import under
from toolcert.endpoints.dialects.error_answer import ErrorText, kind_of_error, read_error_text
from toolcert.endpoints.dialects.model_list import fetch
from toolcert.endpoints.dialects.openai import OpenAiDialect
from toolcert.http.base import HttpClient, HttpResponse
from toolcert.protocol.unicode import NOT_JSON

_BAD_KEY = re.compile(
    r"no connected db|no api key passed in|invalid proxy server token|authentication error", re.IGNORECASE
)
"""Without a database the proxy cannot look a key up: a wrong one is a 400 that complains of the database."""


class LiteLlmDialect(OpenAiDialect):
    """Adds what the proxy reveals about the models behind it."""

    async def models(self, client: HttpClient) -> list[ModelInfo]:
        """The plain listing, completed with provider and declared abilities where we may see them."""
        found = await super().models(client)
        details = await self._details(client)
        return [self._completed(info, details[info.id]) if info.id in details else info for info in found]

    def read_error(self, response: HttpResponse) -> Fault:
        error = read_error_text(response.payload)
        return self.fault(response, error, self._kind(response, error))

    def _kind(self, response: HttpResponse, error: ErrorText) -> FaultKind:
        if response.status in (400, 500) and _BAD_KEY.search(error.message):
            return FaultKind.AUTH
        if self.key is None and response.status == 500 and _is_plain_text(response):
            return (
                FaultKind.AUTH
            )  # without a database, a missing key makes the proxy stumble; its other errors are JSON
        return kind_of_error(response.status or 0, error)

    async def _details(self, client: HttpClient) -> dict[str, JsonObject]:
        """`/model/info` by model name; nothing where the key may not see it or the proxy has none."""
        response = await fetch(self, client, under(self._root, "model/info"), self.own_headers)
        if response.status != 200:
            return {}
        try:
            listing: Any = msgspec.json.decode(response.payload)
        except NOT_JSON:
            return {}
        entries = listing.get("data") if isinstance(listing, dict) else None
        named = [entry for entry in entries if isinstance(entry, dict)] if isinstance(entries, list) else []
        return {entry["model_name"]: entry for entry in named if isinstance(entry.get("model_name"), str)}

    def _completed(self, info: ModelInfo, entry: JsonObject) -> ModelInfo:
        more = self.model_info({**entry, "id": info.id})
        details = entry.get("model_info")
        provider = details.get("litellm_provider") if isinstance(details, dict) else None
        return ModelInfo(
            id=info.id,
            owned_by=provider if isinstance(provider, str) else info.owned_by,
            can_chat=info.can_chat and more.can_chat,
            why_not=info.why_not or more.why_not,
            declares_tools=more.declares_tools,
            raw=info.raw,
        )


def _is_plain_text(response: HttpResponse) -> bool:
    return response.headers.get("content-type", "").startswith("text/plain")
