"""What every run needs: a folder, an id, sessions, and the way to call async code from sync code."""

from __future__ import annotations

import contextlib
import platform
import secrets
import time
from collections.abc import AsyncIterator, Coroutine, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from toolcert.api.endpoint import Endpoint
from toolcert.core.errors import UsageError

if TYPE_CHECKING:
    from toolcert.endpoints.session import EndpointSession

T = TypeVar("T")
RUNS = Path("toolcert-runs")
"""Where runs go when no folder is named."""
MEASURING_PACKAGES = ("aiohttp", "jsonschema-rs", "msgspec")
"""Whose versions can change what a run says."""


def new_run_id() -> str:
    """Short enough to say aloud, long enough not to meet its twin."""
    return secrets.token_hex(4)


def run_folder(output: Path | None, run: str) -> Path:
    """The folder asked for, or a new one named by time."""
    return output or RUNS / f"{time.strftime('%Y%m%d-%H%M%S')}-{run}"


def versions() -> dict[str, str]:
    """The interpreter and the packages behind a measurement."""
    found = {"python": platform.python_version()}
    for name in MEASURING_PACKAGES:
        with contextlib.suppress(PackageNotFoundError):
            found[name] = version(name)
    return found


@contextlib.asynccontextmanager
async def open_sessions(endpoints: Sequence[Endpoint]) -> AsyncIterator[dict[str, EndpointSession]]:
    """One open session per endpoint, closed together."""
    from toolcert.endpoints.registry import open_endpoint

    names = [endpoint.spec.name for endpoint in endpoints]
    if not names:
        raise UsageError("no endpoint to ask.", remedy="Name one, or give --base-url.")
    if len(set(names)) < len(names):
        raise UsageError(f"two endpoints have the same name: {', '.join(names)}.", remedy="Give each its own name.")
    async with contextlib.AsyncExitStack() as stack:
        yield {
            endpoint.spec.name: await stack.enter_async_context(open_endpoint(endpoint.spec, endpoint.key))
            for endpoint in endpoints
        }


def wait_for(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run to the end on the fastest loop there is."""
    from toolcert.wire.loop import run

    return run(coroutine)
