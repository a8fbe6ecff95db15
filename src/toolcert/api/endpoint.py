"""An endpoint as users of the library write it, its open sessions, and the models it lists."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Collection, Coroutine, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from toolcert.core.errors import NothingMeasuredError, UsageError
from toolcert.core.secrets import Secret
from toolcert.core.targets import EndpointSpec, ModelInfo, Timeouts
from toolcert.endpoints.api_url import endpoint_name
from toolcert.runs.provenance import new_run_id, run_folder
from toolcert.settings.credentials import clean_key
from toolcert.settings.keyword_options import check_keyword
from toolcert.settings.option import HeaderLine, Option
from toolcert.settings.options import BY_KEY

if TYPE_CHECKING:
    from toolcert.endpoints.session import EndpointSession
    from toolcert.http.retry import RetryPolicy


class Endpoint:
    """Where to ask, in which dialect, and with which key.

    `Endpoint("http://localhost:8000")` is an OpenAI-compatible server;
    `Endpoint(dialect="watsonx", options={"region": "eu-de", "project_id": "..."}, api_key=...)` is watsonx.ai.
    Settings follow the same rules as the options of the command; UsageError says which one does not.
    """

    def __init__(
        self,
        base_url: str = "",
        *,
        api_key: str | Secret | None = None,
        name: str = "",
        timeout: float | None = None,
        model: str | Sequence[str] = (),
        exclude: str | Sequence[str] = (),
        **settings: Any,
    ) -> None:
        """`model` and `exclude` choose among this endpoint's models, in place of a run's own choice."""
        if timeout is not None:
            total = _checked("timeout", timeout, float)
            settings["timeouts"] = Timeouts(total=total, read=total, between_chunks=total)
        if base_url:
            base_url = _checked("base_url", base_url, str)
        settings = _checked_settings(settings)
        name = _checked("name", name or endpoint_name(base_url) or settings.get("dialect", "openai"), str)
        self.spec = EndpointSpec(name=name, base_url=base_url, **settings)
        self.model: tuple[str, ...] = _checked("model", model, tuple[str, ...])
        self.exclude: tuple[str, ...] = _checked("exclude", exclude, tuple[str, ...])
        self.key = clean_key(api_key, "the argument api_key") if isinstance(api_key, str) else api_key
        if not isinstance(self.key, Secret | None):
            raise UsageError("Endpoint(api_key=...): expected the key as text.")

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


_KEY_ENV, _HEADER = BY_KEY["api_key_env"], HeaderLine()


def _checked(name: str, given: Any, wanted: Any, option: Option | None = None) -> Any:
    return check_keyword("Endpoint", name, given, wanted, option)


def _checked_settings(settings: Mapping[str, Any]) -> dict[str, Any]:
    types = {field.name: field.type for field in msgspec.structs.fields(EndpointSpec)}
    unknown = set(settings) - set(types)
    if unknown:
        known = ", ".join(sorted(types))
        raise UsageError(f"an endpoint has no setting {', '.join(sorted(unknown))}.", remedy=f"Settings: {known}.")
    read = {
        name: _checked(name, value, types[name], _KEY_ENV if name == "key_env" else None)
        for name, value in settings.items()
    }
    for name, value in read.get("headers", {}).items():
        _check_header(name, value)
    for seconds in msgspec.structs.astuple(read.get("timeouts", Timeouts())):
        _checked("timeouts", seconds, float, BY_KEY["timeout"])
    return read


def _check_header(name: str, value: str) -> None:
    """Headers are kept in run logs, so a credential must come from a variable, as on the command line."""
    try:
        _HEADER.read(f"{name}: {value}", Path())
    except ValueError as error:
        raise UsageError(f"Endpoint(headers=...): {error}.") from None


def as_endpoint(given: Endpoint | str) -> Endpoint:
    """A URL is an OpenAI-compatible endpoint without a key."""
    return given if isinstance(given, Endpoint) else Endpoint(given)


T = TypeVar("T")
RESUMED_WITHIN = 86400.0
"""Seconds; older measurements say little about today, so a later run starts from the beginning."""


def unfinished_run(
    parent: Path, endpoint: Endpoint, *, iterations: int | None = None, models: Collection[str] | None = None
) -> Path:
    """The folder of the newest run below `parent` if it was interrupted recently and asked the same, else a new one.

    A run that another process is still writing is not continued, and with `models` neither is one of other models.
    """
    from toolcert.runs.reader import is_run, read_manifest
    from toolcert.runs.writer import is_held

    runs = sorted(folder for folder in parent.glob("*") if is_run(folder))
    if runs and not is_held(runs[-1]):
        last = read_manifest(runs[-1])
        asked = [(spec.base_url, spec.options) for spec in last.endpoints]
        same = asked == [(endpoint.spec.base_url, endpoint.spec.options)] and last.iterations == iterations
        listed = {info.id for of_one in last.models.values() for info in of_one}
        same = same and (models is None or listed == set(models))
        open_end = last.interrupted or last.finished_at is None
        if same and open_end and time.time() - last.started_at < RESUMED_WITHIN:
            return runs[-1]
    return parent / run_folder(None, new_run_id()).name


@contextlib.asynccontextmanager
async def open_sessions(
    endpoints: Sequence[Endpoint], policy: RetryPolicy | None = None
) -> AsyncIterator[dict[str, EndpointSession]]:
    """Open one session per endpoint, and close them together; without a `policy` each retries as its settings say."""
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
    """Run a coroutine to its end, on uvloop if it is installed."""
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
    """The models that an endpoint lists, of those that its `model` and `exclude` choose."""
    from toolcert.endpoints.model_selection import Patterns

    given = as_endpoint(endpoint)
    wanted, unwanted = Patterns(given.model), Patterns(given.exclude)
    async with open_sessions([given]) as sessions:
        listed = await sessions[given.spec.name].models()
    return [info for info in listed if (not wanted or wanted.match(info.id)) and not unwanted.match(info.id)]


def models(endpoint: Endpoint | str) -> list[ModelInfo]:
    """The models that an endpoint lists, of those that its `model` and `exclude` choose."""
    return wait_for(models_async(endpoint))


def models_of_each(endpoints: Sequence[Endpoint]) -> list[list[ModelInfo] | NothingMeasuredError]:
    """The models of several endpoints, asked at the same time; the error of each that does not answer."""

    async def listed(endpoint: Endpoint) -> list[ModelInfo] | NothingMeasuredError:
        try:
            return await models_async(endpoint)
        except NothingMeasuredError as error:
            return error

    async def all_listed() -> list[list[ModelInfo] | NothingMeasuredError]:
        return await asyncio.gather(*map(listed, endpoints))

    return wait_for(all_listed())


async def choose_models(
    endpoints: Sequence[Endpoint],
    sessions: Mapping[str, EndpointSession],
    model: Sequence[str],
    exclude: Sequence[str],
    *,
    every: bool = False,
) -> tuple[dict[str, list[ModelInfo]], dict[str, str]]:
    """The models of each endpoint, and the endpoints that gave no list, with the reason.

    Models that cannot chat are among the first, marked so. If no endpoint gives a list, that is an error.
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
    # A model that the user names is asked, even if the listing says that it cannot chat.
    asked = [msgspec.structs.replace(info, can_chat=True, why_not="") for info in selection.asked]
    return [*asked, *selection.unsupported]
