"""The tests. Each is a probe of toolcert. To add your own, add a `test_*` method and its weight."""

from __future__ import annotations

import asyncio
import inspect
import time
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Any, Self

import msgspec

from llm_tool_calling_tester import config
from llm_tool_calling_tester.models import ChatCompletionRequest, TestResult
from llm_tool_calling_tester.statuses import RequestFailedError, result_of, result_of_error, trouble_in
from toolcert.api.endpoint import Endpoint
from toolcert.core.cases import Case
from toolcert.core.exchanges import Attempt, OnAttempt, Reply
from toolcert.core.records import Detail
from toolcert.core.requests import Request
from toolcert.endpoints.registry import open_endpoint
from toolcert.endpoints.session import EndpointSession
from toolcert.http.retry import RetryPolicy
from toolcert.probes.base import Probe
from toolcert.probes.catalogue.calling import Basic, MultiTool
from toolcert.probes.catalogue.json_mode import JsonMode
from toolcert.probes.catalogue.result_use import ResultUse
from toolcert.probes.catalogue.streamed_call import Streaming
from toolcert.probes.oracle import said
from toolcert.probes.refusal_pairs import RunRefusals
from toolcert.probes.run.live_conversation import ProbeWork
from toolcert.protocol.reply import read_reply

CITY = "Tokyo"
NAME = "api"


class ModelTester:
    """Tests models of one endpoint; the methods are coroutines. Use it in an `async with` block, or close it."""

    def __init__(
        self,
        api_url: str | None = None,
        *,
        api_key: str | None = None,
        timeout: float | None = None,
        max_workers: int | None = None,
    ) -> None:
        """What is not given comes from the environment, as for the command."""
        self.max_workers: int = max_workers or config.MAX_WORKERS
        self.endpoint = Endpoint(
            api_url or config.API_BASE_URL,
            name=NAME,
            api_key=api_key,
            key_env=config.API_KEY_VARIABLE,
            timeout=timeout or config.REQUEST_TIMEOUT,
            retries=config.MAX_RETRIES,
            concurrency=self.max_workers,
        )
        self.evidence: dict[tuple[str, str], Detail] = {}
        """Exchanges by model and test, until the runner collects them."""
        self.watching: dict[tuple[str, str], OnAttempt] = {}
        """Callbacks for each attempt, by model and test."""
        self._session: EndpointSession | None = None
        self._refusals = RunRefusals()

    @property
    def session(self) -> EndpointSession:
        """The open endpoint; opened at first use."""
        if self._session is None:
            retries = config.MAX_RETRIES
            policy = RetryPolicy(retries=retries, timeout_retries=retries, base=config.RETRY_DELAY)
            self._session = open_endpoint(self.endpoint.spec, self.endpoint.key, policy=policy)
        return self._session

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the connections; the next use opens new ones."""
        if self._session is not None:
            await self._session.close()
            self._session = None

    async def chat_completion(self, request: ChatCompletionRequest | dict[str, Any]) -> dict[str, Any]:
        """Answer one request, with retries; a stream is assembled into one answer."""
        body = request if isinstance(request, dict) else msgspec.to_builtins(request)
        exchange = await self.session.ask(Request(body=body))
        if exchange.fault is not None:
            raise RequestFailedError(said(exchange.fault), exchange.fault)
        if trouble := trouble_in(exchange):
            raise RequestFailedError(trouble)
        if exchange.event_stream:
            return self._stream_response(read_reply(exchange))
        answer: dict[str, Any] = msgspec.json.decode(exchange.payload)
        return answer

    def _stream_response(self, reply: Reply) -> dict[str, Any]:
        """Assemble a stream into one answer."""
        return reply.as_completion()

    async def test_basic_tool_calling(self, model: str) -> TestResult:
        """Weather in Tokyo: a valid call of get_weather."""
        return await self._probe("basic_tool_calling", Basic(CITY), model)

    async def test_tool_output_reasoning(self, model: str) -> TestResult:
        """The answer uses a value of the tool's result that cannot be guessed."""
        return await self._probe("tool_output_reasoning", ResultUse(CITY), model)

    async def test_multi_tool_calling(self, model: str) -> TestResult:
        """Weather and a calculation: both calls valid in one response."""
        return await self._probe("multi_tool_calling", MultiTool(CITY), model)

    async def test_json_mode(self, model: str) -> TestResult:
        """An object with name, age and city; with response_format, or without it if that is refused."""
        return await self._probe("json_mode", JsonMode(), model)

    async def test_streaming_tool_calls(self, model: str) -> TestResult:
        """A complete valid call from the chunks of a stream."""
        return await self._probe("streaming_tool_calls", Streaming(CITY), model)

    async def run_all_tests(
        self,
        model: str,
        owned_by: str = "",  # noqa: ARG002 - the older tool passes it
        *,
        tests: Sequence[str] | None = None,
    ) -> dict[str, TestResult]:
        """Every test with a weight, one after another; an override may run others, and `run_tests` calls it."""
        return {name: await self.run_test(name, model) for name in tests or config.AUTONOMOUS_AGENT_WEIGHTS}

    @property
    def has_own_order(self) -> bool:
        """Whether a subclass overrides `run_all_tests`."""
        return type(self).run_all_tests is not ModelTester.run_all_tests

    async def run_overridden(self, model: str, owned_by: str = "") -> dict[str, TestResult]:
        """The results of a user's `run_all_tests`; what it raises becomes the error of every test of this model."""
        given = [owned_by] if "owned_by" in inspect.signature(self.run_all_tests).parameters else []
        began = time.monotonic()
        try:
            found: Any = self.run_all_tests(model, *given)
            found = await found if inspect.isawaitable(found) else found
            results = found if isinstance(found, Mapping) else {one.test_name: one for one in found}
            return {name: _checked(name, one) for name, one in results.items()}
        except Exception as error:  # noqa: BLE001 - a user's code may raise anything; the other models go on
            seconds = time.monotonic() - began
            return {name: result_of_error(name, error, seconds) for name in config.AUTONOMOUS_AGENT_WEIGHTS}

    async def run_test(self, name: str, model: str) -> TestResult:
        """One test by its name: the method `test_NAME`; what a user's method raises is the test's error."""
        if config.DELAY_BETWEEN_TESTS:
            await asyncio.sleep(config.DELAY_BETWEEN_TESTS)
        method: Any = getattr(self, f"test_{name}", None)
        if method is None:
            return result_of_error(name, AttributeError(f"there is no method test_{name}"))
        if getattr(method, "__func__", None) is getattr(ModelTester, f"test_{name}", None):
            result: TestResult = await method(model)  # an exception in here is our bug, and surfaces as one
            return result
        began = time.monotonic()
        try:
            found = method(model)
            return _checked(name, await found if inspect.isawaitable(found) else found)
        except Exception as error:  # noqa: BLE001 - a user's code may raise anything; the other tests go on
            return result_of_error(name, error, time.monotonic() - began)

    async def _probe(self, test: str, probe: Probe, model: str) -> TestResult:
        case = Case(key=f"{NAME}/{model}/{test}", endpoint=NAME, model=model, probe=probe.name, iteration=1)
        on_attempt = self.watching.pop((model, test), _ignore_attempt)
        record = await ProbeWork(own=[probe], refusals=self._refusals).perform(case, self.session, on_attempt)
        self.evidence[model, test] = record.detail
        return result_of(record, test)


def _ignore_attempt(_attempt: Attempt) -> None:
    """Ignore the attempt."""


def _checked(name: str, result: object) -> TestResult:
    if isinstance(result, TestResult):
        return result
    return result_of_error(name, TypeError(f"test_{name} returned {type(result).__name__}, not a TestResult"))
