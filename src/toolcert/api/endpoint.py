"""An endpoint as users of the library write it, its open sessions, and the models it lists."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Coroutine, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from toolcert.core.errors import NothingMeasuredError, UsageError
from toolcert.core.secrets import Secret
from toolcert.core.targets import EndpointSpec, ModelInfo, Timeouts
from toolcert.endpoints.api_url import endpoint_name
from toolcert.runs.provenance import new_run_id, run_folder

if TYPE_CHECKING:
    from toolcert.endpoints.session import EndpointSession
    from toolcert.http.retry import RetryPolicy


class Endpoint:
    """Where to ask, in which dialect, and with which key.

    `Endpoint("http://localhost:8000")` is an OpenAI-compatible server;
    `Endpoint(dialect="watsonx", options={"region": "eu-de", "project_id": "..."}, api_key=...)` is watsonx.ai.
    """

    def __init__(
        self,
        base_url: str = "",
        *,
        api_key: str | Secret | None = None,
        name: str = "",
        timeout: float | None = None,
        model: Sequence[str] = (),
        exclude: Sequence[str] = (),
        **settings: Any,
    ) -> None:
        """`model` and `exclude` choose among this endpoint's models, in place of a run's own choice."""
        if timeout is not None:
            settings["timeouts"] = Timeouts(total=timeout, read=timeout, between_chunks=timeout)
        unknown = set(settings) - set(EndpointSpec.__struct_fields__)
        if unknown:
            raise UsageError(f"an endpoint has no setting {', '.join(sorted(unknown))}.")
        name = name or endpoint_name(base_url) or settings.get("dialect", "openai")
        self.spec = EndpointSpec(name=name, base_url=base_url, **settings)
        self.model, self.exclude = tuple(model), tuple(exclude)
        self.key = Secret(api_key, source="the argument api_key") if isinstance(api_key, str) else api_key

    @classmethod
    def of(
        cls, spec: EndpointSpec, key: Secret | None, model: Sequence[str] = (), exclude: Sequence[str] = ()
    ) -> Endpoint:
        """An endpoint from its parts, as the command line resolves them."""
        endpoint = cls.__new__(cls)
        endpoint.spec, endpoint.key = spec, key
        endpoint.model, endpoint.exclude = tuple(model), tuple(exclude)
        return endpoint

    def with_settings(self, **settings: Any) -> Endpoint:
        """A copy with some settings changed."""
        return Endpoint.of(msgspec.structs.replace(self.spec, **settings), self.key, self.model, self.exclude)

    def __repr__(self) -> str:
        return f"Endpoint({self.spec.name!r}, {self.spec.dialect}, {self.spec.base_url!r})"


def as_endpoint(given: Endpoint | str) -> Endpoint:
    """A URL is an OpenAI-compatible endpoint without a key."""
    return given if isinstance(given, Endpoint) else Endpoint(given)


T = TypeVar("T")
TAKEN_UP_WITHIN = 86400.0
"""Seconds: what was measured longer ago says little about today."""


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
    from toolcert.http.connection import run

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
    from toolcert.endpoints.model_selection import select_models

    selection = await select_models(session, model, exclude, every=every)
    # A model that was asked for by name is asked, whatever the listing says of it.
    asked = [msgspec.structs.replace(info, can_chat=True, why_not="") for info in selection.asked]
    return [*asked, *selection.unsupported]
