"""Which response headers an exchange keeps."""

from __future__ import annotations

from collections.abc import Mapping

_KEPT_HEADERS = frozenset(
    {
        "content-type",
        "date",
        "retry-after",
        "retry-after-ms",
        "server",
        "via",
        "x-request-id",
        "request-id",
        "apim-request-id",
        "cf-ray",
        "openai-processing-ms",
        "openai-version",
        "x-global-transaction-id",
        "location",
    }
)
_KEPT_PREFIXES = ("x-ratelimit-", "ratelimit-", "x-litellm-", "llm_provider-")


def kept_headers(headers: Mapping[str, str]) -> dict[str, str]:
    """The response headers that help to understand an answer; never a cookie."""
    return {name: value for name, value in headers.items() if name in _KEPT_HEADERS or name.startswith(_KEPT_PREFIXES)}
