"""From the address that a user gives to the URLs at which an OpenAI-compatible server answers."""

from __future__ import annotations

from urllib.parse import urlsplit

from toolcert.core.requests import RequestKind
from toolcert.core.text.lazy_pattern import lazy_pattern

_VERSION = lazy_pattern(r"v\d+\w*")
_PATHS = {RequestKind.CHAT: "chat/completions", RequestKind.COMPLETIONS: "completions"}
AZURE_HOSTS = (".openai.azure.com", ".cognitiveservices.azure.com", ".services.ai.azure.com")
_DEPLOYMENT = lazy_pattern(r"/deployments/[^/]+/")
_ENDINGS = ("/chat/completions", "/completions", "/models")


def api_roots(base_url: str) -> tuple[str, ...]:
    """Where the API may be, the likeliest first: users give the address with or without `/v1`."""
    parts = urlsplit(base_url)
    path = _without_request_path(parts.path.rstrip("/"))
    plain = parts._replace(path=path)
    if any(_VERSION.fullmatch(segment) for segment in path.split("/")):
        return (plain.geturl(),)
    versioned = plain._replace(path=f"{path}/v1")
    return versioned.geturl(), plain.geturl()


def under(root: str, path: str) -> str:
    """An address below the root; a query such as `api-version` stays at the end."""
    parts = urlsplit(root)
    return parts._replace(path=f"{parts.path.rstrip('/')}/{path}").geturl()


def request_url(root: str, kind: RequestKind) -> str:
    """The URL for a kind of request."""
    return under(root, _PATHS[kind])


def names_a_deployment(url: str) -> bool:
    """Whether the address names a deployment: its name is free and need not resemble the model's."""
    parts = urlsplit(url)
    return _DEPLOYMENT.search(parts.path) is not None or (parts.hostname or "").endswith(AZURE_HOSTS)


def is_azure(base_url: str) -> bool:
    """Whether an address wants Azure's older URL form; its `/openai/v1` speaks plain OpenAI."""
    parts = urlsplit(base_url)
    if "/openai/v1" in parts.path:
        return False
    return (parts.hostname or "").endswith(AZURE_HOSTS) or "/openai/deployments/" in parts.path


def endpoint_name(base_url: str) -> str:
    """What to call an endpoint that the user gave only as an address: host and port, never a name and password."""
    return urlsplit(base_url if "//" in base_url else f"//{base_url}").netloc.rpartition("@")[2]


def _without_request_path(path: str) -> str:
    """Users often copy the whole URL of a request."""
    for ending in _ENDINGS:
        if path.endswith(ending):
            return path.removesuffix(ending)
    return path
