"""The two synchronous clients: each makes an endpoint of toolcert from this tool's settings."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from toolcert.api.endpoint import Endpoint, models
from toolcert.core.errors import ConfigurationError
from toolcert.core.secrets import Secret
from toolcert.core.targets import ModelInfo
from watsonx_tool_tester.config import ClientType, Config

Result = TypeVar("Result")


def done_here(work: Callable[[], Result]) -> Result:
    """Wait for `work`; inside a running event loop (notebooks) it runs in its own thread."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return work()
    with ThreadPoolExecutor(max_workers=1) as thread:
        return thread.submit(work).result()


class BaseClient(ABC):
    """A client for one service."""

    def __init__(self, config: Config) -> None:
        self.config = config

    @abstractmethod
    def endpoint(self) -> Endpoint:
        """The endpoint; raises ConfigurationError if a setting is missing."""

    def list_models(self) -> list[ModelInfo]:
        """The models that the server lists; raises if it cannot list them."""
        endpoint = self.endpoint()
        return done_here(lambda: models(endpoint))

    def get_available_models(self) -> list[str]:
        """Their ids."""
        return [info.id for info in self.list_models()]

    def validate_credentials(self) -> bool:
        """Return True if the server accepts the credentials; otherwise raise an error with a remedy."""
        self.list_models()
        return True


class WatsonXClient(BaseClient):
    """watsonx.ai itself."""

    def endpoint(self) -> Endpoint:
        config = self.config
        key = _needed(config, "watsonx_apikey", "WATSONX_APIKEY")
        project = _needed(config, "watsonx_project_id", "WATSONX_PROJECT_ID")
        options = {
            "project_id": project.reveal(),
            "region": config.watsonx_region,
            "api_version": config.watsonx_api_version,
            "iam_url": config.watsonx_iam_url,
        }
        return Endpoint(
            config.watsonx_url or "",
            name="watsonx",
            dialect="watsonx",
            api_key=key,
            key_env="WATSONX_APIKEY",
            ca_bundle=config.ca_bundle,
            **_limits(config),
            options={name: value for name, value in options.items() if value},
        )


class LiteLLMClient(BaseClient):
    """Models behind a LiteLLM proxy."""

    def endpoint(self) -> Endpoint:
        config = self.config
        token = config.litellm_token
        return Endpoint(
            config.litellm_url,
            name="litellm",
            dialect="litellm",
            api_key=None if token is None else Secret(token, source=config.sources.get("litellm_token", "")),
            key_env="LITELLM_TOKEN",
            ca_bundle=config.ca_bundle,
            **_limits(config),
        )


def make_client(config: Config) -> BaseClient:
    """The client that the settings ask for."""
    return WatsonXClient(config) if config.client_type is ClientType.WATSONX else LiteLLMClient(config)


def _limits(config: Config) -> dict[str, Any]:
    """The request timeout and the concurrency if they are given."""
    given = {"timeout": config.timeout, "concurrency": config.concurrency}
    return {name: value for name, value in given.items() if value is not None}


def _needed(config: Config, name: str, variable: str) -> Secret:
    value = getattr(config, name)
    flag = f"--{name.replace('_', '-')}"
    if not value:
        raise ConfigurationError(f"watsonx.ai needs {flag}.", remedy=f"Give it, or set {variable} (.env will do).")
    return Secret(value, source=config.sources.get(name, flag))
