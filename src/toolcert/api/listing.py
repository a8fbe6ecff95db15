"""Which models there are, and which of them are meant."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import msgspec

from toolcert.api.endpoint import Endpoint, as_endpoint
from toolcert.api.running import open_sessions, wait_for
from toolcert.core.errors import NothingMeasuredError
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
) -> tuple[dict[str, list[ModelInfo]], dict[str, str]]:
    """For each endpoint, the models to ask, and those that cannot be asked with the reason.

    An endpoint that gives no list is left out with the reason (second value), as long as another gives one.
    """
    lists = await asyncio.gather(
        *(
            _chosen(sessions[one.spec.name], one.model or model, one.exclude or exclude, every=every)
            for one in endpoints
        ),
        return_exceptions=True,
    )
    answers = {endpoint.spec.name: answer for endpoint, answer in zip(endpoints, lists, strict=True)}
    chosen = {name: answer for name, answer in answers.items() if not isinstance(answer, BaseException)}
    failures = {name: answer for name, answer in answers.items() if isinstance(answer, BaseException)}
    for failure in failures.values():
        if not chosen or not isinstance(failure, NothingMeasuredError):
            raise failure
    return chosen, {name: str(failure) for name, failure in failures.items()}


async def _chosen(
    session: EndpointSession, model: Sequence[str], exclude: Sequence[str], *, every: bool
) -> list[ModelInfo]:
    from toolcert.endpoints.selecting import select_models

    selection = await select_models(session, model, exclude, every=every)
    # A model that was asked for by name is asked, whatever the listing says of it.
    asked = [msgspec.structs.replace(info, can_chat=True, why_not="") for info in selection.asked]
    return [*asked, *selection.unsupported]
