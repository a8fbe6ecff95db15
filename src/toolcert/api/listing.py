"""Which models there are, and which of them are meant."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import msgspec

from toolcert.api.endpoint import Endpoint, as_endpoint
from toolcert.api.running import open_sessions, wait_for
from toolcert.core.targets import ModelInfo

if TYPE_CHECKING:
    from toolcert.endpoints.session import EndpointSession


async def models_async(endpoint: Endpoint | str) -> list[ModelInfo]:
    """The models an endpoint lists."""
    given = as_endpoint(endpoint)
    async with open_sessions([given]) as sessions:
        return await sessions[given.spec.name].models()


def models(endpoint: Endpoint | str) -> list[ModelInfo]:
    """The models an endpoint lists."""
    return wait_for(models_async(endpoint))


async def choose_models(
    endpoints: Sequence[Endpoint],
    sessions: Mapping[str, EndpointSession],
    model: Sequence[str],
    exclude: Sequence[str],
    *,
    every: bool = False,
) -> dict[str, list[ModelInfo]]:
    """For each endpoint, the models to ask, and those that cannot be asked with the reason."""
    lists = await asyncio.gather(
        *(
            _chosen(sessions[one.spec.name], one.model or model, one.exclude or exclude, every=every)
            for one in endpoints
        )
    )
    return {endpoint.spec.name: chosen for endpoint, chosen in zip(endpoints, lists, strict=True)}


async def _chosen(
    session: EndpointSession, model: Sequence[str], exclude: Sequence[str], *, every: bool
) -> list[ModelInfo]:
    from toolcert.endpoints.selecting import select_models

    selection = await select_models(session, model, exclude, every=every)
    # A model that was asked for by name is asked, whatever the listing says of it.
    asked = [msgspec.structs.replace(info, can_chat=True, why_not="") for info in selection.asked]
    return [*asked, *selection.unsupported]
