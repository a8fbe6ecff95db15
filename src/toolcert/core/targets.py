"""Endpoints and models: where models are served, and what is known about them."""

from __future__ import annotations

from typing import Any

from toolcert.core.values import JsonObject, Value


class Timeouts(Value):
    """Seconds allowed for each phase of one attempt."""

    connect: float = 10.0
    read: float = 60.0
    """Wait for the first byte of the answer."""
    between_chunks: float = 60.0
    total: float = 120.0


class EndpointSpec(Value):
    """An endpoint as configured: everything but the secret, which stays in its source."""

    name: str
    dialect: str = "openai"
    base_url: str = ""
    key_env: str | None = None
    """The environment variable the key was or will be read from; shown in curl lines."""
    headers: dict[str, str] = {}
    extra_body: JsonObject = {}
    ca_bundle: str | None = None
    concurrency: int = 8
    rpm: int | None = None
    retries: int = 2
    timeouts: Timeouts = Timeouts()
    options: dict[str, Any] = {}
    """What only one dialect knows: project_id, space_id, region, iam_url, api_version, deployment, ..."""


class ModelInfo(Value):
    """A model as its endpoint lists it."""

    id: str
    owned_by: str | None = None
    can_chat: bool = True
    why_not: str = ""
    """Why `can_chat` is false, in words."""
    declares_tools: bool | None = None
    """What the listing claims about tool calling; None where it says nothing."""
    label: str | None = None
    raw: JsonObject = {}
