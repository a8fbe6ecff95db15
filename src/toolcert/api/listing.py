"""Which models there are, and which of them are meant."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING

from toolcert.api.endpoint import Endpoint, as_endpoint
from toolcert.api.running import open_sessions, wait_for
from toolcert.core.errors import ListingError, NothingMeasuredError, UsageError
from toolcert.core.targets import ModelInfo
from toolcert.settings.patterns import Patterns

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
    sessions: Mapping[str, EndpointSession], wanted: Sequence[str], unwanted: Sequence[str]
) -> dict[str, list[ModelInfo]]:
    """For each endpoint, the models to ask; an endpoint where none is left is an error that says so."""
    keep, drop = Patterns(wanted), Patterns(unwanted)
    lists = await asyncio.gather(*(_listed(session, keep) for session in sessions.values()))
    chosen = {
        name: [model for model in listed if (not keep or keep.match(model.id)) and not drop.match(model.id)]
        for name, listed in zip(sessions, lists, strict=True)
    }
    for (name, kept), listed in zip(chosen.items(), lists, strict=True):
        if not kept:
            raise _nothing_chosen(name, listed, wanted)
    return chosen


async def _listed(session: EndpointSession, wanted: Patterns) -> list[ModelInfo]:
    """The endpoint's list; where it has none, models named in full are taken at the user's word."""
    try:
        return await session.models()
    except ListingError:
        if not wanted.plain:
            raise
        return [ModelInfo(id=name) for name in wanted.plain]


def _nothing_chosen(name: str, listed: Sequence[ModelInfo], wanted: Sequence[str]) -> Exception:
    if not listed:
        return NothingMeasuredError(f"{name} lists no model.", remedy="Check what the endpoint serves.")
    ids = [model.id for model in listed]
    near = [hit for pattern in wanted for hit in get_close_matches(pattern, ids, n=3)]
    shown = ", ".join(near or ids[:5])
    return UsageError(
        f"no model at {name} is left by --model and --exclude ({len(ids)} are listed).",
        remedy=f"Did you mean: {shown}? `toolcert models` lists all.",
    )
