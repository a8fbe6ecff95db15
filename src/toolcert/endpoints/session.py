"""An open endpoint: lists its models and sends requests with their retries, within its limits, until it is closed."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Coroutine, Mapping
from types import TracebackType
from typing import Any, Self

import msgspec

from toolcert.core.errors import ConfigurationError, ToolcertError, UnauthorisedError
from toolcert.core.exchanges import Attempt, Exchange, Fault, FaultKind, OnAttempt
from toolcert.core.requests import Request
from toolcert.core.targets import ModelInfo
from toolcert.core.text.number_text import count
from toolcert.endpoints.dialects.base import Dialect, without_parameter
from toolcert.http.base import HttpClient, HttpRequest, HttpResponse, broken_off
from toolcert.http.limiter import AdaptiveLimiter
from toolcert.http.retry import RetryingClient, RetryPolicy, is_overload, parse_retry_after
from toolcert.protocol.reply import read_reply

_KEPT_HEADERS = frozenset(
    {
        "content-type",
        "date",
        "retry-after",
        "retry-after-ms",
        "server",
        "via",
        "x-request-id",
        "request-id",
        "apim-request-id",
        "cf-ray",
        "openai-processing-ms",
        "openai-version",
        "x-global-transaction-id",
        "location",
    }
)
_KEPT_PREFIXES = ("x-ratelimit-", "ratelimit-", "x-litellm-", "llm_provider-")


def kept_headers(headers: Mapping[str, str]) -> dict[str, str]:
    """The response headers that help to understand an answer; never a cookie."""
    return {name: value for name, value in headers.items() if name in _KEPT_HEADERS or name.startswith(_KEPT_PREFIXES)}


MOST_ADAPTATIONS = 3
"""Reasoning models refuse up to three sampling parameters, one per answer."""


class PendingRequest:
    """One request and its attempts, until it is answered or given up."""

    __slots__ = (
        "_asked",
        "_attempts",
        "_credentials",
        "_http",
        "_left_out",
        "_notes",
        "_on_attempt",
        "_renewed",
        "_request",
        "_session",
        "_unasked",
        "_wait",
        "_waited",
    )

    def __init__(self, session: EndpointSession, request: Request, on_attempt: OnAttempt | None) -> None:
        self._session = session
        self._asked = request
        self._request = request
        self._on_attempt = on_attempt
        self._attempts: list[Attempt] = []
        self._notes: list[str] = []
        self._left_out: list[str] = []
        self._credentials: dict[str, str] = {}
        self._renewed = False
        self._unasked = 0
        """Attempts with renewed credentials or fewer parameters; they do not count as retries."""
        self._wait = 0.0
        """Seconds waited before the coming attempt."""
        self._waited = 0.0
        for parameter in session.refused(request.model):
            self._leave_out(parameter)
        self._http = session.dialect.compose(self._request)

    async def run(self) -> Exchange:
        while True:
            response, fault = await self._attempt()
            problem = fault or self._unreadable(response)
            if problem is not None and await self._go_on(response, problem):
                continue
            if fault is None:
                self._session.limiter.succeeded()
                return self._exchange(response, None)
            return self._exchange(response, self._with_long_wait(response, fault))

    async def _attempt(self) -> tuple[HttpResponse, Fault | None]:
        session = self._session
        # Getting a token counts as part of the attempt, and holds its place: many must not ask for one at once.
        async with session.limiter.slot() as queued:
            started_at, started = time.time(), time.monotonic()
            try:
                self._credentials = await session.credentials()
            except ToolcertError as error:
                response = HttpResponse(fault=_fault_of(error))
            else:
                response = await session.client.send(_with_headers(self._http, self._credentials))
        fault = response.fault
        if fault is None and response.status is not None and response.status >= 300:
            fault = session.dialect.read_error(response)
        elif fault is None and session.policy.repeats_broken and response.event_stream:
            fault = self._breakage(response)
        self._record(response, fault, queued, started_at)
        if fault is not None and is_overload(response.status, response.headers):
            session.limiter.overloaded(self._attempts[-1].retry_after, started=started)
        return response, fault

    def _breakage(self, response: HttpResponse) -> Fault | None:
        """What broke a stream off, if anything did."""
        for one in read_reply(self._exchange(response, None)).irregularities:
            if one.code == "stream.error_inside":
                return broken_off(f"the stream ends in an error: {one.evidence}", response.status)
            if one.code == "stream.cut":
                return broken_off(f"the stream was cut: {one.evidence}", response.status)
        return None

    def _unreadable(self, response: HttpResponse) -> Fault | None:
        """Why an answer in one piece is repeated: an error or a web page under a good status, for example."""
        if not self._session.policy.repeats_broken or response.event_stream:
            return None
        readable = read_reply(self._exchange(response, None)).readable
        return None if readable else broken_off("the answer is not a chat completion", response.status)

    def _record(self, response: HttpResponse, fault: Fault | None, queued: float, started_at: float) -> None:
        timing = response.timing if not queued else msgspec.structs.replace(response.timing, queue=queued)
        attempt = Attempt(
            number=len(self._attempts) + 1,
            started_at=started_at,
            timing=timing,
            status=response.status,
            fault=fault,
            retry_after=None if fault is None else parse_retry_after(response.headers, started_at),
            waited=self._wait,
        )
        self._attempts.append(attempt)
        if self._on_attempt is not None:
            self._on_attempt(attempt)

    async def _go_on(self, response: HttpResponse, fault: Fault) -> bool:
        """Whether to make another attempt; prepares it."""
        self._wait = 0.0
        if await self._renew(response) or self._adapt(response, fault):
            self._unasked += 1
            return True
        return await self._wait_to_retry(response, fault)

    async def _renew(self, response: HttpResponse) -> bool:
        """After a 401, once: whether there are other credentials to try."""
        if response.status != 401 or self._renewed:
            return False
        self._renewed = True
        try:
            if await self._session.credentials() != self._credentials:
                return True  # another request has renewed them meanwhile
            return await self._session.credentials(renew=True) != self._credentials
        except ToolcertError:
            return False  # report the 401: it says why

    def _adapt(self, response: HttpResponse, fault: Fault) -> bool:
        """Whether the server refused a parameter that the request can do without."""
        # Only parameters that do not change what is measured may go; the dialect knows them by name.
        if response.status not in (400, 422) or fault.kind not in (FaultKind.REJECTED, FaultKind.UNSUPPORTED):
            return False
        if len(self._notes) >= MOST_ADAPTATIONS:
            return False
        adapted = self._session.dialect.adapt(self._request, response)
        if adapted is None:
            return False
        self._session.learn_refusal(self._asked.model, adapted.parameter)
        self._leave_out(adapted.parameter)
        self._http = self._session.dialect.compose(self._request)
        return True

    def _leave_out(self, parameter: str) -> None:
        if parameter in self._request.body:
            adapted = without_parameter(self._request, parameter)
            self._request = adapted.request
            self._notes.append(adapted.note)
            if not adapted.renamed:
                self._left_out.append(parameter)

    async def _wait_to_retry(self, response: HttpResponse, fault: Fault) -> bool:
        wait = self._session.policy.decide(
            len(self._attempts) - self._unasked,
            status=response.status,
            fault=fault,
            headers=response.headers,
            waited=self._waited,
            now=time.time(),
        )
        if wait is None:
            return False
        self._wait = wait
        self._waited += wait
        if wait:
            await asyncio.sleep(wait)
        return True

    def _with_long_wait(self, response: HttpResponse, fault: Fault) -> Fault:
        """The fault with the wait that the server asks for, where it is longer than a request waits."""
        asked = self._attempts[-1].retry_after if is_overload(response.status, response.headers) else None
        if asked is None or not self._session.policy.is_too_long(asked):
            return fault
        message = f"{fault.message.rstrip('.')}; the server asks for a wait of {count(round(asked))} s"
        return msgspec.structs.replace(fault, message=message, wait=asked)

    def _exchange(self, response: HttpResponse, fault: Fault | None) -> Exchange:
        http, unchanged = self._http, self._request is self._asked
        return Exchange(
            request=self._asked,
            url=http.url,
            sent=http.body if unchanged else http.body or self._request.body,
            encoded=(self._asked.body, http.content) if unchanged and http.body is None and http.content else None,
            status=response.status,
            headers=kept_headers(response.headers),
            payload=response.payload,
            event_stream=response.event_stream,
            arrivals=response.arrivals,
            fault=fault,
            attempts=tuple(self._attempts),
            notes=tuple(self._notes),
            left_out=tuple(self._left_out),
        )


def _with_headers(http: HttpRequest, credentials: dict[str, str]) -> HttpRequest:
    if not credentials:
        return http
    return HttpRequest(
        method=http.method,
        url=http.url,
        headers={**http.headers, **credentials},
        content=http.content,
        timeouts=http.timeouts,
    )


def _fault_of(error: ToolcertError) -> Fault:
    """Why the credentials could not be obtained, as the fault of the attempt that needed them."""
    if isinstance(error, UnauthorisedError):
        return Fault(kind=FaultKind.AUTH, message=error.message)
    if isinstance(error, ConfigurationError):
        return Fault(kind=FaultKind.CONFIGURATION, message=error.message)
    return Fault(kind=FaultKind.CONNECT, message=error.message)


class EndpointSession:
    """One endpoint for as long as a run lasts; safe for any number of concurrent requests."""

    def __init__(
        self,
        dialect: Dialect,
        client: HttpClient,
        policy: RetryPolicy | None = None,
        limiter: AdaptiveLimiter | None = None,
    ) -> None:
        spec = dialect.spec
        self.spec = spec
        self.dialect = dialect
        self.client = client
        self.policy = policy or RetryPolicy(retries=spec.retries)
        self.limiter = limiter or AdaptiveLimiter(spec.concurrency, spec.rpm, longest_pause=self.policy.patience)
        self._patient = RetryingClient(client, self.policy)
        self._refused: dict[str, tuple[str, ...]] = {}

    def ask(self, request: Request, *, on_attempt: OnAttempt | None = None) -> Coroutine[Any, Any, Exchange]:
        """Send the request until it is answered or no longer worth trying; every attempt is recorded."""
        return PendingRequest(self, request, on_attempt).run()

    async def models(self) -> list[ModelInfo]:
        """The models the endpoint lists."""
        return await self.dialect.models(self._patient)

    async def close(self) -> None:
        await self.client.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def credentials(self, *, renew: bool = False) -> dict[str, str]:
        """The headers that carry the credentials."""
        return await self.dialect.authorise(self._patient, renew=renew)

    def refused(self, model: str) -> tuple[str, ...]:
        """Parameters the model was seen to refuse."""
        return self._refused.get(model, ())

    def learn_refusal(self, model: str, parameter: str) -> None:
        """Remember the refusal, so that later requests for this model go without the parameter."""
        if parameter not in self.refused(model):
            self._refused[model] = (*self.refused(model), parameter)
