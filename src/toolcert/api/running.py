"""What every run needs: a folder, an id, sessions, and the way to call async code from sync code."""

from __future__ import annotations

import asyncio
import contextlib
import secrets
import sys
import time
from collections.abc import AsyncIterator, Coroutine, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from toolcert.api.endpoint import Endpoint
from toolcert.core.errors import UsageError
from toolcert.settings.installed import version_of

if TYPE_CHECKING:
    from toolcert.endpoints.session import EndpointSession
    from toolcert.wire.retry import RetryPolicy

T = TypeVar("T")
RUNS = Path("toolcert-runs")
"""Where runs go when no folder is named."""
TAKEN_UP_WITHIN = 86400.0
"""Seconds: what was measured longer ago says little about today."""
MEASURING_PACKAGES = ("aiohttp", "jsonschema-rs", "msgspec")
"""Whose versions can change what a run says."""


def new_run_id() -> str:
    """Short enough to say aloud, long enough not to meet its twin."""
    return secrets.token_hex(4)


def run_folder(output: Path | None, run: str) -> Path:
    """The folder asked for, or a new one named by time."""
    return output or RUNS / f"{time.strftime('%Y%m%d-%H%M%S')}-{run}"


def unfinished_run(parent: Path, endpoint: Endpoint, *, iterations: int | None = None) -> Path:
    """The folder of the newest run below `parent` if it was interrupted lately and asked the same, else a new one."""
    from toolcert.runs.reader import is_run, read_manifest

    runs = sorted(folder for folder in parent.glob("*") if is_run(folder))
    if runs:
        last = read_manifest(runs[-1])
        asked = [(spec.base_url, spec.options) for spec in last.endpoints]
        same = asked == [(endpoint.spec.base_url, endpoint.spec.options)] and last.iterations == iterations
        open_end = last.interrupted or last.finished_at is None
        if same and open_end and time.time() - last.started_at < TAKEN_UP_WITHIN:
            return runs[-1]
    return parent / run_folder(None, new_run_id()).name


def versions() -> dict[str, str]:
    """The interpreter and the packages behind a measurement."""
    python = ".".join(str(part) for part in sys.version_info[:3])
    found = {name: version_of(name) for name in MEASURING_PACKAGES}
    return {"python": python} | {name: version for name, version in found.items() if version is not None}


@contextlib.asynccontextmanager
async def open_sessions(
    endpoints: Sequence[Endpoint], policy: RetryPolicy | None = None
) -> AsyncIterator[dict[str, EndpointSession]]:
    """One open session per endpoint, closed together; without a `policy` each retries as its settings say."""
    from toolcert.endpoints.registry import open_endpoint

    names = [endpoint.spec.name for endpoint in endpoints]
    if not names:
        raise UsageError("no endpoint to ask.", remedy="Name one, or give --base-url.")
    if len(set(names)) < len(names):
        raise UsageError(f"two endpoints have the same name: {', '.join(names)}.", remedy="Give each its own name.")
    async with contextlib.AsyncExitStack() as stack:
        yield {
            endpoint.spec.name: await stack.enter_async_context(
                open_endpoint(endpoint.spec, endpoint.key, policy=policy)
            )
            for endpoint in endpoints
        }


def wait_for(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run to the end on the fastest loop there is."""
    from toolcert.wire.loop import run

    if _inside_a_loop():
        coroutine.close()
        raise UsageError(
            "an event loop is running here already, as in notebooks and async functions.",
            remedy="Await the async twin instead: `await probe_async(...)`, `await verify_async(...)`.",
        )
    return run(coroutine)


def _inside_a_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True
